//! The asks and sessions that the inbox knows: a list that is read once, and later events of the feed. Pure.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use sayso_client::api::ask::{ActionKind, Ask, AskStatus, Delivery};
use sayso_client::api::event::{AskEvent, Event, FeedEvent};
use sayso_client::api::session::{Session, SessionStatus};

/// Number of decided asks to keep in addition to pending ones.
const KEPT_DECIDED: usize = 300;

/// An ask with derived values.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) ask: Ask,
    /// Increases with each change of the ask, so that cached lines can be reused.
    pub(super) revision: u64,
    /// Hash that is equal for approvals of the same content.
    pub(super) twin: Option<u64>,
    /// Hash of the content to decide. A decision is valid for this content only.
    pub(super) content: u64,
}

/// All known asks and sessions.
#[derive(Debug, Default)]
pub(super) struct Asks {
    asks: HashMap<String, Known>,
    sessions: HashMap<String, SessionStatus>,
    /// Number of pending asks per identity hash.
    twins: HashMap<u64, usize>,
    revision: u64,
    decided: usize,
}

/// Effect of an update on the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// The ask is pending and was not known before.
    New,
    /// A known ask changed.
    Changed,
    Ignored,
}

impl Asks {
    pub(super) fn get(&self, id: &str) -> Option<&Ask> {
        self.asks.get(id).map(|known| &known.ask)
    }

    pub(super) fn known(&self, id: &str) -> Option<&Known> {
        self.asks.get(id)
    }

    /// Returns the pending asks, in no particular order.
    pub(super) fn pending(&self) -> impl Iterator<Item = &Ask> {
        self.asks.values().map(|known| &known.ask).filter(|ask| ask.status == AskStatus::Pending)
    }

    /// Returns decided asks whose outcome did not reach the agent.
    pub(super) fn undelivered(&self) -> impl Iterator<Item = &Ask> {
        self.asks.values().map(|known| &known.ask).filter(|ask| is_undelivered(ask))
    }

    /// Counts the pending approvals with the same content, including this one.
    pub(super) fn twins(&self, id: &str) -> usize {
        let twin = self.asks.get(id).and_then(|known| known.twin);
        twin.and_then(|twin| self.twins.get(&twin)).copied().unwrap_or(0)
    }

    /// Returns the ids of the pending approvals with the same content, including this one.
    pub(super) fn twins_of(&self, id: &str) -> Vec<String> {
        let Some(twin) = self.asks.get(id).and_then(|known| known.twin) else { return Vec::new() };
        let same = self.asks.values().filter(|known| known.twin == Some(twin) && known.ask.status == AskStatus::Pending);
        same.map(|known| known.ask.id.clone()).collect()
    }

    /// Counts the sessions whose agent is working.
    pub(super) fn working(&self) -> usize {
        self.sessions.values().filter(|status| **status == SessionStatus::Running).count()
    }

    /// Returns true if a session is open.
    pub(super) fn has_sessions(&self) -> bool {
        self.sessions.values().any(|status| !matches!(status, SessionStatus::Ended | SessionStatus::Failed))
    }

    /// Adds or updates an ask. A decided ask does not become pending again, because a list may be older than the feed.
    pub(super) fn put(&mut self, ask: Ask) -> Taken {
        let before = self.asks.get(&ask.id);
        if before.is_some_and(|known| known.ask == ask || (is_decided(&known.ask) && !is_decided(&ask))) {
            return Taken::Ignored;
        }
        // Events may omit large fields. A complete pending ask is not replaced by an incomplete one.
        if ask.truncated && before.is_some_and(|known| !known.ask.truncated && !is_decided(&ask)) {
            return Taken::Ignored;
        }
        let taken = if before.is_none() && !is_decided(&ask) { Taken::New } else { Taken::Changed };
        self.forget(&ask.id);
        let (twin, content) = (twin(&ask), content(&ask));
        match is_decided(&ask) {
            true => self.decided += 1,
            false => *twin.map(|twin| self.twins.entry(twin).or_default()).unwrap_or(&mut 0) += 1,
        }
        self.revision += 1;
        self.asks.insert(ask.id.clone(), Known { ask, revision: self.revision, twin, content });
        taken
    }

