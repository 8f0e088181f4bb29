//! The ways to install Sayso, recognised by where the program is.

use std::path::Path;

use sayso_client::Environment;

/// Whether this build was published in the registries of npm and PyPI. Only then do instructions name packages of a registry. The
/// release workflow always sets the variable, to an empty value if it does not publish.
const IS_PUBLISHED: bool = is_set(option_env!("SAYSO_PUBLISHED"));

const fn is_set(value: Option<&str>) -> bool {
    matches!(value, Some(value) if !value.is_empty())
}

/// The file that marks a container image.
const IMAGE_MARK: &str = "/usr/share/sayso/image";

/// How this program was installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InstallKind {
    /// In the cache of a tool that runs programs without installing them, with the name of the tool.
    Temporary(&'static str),
    /// By npm, or a program that works like npm.
    Npm,
    /// By pip, or a program that works like pip.
    Python,
    /// By dpkg.
    Deb,
    /// In a container image.
    Image,
    /// In the target directory of cargo.
    Source,
    /// A plain file: `make install`, or an archive.
    File,
}

impl InstallKind {
    /// Detects how the program at this path was installed. The path contains no symbolic links.
    pub(crate) fn of(program: &Path, environment: &Environment) -> Self {
        if let Some(tool) = temporary(program, environment) {
            return Self::Temporary(tool);
        }
        let has = |name: &str| program.iter().any(|part| part == name);
        if has("node_modules") {
            Self::Npm
        } else if is_in_python_environment(program) {
            Self::Python
        } else if Path::new(IMAGE_MARK).exists() {
            Self::Image
        } else if program == Path::new("/usr/bin/sayso") && Path::new("/var/lib/dpkg/info/sayso.list").exists() {
            Self::Deb
        } else if is_in_target_directory(program) {
            Self::Source
        } else {
            Self::File
        }
    }

    /// Describes how the program was installed.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Temporary(tool) => format!("run from the cache of {tool}, not installed"),
            Self::Npm => "installed by npm".to_owned(),
            Self::Python => "installed by pip".to_owned(),
            Self::Deb => "installed as a Debian package".to_owned(),
            Self::Image => "part of a container image".to_owned(),
            Self::Source => "built from source".to_owned(),
            Self::File => "installed as a file".to_owned(),
        }
    }

    /// Describes how to upgrade it.
    pub(crate) const fn upgrade(self) -> &'static str {
        match (self, IS_PUBLISHED) {
            (Self::Temporary(_), _) => "install Sayso first: a program in a cache cannot be upgraded",
            (Self::Npm, true) => "npm install --global @sayso/cli@latest && sayso restart",
            (Self::Npm, false) => "npm install --global with the newer package files, then: sayso restart",
            (Self::Python, true) => "pip install --upgrade 'sayso[cli]' && sayso restart",
            (Self::Python, false) => "pip install --upgrade with the newer wheels, then: sayso restart",
            (Self::Deb, _) => "sudo apt install ./sayso_VERSION_ARCHITECTURE.deb, then: sayso restart",
            (Self::Image, _) => "start a container of the newer image with the same /data volume",
            (Self::Source, _) => "git pull && make run",
            (Self::File, _) => "put the newer program in its place, or `make install` in a clone, then: sayso restart",
        }
    }
}

/// Returns the tool whose cache contains the program.
fn temporary(program: &Path, environment: &Environment) -> Option<&'static str> {
    let parts = || program.iter().filter_map(|part| part.to_str());
    for part in parts() {
        match part {
            "_npx" => return Some("npx"),
            "dlx" => return Some("pnpm dlx"),
            _ if part.starts_with("dlx-") => return Some("yarn dlx or pnpm dlx"),
            _ if part.starts_with("bunx-") => return Some("bunx"),
            _ => {}
        }
    }
    let home = environment.path("HOME");
    let below = |name: &str| home.as_ref().map(|home| home.join(name));
    let caches = [environment.path("XDG_CACHE_HOME"), below(".cache"), below("Library/Caches"), environment.path("UV_CACHE_DIR")];
    let is_in = |cache: &Path| program.starts_with(cache) || cache.canonicalize().is_ok_and(|real| program.starts_with(real));
    if !caches.iter().flatten().any(|cache| is_in(cache)) && !below(".local/pipx/.cache").is_some_and(|cache| is_in(&cache)) {
        return None;
    }
    let has = |name: &str| parts().any(|part| part == name);
    Some(match (has("uv"), has("pipx")) {
        (true, _) => "uvx",
        (false, true) => "pipx run",
        (false, false) => "another program",
    })
}

