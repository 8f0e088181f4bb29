//! Arguments of `sayso policy` and `sayso workflow`.

use std::path::PathBuf;

use clap::Subcommand;

use super::values::Label;

/// Arguments of `sayso policy …`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum PolicyAction {
    /// Edit your policy in your editor, then check it
    Edit,
    /// Check a policy file
    Check {
        /// Policy file to check [default: yours]
        file: Option<PathBuf>,
    },
    /// Explain what the policy decides about an ask, and why
    Explain {
        /// ID of the ask, or any unique suffix of it
        id: String,
    },
    /// Show what a policy file would decide about past and pending asks
    Test {
        /// Policy file to test
        file: PathBuf,
        /// Number of past asks to include
        #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
        history: u32,
    },
    /// Trust the current .sayso.toml of a project
    Trust {
        /// Directory of the project
        dir: PathBuf,
    },
}

/// Arguments of `sayso workflow …`.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum WorkflowAction {
    /// Run a workflow here and answer its asks
    #[command(after_help = "Exit code: 0 completed, 3 cancelled, 1 failed or error.")]
    Run {
        /// Workflow file
        file: PathBuf,
        /// Set an input of the run; can be repeated
        #[arg(long = "input", value_name = "NAME=VALUE")]
        inputs: Vec<Label>,
        /// Working directory of its agents, unless the file sets one [default: this directory]
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
        /// Attach a label; can be repeated
        #[arg(long = "label", value_name = "KEY=VALUE")]
        labels: Vec<Label>,
        /// Print the ID and exit without following the run
        #[arg(long)]
        detach: bool,
    },
    /// Check a workflow file and describe each step
    Check {
        /// Workflow file
        file: PathBuf,
    },
    /// List runs
    List {
        /// Include finished runs
        #[arg(long)]
        all: bool,
    },
    /// Show a run, its steps and its pending asks
    Show {
        /// ID of the run, or any unique suffix of it
        id: String,
    },
    /// Cancel a run and stop its agents
    Cancel {
        /// ID of the run, or any unique suffix of it
        id: String,
    },
}
