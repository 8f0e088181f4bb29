//! Actions on asks other than answering: refuse, snooze, decide several asks, send an undelivered answer again.

use std::time::Duration;

use sayso_client::api::ask::{Approval, ApprovalDecision, Ask, AskKind, AskStatus, NoRequest, ShownAnswer};

use super::asks::is_undelivered;
use super::event::{Decision, Effect};
use super::list::Group;
use super::model::Model;
use crate::sanitize;
use crate::words;

/// How long an ask is snoozed.
const SNOOZE: Duration = Duration::from_secs(30 * 60);

impl Model {
    /// Snoozes the ask for half an hour and moves to the next, or shows a snoozed ask again.
    pub(super) fn snooze(&mut self) -> Vec<Effect> {
        let Some(ask) = self.ask().filter(|ask| ask.status == AskStatus::Pending) else { return Vec::new() };
        let (id, back) = (ask.id.clone(), crate::order::is_snoozed(ask, self.now));
        let until = (!back).then(|| self.now.plus(SNOOZE));
        self.actions += 1;
        if back {
            self.show_message("The ask is back in your inbox.");
        } else {
            self.show_message("Snoozed for 30 minutes. The agent keeps waiting.");
            self.go_on();
        }
        vec![Effect::Snooze { id, until }]
    }

    /// Sends the text of an undelivered answer as a message.
    pub(super) fn as_message(&mut self) -> Vec<Effect> {
        let Some(ask) = self.ask().filter(|ask| is_undelivered(ask)) else { return Vec::new() };
        let Some(session) = ask.session_id.clone() else {
            self.show_message("This ask has no session, so the answer cannot be sent as a message.");
            return Vec::new();
        };
        let (id, text) = (ask.id.clone(), decided_message(ask));
        let Some(text) = text else {
            self.show_message("There is no text to send.");
            return Vec::new();
        };
        self.asks.forget(&id);
        self.changed();
        vec![Effect::Message { session, text }]
    }

    /// Dismisses an undelivered answer.
    pub(super) fn leave(&mut self) -> bool {
        let Some(id) = self.ask().filter(|ask| is_undelivered(ask)).map(|ask| ask.id.clone()) else { return false };
        self.asks.forget(&id);
        self.changed();
        true
    }

    /// Refuses the selected asks, or the ask under the cursor.
    pub(super) fn no(&mut self, no: &NoRequest) -> Vec<Effect> {
        let label = |kind: AskKind| match (kind, no.stop) {
            (AskKind::Question, _) => "Reject",
            (AskKind::Approval | AskKind::Link, true) => "Deny and stop",
            (AskKind::Approval | AskKind::Link, false) => "Deny",
        };
        if let Some(why) = self.why_not_allowed(ApprovalDecision::Deny) {
            self.show_message(&why);
            return Vec::new();
        }
        self.decide_each(|ask| {
            let denies = |approval: &Approval| approval.allows(ApprovalDecision::Deny);
            if !ask.approval.as_ref().is_none_or(denies) {
                return None;
            }
            let decision = match ask.kind {
                AskKind::Question => Decision::Reject(no.clone()),
                AskKind::Approval | AskKind::Link => Decision::Deny(no.clone()),
            };
            Some((decision, label(ask.kind).to_owned()))
        })
    }

    /// Explains why the approval under the cursor does not allow this decision. `None` if it does, or if several are selected.
    pub(super) fn why_not_allowed(&self, decision: ApprovalDecision) -> Option<String> {
        let approval = self.ask().filter(|_| self.selected.is_empty())?.approval.as_ref()?;
        (!approval.allows(decision)).then(|| words::not_allowed(approval, decision))
    }

    /// Decides the selected asks, or the ask under the cursor.
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

    /// Moves to the next pending ask without a decision in progress.
    pub(super) fn go_on(&mut self) {
        let waits = |id: &str| self.asks.get(id).is_some_and(|ask| ask.status == AskStatus::Pending) && !self.is_busy(id);
        if let Some(at) = self.list.next(|row| row.group != Group::Snoozed && waits(&row.id)) {
            self.list.at = at;
            self.changed();
        }
    }
}

/// Formats an answer as the text of a message.
fn decided_message(ask: &Ask) -> Option<String> {
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
