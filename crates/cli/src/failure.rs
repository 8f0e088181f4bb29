//! The error type of commands: what went wrong, what to do next, and the exit code.

use std::fmt;

use sayso_client::api::error::ErrorCode;
use sayso_client::{DiscoverError, Error, FindError, PathsError};

use crate::sanitize;
use crate::words;

pub(crate) mod exit {
    /// The command failed.
    pub(crate) const ERROR: u8 = 1;
    /// Invalid command line; `clap` uses the same code.
    pub(crate) const USAGE: u8 = 2;
    /// A person said no.
    pub(crate) const NO: u8 = 3;
    /// No answer before the deadline.
    pub(crate) const NO_ANSWER: u8 = 4;
    /// Interrupted with Ctrl-C.
    pub(crate) const INTERRUPTED: u8 = 130;
}

/// An expected error, which is printed for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What happened, as a sentence.
    pub(crate) what: String,
    /// What to do next, as a sentence.
    pub(crate) next: Option<String>,
    /// Error code of the server, for programs.
    pub(crate) code: Option<ErrorCode>,
    pub(crate) exit: u8,
}

impl Failure {
    /// Creates an error with the general exit code.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), next: None, code: None, exit: exit::ERROR }
    }

    /// Creates an error for a command line that clap accepts but that makes no sense.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self { exit: exit::USAGE, ..Self::new(what) }
    }

    /// Creates an error for a failed system call.
    pub(crate) fn io(what: &str, error: &std::io::Error) -> Self {
        Self::new(format!("{what}: {error}."))
    }

    /// Creates an error from an error of another crate, with all its causes.
    pub(crate) fn caused(what: &str, error: &dyn std::error::Error) -> Self {
        let mut text = what.to_owned();
        for cause in std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string) {
            // Some errors already include the text of their cause.
            if !text.contains(&cause) {
                text = format!("{text}: {cause}");
            }
        }
        Self::new(format!("{}.", text.trim_end_matches('.')))
    }

    /// Adds the next step.
    pub(crate) fn then(self, next: impl Into<String>) -> Self {
        Self { next: Some(next.into()), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.next {
            Some(next) => write!(f, "\n{next}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

impl From<PathsError> for Failure {
    fn from(error: PathsError) -> Self {
        Self::from(&error)
    }
}

impl From<&PathsError> for Failure {
    fn from(error: &PathsError) -> Self {
        match error {
            PathsError::NoHome => Self::new(format!("{error}.")).then("Set HOME, or both XDG_STATE_HOME and XDG_CONFIG_HOME."),
            PathsError::NotOurs { .. } => Self::new(format!("{error}.")),
            PathsError::Io { path, source } => Self::io(&format!("Cannot create {}", path.display()), source)
                .then("Make the parent directory writable, or choose another directory: --data-dir for data, XDG_RUNTIME_DIR for sockets."),
        }
    }
}

impl From<FindError> for Failure {
    fn from(error: FindError) -> Self {
        // The error quotes an argument, which may have been pasted from anywhere.
        let what = sentence(&sanitize::line(&error.to_string()));
        match error {
            FindError::None { what: "session", .. } => Self::new(what).then("List sessions with: sayso sessions --all"),
            FindError::None { .. } => Self::new(what).then("List pending asks with: sayso ls"),
            FindError::Several { candidates, .. } => {
                let lines: Vec<String> =
                    candidates.iter().map(|(id, subject)| format!("  {id}  {}", sanitize::line(subject))).collect();
                Self::new(what).then(format!("Type more of the ID:\n{}", lines.join("\n")))
            }
        }
    }
}

impl From<DiscoverError> for Failure {
    fn from(error: DiscoverError) -> Self {
        match &error {
            DiscoverError::NoServer { .. } => no_server(),
            DiscoverError::AgentShell { .. } => {
                Self::new(sentence(&error.to_string())).then("To ask a person, an agent uses its own token in SAYSO_AGENT_TOKEN.")
            }
            DiscoverError::Paths(error) => Self::from(error),
            DiscoverError::NoToken { .. } | DiscoverError::Unreadable { .. } => {
                Self::new(sentence(&error.to_string())).then("Check the installation with: sayso doctor")
            }
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = error.code();
        let failure = match error {
            Error::Find(error) => error.into(),
            Error::Discover(error) => error.into(),
            Error::Unreachable { url, source } if url.starts_with("https:") => {
                let why = sanitize::line(&deepest(&source).to_string());
                Self::new(format!("Cannot reach the server at {url}: {}", sentence(&why)))
                    .then("This system must trust the server's certificate. You can set SSL_CERT_FILE to a file with more certificates.")
            }
            Error::Unreachable { url, .. } => Self { what: format!("Cannot reach the server at {url}."), ..no_server() },
            Error::Api(ref problem) => match problem.code {
                ErrorCode::AskAlreadyResolved => {
                    let outcome = error.already_resolved().map_or_else(|| problem.detail.clone(), words::outcome);
                    Self::new(format!("Not sent. {outcome}"))
                }
                ErrorCode::Unauthorized => {
                    Self::new("The server does not accept this token.").then("Check the installation with: sayso doctor")
                }
                ErrorCode::InvalidAnswers if !problem.problems.is_empty() => {
                    let reasons: Vec<String> = problem.problems.iter().map(|one| sanitize::line(&one.reason)).collect();
                    Self::new(format!("Not sent: {}.", reasons.join("; "))).then("Change your answer and send it again.")
                }
                ErrorCode::AskPending => {
                    Self::new(sentence(&sanitize::line(&problem.detail))).then("Answer it first: sayso next")
                }
                _ => Self::new(sentence(&sanitize::line(&problem.detail))),
            },
            other => Self::new(sentence(&sanitize::line(&other.to_string()))),
        };
        Self { code, ..failure }
    }
}

/// Returns the root cause of an error.
fn deepest(error: &dyn std::error::Error) -> &dyn std::error::Error {
    std::iter::successors(Some(error), |error| error.source()).last().unwrap_or(error)
}

/// The error for commands that need a running server.
pub(crate) fn no_server() -> Failure {
    Failure::new("No server is running.").then("Start one with: sayso serve")
}

/// Turns a lower-case fragment into a sentence.
fn sentence(fragment: &str) -> String {
    let mut characters = fragment.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if fragment.ends_with(['.', '?', ':']) { "" } else { "." };
    format!("{first}{}{end}", characters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_suffix_lists_all_candidates() {
        let error = FindError::Several {
            what: "ask",
            suffix: "2a".into(),
            candidates: vec![("ask_112a".into(), "Which\u{1b}[2J?".into()), ("ask_772a".into(), "Run it".into())],
        };
        let failure = Failure::from(error);
        assert_eq!(
            failure.to_string(),
            "Several asks have an id that ends in 2a.\nType more of the ID:\n  ask_112a  Which<U+001B>[2J?\n  ask_772a  Run it"
        );
        assert_eq!(failure.exit, exit::ERROR);
    }

    #[test]
    fn agent_shell_error_says_that_a_person_must_run_this() {
        let failure = Failure::from(DiscoverError::AgentShell { marker: "CLAUDECODE".into() });
        assert_eq!(failure.what, "This shell belongs to an agent (CLAUDECODE is set); a person must run this.");
    }

    #[test]
    fn directories_that_cannot_be_created_name_the_cause_and_the_next_step() {
        let error = || PathsError::Io { path: "/mnt/sayso".into(), source: std::io::ErrorKind::ReadOnlyFilesystem.into() };
        let expected = "Cannot create /mnt/sayso: read-only filesystem or storage medium.\n\
            Make the parent directory writable, or choose another directory: --data-dir for data, XDG_RUNTIME_DIR for sockets.";
        assert_eq!(Failure::from(error()).to_string(), expected);
        assert_eq!(Failure::from(DiscoverError::Paths(error())).to_string(), expected);
    }
}
