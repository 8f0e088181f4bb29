//! What is known of asks and sessions: a list read once, and the feed since. Pure.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use sayso_client::api::ask::{ActionKind, Ask, AskStatus, Delivery};
use sayso_client::api::event::{AskEvent, Event, FeedEvent};
use sayso_client::api::session::{Session, SessionStatus};

/// How many decided asks are kept beside those that wait.
const KEPT_DECIDED: usize = 300;

/// An ask, and how often it changed.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) ask: Ask,
    /// Changes with the ask, so that what was drawn of it can be kept.
    pub(super) revision: u64,
    /// The same for approvals that are the same thing to decide.
    pub(super) twin: Option<u64>,
    /// A hash of what is decided: a decision holds for this content only.
    pub(super) content: u64,
}

/// All asks and sessions that are known.
#[derive(Debug, Default)]
pub(super) struct Asks {
    asks: HashMap<String, Known>,
    sessions: HashMap<String, SessionStatus>,
    /// How many pending asks are the same thing to decide.
    twins: HashMap<u64, usize>,
    revision: u64,
    decided: usize,
}

/// What became of an ask that was told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// It waits and was not known before.
    New,
    /// It was known.
    Changed,
    /// Nothing new.
    Ignored,
}

impl Asks {
    pub(super) fn get(&self, id: &str) -> Option<&Ask> {
        self.asks.get(id).map(|known| &known.ask)
    }

    pub(super) fn known(&self, id: &str) -> Option<&Known> {
        self.asks.get(id)
    }

    /// The asks that wait, in no order.
    pub(super) fn pending(&self) -> impl Iterator<Item = &Ask> {
        self.asks.values().map(|known| &known.ask).filter(|ask| ask.status == AskStatus::Pending)
    }

    /// Decided asks whose outcome did not reach the agent.
    pub(super) fn undelivered(&self) -> impl Iterator<Item = &Ask> {
        self.asks.values().map(|known| &known.ask).filter(|ask| is_undelivered(ask))
    }

    /// How many pending approvals are the same as this one, itself among them.
    pub(super) fn twins(&self, id: &str) -> usize {
        let twin = self.asks.get(id).and_then(|known| known.twin);
        twin.and_then(|twin| self.twins.get(&twin)).copied().unwrap_or(0)
    }

    /// The ids of the pending approvals that are the same as this one, itself among them.
    pub(super) fn twins_of(&self, id: &str) -> Vec<String> {
        let Some(twin) = self.asks.get(id).and_then(|known| known.twin) else { return Vec::new() };
        let same = self.asks.values().filter(|known| known.twin == Some(twin) && known.ask.status == AskStatus::Pending);
        same.map(|known| known.ask.id.clone()).collect()
    }

    /// How many agents are at work.
    pub(super) fn working(&self) -> usize {
        self.sessions.values().filter(|status| **status == SessionStatus::Running).count()
    }

    /// Whether there is any session that is not over.
    pub(super) fn has_sessions(&self) -> bool {
        self.sessions.values().any(|status| !matches!(status, SessionStatus::Ended | SessionStatus::Failed))
    }

    /// Takes an ask. One that is decided stays so: a list may be older than what the feed said.
    pub(super) fn put(&mut self, ask: Ask) -> Taken {
        let before = self.asks.get(&ask.id);
        if before.is_some_and(|known| known.ask == ask || (is_decided(&known.ask) && !is_decided(&ask))) {
            return Taken::Ignored;
        }
        // A frame of the stream may leave out what is large. What was whole stays whole while nothing is decided.
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

    /// Takes what an event says of an ask or of a session. Only a change of an ask is reported.
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

    /// Changes some fields of an ask that is known.
    fn change(&mut self, id: &str, change: impl FnOnce(&mut Ask)) -> Taken {
        let Some(mut ask) = self.get(id).cloned() else { return Taken::Ignored };
        change(&mut ask);
        self.put(ask)
    }

    /// Takes the sessions that are open.
    pub(super) fn put_sessions(&mut self, sessions: &[Session]) {
        self.sessions = sessions.iter().map(|session| (session.id.clone(), session.status)).collect();
    }

    /// No longer keeps an ask.
    pub(super) fn forget(&mut self, id: &str) {
        let Some(known) = self.asks.remove(id) else { return };
        if is_decided(&known.ask) {
            self.decided = self.decided.saturating_sub(1);
        } else if let Some(count) = known.twin.and_then(|twin| self.twins.get_mut(&twin)) {
            *count = count.saturating_sub(1);
        }
    }

    /// Forgets decided asks when there are many; those that are named stay.
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

/// Whether a yes or an answer could not be brought to the agent.
pub(super) fn is_undelivered(ask: &Ask) -> bool {
    ask.delivery == Some(Delivery::Undeliverable) && matches!(ask.status, AskStatus::Answered | AskStatus::Approved)
}

/// A hash of what a person reads before deciding.
fn content(ask: &Ask) -> u64 {
    let mut hasher = DefaultHasher::new();
    // An ask came as JSON, so it can be written as JSON.
    let read = serde_json::to_string(&(&ask.questions, &ask.approval, &ask.link, ask.truncated)).unwrap_or_default();
    read.hash(&mut hasher);
    hasher.finish()
}

/// What makes two approvals the same thing to decide.
fn twin(ask: &Ask) -> Option<u64> {
    let approval = ask.approval.as_ref().filter(|approval| approval.action != ActionKind::Plan)?;
    let mut hasher = DefaultHasher::new();
    approval.tool.hash(&mut hasher);
    std::mem::discriminant(&approval.action).hash(&mut hasher);
    approval.input.to_string().hash(&mut hasher);
    approval.command.hash(&mut hasher);
    ask.project.hash(&mut hasher);
    // What was left out cannot be compared.
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
    fn what_is_decided_stays_decided() {
        let mut asks = Asks::default();
        assert_eq!(asks.put(question_ask()), Taken::New);
        assert_eq!(asks.put(question_ask()), Taken::Ignored);
        assert_eq!(asks.put(decided()), Taken::Changed);
        assert_eq!(asks.put(question_ask()), Taken::Ignored);
        assert_eq!(asks.pending().count(), 0);
    }

    #[test]
    fn events_change_some_fields_or_bring_the_whole() {
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
    fn what_was_whole_is_not_cut_by_the_stream() {
        let mut asks = Asks::default();
        asks.put(approval_ask());
        assert_eq!(asks.put(Ask { truncated: true, branch: None, ..approval_ask() }), Taken::Ignored);
        assert!(!asks.get(&approval_ask().id).unwrap().truncated);
    }

    #[test]
    fn identical_approvals_are_counted_while_they_wait() {
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
    fn old_decisions_are_forgotten() {
        let mut asks = Asks::default();
        for number in 0..=2 * KEPT_DECIDED {
            asks.put(Ask { id: format!("ask_{number}"), ..decided() });
        }
        asks.trim(|id| id == "ask_0");
        assert_eq!(asks.asks.len(), KEPT_DECIDED + 1);
        assert!(asks.get("ask_0").is_some() && asks.get("ask_1").is_none() && asks.get("ask_600").is_some());
    }
}
