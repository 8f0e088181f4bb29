//! Interprets the exit of Claude's process.

use sayso_core::id::SessionId;

use super::launch::conversation_of;
use super::output::NO_CONVERSATION;
use super::state::{ClaudeProcess, Turn};
use crate::process::ExitedProcess;
use crate::translator::{AgentEvent, Exit};

/// Claude's error for a new conversation whose id already exists.
const IN_USE: &str = "is already in use";

const HOW_TO_INSTALL: &str = "Is `claude` installed? `npm install -g @anthropic-ai/claude-code` installs it";

/// The event that reports the end of the session.
pub(super) fn ended(process: &ClaudeProcess, conversation: &mut Option<String>, session: SessionId, exit: &Exit) -> AgentEvent {
    if process.lost || exit.message.contains(NO_CONVERSATION) {
        *conversation = None;
        let reason = "Claude Code no longer has this conversation, so it cannot be resumed".to_owned();
        return AgentEvent::Ended { reason, failed: true, resumable: false };
    }
    let ours = conversation_of(session);
    if exit.message.contains(IN_USE) && exit.message.contains(&ours) {
        // An earlier process exited before it reported the start of its conversation. That conversation can be
        // resumed.
        *conversation = Some(ours);
    }
    let (reason, failed) = reason(process, exit);
    AgentEvent::Ended { reason, failed, resumable: conversation.is_some() }
}

fn reason(process: &ClaudeProcess, exit: &Exit) -> (String, bool) {
    match (exit.code, exit.signal) {
        (Some(0), None) => ("Claude Code ended".to_owned(), false),
        // Claude reports an interrupted turn as an error, and the last turn determines the exit code.
        (Some(1), None) if process.turn == (Turn::Idle { cut_short: true }) => ("Claude Code ended".to_owned(), false),
        _ => (ExitedProcess { who: "Claude Code", heard: process.heard, hint: Some(HOW_TO_INSTALL) }.describe(exit), true),
    }
}

#[cfg(test)]
mod tests {
    use sayso_core::time::Time;

    use super::*;

    fn session() -> SessionId {
        SessionId::new(Time::from_millis(1_700_000_000_000), [7; 10])
    }

    fn end(process: &ClaudeProcess, known: bool, code: Option<i32>, signal: Option<i32>, message: &str) -> (String, bool, bool) {
        let mut conversation = known.then(|| "29acdebe-ba42-4810-bd75-2475241c67a6".to_owned());
        let exit = Exit { code, signal, message: message.to_owned() };
        let AgentEvent::Ended { reason, failed, resumable } = ended(process, &mut conversation, session(), &exit) else {
            panic!()
        };
        assert_eq!(resumable, conversation.is_some());
        (reason, failed, resumable)
    }

    #[test]
    fn exit_is_described_by_code_or_signal() {
        let heard = ClaudeProcess { heard: true, ..ClaudeProcess::default() };
        let said = |words: &str, failed, resumable| (words.to_owned(), failed, resumable);
        assert_eq!(end(&heard, true, Some(0), None, "x"), said("Claude Code ended", false, true));
        assert_eq!(end(&heard, false, Some(1), None, "boom\n"), said("Claude Code ended with exit code 1: boom", true, false));
        assert_eq!(end(&heard, true, None, Some(9), ""), said("Claude Code was ended by signal 9 (killed)", true, true));
        assert!(end(&heard, true, None, None, "").1);
    }

    #[test]
    fn exit_code_1_after_interrupted_turn_is_not_a_failure() {
        let cut_short = ClaudeProcess { heard: true, turn: Turn::Idle { cut_short: true }, ..ClaudeProcess::default() };
        assert_eq!(end(&cut_short, true, Some(1), None, "x"), ("Claude Code ended".to_owned(), false, true));
        assert!(end(&cut_short, true, Some(2), None, "").1);
    }

    #[test]
    fn missing_command_is_reported_with_install_hint() {
        let (reason, failed, resumable) =
            end(&ClaudeProcess::default(), false, None, None, "No such file or directory (os error 2)");
        assert_eq!(
            reason,
            "Claude Code could not be started: No such file or directory (os error 2). Is `claude` installed? \
             `npm install -g @anthropic-ai/claude-code` installs it"
        );
        assert!(failed && !resumable);
    }

    #[test]
    fn missing_conversation_is_not_resumable() {
        let lost = ClaudeProcess { lost: true, ..ClaudeProcess::default() };
        let said = "No conversation found with session ID: 29acdebe-ba42-4810-bd75-2475241c67a6";
        for (process, message) in [(&lost, ""), (&ClaudeProcess::default(), said)] {
            let (reason, failed, resumable) = end(process, true, Some(1), None, message);
            assert!(reason.contains("no longer has this conversation") && failed && !resumable, "{reason}");
        }
    }

    #[test]
    fn existing_conversation_is_resumable() {
        let message = format!("Error: Session ID {} is already in use.", conversation_of(session()));
        assert!(end(&ClaudeProcess::default(), false, Some(1), None, &message).2);
        assert!(!end(&ClaudeProcess::default(), false, Some(1), None, "Error: Session ID x is already in use.").2);
    }
}
