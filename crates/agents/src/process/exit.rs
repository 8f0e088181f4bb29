//! Describes the exit of a process for people.

use sayso_core::limits;

use crate::translator::Exit;

/// Maximum length of the quoted stderr output in bytes.
const WORDS: usize = 2048;

/// A process that exited.
pub(crate) struct ExitedProcess<'a> {
    /// The agent's product name.
    pub(crate) who: &'a str,
    /// Whether the process has written any output.
    pub(crate) heard: bool,
    /// Advice for a process that could not be started: a sentence without its full stop.
    pub(crate) hint: Option<&'a str>,
}

impl ExitedProcess<'_> {
    /// Describes how the process ended, with its last stderr output.
    pub(crate) fn describe(&self, exit: &Exit) -> String {
        let who = self.who;
        let how = match (exit.code, exit.signal) {
            (None, None) if self.heard => format!("{who} ended, and its exit status is unknown"),
            (None, None) => format!("{who} could not be started"),
            (_, Some(signal)) => format!("{who} was ended by {}", named(signal)),
            // The exit codes that a shell uses for signals.
            (Some(code @ (130 | 143)), None) => format!("{who} was ended by {}", named(code - 128)),
            (Some(0), None) => format!("{who} ended"),
            (Some(code), None) => format!("{who} ended with exit code {code}"),
        };
        let words = limits::tail(exit.message.trim(), WORDS).trim();
        let told = if words.is_empty() { how } else { format!("{how}: {words}") };
        match (exit.code, exit.signal, self.hint) {
            (None, None, Some(hint)) if !self.heard => format!("{told}. {hint}"),
            _ => told,
        }
    }
}

fn named(signal: i32) -> String {
    let name = match signal {
        1 => " (hang-up)",
        2 => " (interrupted)",
        6 => " (aborted)",
        9 => " (killed)",
        11 => " (crashed)",
        15 => " (terminated)",
        _ => "",
    };
    format!("signal {signal}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(heard: bool, code: Option<i32>, signal: Option<i32>, message: &str) -> String {
        ExitedProcess { who: "it", heard, hint: Some("Is it installed?") }.describe(&Exit {
            code,
            signal,
            message: message.to_owned(),
        })
    }

    #[test]
    fn exit_is_described_by_code_or_signal() {
        assert_eq!(describe(true, Some(0), None, ""), "it ended");
        assert_eq!(describe(true, Some(1), None, "boom\n"), "it ended with exit code 1: boom");
        assert_eq!(describe(true, None, Some(9), ""), "it was ended by signal 9 (killed)");
        assert_eq!(describe(true, Some(143), None, ""), "it was ended by signal 15 (terminated)");
        assert_eq!(describe(true, None, Some(64), ""), "it was ended by signal 64");
        assert_eq!(describe(true, None, None, "no exit record"), "it ended, and its exit status is unknown: no exit record");
        assert_eq!(describe(false, None, None, "not found"), "it could not be started: not found. Is it installed?");
    }

    #[test]
    fn stderr_in_exit_description_is_truncated() {
        assert!(describe(true, Some(1), None, &"ä".repeat(1_000_000)).len() < 2 * WORDS);
    }
}
