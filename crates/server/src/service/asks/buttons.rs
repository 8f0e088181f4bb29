//! Buttons in notification channels. A press resolves the ask with the same compare-and-set as every other decision.

use sayso_core::ask::{Ask, AskState, Delivery, Refused};
use sayso_core::id::AskId;
use sayso_store::ops::ResolveError;

use super::read::ask_in_channel;
use super::resolve::{ChannelDecider, ChannelRefusal, resolve_in_channel};
use crate::config::language::Language;
use crate::config::notify::{ChannelKind, People};
use crate::service::Services;
use crate::service::notes::{self, Note, NoteStyle, Press};

/// The channel that a person decides in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecisionChannel<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: ChannelKind,
    pub(crate) style: NoteStyle,
}

/// The result of a button press.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ButtonResult {
    /// The press decided the ask.
    Done,
    /// The ask was already resolved. Describes the outcome.
    AlreadyResolved(String),
    /// The person may not answer in this channel.
    NotAllowed,
    /// The payload is invalid, or the note did not offer this button.
    InvalidButton,
    /// A file that the command executes has changed. The ask stays pending.
    ContentChanged,
    /// The decision could not be stored.
    Failed,
}

impl ButtonResult {
    /// The code to log if the press was refused.
    const fn refusal_code(&self) -> Option<&'static str> {
        match self {
            Self::Done | Self::AlreadyResolved(_) => None,
            Self::NotAllowed => Some("stranger"),
            Self::InvalidButton => Some("not_understood"),
            Self::ContentChanged => Some("content_changed"),
            Self::Failed => Some("internal"),
        }
    }

    /// The reply that the person reads in the channel.
    pub(crate) fn reply(&self, language: Language) -> String {
        let (english, chinese) = match self {
            Self::Done => ("Done", "已完成"),
            Self::AlreadyResolved(outcome) => return outcome.clone(),
            Self::NotAllowed => ("You do not have permission to answer here", "你无权在此回答"),
            Self::InvalidButton => ("This button no longer works. Open Sayso to answer.", "此按钮已失效。请打开 Sayso 回答。"),
            Self::ContentChanged => (
                "A file that the command executes has changed. Open Sayso to review it.",
                "此命令将执行的文件已更改。请打开 Sayso 查看。",
            ),
            Self::Failed => ("Something went wrong. Open Sayso to answer.", "出错了。请打开 Sayso 回答。"),
        };
        language.pick(english, chinese).to_owned()
    }
}

impl Press {
    /// Encodes the payload of a button: the press and the id of the ask.
    pub(crate) fn payload(self, ask: AskId) -> String {
        format!("{}|{ask}", self.encode())
    }
}

/// Carries out a button press. `user` is the person's id in the channel. Refusals are logged without the payload.
pub(crate) async fn press_button(
    services: &Services,
    channel: DecisionChannel<'_>,
    people: &People,
    user: &str,
    payload: &str,
) -> ButtonResult {
    let parsed = payload.split_once('|').and_then(|(press, ask)| Some((Press::parse(press)?, ask.parse().ok()?)));
    let pressed = match (people.get(user), parsed) {
        (None, _) => ButtonResult::NotAllowed,
        (Some(_), None) => ButtonResult::InvalidButton,
        (Some(person), Some((press, ask))) => {
            decide(services, channel, &ChannelDecider::Person(person.clone()), ask, press).await
        }
    };
    if let Some(code) = pressed.refusal_code() {
        tracing::warn!(channel = channel.name, code, "refused a button press");
    }
    pressed
}

async fn decide(
    services: &Services,
    channel: DecisionChannel<'_>,
    decider: &ChannelDecider,
    id: AskId,
    press: Press,
) -> ButtonResult {
    let Ok(found) = ask_in_channel(services, decider, id).await else { return ButtonResult::Failed };
    let Some(ask) = found else { return ButtonResult::InvalidButton };
    if !matches!(ask.state, AskState::Pending(_)) {
        return ButtonResult::AlreadyResolved(notes::describe_outcome(&ask, channel.style.language));
    }
    // Accept only buttons that the note offered: a person who saw a truncated command must not approve it.
    let offered = Note::about(&ask, channel.name, channel.style).buttons.iter().any(|button| button.press == press);
    let Some(decision) = press.decision(&ask).filter(|_| offered) else { return ButtonResult::InvalidButton };
    match resolve_in_channel(services, channel, decider, id, decision).await {
        Ok(_) => ButtonResult::Done,
        Err(ChannelRefusal::Refused(ResolveError::Refused(Refused::AlreadyResolved(outcome)))) => {
            let state = AskState::Resolved { outcome: *outcome, delivery: Delivery::Queued };
            ButtonResult::AlreadyResolved(notes::describe_outcome(&Ask { state, ..ask }, channel.style.language))
        }
        Err(ChannelRefusal::TokenEnded) => ButtonResult::NotAllowed,
        Err(ChannelRefusal::Refused(_)) => ButtonResult::InvalidButton,
        Err(ChannelRefusal::ContentChanged) => ButtonResult::ContentChanged,
        Err(ChannelRefusal::Store(error)) => {
            tracing::warn!(%error, channel = channel.name, "could not store the decision of a button");
            ButtonResult::Failed
        }
    }
}
