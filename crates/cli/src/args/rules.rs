//! Arguments of `sayso policy` and `sayso workflow`.

use std::path::PathBuf;

use clap::Subcommand;

use super::values::Label;

/// `sayso policy …`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum PolicyAction {
    /// Edit your policy, then check it
    Edit,
    /// Check a policy file: yours, if none is named
    Check {
        /// The file
        file: Option<PathBuf>,
    },
    /// Say what the policy does to an ask, and why
    Explain {
        /// The ask: its id, or the end of it
        id: String,
    },
    /// Say what a policy file would do to past and pending asks
    Test {
        /// The file
        file: PathBuf,
        /// How many past asks
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
        history: u32,
    },
    /// Trust the .sayso.toml of a project as it is now
    Trust {
        /// The project
        dir: PathBuf,
    },
}

/// `sayso workflow …`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum WorkflowAction {
    /// Run a workflow here and answer it
    #[command(after_help = "Exit code: 0 completed, 3 cancelled, 1 failed or error.")]
    Run {
        /// The file
        file: PathBuf,
        /// What the run is given, may be repeated
        #[arg(long = "input", value_name = "NAME=VALUE")]
        inputs: Vec<Label>,
        /// Where its agents work, unless the file says otherwise (this directory)
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
        /// A label, may be repeated
        #[arg(long = "label", value_name = "KEY=VALUE")]
        labels: Vec<Label>,
        /// Print the id and do not follow it
        #[arg(long)]
        detach: bool,
    },
    /// Say what is wrong with a file, or what each step does on a question
    Check {
        /// The file
        file: PathBuf,
    },
    /// List runs
    List {
        /// List those that are over, too
        #[arg(long)]
        all: bool,
    },
    /// Show a run, its steps and what it waits for
    Show {
        /// The run: its id, or the end of it
        id: String,
    },
    /// End a run and its agents
    Cancel {
        /// The run: its id, or the end of it
        id: String,
    },
}
