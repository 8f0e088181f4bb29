//! Buttons in notification channels: the same compare-and-set as any other decision.

use sayso_core::ask::{Ask, AskState, Delivery, Refused};
use sayso_core::id::AskId;
use sayso_store::ops::ResolveError;

use super::read::ask_in_channel;
use super::resolve::{ChannelDecider, ChannelRefusal, resolve_in_channel};
use crate::config::notify::{ChannelKind, People};
use crate::service::Services;
use crate::service::notes::{self, Note, Press, Says};

/// The channel that a person decides in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecisionChannel<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: ChannelKind,
    pub(crate) says: Says,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pressed {
    /// It is decided.
    Done,
    /// Somebody or something was faster: how.
    Over(String),
    /// Who pressed it may not.
    Stranger,
    /// The button is none of ours, or was never offered.
    Nonsense,
    /// A file that the command executes has changed; the ask still waits.
    Changed,
    /// It could not be stored.
    Failed,
}

impl Pressed {
    /// Why nothing was decided, as a word; nothing if it was, or had been.
    const fn refused(&self) -> Option<&'static str> {
        match self {
            Self::Done | Self::Over(_) => None,
            Self::Stranger => Some("stranger"),
            Self::Nonsense => Some("not_understood"),
            Self::Changed => Some("content_changed"),
            Self::Failed => Some("internal"),
        }
    }

    /// What the person reads.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Done => "Done".to_owned(),
            Self::Over(words) => words.clone(),
            Self::Stranger => "You do not have permission to answer here".to_owned(),
            Self::Nonsense => "This button no longer works. Open Sayso to answer.".to_owned(),
            Self::Changed => "A file that the command executes has changed. Open Sayso to review it.".to_owned(),
            Self::Failed => "Something went wrong. Open Sayso to answer.".to_owned(),
        }
    }
}

impl Press {
    /// What a button of this ask carries.
    pub(crate) fn carried(self, ask: AskId) -> String {
        format!("{}|{ask}", self.written())
    }
}

/// Carries out a button press: `carried` is the button's payload, `user` is the person's id in the channel. Refusals are
/// logged without the payload.
pub(crate) async fn press_button(
    services: &Services,
    channel: DecisionChannel<'_>,
    people: &People,
    user: &str,
    carried: &str,
) -> Pressed {
    let read = carried.split_once('|').and_then(|(press, ask)| Some((Press::read(press)?, ask.parse().ok()?)));
    let pressed = match (people.get(user), read) {
        (None, _) => Pressed::Stranger,
        (Some(_), None) => Pressed::Nonsense,
        (Some(person), Some((press, ask))) => {
            decide(services, channel, &ChannelDecider::Person(person.clone()), ask, press).await
        }
    };
    if let Some(code) = pressed.refused() {
        tracing::warn!(channel = channel.name, code, "a button was refused");
    }
    pressed
}

async fn decide(services: &Services, channel: DecisionChannel<'_>, decider: &ChannelDecider, id: AskId, press: Press) -> Pressed {
    let Ok(found) = ask_in_channel(services, decider, id).await else { return Pressed::Failed };
    let Some(ask) = found else { return Pressed::Nonsense };
    if !matches!(ask.state, AskState::Pending(_)) {
        return Pressed::Over(notes::over(&ask));
    }
    // Only offered buttons count: a person who saw half of a command does not approve it.
    let offered = Note::about(&ask, channel.name, channel.says).buttons.iter().any(|button| button.press == press);
    let Some(decision) = press.decision(&ask).filter(|_| offered) else { return Pressed::Nonsense };
    match resolve_in_channel(services, channel, decider, id, decision).await {
        Ok(_) => Pressed::Done,
        Err(ChannelRefusal::Refused(ResolveError::Refused(Refused::AlreadyResolved(outcome)))) => {
            let state = AskState::Resolved { outcome: *outcome, delivery: Delivery::Queued };
            Pressed::Over(notes::over(&Ask { state, ..ask }))
        }
        Err(ChannelRefusal::TokenEnded) => Pressed::Stranger,
        Err(ChannelRefusal::Refused(_)) => Pressed::Nonsense,
        Err(ChannelRefusal::ContentChanged) => Pressed::Changed,
        Err(ChannelRefusal::Store(error)) => {
            tracing::warn!(%error, channel = channel.name, "a button could not be stored");
            Pressed::Failed
        }
    }
}
