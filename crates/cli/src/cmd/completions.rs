//! `sayso completions` and `sayso man`: print shell completions and write manual pages.

use std::path::Path;

use clap_complete::env::Shells;

use crate::app::App;
use crate::args;
use crate::completion::VARIABLE;
use crate::failure::Failure;

/// Prints a completion script. The script calls `sayso`, which completes commands and the IDs of pending asks and sessions.
pub(crate) fn run(app: &App, shell: clap_complete::Shell) -> Result<(), Failure> {
    let name = shell.to_string();
    let mut script = Vec::new();
    let completer = Shells::builtins();
    let completer = completer.completer(&name).ok_or_else(|| Failure::new(format!("There are no completions for {name}.")))?;
    completer
        .write_registration(VARIABLE, "sayso", "sayso", "sayso", &mut script)
        .map_err(|error| Failure::io("The completions cannot be written", &error))?;
    app.out.write(&String::from_utf8_lossy(&script));
    Ok(())
}

/// Writes one manual page for `sayso` and one for each command into a directory.
pub(crate) fn man(app: &App, directory: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::io(&format!("{} cannot be written", directory.display()), &error);
    std::fs::create_dir_all(directory).map_err(failed)?;
    clap_mangen::generate_to(args::command(), directory).map_err(failed)?;
    let pages = std::fs::read_dir(directory).map_err(failed)?.count();
    let value = serde_json::json!({ "directory": directory, "pages": pages });
    app.out.result(&value, || format!("Wrote {pages} manual pages to {}", directory.display()))
}