    /// Applies an event of the feed. Returns the change of the ask; changes of sessions are not reported.
    pub(super) fn put_event(&mut self, event: FeedEvent) -> Taken {
        match event.event {
            Event::QuestionRequested(AskEvent { ask, .. })
            | Event::QuestionResolved(AskEvent { ask, .. })
            | Event::ApprovalRequested(AskEvent { ask, .. })
            | Event::ApprovalResolved(AskEvent { ask, .. })
            | Event::LinkRequested(AskEvent { ask, .. })
            | Event::LinkResolved(AskEvent { ask, .. }) => self.put(ask),
            Event::AskParked(parked) => self.change(&parked.id, |ask| ask.reach = Some(parked.reach)),
            Event::AskSnoozed(snoozed) => self.change(&snoozed.id, |ask| ask.snoozed_until = snoozed.snoozed_until),
            Event::AskDelivery(delivery) => self.change(&delivery.id, |ask| {
                ask.delivery = Some(delivery.delivery);
                ask.delivery_reason.clone_from(&delivery.delivery_reason);
                ask.delivery_code.clone_from(&delivery.delivery_code);
            }),
            Event::SessionCreated(session) => {
                self.sessions.insert(session.id, session.status);
                Taken::Ignored
            }
            Event::SessionStatus(changed) | Event::SessionEnded(changed) => {
                if let Some(session) = event.session_id {
                    self.sessions.insert(session, changed.status);
                }
                Taken::Ignored
            }
            Event::MessageDelta(_)
            | Event::MessageCompleted(_)
            | Event::ToolStarted(_)
            | Event::ToolUpdated(_)
            | Event::ToolCompleted(_)
            | Event::Notice(_)
            | Event::Error(_)
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
            | Event::AgentQuestionAnswered(_) => Taken::Ignored,
        }
    }

    /// Changes some fields of a known ask.
    fn change(&mut self, id: &str, change: impl FnOnce(&mut Ask)) -> Taken {
        let Some(mut ask) = self.get(id).cloned() else { return Taken::Ignored };
        change(&mut ask);
        self.put(ask)
    }

    /// Replaces the known sessions by the open ones.
    pub(super) fn put_sessions(&mut self, sessions: &[Session]) {
        self.sessions = sessions.iter().map(|session| (session.id.clone(), session.status)).collect();
    }

    /// Removes an ask.
    pub(super) fn forget(&mut self, id: &str) {
        let Some(known) = self.asks.remove(id) else { return };
        if is_decided(&known.ask) {
            self.decided = self.decided.saturating_sub(1);
        } else if let Some(count) = known.twin.and_then(|twin| self.twins.get_mut(&twin)) {
            *count = count.saturating_sub(1);
        }
    }

    /// Removes the oldest decided asks if there are many, except those that `keep` accepts.
    pub(super) fn trim(&mut self, keep: impl Fn(&str) -> bool) {
        if self.decided <= 2 * KEPT_DECIDED {
            return;
        }
        let mut decided: Vec<(u64, String)> = self
            .asks
            .values()
            .filter(|known| is_decided(&known.ask) && !keep(&known.ask.id))
            .map(|known| (known.revision, known.ask.id.clone()))
            .collect();
        decided.sort_unstable();
        for (_, id) in decided.into_iter().rev().skip(KEPT_DECIDED) {
            self.forget(&id);
        }
    }
}

fn is_decided(ask: &Ask) -> bool {
    ask.status != AskStatus::Pending
}

/// Returns true if an answer or approval could not be delivered to the agent.
pub(super) fn is_undelivered(ask: &Ask) -> bool {
    ask.delivery == Some(Delivery::Undeliverable) && matches!(ask.status, AskStatus::Answered | AskStatus::Approved)
}

/// Hashes the content that a person reads before deciding.
fn content(ask: &Ask) -> u64 {
    let mut hasher = DefaultHasher::new();
    // Asks are parsed from JSON, so serializing them cannot fail.
    let read = serde_json::to_string(&(&ask.questions, &ask.approval, &ask.link, ask.truncated)).unwrap_or_default();
    read.hash(&mut hasher);
    hasher.finish()
}

