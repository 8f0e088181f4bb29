//! The parser of the command line, with the commands grouped in its help.

use clap::{CommandFactory as _, FromArgMatches as _};

use super::Args;

/// The commands by what they are for, in the order in which they are shown.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("Answer", &["inbox", "next", "ls", "show", "history", "answer", "approve", "deny", "reject", "snooze"]),
    ("Agents", &["start", "connect", "disconnect", "sessions", "agents"]),
    ("Scripts", &["ask"]),
    ("Rules", &["policy", "allow", "away"]),
    ("Flows", &["workflow"]),
    (
        "Server",
        &[
            "serve",
            "status",
            "restart",
            "stop",
            "logs",
            "doctor",
            "notify",
            "service",
            "phone",
            "token",
            "login",
            "backup",
            "uninstall",
            "completions",
        ],
    ),
    ("Programs", &["hook", "mcp", "acp", "mock-agent"]),
];

/// The parser, with the commands grouped in its help.
pub(crate) fn command() -> clap::Command {
    let command = Args::command();
    let mut help = String::from("{about}\n\nUsage: sayso [OPTIONS] [COMMAND]\n\nWithout a command: what waits for you.\n");
    for (group, names) in GROUPS {
        help.push_str(&format!("\n{group}\n"));
        for name in *names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about).map(ToString::to_string);
            help.push_str(&format!("  {name:<12} {}\n", about.unwrap_or_default()));
        }
    }
    help.push_str("\nOptions\n{options}\n\nAn ID is the end of one that only one ask or session has: …4f2a is 4f2a.");
    command.help_template(help)
}

/// Reads the command line of this process; says what is wrong with it and ends the process if it is.
pub(crate) fn parse() -> Args {
    let matches = command().get_matches();
    Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}
