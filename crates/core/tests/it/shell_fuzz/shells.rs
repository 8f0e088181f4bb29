//! Runs lines in a real shell and records every program that they execute.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Programs that only record their words.
const RECORDERS: &[&str] = &[
    "git", "ls", "cat", "sort", "grep", "uniq", "echo", "true", "test", "printf", "evil", "rm", "a", "b", "x", "status", "diff",
    "log", "push", "5", "1", "n", "e", "EOF", "then", "do", "in", "sudo", "time", "command", "exec", "eval", "source", "y", "1e",
];
/// Programs that record their words and then do their work, with recorders as the programs that they can start.
const REAL: &[&str] = &["env", "timeout", "nice", "nohup", "xargs", "stdbuf", "setsid", "sed", "find", "bash", "sh", "dash"];
/// Seconds for one batch.
const LIMIT: &str = "120";

/// A directory with the only programs that lines can find.
pub(super) struct Shells {
    root: PathBuf,
    /// The command prefix that removes network access, where the system supports one.
    isolation: &'static [&'static str],
}

impl Shells {
    pub(super) fn new() -> Self {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("sayso-fuzz-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let root = std::env::temp_dir().join(name);
        let bin = root.join("bin");
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&bin).unwrap();
        let record = format!("printf '%s\\0' @run@ \"${{0##*/}}\" \"$@\" @end@ >>'{}'", root.join("record").display());
        for name in RECORDERS {
            write_program(&bin.join(name), &format!("#!/bin/sh\n{record}\n"));
        }
        for name in REAL {
            let real = ["/usr/bin", "/bin"].iter().map(|place| Path::new(place).join(name)).find(|path| path.exists()).unwrap();
            write_program(&bin.join(name), &format!("#!/bin/sh\n{record}\nexec '{}' \"$@\"\n", real.display()));
        }
        // `echo` in a pipe has to write its arguments, so its recorder calls the builtin.
        write_program(&bin.join("echo"), &format!("#!/bin/sh\n{record}\necho \"$@\"\n"));
        let without_network: &[&str] = &["unshare", "--map-root-user", "--net"];
        let works = Command::new("unshare").args(&without_network[1..]).arg("true").stderr(Stdio::null()).status();
        let isolation = if works.is_ok_and(|status| status.success()) { without_network } else { &[] };
        Self { root, isolation }
    }

    /// Runs each line in a directory of its own. Returns the commands that were executed, with the place of their line.
    pub(super) fn run(&self, shell: &str, lines: &[String]) -> Vec<(usize, Vec<String>)> {
        let (bin, record, work) = (self.root.join("bin"), self.root.join("record"), self.root.join("work"));
        let _ = fs::remove_dir_all(&work);
        fs::write(&record, "").unwrap();
        let mut script = String::from("exec </dev/null >/dev/null 2>&1\n");
        for (at, line) in lines.iter().enumerate() {
            let directory = work.join(at.to_string());
            fs::create_dir_all(&directory).unwrap();
            for file in ["a", "-n", "--output=x", "x y"] {
                fs::write(directory.join(file), "evil\n").unwrap();
            }
            symlink(bin.join("evil"), directory.join("evil")).unwrap();
            let _ = writeln!(script, "printf '%s\\0' @line@ {at} >>'{}'", record.display());
            let line = line.replace('\'', "'\\''");
            let _ = writeln!(script, "(cd '{0}' && HOME='{0}' && eval ' {line}')", directory.display());
        }
        let file = self.root.join("script");
        fs::write(&file, script).unwrap();
        let real = format!("/bin/{shell}");
        let mut command = Command::new("timeout");
        command.args(["--kill-after=1", LIMIT]).args(self.isolation).arg(real).arg(&file);
        command.env_clear().env("PATH", "/usr/bin:/bin").current_dir(&self.root).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let script = fs::read_to_string(&file).unwrap();
        fs::write(
            &file,
            format!("PATH='{}'\nexport PATH\n{script}printf '%s\\0' @done@ >>'{}'\n", bin.display(), record.display()),
        )
        .unwrap();
        command.status().unwrap();
        let recorded = fs::read(&record).unwrap();
        let fields: Vec<String> =
            recorded.split(|byte| *byte == 0).map(|field| String::from_utf8_lossy(field).into_owned()).collect();
        assert!(
            fields.iter().any(|field| field == "@done@"),
            "a line of the batch did not end in {shell}: {}",
            last_line(&fields, lines)
        );
        commands(&fields)
    }
}

fn last_line(fields: &[String], lines: &[String]) -> String {
    let last = fields.windows(2).rev().find(|pair| pair[0] == "@line@").and_then(|pair| pair[1].parse::<usize>().ok());
    last.and_then(|at| lines.get(at)).cloned().unwrap_or_default()
}

fn commands(fields: &[String]) -> Vec<(usize, Vec<String>)> {
    let (mut found, mut line, mut at) = (Vec::new(), 0, 0);
    while at < fields.len() {
        match fields[at].as_str() {
            "@line@" => {
                line = fields[at + 1].parse().unwrap();
                at += 1;
            }
            "@run@" => {
                let end = (at..fields.len()).find(|end| fields[*end] == "@end@").unwrap();
                found.push((line, fields[at + 1..end].to_vec()));
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

impl Drop for Shells {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