/// Hashes an approval so that approvals of the same content have the same hash.
fn twin(ask: &Ask) -> Option<u64> {
    let approval = ask.approval.as_ref().filter(|approval| approval.action != ActionKind::Plan)?;
    let mut hasher = DefaultHasher::new();
    approval.tool.hash(&mut hasher);
    std::mem::discriminant(&approval.action).hash(&mut hasher);
    approval.input.to_string().hash(&mut hasher);
    approval.command.hash(&mut hasher);
    ask.project.hash(&mut hasher);
    // Asks with omitted fields cannot be compared.
    (!ask.truncated).then(|| hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{approval_ask, feed_event, question_ask};
    use serde_json::json;

    fn decided() -> Ask {
        Ask { status: AskStatus::Answered, reach: None, delivery: Some(Delivery::Queued), ..question_ask() }
    }

    #[test]
    fn decided_ask_stays_decided() {
        let mut asks = Asks::default();
        assert_eq!(asks.put(question_ask()), Taken::New);
        assert_eq!(asks.put(question_ask()), Taken::Ignored);
        assert_eq!(asks.put(decided()), Taken::Changed);
        assert_eq!(asks.put(question_ask()), Taken::Ignored);
        assert_eq!(asks.pending().count(), 0);
    }

    #[test]
    fn events_update_fields_or_replace_the_ask() {
        let mut asks = Asks::default();
        let id = question_ask().id;
        let parked = || feed_event("ask.parked", &json!({"id": id, "reach": "parked"}));
        assert_eq!(asks.put_event(parked()), Taken::Ignored);
        assert_eq!(asks.put_event(feed_event("question.requested", &json!(question_ask()))), Taken::New);
        let before = asks.known(&id).unwrap().revision;
        assert_eq!(asks.put_event(parked()), Taken::Changed);
        assert_eq!(asks.get(&id).unwrap().reach, Some(sayso_client::api::ask::Reach::Parked));
        assert!(asks.known(&id).unwrap().revision > before);
        let undeliverable = json!({"id": id, "delivery": "undeliverable", "deliveryReason": "gone"});
        assert_eq!(asks.put_event(feed_event("ask.delivery", &undeliverable)), Taken::Changed);
        let ask = asks.get(&id).unwrap();
        assert_eq!((ask.delivery, ask.delivery_reason.as_deref()), (Some(Delivery::Undeliverable), Some("gone")));
    }

    #[test]
    fn truncated_event_does_not_replace_a_complete_ask() {
        let mut asks = Asks::default();
        asks.put(approval_ask());
        assert_eq!(asks.put(Ask { truncated: true, branch: None, ..approval_ask() }), Taken::Ignored);
        assert!(!asks.get(&approval_ask().id).unwrap().truncated);
    }

    #[test]
    fn identical_approvals_are_counted_while_pending() {
        let mut asks = Asks::default();
        for id in ["a", "b", "c"] {
            asks.put(Ask { id: id.into(), ..approval_ask() });
        }
        asks.put(Ask { id: "d".into(), project: None, ..approval_ask() });
        assert_eq!((asks.twins("a"), asks.twins("d"), asks.twins("none")), (3, 1, 0));
        asks.put(Ask { id: "b".into(), status: AskStatus::Denied, ..approval_ask() });
        let mut same = asks.twins_of("a");
        same.sort();
        assert_eq!((asks.twins("a"), same.as_slice()), (2, &["a".to_owned(), "c".to_owned()][..]));
    }

    #[test]
    fn oldest_decided_asks_are_removed() {
        let mut asks = Asks::default();
        for number in 0..=2 * KEPT_DECIDED {
            asks.put(Ask { id: format!("ask_{number}"), ..decided() });
        }
        asks.trim(|id| id == "ask_0");
        assert_eq!(asks.asks.len(), KEPT_DECIDED + 1);
        assert!(asks.get("ask_0").is_some() && asks.get("ask_1").is_none() && asks.get("ask_600").is_some());
    }
}
