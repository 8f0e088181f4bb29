//! Messages to agents when no person chose the words. They are in one table so that a timeout, a denial and a withdrawal read
//! differently to the model.

use std::time::Duration;

use crate::ask::Question;
use crate::time::in_words;

/// The refusal for agents whose permission mode and model are fixed when they start.
pub const SETTINGS_FIXED: &str = "This agent cannot change its permission mode or model while a session runs. Start a new session with the ones that you want.";

/// A person rejected a question without a message.
pub const REJECTED: &str = "The user declined to answer. Go on with your best judgement, or ask differently.";
/// A policy rejected a question.
pub const REJECTED_BY_POLICY: &str = "Nobody is available to answer questions (by policy). Go on with your best judgement.";
/// A person denied a tool without a message.
pub const DENIED: &str = "User denied tool execution";
/// A person approved a command, but a file that it executes changed before the agent got the approval.
pub const DENIED_CONTENT_CHANGED: &str =
    "A file that this command executes changed after the user approved it, so the approval does not apply. Ask again.";
/// Tells people why such an approval was not delivered.
pub const WITHHELD: &str =
    "A file that the command executes changed after you approved it. The agent was denied and can ask again.";
/// A policy denied a tool.
pub const DENIED_BY_POLICY: &str = "Tool use denied by the user's policy";
/// A person did not open a link.
pub const LINK_DENIED: &str = "The user did not open the link";
pub const WITHDRAWN_INTERRUPTED: &str = "The turn was interrupted.";
/// The agent exited while the ask was pending.
pub const WITHDRAWN_AGENT_GONE: &str = "The agent is gone.";
pub const WITHDRAWN_CLOSED: &str = "The session was closed.";
/// The person decided in the terminal of the agent.
pub const WITHDRAWN_ELSEWHERE: &str = "It was answered in the terminal.";
/// The turn of the ask ended in the terminal of the agent.
pub const WITHDRAWN_TURN_OVER: &str = "The turn went on in the terminal.";
/// The external agent exited.
pub const WITHDRAWN_EXTERNAL_ENDED: &str = "The agent has ended.";
/// Delivery reason: the agent was answered in its terminal before the outcome arrived.
pub const TERMINAL_WAS_FIRST: &str = "The terminal was first; this did not reach the agent.";
/// The refusal of messages and commands to external agents.
pub const EXTERNAL: &str = "this agent runs in your own terminal; talk to it there";
/// The caller disconnected and did not come back.
pub const WITHDRAWN_CALLER_GONE: &str = "The agent no longer waits for it.";
/// The caller withdrew its ask.
pub const WITHDRAWN_BY_CALLER: &str = "The caller withdrew it.";

/// A group ended and no worker resumed its run.
pub const RUN_NOT_RESUMED: &str = "The run that asked was not resumed.";
/// A worker reported late that it resumed an uncertain run.
pub const RUN_WAS_RESUMED: &str = "The worker has reported that it resumed the run.";
/// Delivery reason: the agent exited before the outcome was sent.
pub const AGENT_GONE_NOTHING_SENT: &str = "The agent is gone; nothing was sent.";

/// Delivery reason: the session was stopped before the approval was sent.
pub const INTERRUPTED_BEFORE_APPROVAL: &str = "The turn was interrupted before the approval arrived.";

/// Delivery reason: the agent's process ended while the outcome was being sent.
pub const AGENT_GONE_NOT_CERTAIN: &str = "The agent ended before it was certain that this reached it.";

/// Writes the answers to a parked question as a message to the resumed agent.
#[must_use]
pub fn follow_up(questions: &[Question], answers: &[Vec<String>], note: Option<&str>) -> String {
    let mut text = String::from("Before this session was interrupted you asked, and here is the answer:\n");
    for (question, entries) in questions.iter().zip(answers) {
        let answer = if entries.is_empty() { "(no answer)".to_owned() } else { entries.join(", ") };
        text.push_str(&format!("\n{}\n→ {answer}\n", question.text));
    }
    if let Some(note) = note {
        text.push_str(&format!("\n{note}\n"));
    }
    text
}

/// No person answered a question before its deadline.
#[must_use]
pub fn question_timed_out(after: Duration) -> String {
    format!("User did not respond within {}", in_words(after))
}

/// No person decided an approval before its deadline.
#[must_use]
pub fn approval_timed_out(after: Duration) -> String {
    format!("Tool approval timed out after {}", in_words(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeout_texts_contain_the_actual_duration() {
        assert_eq!(question_timed_out(Duration::from_secs(600)), "User did not respond within 10 minutes");
        assert_eq!(approval_timed_out(Duration::from_secs(600)), "Tool approval timed out after 10 minutes");
        assert_eq!(question_timed_out(Duration::from_secs(90)), "User did not respond within 1 minute 30 seconds");
        assert_eq!(DENIED, "User denied tool execution");
    }
}
