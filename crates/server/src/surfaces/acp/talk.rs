//! One session as this client knows it.

use sayso_agents::json_rpc::Id;
use sayso_api::session::SessionStatus;

use super::telling::Voice;

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    /// A turn is under way, or the agent starts.
    Running,
    /// It takes a prompt.
    Idle,
    /// Nothing any more.
    Over {
        /// Whether it can be taken up again.
        resumable: bool,
    },
}

impl Doing {
    pub(super) const fn of(status: SessionStatus, resumable: bool) -> Self {
        match status {
            SessionStatus::Running | SessionStatus::Waiting | SessionStatus::Stalled => Self::Running,
            SessionStatus::Idle => Self::Idle,
            SessionStatus::Ended | SessionStatus::Failed => Self::Over { resumable },
        }
    }
}

/// A prompt that the agent has, or soon will.
#[derive(Debug)]
pub(super) struct Prompt {
    /// The client's request.
    pub(super) id: Id,
    /// The message's id in the transcript.
    pub(super) message: String,
    /// Whether the session told of the message. What it told before belongs to an earlier turn.
    pub(super) seen: bool,
    /// Whether a turn ran since, or was running then.
    pub(super) ran: bool,
}

/// What waits until the agent takes a prompt.
#[derive(Debug)]
pub(super) enum Held {
    /// The client's `session/new`.
    New(Id),
    /// A prompt for a session that is being taken up again.
    Prompt(Id, String),
}

/// One session.
#[derive(Debug)]
pub(super) struct Talk {
    pub(super) doing: Doing,
    pub(super) prompts: Vec<Prompt>,
    pub(super) held: Vec<Held>,
    /// The client cancelled the turn that its prompts wait for.
    pub(super) cancelled: bool,
    pub(super) voice: Voice,
    /// Up to here the client was told from the transcript.
    pub(super) told_to: i64,
}

impl Talk {
    pub(super) fn new(doing: Doing, told_to: i64) -> Self {
        Self { doing, prompts: Vec::new(), held: Vec::new(), cancelled: false, voice: Voice::default(), told_to }
    }

    /// The session told of a message.
    pub(super) fn saw(&mut self, message: &str) -> bool {
        let running = self.doing == Doing::Running;
        let Some(prompt) = self.prompts.iter_mut().find(|prompt| prompt.message == message) else { return false };
        (prompt.seen, prompt.ran) = (true, running);
        true
    }

    /// The session is doing something else now. Gives the prompts whose turn is over.
    pub(super) fn turned(&mut self, doing: Doing) -> Vec<Id> {
        self.doing = doing;
        let over = |prompt: &Prompt| match doing {
            Doing::Running => false,
            Doing::Idle => prompt.seen && prompt.ran,
            Doing::Over { .. } => true,
        };
        if doing == Doing::Running {
            self.prompts.iter_mut().filter(|prompt| prompt.seen).for_each(|prompt| prompt.ran = true);
        } else {
            self.voice.turn_ended();
        }
        let (done, left) = std::mem::take(&mut self.prompts).into_iter().partition(over);
        self.prompts = left;
        done.into_iter().map(|prompt: Prompt| prompt.id).collect()
    }
}
