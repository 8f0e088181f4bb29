//! Decisions on their way: held for a moment, sent, queued while there is no connection, or not sent.

use std::time::Duration;

use sayso_client::api::ask::{ApproveRequest, AskStatus};
use sayso_core::time::Time;

use super::draft::Draft;
use super::event::{Decision, Effect, NotSent};
use super::model::{Focus, Mode, Model};
use crate::words;

/// How long after a decision could not be sent it is tried again, while the stream seems to work.
const AGAIN: Duration = Duration::from_secs(2);

/// How long an approval may wait for the connection. After that it needs a new press.
const QUEUED: Duration = Duration::from_secs(60);

/// How long something that was said stays on the screen.
const NOTICE: Duration = Duration::from_secs(6);

/// Said when a file changed before the approval arrived.
pub(super) const CONTENT_CHANGED: &str = "Not approved: a file that this command executes has changed. Look at it again.";

/// A decision on its way.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sending {
    pub(super) id: String,
    pub(super) decision: Decision,
    /// What it says, for the person.
    pub(super) label: String,
    pub(super) phase: Phase,
    /// When it was to be sent. It stays the same while it waits for the connection.
    pub(super) due: Time,
    /// Whether it had to wait for the connection.
    pub(super) queued: bool,
    /// The content that was decided.
    pub(super) content: Option<u64>,
    /// Decisions of one key press have the same number, and are taken back together.
    pub(super) action: u64,
}

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Until then it can be taken back.
    Held(Time),
    /// It waited for the connection. The ask is read again before the decision goes out.
    Checking,
    /// On its way.
    Going,
    /// Somebody was first.
    TooLate,
    /// Not sent. It needs a new press.
    Again(Why),
}

/// Why a decision needs a new press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// It waited too long for the connection.
    Waited,
    /// The ask has changed since.
    Changed,
}

impl Phase {
    /// Whether the decision still stands.
    pub(super) const fn is_under_way(self) -> bool {
        match self {
            Self::Held(_) | Self::Checking | Self::Going => true,
            Self::TooLate | Self::Again(_) => false,
        }
    }
}

impl Model {
    /// What is on its way for an ask.
    pub(super) fn sending(&self, id: &str) -> Option<&Sending> {
        self.sending.iter().find(|sending| sending.id == id)
    }

    /// The newest decision that can be taken back, and until when.
    pub(super) fn held(&self) -> Option<(&Sending, Time)> {
        self.sending.iter().rev().find_map(|sending| match sending.phase {
            Phase::Held(until) => Some((sending, until)),
            Phase::Checking | Phase::Going | Phase::TooLate | Phase::Again(_) => None,
        })
    }

    /// How many decisions one press made with the newest one that can be taken back.
    pub(super) fn held_together(&self) -> usize {
        let action = self.held().map(|(sending, _)| sending.action);
        let same = |sending: &&Sending| matches!(sending.phase, Phase::Held(_)) && Some(sending.action) == action;
        self.sending.iter().filter(same).count()
    }

    /// How many decisions wait for the connection, and how many need a new press.
    pub(super) fn queued(&self) -> (usize, usize) {
        let count = |holds: &dyn Fn(Phase) -> bool| self.sending.iter().filter(|sending| holds(sending.phase)).count();
        let queued = if self.is_lost() { count(&|phase| matches!(phase, Phase::Held(_) | Phase::Checking)) } else { 0 };
        (queued, count(&|phase| matches!(phase, Phase::Again(_))))
    }

    /// Whether a decision on this ask is under way.
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

    /// Removes an old message, and asks for a new press where an approval was queued for too long.
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

    /// The connection is lost: what was not sent waits for it.
    pub(super) fn queue(&mut self) {
        for sending in &mut self.sending {
            match sending.phase {
                Phase::Held(_) => sending.queued = true,
                Phase::Checking => sending.phase = Phase::Held(sending.due),
                Phase::Going | Phase::TooLate | Phase::Again(_) => {}
            }
        }
    }

    /// Sends a decision that waited for the connection: its ask was read again, and is the same.
    pub(super) fn send_checked(&mut self, id: &str, effects: &mut Vec<Effect>) {
        for sending in self.sending.iter_mut().filter(|sending| sending.id == id && sending.phase == Phase::Checking) {
            sending.phase = Phase::Going;
            effects.push(Effect::Send { id: sending.id.clone(), decision: sending.decision.clone() });
        }
    }

    /// The ask could not be read again: the decision waits on.
    pub(super) fn wait_again(&mut self, id: &str) {
        let until = self.now.plus(AGAIN);
        for sending in self.sending.iter_mut().filter(|sending| sending.id == id && sending.phase == Phase::Checking) {
            sending.phase = Phase::Held(until);
        }
    }

    /// Sends what was held long enough. While no server is there, everything waits.
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

    /// Holds a decision for a moment, in which it can be taken back, and goes on to the next ask.
    pub(super) fn hold(&mut self, id: &str, decision: Decision, label: String) -> Vec<Effect> {
        self.actions += 1;
        self.hold_with(id, decision, label)
    }

    /// Holds one more decision of the same key press.
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

    /// An approval carries the digest of the files that the card showed.
    fn about_seen_files(&self, id: &str, decision: Decision) -> Decision {
        let seen = self.files.get(id).and_then(|files| files.read.as_ref()?.digest.clone());
        match decision {
            Decision::Approve(yes) => Decision::Approve(ApproveRequest { content_digest: seen, ..yes }),
            other @ (Decision::Answer { .. } | Decision::Reject(_) | Decision::Deny(_)) => other,
        }
    }

    /// Takes back everything that the newest key press decided and that is still held, and shows its ask again.
    pub(super) fn undo(&mut self) {
        let Some((id, action)) = self.held().map(|(sending, _)| (sending.id.clone(), sending.action)) else {
            return self.say("Nothing to undo.");
        };
        let before = self.sending.len();
        self.sending.retain(|sending| sending.action != action || !matches!(sending.phase, Phase::Held(_)));
        self.list.go_to(&id);
        match before - self.sending.len() {
            1 => self.say("Taken back. Nothing was sent."),
            several => self.say(format!("All {several} taken back. Nothing was sent.")),
        }
    }

    /// Sends what is held, and ends.
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
                self.say(format!("{first} Your answer \"{own}\" wasn't sent."));
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
                self.say("Not sent: no connection. Your decision is queued; u takes it back.");
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
        self.say(problem);
        self.changed();
    }
}
