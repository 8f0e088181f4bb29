//! A group: the asks of one pause of a suspended run, and the right to resume the run.
//!
//! A group is complete when all of its asks are decided. Then one worker claims it, resumes the run, and acknowledges. Every
//! claim has an epoch that is larger than those before it, so a worker whose claim was given to another one cannot report
//! anything. A claim whose lease expired is uncertain, because the effect of the worker is unknown: a person decides, unless the
//! group permits retries.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::digest::{DigestFields, ShaDigest};
use crate::id::{AskId, GroupId, TokenId};
use crate::time::{Span, Time};

/// Delays between attempts to call a callback target. The last one repeats until [`CALLBACK_ATTEMPTS`].
const CALLBACK_DELAYS: [Duration; 6] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(120),
    Duration::from_secs(600),
    Duration::from_secs(1_800),
    Duration::from_secs(3_600),
];
/// The number of attempts, which take about a day.
const CALLBACK_ATTEMPTS: u32 = 30;
/// How long an ended group is stored, so that a repeated request finds it.
const KEEP_ENDED: Duration = Duration::from_secs(7 * 86_400);

/// One group, without its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Group {
    pub id: GroupId,
    /// The token that opened it. Other tokens cannot see or claim it.
    pub opened_by: TokenId,
    /// The runs that its workers resume.
    pub name: String,
    /// The caller's id of the pause. A caller that opens the same pause again gets the same group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub asks: Vec<AskId>,
    /// The digest of all asks.
    pub digest: ShaDigest,
    /// Whether an expired claim may be given to another worker without asking a person.
    #[serde(default)]
    pub retry: bool,
    /// A short text of the caller that workers get back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_ref: Option<String>,
    /// Bytes of the state; 0 if there is none.
    #[serde(default)]
    pub state_size: usize,
    /// How long asks wait for a person, and a complete group for a worker.
    pub keep: Span,
    pub opened_at: Time,
    /// The number of the last claim.
    pub epoch: u64,
    pub phase: GroupPhase,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<Callback>,
}

/// What a group waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum GroupPhase {
    /// A person has to decide asks.
    Pending,
    /// A worker can claim it.
    Ready {
        since: Time,
    },
    /// A worker resumes the run.
    Claimed {
        claim: Claim,
    },
    /// The lease of the worker expired. `ask` asks a person whether the run is resumed again.
    Uncertain {
        claim: Claim,
        ask: AskId,
    },
    Ended {
        at: Time,
        end: GroupEnd,
    },
}

/// Why a group is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GroupEnd {
    /// A worker resumed the run.
    Acknowledged,
    /// A person decided that the run is not resumed again.
    Abandoned,
    /// The caller withdrew it.
    Withdrawn,
    /// No worker claimed it in time.
    Expired,
}

/// The right of one worker to resume the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claim {
    /// A name that the worker chose.
    pub worker: String,
    /// The worker's id of the call that claimed the group. A repeated call gets the same claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    pub at: Time,
    /// The end of the lease.
    pub until: Time,
}

/// The message to a target when the group is complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Callback {
    /// The name of the target in the configuration.
    pub target: String,
    pub state: CallbackState,
}

/// The progress of a callback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CallbackState {
    /// The group is not complete.
    Waiting,
    Due {
        at: Time,
        attempts: u32,
    },
    Sent,
    GivenUp,
}

/// Why a claim was not given, or a report of a worker was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClaimRefused {
    /// Asks are pending, another worker has it, or a person decides about it.
    #[error("the group is not ready to be claimed")]
    NotReady,
    /// The group is over.
    #[error("the group has ended")]
    Ended,
    /// Another worker claimed the group later, or a person decided about it.
    #[error("this claim has ended: its lease expired and the group was abandoned, or another worker has the group")]
    Lost,
}

impl Group {
    /// Derives the id of the group with this key. The same key gives the same id, so a repeated request cannot create a second
    /// group.
    #[must_use]
    pub fn id_of_key(token: TokenId, key: &str) -> GroupId {
        let mut fields = DigestFields::new("group key 1");
        fields.text(&token.to_string());
        fields.text(key);
        GroupId::from_bytes(fields.finish().first_half())
    }

    /// Computes the digest of a group from the digests of its asks.
    #[must_use]
    pub fn digest_of(name: &str, asks: &[ShaDigest]) -> ShaDigest {
        let mut fields = DigestFields::new("group 1");
        fields.text(name);
        let asks: Vec<_> = asks.iter().map(ToString::to_string).collect();
        fields.list(asks.iter().map(String::as_str));
        fields.finish()
    }

