//! Converts the events of a session to text for a terminal. Pure: events in, pieces out.

use std::collections::BTreeSet;

use sayso_client::api::ask::{Ask, AskStatus};
use sayso_client::api::event::{Event, FeedEvent, MessageBlock, MessageRole, ToolCallStatus};
use sayso_client::api::session::SessionStatus;

use crate::output::{Look, Style};
use crate::sanitize;
use crate::words;

/// What an event means for the terminal that follows a session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    /// Text to print unchanged.
    Text(String),
    /// Id of a new pending ask.
    Asked(String),
    /// The session has a new status.
    Status(SessionStatus),
    Ended {
        /// Why the session ended.
        reason: Option<String>,
        /// True if the session failed.
        failed: bool,
    },
}

/// State for following one session.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    /// Text of the current message that was already printed.
    streamed: String,
    /// True if the last printed line has no newline yet.
    within_line: bool,
    /// Asks that were decided here. Their outcome is already on the screen.
    decided_here: BTreeSet<String>,
    /// Messages that were sent from here. They are not printed again.
    said_here: Vec<String>,
}

impl Follower {
    /// Records that this ask was decided here.
    pub(crate) fn decided(&mut self, id: &str) {
        self.decided_here.insert(id.to_owned());
    }

    /// Records that this message was sent from here.
    pub(crate) fn hide_message(&mut self, text: &str) {
        self.said_here.push(text.to_owned());
    }

    /// Returns a newline if the last line is unfinished.
    pub(crate) fn end_line(&mut self) -> &'static str {
        if std::mem::take(&mut self.within_line) { "\n" } else { "" }
    }

    /// Converts one event; `None` if it prints nothing.
    pub(crate) fn render_event(&mut self, event: &FeedEvent, look: &Look) -> Option<Piece> {
        match &event.event {
            Event::MessageDelta(delta) => {
                self.streamed.push_str(&delta.text);
                Some(self.text(&sanitize::text(&delta.text)))
            }
            Event::MessageCompleted(message) => self.message(message, look),
            Event::ToolStarted(tool) => {
                let name = sanitize::line(&tool.name);
                Some(self.own_line(&look.paint(Style::Dim, &format!("[{name}]"))))
            }
            Event::ToolCompleted(tool) => {
                let failed = tool.status == ToolCallStatus::Error;
                let name = failed.then(|| sanitize::line(&tool.name))?;
                Some(self.own_line(&look.paint(Style::Bad, &format!("[{name}] failed"))))
            }
            Event::QuestionRequested(asked) | Event::ApprovalRequested(asked) | Event::LinkRequested(asked) => {
                Some(Piece::Asked(asked.ask.id.clone()))
            }
            Event::QuestionResolved(decided) | Event::ApprovalResolved(decided) | Event::LinkResolved(decided) => {
                self.resolved(&decided.ask, look)
            }
            Event::SessionStatus(changed) => Some(Piece::Status(changed.status)),
            Event::SessionEnded(changed) => {
                let failed = changed.status == SessionStatus::Failed;
                Some(Piece::Ended { reason: changed.reason.clone(), failed })
            }
            Event::Notice(notice) => Some(self.own_line(&look.paint(Style::Dim, sanitize::text(&notice.text).trim_end()))),
            Event::Error(error) => Some(self.own_line(&look.paint(Style::Bad, sanitize::text(&error.text).trim_end()))),
            // Not shown while following one session.
            Event::AskParked(_)
            | Event::AskSnoozed(_)
            | Event::AskDelivery(_)
            | Event::SessionCreated(_)
            | Event::ToolUpdated(_)
            | Event::PolicyChanged(_)
            | Event::RunStarted(_)
            | Event::RunCompleted(_)
            | Event::RunFailed(_)
            | Event::RunCancelled(_)
            | Event::StepStarted(_)
            | Event::StepCompleted(_)
            | Event::StepFailed(_)
            | Event::StepCancelled(_)
            | Event::AgentQuestionAsked(_)
            | Event::AgentQuestionAnswered(_) => None,
        }
    }

    fn message(&mut self, message: &MessageBlock, look: &Look) -> Option<Piece> {
        let text = &message.text;
        if message.role == MessageRole::User {
            if let Some(at) = self.said_here.iter().position(|said| said == text) {
                self.said_here.remove(at);
                return None;
            }
            return Some(self.own_line(&look.paint(Style::Dim, &format!("> {}", sanitize::text(text.trim_end())))));
        }
        let streamed = std::mem::take(&mut self.streamed);
        // Streamed text is already on the screen. After a lost connection a part of it is missing.
        let rest = match text.strip_prefix(streamed.as_str()) {
            Some(rest) => sanitize::text(rest),
            // The stored version of an interrupted message lacks trailing white space.
            None if streamed.starts_with(text) => String::new(),
            None => format!("{}{}", self.end_line(), sanitize::text(text)),
        };
        if !rest.is_empty() {
            self.within_line = !rest.ends_with('\n');
        }
        let whole = format!("{rest}{}", self.end_line());
        (!whole.is_empty()).then_some(Piece::Text(whole))
    }

    fn resolved(&mut self, ask: &Ask, look: &Look) -> Option<Piece> {
        if self.decided_here.remove(&ask.id) || ask.status == AskStatus::Pending {
            return None;
        }
        let line = format!("{} {}: {}", words::sign(ask, look), words::subject(ask), words::outcome(ask.outcome.as_ref()?));
        Some(self.own_line(&line))
    }

    fn text(&mut self, text: &str) -> Piece {
        if !text.is_empty() {
            self.within_line = !text.ends_with('\n');
        }
        Piece::Text(text.to_owned())
    }

    fn own_line(&mut self, line: &str) -> Piece {
        Piece::Text(format!("{}{line}\n", self.end_line()))
    }
}

