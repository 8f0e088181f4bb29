//! What happens in a session, as text for a terminal. Pure: events in, pieces out.

use std::collections::BTreeSet;

use sayso_client::api::ask::{Ask, AskStatus};
use sayso_client::api::event::{Event, names};
use sayso_client::api::session::SessionStatus;
use serde::Deserialize;

use crate::output::{Look, Style};
use crate::sanitize;
use crate::words;

/// What an event means for whoever follows a session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    /// Text to print as it is.
    Text(String),
    /// An ask waits; this is its id.
    Asked(String),
    /// The session does something else now.
    Status(SessionStatus),
    /// The session is over.
    Ended {
        /// Why.
        reason: Option<String>,
        /// By a fault.
        failed: bool,
    },
}

/// Follows one session.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    /// What was printed of the message that is being streamed.
    streamed: String,
    /// Whether the cursor stands within a line.
    within_line: bool,
    /// Asks that were decided here; their outcome was shown already.
    decided_here: BTreeSet<String>,
    /// What was said from here; it need not be shown again.
    said_here: Vec<String>,
}

/// What a message event carries; later versions may carry more.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Said {
    role: Option<String>,
    text: Option<String>,
}

/// What a tool event carries.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Used {
    name: Option<String>,
    status: Option<String>,
}

/// What a status event carries.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Changed {
    status: Option<SessionStatus>,
    reason: Option<String>,
    failed: Option<bool>,
}

/// The id of an ask, wherever it stands.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Named {
    id: Option<String>,
}

impl Follower {
    /// This ask was decided here.
    pub(crate) fn decided(&mut self, id: &str) {
        self.decided_here.insert(id.to_owned());
    }

    /// This was said from here.
    pub(crate) fn said(&mut self, text: &str) {
        self.said_here.push(text.to_owned());
    }

