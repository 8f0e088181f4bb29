//! How this program was installed, and whether it is the one that the data directory belongs to.

mod kind;
mod owner;

use std::path::PathBuf;

pub(crate) use self::kind::InstallKind;
pub(crate) use self::owner::{compare, next_step, other_owner, record, require_owner};

use crate::app::App;
use crate::failure::Failure;

/// Where this program is, without links.
pub(crate) fn this_program() -> Result<PathBuf, Failure> {
    let exe = std::env::current_exe().map_err(|error| Failure::io("This program does not know where it is", &error))?;
    Ok(exe.canonicalize().unwrap_or(exe))
}

/// Refuses to write the path of this program into a file that outlives it, if it is in a cache.
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
