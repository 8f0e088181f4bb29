//! The command-line parser, with a help text that groups the commands.

use std::ffi::OsString;
use std::io::Write as _;

use clap::{CommandFactory as _, FromArgMatches as _};

use super::Args;
use crate::sanitize;

/// The groups and their commands, in display order.
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

/// Builds the parser.
pub(crate) fn command() -> clap::Command {
    let command = Args::command();
    let mut help = String::from("{about}\n\nUsage: sayso [OPTIONS] [COMMAND]\n\nWith no command, opens your inbox.\n");
    for (group, names) in GROUPS {
        help.push_str(&format!("\n{group}\n"));
        for name in *names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about).map(ToString::to_string);
            help.push_str(&format!("  {name:<12} {}\n", about.unwrap_or_default()));
        }
    }
    help.push_str("\nOptions\n{options}\n\nAny unique suffix of an ID works, for example 4f2a.");
    command.help_template(help)
}

/// Parses the command line of this process. Prints an error and ends the process if it is invalid.
pub(crate) fn parse() -> Args {
    let parsed = command().try_get_matches().and_then(|matches| Args::from_arg_matches(&matches));
    parsed.unwrap_or_else(|error| refuse(&error))
}

/// Prints an error, help or version of clap and ends the process. Errors repeat arguments, and arguments may have been
/// pasted from anywhere, so control sequences in them are escaped.
pub(crate) fn refuse(error: &clap::Error) -> ! {
    let is_plain = |argument: OsString| argument.to_str().is_some_and(|text| sanitize::text(text) == text);
    if !error.use_stderr() || std::env::args_os().all(is_plain) {
        error.exit();
    }
    // Rendered without clap's own colors: after escaping, they could not be told apart from those of an argument.
    let text = sanitize::text(&error.render().to_string());
    // If standard error cannot be written, there is no other place to report it.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
    std::process::exit(error.exit_code())
}