    /// Ends a line that is not ended yet.
    pub(crate) fn end_line(&mut self) -> &'static str {
        if std::mem::take(&mut self.within_line) { "\n" } else { "" }
    }

    /// What an event means.
    pub(crate) fn take(&mut self, event: &Event<'_>, look: &Look) -> Option<Piece> {
        let data = event.data.get();
        match event.kind.as_ref() {
            names::MESSAGE_DELTA => {
                let text = read::<Said>(data).text?;
                self.streamed.push_str(&text);
                Some(self.text(&sanitize::text(&text)))
            }
            names::MESSAGE_COMPLETED => self.message(read(data), look),
            names::TOOL_STARTED => {
                let name = sanitize::line(&read::<Used>(data).name?);
                Some(self.own_line(&look.paint(Style::Dim, &format!("[{name}]"))))
            }
            names::TOOL_COMPLETED => {
                let used: Used = read(data);
                let failed = used.status.as_deref() == Some("error");
                let name = used.name.filter(|_| failed).map(|name| sanitize::line(&name))?;
                Some(self.own_line(&look.paint(Style::Bad, &format!("[{name}] did not work"))))
            }
            names::QUESTION_REQUESTED | names::APPROVAL_REQUESTED | names::LINK_REQUESTED => asked(event).map(Piece::Asked),
            names::QUESTION_RESOLVED | names::APPROVAL_RESOLVED | names::LINK_RESOLVED => self.resolved(data, look),
            names::SESSION_STATUS => read::<Changed>(data).status.map(Piece::Status),
            names::SESSION_ENDED => {
                let changed: Changed = read(data);
                let failed = changed.failed.unwrap_or(changed.status == Some(SessionStatus::Failed));
                Some(Piece::Ended { reason: changed.reason, failed })
            }
            names::NOTICE => Some(self.own_line(&look.paint(Style::Dim, sanitize::text(&read::<Said>(data).text?).trim_end()))),
            names::ERROR => Some(self.own_line(&look.paint(Style::Bad, sanitize::text(&read::<Said>(data).text?).trim_end()))),
            // Other events are of no interest here, and new ones are of later versions.
            _ => None,
        }
    }

    fn message(&mut self, said: Said, look: &Look) -> Option<Piece> {
        let text = said.text?;
        if said.role.as_deref() == Some("user") {
            if let Some(at) = self.said_here.iter().position(|said| *said == text) {
                self.said_here.remove(at);
                return None;
            }
            return Some(self.own_line(&look.paint(Style::Dim, &format!("> {}", sanitize::text(text.trim_end())))));
        }
        let streamed = std::mem::take(&mut self.streamed);
        // What was streamed is on the screen; after a lost connection some of it is missing.
        let rest = match text.strip_prefix(streamed.as_str()) {
            Some(rest) => sanitize::text(rest),
            // An interrupted message is kept without the space that it ended with.
            None if streamed.starts_with(&text) => String::new(),
            None => format!("{}{}", self.end_line(), sanitize::text(&text)),
        };
        if !rest.is_empty() {
            self.within_line = !rest.ends_with('\n');
        }
        let whole = format!("{rest}{}", self.end_line());
        (!whole.is_empty()).then_some(Piece::Text(whole))
    }

    fn resolved(&mut self, data: &str, look: &Look) -> Option<Piece> {
        let ask: Ask = serde_json::from_str(data).ok()?;
        if self.decided_here.remove(&ask.id) || ask.status == AskStatus::Pending {
            return None;
        }
        let line = format!("{} {}: {}", words::sign(&ask, look), words::subject(&ask), words::outcome(ask.outcome.as_ref()?));
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

/// The id of the ask that an event opens, if it opens one.
pub(crate) fn asked(event: &Event<'_>) -> Option<String> {
    match event.kind.as_ref() {
        names::QUESTION_REQUESTED | names::APPROVAL_REQUESTED | names::LINK_REQUESTED => read::<Named>(event.data.get()).id,
        _ => None,
    }
}

/// Reads what is known and leaves the rest. What does not read at all is as good as empty.
fn read<T: Default + for<'de> Deserialize<'de>>(data: &str) -> T {
    serde_json::from_str(data).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{look, question_ask};
    use sayso_core::time::Time;
    use serde_json::{Value, json};
    use std::borrow::Cow;

    fn event(kind: &'static str, data: &Value) -> Event<'static> {
        let data = serde_json::value::RawValue::from_string(data.to_string()).unwrap();
        Event { seq: Some(1), at: Time::from_millis(0), kind: kind.into(), session_id: None, data: Cow::Owned(data) }
    }

    fn printed(follower: &mut Follower, events: &[(&'static str, Value)]) -> String {
        let mut out = String::new();
        for (kind, data) in events {
            if let Some(Piece::Text(text)) = follower.take(&event(kind, data), &look()) {
                out.push_str(&text);
            }
        }
        out
    }

    #[test]
    fn streamed_text_is_printed_once() {
        let whole = json!({"role": "assistant", "text": "Hello there"});
        let streamed = [
            (names::MESSAGE_DELTA, json!({"text": "Hel"})),
            (names::MESSAGE_DELTA, json!({"text": "lo th"})),
            (names::MESSAGE_COMPLETED, whole.clone()),
            (names::TOOL_STARTED, json!({"name": "Bash"})),
        ];
        assert_eq!(printed(&mut Follower::default(), &streamed), "Hello there\n[Bash]\n");
        assert_eq!(printed(&mut Follower::default(), &[(names::MESSAGE_COMPLETED, whole.clone())]), "Hello there\n");
        let lost = [(names::MESSAGE_DELTA, json!({"text": "lo th"})), (names::MESSAGE_COMPLETED, whole)];
        assert_eq!(printed(&mut Follower::default(), &lost), "lo th\nHello there\n");
        let between = [
            (names::MESSAGE_DELTA, json!({"text": "Denied"})),
            (names::TOOL_COMPLETED, json!({"name": "Bash", "status": "error"})),
            (names::MESSAGE_COMPLETED, json!({"role": "assistant", "text": "Denied"})),
        ];
        assert_eq!(printed(&mut Follower::default(), &between), "Denied\n[Bash] did not work\n");
        let interrupted = [
            (names::MESSAGE_DELTA, json!({"text": "This "})),
            (names::MESSAGE_COMPLETED, json!({"role": "assistant", "text": "This"})),
        ];
        assert_eq!(printed(&mut Follower::default(), &interrupted), "This \n");
        let all = [
            (names::MESSAGE_DELTA, json!({"text": "Done\n"})),
            (names::MESSAGE_COMPLETED, json!({"role": "assistant", "text": "Done\n"})),
        ];
        assert_eq!(printed(&mut Follower::default(), &all), "Done\n");
    }

    #[test]
    fn own_words_are_not_echoed_but_those_of_others_are() {
        let mut follower = Follower::default();
        follower.said("hello");
        let events = [
            (names::MESSAGE_COMPLETED, json!({"role": "user", "text": "hello"})),
            (names::MESSAGE_COMPLETED, json!({"role": "user", "text": "from the page"})),
        ];
        assert_eq!(printed(&mut follower, &events), "> from the page\n");
    }

    #[test]
    fn asks_statuses_and_ends() {
        let mut follower = Follower::default();
        let asked = follower.take(&event(names::QUESTION_REQUESTED, &serde_json::to_value(question_ask()).unwrap()), &look());
        assert_eq!(asked, Some(Piece::Asked(question_ask().id)));
        let idle = follower.take(&event(names::SESSION_STATUS, &json!({"status": "idle"})), &look());
        assert_eq!(idle, Some(Piece::Status(SessionStatus::Idle)));
        let ended = follower.take(&event(names::SESSION_ENDED, &json!({"status": "failed", "reason": "exit 1"})), &look());
        assert_eq!(ended, Some(Piece::Ended { reason: Some("exit 1".into()), failed: true }));
        assert_eq!(follower.take(&event("step.invented", &json!({})), &look()), None);
    }

    #[test]
    fn a_decision_by_a_rule_is_shown_and_one_from_here_is_not() {
        let mut ask = serde_json::to_value(question_ask()).unwrap();
        ask["status"] = json!("answered");
        ask["outcome"] = json!({"status": "answered", "answers": [["SQLite"]], "by": {"kind": "policy", "rule": "db"}, "at": "2026-11-15T14:03:00Z"});
        let resolved = [(names::QUESTION_RESOLVED, ask)];
        let line = printed(&mut Follower::default(), &resolved);
        assert_eq!(line, "✓ Which database should this feature use?: Answered by rule \"db\": \"SQLite\".\n");
        let mut here = Follower::default();
        here.decided(&question_ask().id);
        assert_eq!(printed(&mut here, &resolved), "");
    }

    #[test]
    fn hostile_deltas_are_cleaned() {
        let events = [(names::MESSAGE_DELTA, json!({"text": "\u{1b}[2J━━━ mock asks"}))];
        assert_eq!(printed(&mut Follower::default(), &events), "<U+001B>[2J━━━ mock asks");
    }
}
