//! Decisions between key press and confirmation: held for undo, sent, queued without a connection, or refused.

use std::time::Duration;

use sayso_client::api::ask::{ApproveRequest, AskStatus};
use sayso_core::time::Time;

use super::draft::Draft;
use super::event::{Decision, Effect, NotSent};
use super::model::{Focus, Mode, Model};
use crate::words;

/// Delay before a decision is sent again, if sending failed while the stream works.
const AGAIN: Duration = Duration::from_secs(2);

/// How long an approval may wait for the connection. After that, the person must press the key again.
const QUEUED: Duration = Duration::from_secs(60);

/// How long a message stays on the screen.
const NOTICE: Duration = Duration::from_secs(6);

/// Message if a file changed before the approval arrived.
pub(super) const CONTENT_CHANGED: &str =
    "Not approved: a file that this command executes has changed. Review it and decide again.";

/// A decision that is not confirmed yet.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sending {
    pub(super) id: String,
    pub(super) decision: Decision,
    /// Summary for the person.
    pub(super) label: String,
    pub(super) phase: Phase,
    /// When the decision was due. Not changed while it waits for the connection.
    pub(super) due: Time,
    /// True if the decision had to wait for the connection.
    pub(super) queued: bool,
    /// Content hash at the time of the decision.
    pub(super) content: Option<u64>,
    /// Decisions of the same key press have the same number and are undone together.
    pub(super) action: u64,
}

/// Progress of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Can be undone until this time.
    Held(Time),
    /// Was queued. The ask is loaded again before the decision is sent.
    Checking,
    /// Sent, but not confirmed yet.
    Going,
    /// Someone else decided first.
    TooLate,
    /// Not sent. The person must press the key again.
    Again(Why),
}

/// Why the person must press the key again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// The decision waited too long for the connection.
    Waited,
    /// The ask changed after the decision.
    Changed,
}

impl Phase {
    /// Returns true if the decision is still in progress.
    pub(super) const fn is_under_way(self) -> bool {
        match self {
            Self::Held(_) | Self::Checking | Self::Going => true,
            Self::TooLate | Self::Again(_) => false,
        }
    }
}

impl Model {
    /// Returns the decision on an ask that is not confirmed yet.
    pub(super) fn sending(&self, id: &str) -> Option<&Sending> {
        self.sending.iter().find(|sending| sending.id == id)
    }

    /// Returns the newest decision that can be undone, and until when.
    pub(super) fn held_decision(&self) -> Option<(&Sending, Time)> {
        self.sending.iter().rev().find_map(|sending| match sending.phase {
            Phase::Held(until) => Some((sending, until)),
            Phase::Checking | Phase::Going | Phase::TooLate | Phase::Again(_) => None,
        })
    }

    /// Counts the held decisions of the newest key press.
    pub(super) fn held_together(&self) -> usize {
        let action = self.held_decision().map(|(sending, _)| sending.action);
        let same = |sending: &&Sending| matches!(sending.phase, Phase::Held(_)) && Some(sending.action) == action;
        self.sending.iter().filter(same).count()
    }

    /// Counts the decisions that wait for the connection, and those that need another key press.
    pub(super) fn queued(&self) -> (usize, usize) {
        let count = |holds: &dyn Fn(Phase) -> bool| self.sending.iter().filter(|sending| holds(sending.phase)).count();
        let queued = if self.is_lost() { count(&|phase| matches!(phase, Phase::Held(_) | Phase::Checking)) } else { 0 };
        (queued, count(&|phase| matches!(phase, Phase::Again(_))))
    }

    /// Returns true if a decision on this ask is in progress.
    pub(super) fn is_busy(&self, id: &str) -> bool {
        self.sending(id).is_some_and(|sending| sending.phase.is_under_way())
    }

    pub(super) fn check_content(&mut self, id: &str) {
        let Some(known) = self.asks.known(id).filter(|known| known.ask.status == AskStatus::Pending) else { return };
        for sending in self.sending.iter_mut().filter(|sending| sending.id == id) {
            let yes = matches!(sending.decision, Decision::Approve(_) | Decision::Answer { .. });
            let waits = matches!(sending.phase, Phase::Held(_) | Phase::Checking);
            if yes && waits && sending.content.is_some_and(|content| content != known.content) {
                sending.phase = Phase::Again(Why::Changed);
            }
        }
    }

    /// Removes an outdated message. Approvals that were queued too long need another key press.
    pub(super) fn expire(&mut self) {
        let now = self.now;
        self.notice.take_if(|(since, _)| now.since(*since) >= NOTICE);
        for sending in &mut self.sending {
            let yes = matches!(sending.decision, Decision::Approve(_));
            if yes && sending.queued && matches!(sending.phase, Phase::Held(_)) && now.since(sending.due) > QUEUED {
                sending.phase = Phase::Again(Why::Waited);
            }
        }
    }

    /// Queues unsent decisions after the connection was lost.
    pub(super) fn queue(&mut self) {
        for sending in &mut self.sending {
            match sending.phase {
                Phase::Held(_) => sending.queued = true,
                Phase::Checking => sending.phase = Phase::Held(sending.due),
                Phase::Going | Phase::TooLate | Phase::Again(_) => {}
            }
        }
    }

    /// Sends a queued decision after its ask was loaded again and has not changed.
    pub(super) fn send_checked(&mut self, id: &str, effects: &mut Vec<Effect>) {
        for sending in self.sending.iter_mut().filter(|sending| sending.id == id && sending.phase == Phase::Checking) {
            sending.phase = Phase::Going;
            effects.push(Effect::Send { id: sending.id.clone(), decision: sending.decision.clone() });
        }
    }