/// Returns whether pip installed the program: its metadata is in the same directory.
fn is_in_python_environment(program: &Path) -> bool {
    let Some(lib) = program.parent().and_then(Path::parent).map(|prefix| prefix.join("lib")) else { return false };
    let below = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten();
    let is_ours = |name: &str| name.starts_with("sayso_cli-") && name.ends_with(".dist-info");
    below(&lib)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("python3"))
        .flat_map(|entry| ["site-packages", "dist-packages"].map(|name| entry.path().join(name)))
        .any(|packages| below(&packages).any(|entry| is_ours(&entry.file_name().to_string_lossy())))
}

/// Returns whether the program is in a target directory of cargo, which marks such directories for backup programs.
fn is_in_target_directory(program: &Path) -> bool {
    program.ancestors().skip(2).take(2).any(|dir| dir.join("CACHEDIR.TAG").is_file() && dir.join(".rustc_info.json").is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(program: &str) -> InstallKind {
        InstallKind::of(Path::new(program), &Environment::from_pairs([("HOME", "/home/ada")]))
    }

    #[test]
    fn programs_in_caches_are_temporary() {
        for (program, tool) in [
            ("/home/ada/.npm/_npx/1f2e/node_modules/@sayso/cli-linux-x64/bin/sayso", "npx"),
            ("/home/ada/.cache/pnpm/dlx/1f2e/node_modules/@sayso/cli-linux-x64/bin/sayso", "pnpm dlx"),
            ("/tmp/xfs-1f2e/dlx-42/node_modules/@sayso/cli-linux-x64/bin/sayso", "yarn dlx or pnpm dlx"),
            ("/tmp/bunx-1000-sayso/node_modules/@sayso/cli-linux-x64/bin/sayso", "bunx"),
            ("/home/ada/.cache/uv/archive-v0/1f2e/bin/sayso", "uvx"),
            ("/home/ada/.local/pipx/.cache/1f2e/bin/sayso", "pipx run"),
            ("/home/ada/Library/Caches/other/sayso", "another program"),
        ] {
            assert_eq!(kind(program), InstallKind::Temporary(tool), "{program}");
        }
    }

    #[test]
    fn installed_programs_are_recognised_by_their_place() {
        assert_eq!(kind("/usr/lib/node_modules/@sayso/cli-linux-x64/bin/sayso"), InstallKind::Npm);
        assert_eq!(kind("/home/ada/.local/bin/sayso"), InstallKind::File);
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| InstallKind::of(&dir.path().join(name), &Environment::from_pairs([("HOME", "/home/ada")]));
        std::fs::create_dir_all(dir.path().join("venv/lib/python3.12/site-packages/sayso_cli-0.1.0.dist-info")).unwrap();
        assert_eq!(at("venv/bin/sayso"), InstallKind::Python);
        std::fs::create_dir_all(dir.path().join("target/debug")).unwrap();
        for mark in ["CACHEDIR.TAG", ".rustc_info.json"] {
            std::fs::write(dir.path().join("target").join(mark), "").unwrap();
        }
        assert_eq!(at("target/debug/sayso"), InstallKind::Source);
    }

    #[test]
    fn an_empty_variable_is_not_set() {
        assert!(is_set(Some("1")));
        assert!(!is_set(Some("")));
        assert!(!is_set(None));
    }

    #[test]
    fn no_registry_is_named_before_the_packages_are_published() {
        for kind in [InstallKind::Npm, InstallKind::Python] {
            assert_eq!(kind.upgrade().contains("latest") || kind.upgrade().contains("sayso["), IS_PUBLISHED);
        }
    }
}
