//! The owner of a data directory: the installed program that starts and upgrades its server. Two programs on one machine, such as
//! an installed one and one that npx runs, must not restart each other's server, and the newer one must not upgrade the
//! database to a version that the other cannot read.
//!
//! `sayso serve` writes its path and version to `program.json` in the data directory. Another program uses the server that runs
//! and never replaces it. It starts a server only if it is not newer than the owner. The owner changes when its file is deleted,
//! or when a person runs `sayso restart --take-over` or `sayso service install`.

use std::cmp::Ordering;
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use sayso_client::ServerFile;
use serde::{Deserialize, Serialize};

use super::{InstallKind, this_program};
use crate::app::App;
use crate::failure::Failure;
use crate::{sanitize, service, sys};

/// The version of this program.
const OURS: &str = env!("CARGO_PKG_VERSION");

/// An installed program and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstalledProgram {
    /// The path without symbolic links.
    pub(crate) program: PathBuf,
    /// Unknown if an earlier version, which wrote no record, started the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
}

impl InstalledProgram {
    /// The path for messages.
    pub(crate) fn display_path(&self) -> String {
        sanitize::line(&self.program.to_string_lossy())
    }

    /// ` (version 0.1.0)`, or nothing.
    pub(crate) fn display_version(&self) -> String {
        self.version.as_deref().map(|version| format!(" (version {})", sanitize::line(version))).unwrap_or_default()
    }
}

fn record_path(app: &App) -> PathBuf {
    app.paths.data_dir.join("program.json")
}

/// Returns the owner of the data directory if it is another program whose file still exists.
pub(crate) fn other_owner(app: &App) -> Option<InstalledProgram> {
    let ours = this_program().ok()?;
    let known = recorded(app).or_else(|| of_service(app)).or_else(|| of_server(app))?;
    let real = known.program.canonicalize().ok()?;
    (real != ours && is_executable(&real)).then_some(known)
}

fn recorded(app: &App) -> Option<InstalledProgram> {
    serde_json::from_str(&std::fs::read_to_string(record_path(app)).ok()?).ok()
}

/// Earlier versions wrote no record, but the service file names its program.
fn of_service(app: &App) -> Option<InstalledProgram> {
    Some(InstalledProgram { program: service::program(app)?, version: None })
}

/// Returns the program of the running server.
fn of_server(app: &App) -> Option<InstalledProgram> {
    let server = ServerFile::read(&app.paths.server_file()).ok().flatten()?;
    let found = sys::program_of(server.pid)?;
    Some(InstalledProgram { program: found.path, version: Some(server.version) })
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Refuses to start a server that would upgrade the database of another program.
pub(crate) fn require_owner(app: &App) -> Result<(), Failure> {
    let Some(other) = other_owner(app) else { return Ok(()) };
    let is_newer = match &other.version {
        Some(version) => compare(OURS, version) == Some(Ordering::Greater),
        None => false,
    };
    if !is_newer {
        return Ok(());
    }
    let program = other.display_path();
    let what = format!(
        "The data in {} belongs to {program}{}. This program is version {OURS}: its server would upgrade the database, and {program} could not use it any more.",
        app.paths.data_dir.display(),
        other.display_version()
    );
    Err(Failure::new(what).then(next_step(app, &program)))
}

/// Explains what a person can do if another program owns the data.
pub(crate) fn next_step(app: &App, program: &str) -> String {
    let is_temporary =
        this_program().is_ok_and(|path| matches!(InstallKind::of(&path, &app.environment), InstallKind::Temporary(_)));
    let upgrade = format!("Upgrade {program}, or use it: {program} restart");
    if is_temporary { upgrade } else { format!("{upgrade}. To use this program from now on: sayso restart --take-over") }
}

/// Records this program as the owner of the data directory. A program in a cache never becomes the owner, because the cache may be
/// cleared.
pub(crate) fn record(app: &App) -> Result<(), Failure> {
    let program = this_program()?;
    if matches!(InstallKind::of(&program, &app.environment), InstallKind::Temporary(_)) {
        return Ok(());
    }
    let owner = InstalledProgram { program, version: Some(OURS.to_owned()) };
    if recorded(app).as_ref() == Some(&owner) {
        return Ok(());
    }
    let path = record_path(app);
    let failed = |error: std::io::Error| Failure::io(&format!("{} cannot be written", path.display()), &error);
    let text = serde_json::to_string(&owner).map_err(|error| failed(error.into()))?;
    // Written atomically, so that other processes read either the old or the new record.
    let part = path.with_extension(format!("part-{}", std::process::id()));
    let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    std::fs::rename(&part, &path).map_err(failed)
}

/// Compares two versions. `None` if one of them is not numeric.
pub(crate) fn compare(left: &str, right: &str) -> Option<Ordering> {
    let numbers = |version: &str| -> Option<Vec<u64>> {
        let plain = version.split(['-', '+']).next()?;
        plain.split('.').map(|number| number.parse().ok()).collect()
    };
    Some(numbers(left)?.cmp(&numbers(right)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert_eq!(compare("0.10.0", "0.9.9"), Some(Ordering::Greater));
        assert_eq!(compare("0.0.99-rc.1", "0.1.0"), Some(Ordering::Less));
        assert_eq!(compare("1.2.3+a", "1.2.3"), Some(Ordering::Equal));
        for unknown in ["", "dev", "0.x.1"] {
            assert_eq!(compare(unknown, "0.1.0"), None, "{unknown}");
        }
    }
}