/// Returns the id of the ask that an event opens.
pub(crate) fn opened_ask_id(event: &FeedEvent) -> Option<String> {
    if let Event::QuestionRequested(asked) | Event::ApprovalRequested(asked) | Event::LinkRequested(asked) = &event.event {
        return Some(asked.ask.id.clone());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{feed_event, look, question_ask};
    use serde_json::{Value, json};
    fn printed(follower: &mut Follower, events: &[(&'static str, Value)]) -> String {
        let mut out = String::new();
        for (kind, data) in events {
            if let Some(Piece::Text(text)) = follower.render_event(&feed_event(kind, data), &look()) {
                out.push_str(&text);
            }
        }
        out
    }

    #[test]
    fn streamed_text_is_printed_once() {
        let whole = json!({"role": "assistant", "text": "Hello there"});
        let streamed = [
            ("message.delta", json!({"text": "Hel"})),
            ("message.delta", json!({"text": "lo th"})),
            ("message.completed", whole.clone()),
            ("tool.started", json!({"name": "Bash"})),
        ];
        assert_eq!(printed(&mut Follower::default(), &streamed), "Hello there\n[Bash]\n");
        assert_eq!(printed(&mut Follower::default(), &[("message.completed", whole.clone())]), "Hello there\n");
        let lost = [("message.delta", json!({"text": "lo th"})), ("message.completed", whole)];
        assert_eq!(printed(&mut Follower::default(), &lost), "lo th\nHello there\n");
        let between = [
            ("message.delta", json!({"text": "Denied"})),
            ("tool.completed", json!({"name": "Bash", "status": "error"})),
            ("message.completed", json!({"role": "assistant", "text": "Denied"})),
        ];
        assert_eq!(printed(&mut Follower::default(), &between), "Denied\n[Bash] failed\n");
        let interrupted =
            [("message.delta", json!({"text": "This "})), ("message.completed", json!({"role": "assistant", "text": "This"}))];
        assert_eq!(printed(&mut Follower::default(), &interrupted), "This \n");
        let all =
            [("message.delta", json!({"text": "Done\n"})), ("message.completed", json!({"role": "assistant", "text": "Done\n"}))];
        assert_eq!(printed(&mut Follower::default(), &all), "Done\n");
    }

    #[test]
    fn only_messages_from_other_surfaces_are_echoed() {
        let mut follower = Follower::default();
        follower.hide_message("hello");
        let events = [
            ("message.completed", json!({"role": "user", "text": "hello"})),
            ("message.completed", json!({"role": "user", "text": "from the page"})),
        ];
        assert_eq!(printed(&mut follower, &events), "> from the page\n");
    }

    #[test]
    fn events_convert_to_asks_statuses_and_ends() {
        let mut follower = Follower::default();
        let asked =
            follower.render_event(&feed_event("question.requested", &serde_json::to_value(question_ask()).unwrap()), &look());
        assert_eq!(asked, Some(Piece::Asked(question_ask().id)));
        let idle = follower.render_event(&feed_event("session.status", &json!({"status": "idle"})), &look());
        assert_eq!(idle, Some(Piece::Status(SessionStatus::Idle)));
        let ended =
            follower.render_event(&feed_event("session.ended", &json!({"status": "failed", "reason": "exit 1"})), &look());
        assert_eq!(ended, Some(Piece::Ended { reason: Some("exit 1".into()), failed: true }));
    }

    #[test]
    fn decisions_made_here_are_not_printed_again() {
        let mut ask = serde_json::to_value(question_ask()).unwrap();
        ask["status"] = json!("answered");
        ask["outcome"] = json!({"status": "answered", "answers": [["SQLite"]], "by": {"kind": "policy", "rule": "db"}, "at": "2026-11-15T14:03:00Z"});
        let resolved = [("question.resolved", ask)];
        let line = printed(&mut Follower::default(), &resolved);
        assert_eq!(line, "✓ Which database should this feature use?: Answered by rule \"db\": \"SQLite\".\n");
        let mut here = Follower::default();
        here.decided(&question_ask().id);
        assert_eq!(printed(&mut here, &resolved), "");
    }

    #[test]
    fn control_characters_in_deltas_are_escaped() {
        let events = [("message.delta", json!({"text": "\u{1b}[2J━━━ mock asks"}))];
        assert_eq!(printed(&mut Follower::default(), &events), "<U+001B>[2J━━━ mock asks");
    }
}
