//! The state of one session, as its client knows it.

use sayso_agents::json_rpc::Id;
use sayso_api::session::SessionStatus;

use super::updates::SentUpdates;

/// The activity of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    /// A turn is running, or the agent is starting.
    Running,
    /// The session accepts a prompt.
    Idle,
    /// The session has ended.
    Over {
        /// Whether the session can be resumed.
        resumable: bool,
    },
}

impl Activity {
    pub(super) const fn of(status: SessionStatus, resumable: bool) -> Self {
        match status {
            SessionStatus::Running | SessionStatus::Waiting | SessionStatus::Stalled => Self::Running,
            SessionStatus::Idle => Self::Idle,
            SessionStatus::Ended | SessionStatus::Failed => Self::Over { resumable },
        }
    }
}

/// A prompt that was sent to the agent or is about to be.
#[derive(Debug)]
pub(super) struct Prompt {
    /// The id of the client's request.
    pub(super) id: Id,
    /// The id of the message in the transcript.
    pub(super) message: String,
    /// Whether the message appeared in the session's events. Earlier events belong to an earlier turn.
    pub(super) seen: bool,
    /// Whether a turn was running when the message appeared, or has run since.
    pub(super) ran: bool,
}

/// A request that waits until the agent accepts a prompt.
#[derive(Debug)]
pub(super) enum HeldRequest {
    /// The client's `session/new` request.
    New(Id),
    /// A prompt for a session that is being resumed.
    Prompt(Id, String),
}

/// One session of the client.
#[derive(Debug)]
pub(super) struct SessionState {
    pub(super) activity: Activity,
    pub(super) prompts: Vec<Prompt>,
    pub(super) held: Vec<HeldRequest>,
    /// Whether the client cancelled the turn that its prompts wait for.
    pub(super) cancelled: bool,
    pub(super) sent_updates: SentUpdates,
    /// The feed position up to which the client was informed from the transcript.
    pub(super) told_to: i64,
}

impl SessionState {
    pub(super) fn new(activity: Activity, told_to: i64) -> Self {
        Self { activity, prompts: Vec::new(), held: Vec::new(), cancelled: false, sent_updates: SentUpdates::default(), told_to }
    }

    /// Records that a message appeared in the session's events.
    pub(super) fn record_message(&mut self, message: &str) -> bool {
        let running = self.activity == Activity::Running;
        let Some(prompt) = self.prompts.iter_mut().find(|prompt| prompt.message == message) else { return false };
        (prompt.seen, prompt.ran) = (true, running);
        true
    }

    /// Records a change of activity. Returns the prompts whose turn has ended.
    pub(super) fn set_activity(&mut self, activity: Activity) -> Vec<Id> {
        self.activity = activity;
        let over = |prompt: &Prompt| match activity {
            Activity::Running => false,
            Activity::Idle => prompt.seen && prompt.ran,
            Activity::Over { .. } => true,
        };
        if activity == Activity::Running {
            self.prompts.iter_mut().filter(|prompt| prompt.seen).for_each(|prompt| prompt.ran = true);
        } else {
            self.sent_updates.turn_ended();
        }
        let (done, left) = std::mem::take(&mut self.prompts).into_iter().partition(over);
        self.prompts = left;
        done.into_iter().map(|prompt: Prompt| prompt.id).collect()
    }
}