    /// Keeps a decision queued because its ask could not be loaded.
    pub(super) fn wait_again(&mut self, id: &str) {
        let until = self.now.plus(AGAIN);
        for sending in self.sending.iter_mut().filter(|sending| sending.id == id && sending.phase == Phase::Checking) {
            sending.phase = Phase::Held(until);
        }
    }

    /// Sends decisions whose undo time is over. Without a connection, all of them wait.
    pub(super) fn go_due(&mut self, effects: &mut Vec<Effect>) {
        if self.is_lost() {
            return;
        }
        let now = self.now;
        for sending in &mut self.sending {
            match sending.phase {
                Phase::Held(until) if until > now => {}
                Phase::Held(_) if sending.queued => {
                    sending.phase = Phase::Checking;
                    effects.push(Effect::Fetch(sending.id.clone()));
                }
                Phase::Held(_) => {
                    sending.phase = Phase::Going;
                    effects.push(Effect::Send { id: sending.id.clone(), decision: sending.decision.clone() });
                }
                Phase::Checking | Phase::Going | Phase::TooLate | Phase::Again(_) => {}
            }
        }
    }

    /// Holds a decision, so that it can be undone, and moves to the next ask.
    pub(super) fn hold(&mut self, id: &str, decision: Decision, label: String) -> Vec<Effect> {
        self.actions += 1;
        self.hold_with(id, decision, label)
    }

    /// Holds another decision of the same key press.
    pub(super) fn hold_with(&mut self, id: &str, decision: Decision, label: String) -> Vec<Effect> {
        self.sending.retain(|sending| sending.id != id);
        let decision = self.about_seen_files(id, decision);
        let due = self.now.plus(self.settings.hold);
        let content = self.asks.known(id).map(|known| known.content);
        let (queued, action) = (self.is_lost(), self.actions);
        self.sending.push(Sending { id: id.to_owned(), decision, label, phase: Phase::Held(due), due, queued, content, action });
        if let Some(draft) = self.drafts.get_mut(id) {
            draft.problem = None;
        }
        self.focus = Focus::Card;
        if self.settings.mode == Mode::All {
            self.go_on();
        }
        let mut effects = Vec::new();
        self.go_due(&mut effects);
        effects
    }

    /// Adds the digest of the shown files to an approval.
    fn about_seen_files(&self, id: &str, decision: Decision) -> Decision {
        let seen = self.files.get(id).and_then(|files| files.read.as_ref()?.digest.clone());
        match decision {
            Decision::Approve(yes) => Decision::Approve(ApproveRequest { content_digest: seen, ..yes }),
            other @ (Decision::Answer { .. } | Decision::Reject(_) | Decision::Deny(_)) => other,
        }
    }

    /// Undoes all held decisions of the newest key press, and shows the ask again.
    pub(super) fn undo(&mut self) {
        let Some((id, action)) = self.held_decision().map(|(sending, _)| (sending.id.clone(), sending.action)) else {
            return self.show_message("Nothing to undo.");
        };
        let before = self.sending.len();
        self.sending.retain(|sending| sending.action != action || !matches!(sending.phase, Phase::Held(_)));
        self.list.go_to(&id);
        match before - self.sending.len() {
            1 => self.show_message("Undone. Nothing was sent."),
            several => self.show_message(format!("Undid all {several}. Nothing was sent.")),
        }
    }

    /// Sends held decisions and quits.
    pub(super) fn quit(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        for sending in &mut self.sending {
            if let Phase::Held(_) | Phase::Checking = sending.phase {
                sending.phase = Phase::Going;
                effects.push(Effect::Send { id: sending.id.clone(), decision: sending.decision.clone() });
            }
        }
        effects.push(Effect::Quit);
        effects
    }

    pub(super) fn not_sent(&mut self, id: &str, why: NotSent) -> Option<Effect> {
        let at = self.sending.iter().position(|sending| sending.id == id)?;
        match why {
            NotSent::TooLate(ask) => {
                let own = self.sending.get(at).map(|sending| sending.label.clone()).unwrap_or_default();
                let first = ask.outcome.as_ref().map(words::outcome).unwrap_or_default();
                self.show_message(format!("{first} Your answer \"{own}\" wasn't sent."));
                if let Some(sending) = self.sending.get_mut(at) {
                    sending.phase = Phase::TooLate;
                }
                self.put(*ask);
            }
            NotSent::Offline => {
                if let Some(sending) = self.sending.get_mut(at) {
                    sending.phase = Phase::Held(self.now.plus(AGAIN));
                    sending.queued = true;
                }
                self.show_message("Not sent: no connection. Your decision is queued; press u to undo.");
            }
            NotSent::ContentChanged(changes) => {
                self.files.entry(id.to_owned()).or_default().changes = changes;
                self.failed(at, id, CONTENT_CHANGED.to_owned());
                self.list.go_to(id);
                return Some(Effect::ReadFiles(id.to_owned()));
            }
            NotSent::Refused(reason) => self.failed(at, id, reason),
        }
        None
    }

    pub(super) fn failed(&mut self, at: usize, id: &str, problem: String) {
        self.sending.remove(at);
        if let Some(ask) = self.asks.get(id) {
            let draft = self.drafts.entry(id.to_owned()).or_insert_with(|| Draft::new(ask));
            draft.problem = Some(problem.clone());
        }
        self.show_message(problem);
        self.changed();
    }
}
