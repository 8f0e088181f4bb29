//! Real programs execute what their configuration says, so a person decides about edits of that configuration.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::{edit, run, user, verdict, why};

/// A temporary project and home directory, and a program that leaves a trace when it runs.
struct Place {
    root: PathBuf,
}

impl Place {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("sayso-config-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for directory in ["project", "home"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        let place = Self { root };
        let program = format!("#!/bin/sh\n: > '{}'\nexit 1\n", place.trace().display());
        fs::write(place.program(), program).unwrap();
        fs::set_permissions(place.program(), fs::Permissions::from_mode(0o755)).unwrap();
        place.run("git init -q . && echo a > f && git add f && git -c user.name=t -c user.email=t@example.test commit -qm x");
        place
    }

    fn program(&self) -> PathBuf {
        self.root.join("program")
    }

    fn trace(&self) -> PathBuf {
        self.root.join("ran")
    }

    fn run(&self, line: &str) {
        let mut shell = Command::new("bash");
        shell.args(["-c", line]).current_dir(self.root.join("project")).env_clear();
        shell.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        shell.env("HOME", self.root.join("home")).env("GIT_CONFIG_NOSYSTEM", "1");
        shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        shell.status().unwrap();
    }

    /// Adds a text to a file, in which `PROGRAM` is the program.
    fn write(&self, file: &str, text: &str) {
        let path = match file.strip_prefix("~/") {
            Some(inside) => self.root.join("home").join(inside),
            None => self.root.join("project").join(file),
        };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = fs::read_to_string(&path).unwrap_or_default();
        let program = self.program();
        fs::write(&path, format!("{before}{}", text.replace("PROGRAM", &program.to_string_lossy()))).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// For each line, the files that make it run the program.
const MEASURED: &[(&str, &[(&str, &str)])] = &[
    ("git status", &[(".git/config", "[core]\n\tfsmonitor = PROGRAM\n")]),
    ("git status", &[("~/.gitconfig", "[core]\n\tfsmonitor = PROGRAM\n")]),
    ("git status", &[("~/.config/git/config", "[core]\n\tfsmonitor = PROGRAM\n")]),
    ("touch f && git status", &[(".git/hooks/post-index-change", "#!/bin/sh\nPROGRAM\n")]),
    ("echo b > f && git diff", &[(".git/config", "[diff]\n\texternal = PROGRAM\n")]),
    ("git log -p", &[("~/.gitconfig", "[diff \"x\"]\n\ttextconv = PROGRAM\n"), (".gitattributes", "f diff=x\n")]),
    ("git log -p", &[("~/.gitconfig", "[diff \"x\"]\n\ttextconv = PROGRAM\n"), (".git/info/attributes", "f diff=x\n")]),
    (
        "mkdir -p bare/objects bare/refs && cd bare && git status",
        &[
            ("bare/HEAD", "ref: refs/heads/main\n"),
            ("bare/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = PROGRAM\n"),
        ],
    ),
    ("bash -i -c true", &[("~/.bashrc", "PROGRAM\n")]),
    ("bash -l -c true", &[("~/.bash_profile", "PROGRAM\n")]),
    ("sh -l -c true", &[("~/.profile", "PROGRAM\n")]),
];

#[test]
fn wildcards_do_not_cover_configuration_that_programs_run() {
    let edit_all = user("[[rules]]\ndo = \"allow\"\nedit = [\"**\", \"~/**\"]\n[[rules]]\ndo = \"allow\"\nrun = \"git status\"");
    assert_eq!(why(&verdict(&edit_all, &run("git status"))), None);
    for (at, (line, files)) in MEASURED.iter().enumerate() {
        let place = Place::new(&at.to_string());
        place.run(line);
        assert!(!place.trace().exists(), "{line} runs the program without the configuration");
        for (file, text) in *files {
            place.write(file, text);
        }
        place.run(line);
        assert!(place.trace().exists(), "{line} with {files:?}");
        let paths: Vec<&str> = files.iter().map(|(file, _)| *file).collect();
        assert!(why(&verdict(&edit_all, &edit(&paths))).is_some(), "{paths:?}");
    }
}
