//! `sayso completions`: prints completions for bash, zsh, fish and other shells.

use crate::app::App;
use crate::args;
use crate::failure::Failure;

pub(crate) fn run(app: &App, shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "sayso", &mut script);
    app.out.write(&String::from_utf8_lossy(&script));
    Ok(())
}
