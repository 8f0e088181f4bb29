//! The parser of the command line, with the commands grouped in its help.

use std::ffi::OsString;
use std::io::Write as _;

use clap::{CommandFactory as _, FromArgMatches as _};

use super::Args;
use crate::sanitize;

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
            "man",
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
    let parsed = command().try_get_matches().and_then(|matches| Args::from_arg_matches(&matches));
    parsed.unwrap_or_else(|error| refuse(&error))
}

/// Prints the error, help or version, and ends the process. Arguments that a terminal would obey are printed as text:
/// errors repeat them, and they can be copied from anywhere.
pub(crate) fn refuse(error: &clap::Error) -> ! {
    let is_plain = |argument: OsString| argument.to_str().is_some_and(|text| sanitize::text(text) == text);
    if !error.use_stderr() || std::env::args_os().all(is_plain) {
        error.exit();
    }
    // Without clap's own colours, which nothing tells apart from those of an argument.
    let text = sanitize::text(&error.render().to_string());
    // When even this cannot be written there is nowhere left to say so.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
    std::process::exit(error.exit_code())
}
