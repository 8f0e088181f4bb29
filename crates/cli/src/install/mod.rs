//! How this program was installed, and whether it owns the data directory.

mod kind;
mod owner;

use std::path::PathBuf;

pub(crate) use self::kind::InstallKind;
pub(crate) use self::owner::{compare, next_step, other_owner, record, require_owner};

use crate::app::App;
use crate::failure::Failure;

/// Returns the path of this program, without symbolic links.
pub(crate) fn this_program() -> Result<PathBuf, Failure> {
    let exe = std::env::current_exe().map_err(|error| Failure::io("Cannot find the path of this program", &error))?;
    Ok(exe.canonicalize().unwrap_or(exe))
}

/// Fails if this program is in a cache, because its path must not be written to files that outlive it.
pub(crate) fn require_lasting_program(app: &App, what: &str) -> Result<(), Failure> {
    let path = this_program()?;
    match InstallKind::of(&path, &app.environment) {
        InstallKind::Temporary(tool) => Err(Failure::new(format!(
            "{} is in the cache of {tool}, which may remove it at any time. {what} would stop working without a message.",
            path.display()
        ))
        .then("Install Sayso first, then run this again with the installed program.")),
        InstallKind::Npm
        | InstallKind::Python
        | InstallKind::Deb
        | InstallKind::Image
        | InstallKind::Source
        | InstallKind::File => Ok(()),
    }
}
