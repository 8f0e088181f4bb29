//! What a person can do with asks besides answering a question: say no, snooze, decide several, send an answer again.

use std::time::Duration;

use sayso_client::api::ask::{Ask, AskKind, AskStatus, NoRequest, ShownAnswer};

use super::asks::is_undelivered;
use super::event::{Decision, Effect};
use super::list::Group;
use super::model::Model;
use crate::sanitize;

/// How long an ask is snoozed.
const SNOOZE: Duration = Duration::from_secs(30 * 60);

impl Model {
    /// Hides the ask for half an hour and goes on to the next, or brings it back.
    pub(super) fn snooze(&mut self) -> Vec<Effect> {
        let Some(ask) = self.ask().filter(|ask| ask.status == AskStatus::Pending) else { return Vec::new() };
        let (id, back) = (ask.id.clone(), crate::order::is_snoozed(ask, self.now));
        let until = (!back).then(|| self.now.plus(SNOOZE));
        self.actions += 1;
        if back {
            self.say("It is back.");
        } else {
            self.say("Snoozed for 30 minutes. The agent keeps waiting.");
            self.go_on();
        }
        vec![Effect::Snooze { id, until }]
    }

    /// The words of an undelivered answer, as a message.
    pub(super) fn as_message(&mut self) -> Vec<Effect> {
        let Some(ask) = self.ask().filter(|ask| is_undelivered(ask)) else { return Vec::new() };
        let Some(session) = ask.session_id.clone() else {
            self.say("It belongs to no session that takes messages.");
            return Vec::new();
        };
        let (id, text) = (ask.id.clone(), said(ask));
        let Some(text) = text else {
            self.say("There are no words to send.");
            return Vec::new();
        };
        self.asks.forget(&id);
        self.changed();
        vec![Effect::Message { session, text }]
    }

    /// Leaves an undelivered answer.
    pub(super) fn leave(&mut self) -> bool {
        let Some(id) = self.ask().filter(|ask| is_undelivered(ask)).map(|ask| ask.id.clone()) else { return false };
        self.asks.forget(&id);
        self.changed();
        true
    }

    /// Says no to the ask under the cursor, or to all that are selected.
    pub(super) fn no(&mut self, no: &NoRequest) -> Vec<Effect> {
        let label = |kind: AskKind| match (kind, no.stop) {
            (AskKind::Question, _) => "Reject",
            (AskKind::Approval | AskKind::Link, true) => "Deny and stop",
            (AskKind::Approval | AskKind::Link, false) => "Deny",
        };
        self.decide_each(|ask| {
            let decision = match ask.kind {
                AskKind::Question => Decision::Reject(no.clone()),
                AskKind::Approval | AskKind::Link => Decision::Deny(no.clone()),
            };
            Some((decision, label(ask.kind).to_owned()))
        })
    }

    /// Decides what is selected, else what is under the cursor.
    pub(super) fn decide_each(&mut self, decision: impl Fn(&Ask) -> Option<(Decision, String)>) -> Vec<Effect> {
        let chosen: Vec<String> = match self.selected.len() {
            0 => self.ask().map(|ask| ask.id.clone()).into_iter().collect(),
            _ => std::mem::take(&mut self.selected).into_iter().collect(),
        };
        let mut effects = Vec::new();
        self.actions += 1;
        for id in chosen {
            let ask = self.asks.get(&id).filter(|ask| ask.status == AskStatus::Pending && !self.is_busy(&id));
            if let Some((decision, label)) = ask.and_then(&decision) {
                effects.extend(self.hold_with(&id, decision, label));
            }
        }
        effects
    }

    /// Goes to the next ask that waits and is not on its way.
    pub(super) fn go_on(&mut self) {
        let waits = |id: &str| self.asks.get(id).is_some_and(|ask| ask.status == AskStatus::Pending) && !self.is_busy(id);
        if let Some(at) = self.list.next(|row| row.group != Group::Snoozed && waits(&row.id)) {
            self.list.at = at;
            self.changed();
        }
    }
}

/// What was answered, in words for a message.
fn said(ask: &Ask) -> Option<String> {
    let outcome = ask.outcome.as_ref()?;
    let answers = outcome.answers.as_ref()?;
    let lines = ask.questions.iter().zip(answers).filter_map(|(question, answer)| match answer {
        ShownAnswer::Entries(entries) if !entries.is_empty() => {
            Some(format!("{} {}", sanitize::line(&question.text), entries.join(", ")))
        }
        ShownAnswer::Entries(_) | ShownAnswer::Secret { .. } => None,
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then_some(text)
}