    #[must_use]
    pub const fn is_ended(&self) -> bool {
        matches!(self.phase, GroupPhase::Ended { .. })
    }

    /// Whether the group has ended and its callback needs no more attempts.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.is_ended() && self.callback_due().is_none()
    }

    /// Returns when the server has to refresh the group, if no ask is decided before.
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        match &self.phase {
            GroupPhase::Ready { since } => Some(since.plus(self.keep.0)),
            GroupPhase::Claimed { claim } => Some(claim.until),
            GroupPhase::Pending | GroupPhase::Uncertain { .. } | GroupPhase::Ended { .. } => None,
        }
    }

    /// Returns when to send the callback.
    #[must_use]
    pub const fn callback_due(&self) -> Option<Time> {
        match &self.callback {
            Some(Callback { state: CallbackState::Due { at, .. }, .. }) => Some(*at),
            Some(Callback { state: CallbackState::Waiting | CallbackState::Sent | CallbackState::GivenUp, .. }) | None => None,
        }
    }

    /// Returns when the row of an ended group can be deleted.
    #[must_use]
    pub fn expires_at(&self) -> Option<Time> {
        match &self.phase {
            GroupPhase::Ended { at, .. } if self.is_over() => Some(at.plus(KEEP_ENDED)),
            GroupPhase::Ended { .. }
            | GroupPhase::Pending
            | GroupPhase::Ready { .. }
            | GroupPhase::Claimed { .. }
            | GroupPhase::Uncertain { .. } => None,
        }
    }

    /// Makes the group ready for workers, because all asks are decided.
    #[must_use]
    pub fn complete(mut self, now: Time) -> Self {
        self.phase = GroupPhase::Ready { since: now };
        self.schedule_callback(now);
        self
    }

    /// Gives the group to a worker.
    ///
    /// # Errors
    /// When it is not ready.
    pub fn claim(mut self, worker: String, call: Option<String>, lease: Duration, now: Time) -> Result<Self, ClaimRefused> {
        match &self.phase {
            GroupPhase::Ready { .. } => {}
            // The reply to this call was lost.
            GroupPhase::Claimed { claim } if call.is_some() && claim.call == call => return Ok(self),
            GroupPhase::Pending | GroupPhase::Claimed { .. } | GroupPhase::Uncertain { .. } => {
                return Err(ClaimRefused::NotReady);
            }
            GroupPhase::Ended { .. } => return Err(ClaimRefused::Ended),
        }
        self.epoch += 1;
        self.phase = GroupPhase::Claimed { claim: Claim { worker, call, at: now, until: now.plus(lease) } };
        Ok(self)
    }

    /// Extends the lease of the claim with this epoch. An expired lease can also be extended, if the server has not noticed the
    /// expiry.
    ///
    /// # Errors
    /// When the claim is over.
    pub fn renew_claim(mut self, epoch: u64, lease: Duration, now: Time) -> Result<Self, ClaimRefused> {
        match &mut self.phase {
            GroupPhase::Claimed { claim } if self.epoch == epoch => {
                claim.until = now.plus(lease);
                Ok(self)
            }
            GroupPhase::Pending
            | GroupPhase::Ready { .. }
            | GroupPhase::Claimed { .. }
            | GroupPhase::Uncertain { .. }
            | GroupPhase::Ended { .. } => Err(ClaimRefused::Lost),
        }
    }

    /// Ends the group, because the worker with this epoch resumed the run. A late report also counts, as long as no other
    /// worker has the group: it answers the question whether the run was resumed. Returns the ask with this question, which is
    /// then not needed.
    ///
    /// # Errors
    /// When another worker has the group, or a person decided.
    pub fn acknowledge(mut self, epoch: u64, now: Time) -> Result<(Self, Option<AskId>), ClaimRefused> {
        let asked = match &self.phase {
            _ if self.epoch != epoch || epoch == 0 => return Err(ClaimRefused::Lost),
            GroupPhase::Claimed { .. } | GroupPhase::Ready { .. } => None,
            GroupPhase::Uncertain { ask, .. } => Some(*ask),
            // The reply to the first report was lost.
            GroupPhase::Ended { end: GroupEnd::Acknowledged, .. } => return Ok((self, None)),
            GroupPhase::Pending | GroupPhase::Ended { .. } => return Err(ClaimRefused::Lost),
        };
        self.phase = GroupPhase::Ended { at: now, end: GroupEnd::Acknowledged };
        Ok((self, asked))
    }

    /// Makes the group ready again, because the worker with this epoch did not start the run.
    ///
    /// # Errors
    /// When the claim is over.
    pub fn release_claim(mut self, epoch: u64, now: Time) -> Result<Self, ClaimRefused> {
        match &self.phase {
            GroupPhase::Claimed { .. } if self.epoch == epoch => {
                self.phase = GroupPhase::Ready { since: now };
                Ok(self)
            }
            GroupPhase::Pending
            | GroupPhase::Ready { .. }
            | GroupPhase::Claimed { .. }
            | GroupPhase::Uncertain { .. }
            | GroupPhase::Ended { .. } => Err(ClaimRefused::Lost),
        }
    }

    /// Ends the claim of a worker whose effect is unknown, because its lease expired or it failed. `ask` is the ask that
    /// decides, if the group permits no retries or a retry cannot help.
    #[must_use]
    pub fn interrupt(mut self, ask: AskId, may_retry: bool, now: Time) -> Self {
        if let GroupPhase::Claimed { claim } = &self.phase {
            self.phase = if self.retry && may_retry {
                GroupPhase::Ready { since: now }
            } else {
                GroupPhase::Uncertain { claim: claim.clone(), ask }
            };
        }
        self
    }

    /// Applies the decision of a person about an uncertain claim.
    #[must_use]
    pub fn decide_uncertain(mut self, again: bool, now: Time) -> Self {
        if let GroupPhase::Uncertain { .. } = &self.phase {
            self.phase =
                if again { GroupPhase::Ready { since: now } } else { GroupPhase::Ended { at: now, end: GroupEnd::Abandoned } };
        }
        self
    }

    /// Ends a group that no worker resumed.
    #[must_use]
    pub fn end(mut self, end: GroupEnd, now: Time) -> Self {
        let was_pending = matches!(self.phase, GroupPhase::Pending);
        self.phase = GroupPhase::Ended { at: now, end };
        if was_pending {
            self.schedule_callback(now);
        }
        self
    }

    fn schedule_callback(&mut self, now: Time) {
        if let Some(callback) = &mut self.callback {
            callback.state = CallbackState::Due { at: now, attempts: 0 };
        }
    }

    /// Records an attempt to call the target. `retry` says whether another attempt can help.
    #[must_use]
    pub fn record_callback(mut self, sent: bool, retry: bool, now: Time) -> Self {
        if let Some(Callback { state, .. }) = &mut self.callback
            && let CallbackState::Due { attempts, .. } = state
        {
            let tried = *attempts + 1;
            *state = if sent {
                CallbackState::Sent
            } else if !retry || tried >= CALLBACK_ATTEMPTS {
                CallbackState::GivenUp
            } else {
                let delay = CALLBACK_DELAYS[(tried as usize - 1).min(CALLBACK_DELAYS.len() - 1)];
                CallbackState::Due { at: now.plus(delay), attempts: tried }
            };
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(60);

    fn at(seconds: i64) -> Time {
        Time::from_millis(seconds * 1_000)
    }

    fn ask() -> AskId {
        AskId::from_bytes([9; 16])
    }

    fn group() -> Group {
        let token = TokenId::from_bytes([1; 16]);
        Group {
            id: Group::id_of_key(token, "run-1"),
            opened_by: token,
            name: "mailer".to_owned(),
            key: Some("run-1".to_owned()),
            asks: vec![AskId::from_bytes([2; 16])],
            digest: Group::digest_of("mailer", &[]),
            retry: false,
            resume_ref: None,
            state_size: 0,
            keep: Span(Duration::from_secs(1_000)),
            opened_at: at(0),
            epoch: 0,
            phase: GroupPhase::Pending,
            callback: Some(Callback { target: "hook".to_owned(), state: CallbackState::Waiting }),
        }
    }

    fn claimed() -> Group {
        group().complete(at(10)).claim("w1".to_owned(), None, LEASE, at(20)).unwrap()
    }

    #[test]
    fn group_is_claimed_once_and_only_when_it_is_complete() {
        assert_eq!(group().claim("w".to_owned(), None, LEASE, at(1)), Err(ClaimRefused::NotReady));
        let first = claimed();
        assert_eq!((first.epoch, first.due()), (1, Some(at(80))));
        assert_eq!(first.clone().claim("w2".to_owned(), None, LEASE, at(21)), Err(ClaimRefused::NotReady));
        let (done, _) = first.acknowledge(1, at(30)).unwrap();
        assert_eq!(done.phase, GroupPhase::Ended { at: at(30), end: GroupEnd::Acknowledged });
        assert_eq!(done.clone().claim("w2".to_owned(), None, LEASE, at(31)), Err(ClaimRefused::Ended));
        // A repeated report changes nothing.
        assert_eq!(done.clone().acknowledge(1, at(32)), Ok((done, None)));
    }

    #[test]
    fn expired_claim_is_uncertain_until_a_person_decides() {
        let uncertain = claimed().interrupt(ask(), true, at(80));
        assert!(matches!(uncertain.phase, GroupPhase::Uncertain { ask: asked, .. } if asked == ask()));
        assert_eq!(uncertain.clone().claim("w2".to_owned(), None, LEASE, at(81)), Err(ClaimRefused::NotReady));
        let again = uncertain.clone().decide_uncertain(true, at(90)).claim("w2".to_owned(), None, LEASE, at(91)).unwrap();
        assert_eq!(again.epoch, 2);
        assert_eq!(again.acknowledge(1, at(92)), Err(ClaimRefused::Lost), "the first worker's epoch is fenced");
        let abandoned = uncertain.decide_uncertain(false, at(90));
        assert_eq!(abandoned.phase, GroupPhase::Ended { at: at(90), end: GroupEnd::Abandoned });
        assert_eq!(abandoned.acknowledge(1, at(91)), Err(ClaimRefused::Lost));
    }

    #[test]
    fn late_report_ends_an_uncertain_group() {
        let uncertain = claimed().interrupt(ask(), true, at(80));
        let (done, asked) = uncertain.acknowledge(1, at(85)).unwrap();
        assert_eq!((done.phase, asked), (GroupPhase::Ended { at: at(85), end: GroupEnd::Acknowledged }, Some(ask())));
    }

    #[test]
    fn group_with_retries_is_ready_again_when_a_claim_expires() {
        let again = Group { retry: true, ..claimed() }.interrupt(ask(), true, at(80));
        assert_eq!(again.phase, GroupPhase::Ready { since: at(80) });
        let second = again.claim("w2".to_owned(), None, LEASE, at(81)).unwrap();
        assert_eq!(second.clone().renew_claim(1, LEASE, at(82)), Err(ClaimRefused::Lost));
        assert_eq!(second.renew_claim(2, LEASE, at(82)).unwrap().due(), Some(at(142)));
    }

    #[test]
    fn released_claim_can_be_taken_by_another_worker() {
        let released = claimed().release_claim(1, at(30)).unwrap();
        assert_eq!(released.phase, GroupPhase::Ready { since: at(30) });
        assert_eq!(released.release_claim(1, at(31)), Err(ClaimRefused::Lost));
        assert_eq!(claimed().release_claim(7, at(30)), Err(ClaimRefused::Lost));
    }

    #[test]
    fn repeated_call_gets_the_same_claim() {
        let claim = |group: Group, call: &str| group.claim("w".to_owned(), Some(call.to_owned()), LEASE, at(20));
        let first = claim(group().complete(at(10)), "call-1").unwrap();
        assert_eq!(claim(first.clone(), "call-1"), Ok(first.clone()));
        assert_eq!(claim(first, "call-2"), Err(ClaimRefused::NotReady));
    }

    #[test]
    fn callback_is_retried_with_growing_delays_and_then_given_up() {
        let mut group = group().complete(at(0));
        assert_eq!(group.callback_due(), Some(at(0)));
        let mut delays = Vec::new();
        while let Some(due) = group.callback_due() {
            let next = group.clone().record_callback(false, true, due);
            delays.extend(next.callback_due().map(|at| at.since(due).as_secs()));
            group = next;
        }
        assert_eq!(delays[..6], [5, 30, 120, 600, 1_800, 3_600]);
        assert!(delays.iter().sum::<u64>() > 20 * 3_600, "a receiver that is down for an hour gets it");
        assert_eq!(group.callback.map(|callback| callback.state), Some(CallbackState::GivenUp));
    }

    #[test]
    fn same_key_of_one_token_is_one_id() {
        let (first, second) = (TokenId::from_bytes([1; 16]), TokenId::from_bytes([2; 16]));
        assert_eq!(Group::id_of_key(first, "a"), Group::id_of_key(first, "a"));
        assert_ne!(Group::id_of_key(first, "a"), Group::id_of_key(second, "a"));
        assert_ne!(Group::id_of_key(first, "a"), Group::id_of_key(first, "b"));
    }
}
