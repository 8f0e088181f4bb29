//! The notification channels. Each module sends notes through one service and, where the service permits it, updates them
//! when the ask has its outcome.

mod command;
mod desktop;
mod email;
mod http;
mod ntfy;
mod program;
mod slack;
mod telegram;
mod tmux;
mod webhook;
mod webpush;

use std::sync::Arc;
use std::time::Duration;

use sayso_core::ask::Ask;
use sayso_core::time::Time;
use serde::Serialize;

use crate::config::language::Language;
use crate::config::notify::People;
use crate::runtime::Runtime;
use crate::service::asks::{self, ButtonResult};
use crate::service::notes::Note;

pub(crate) use command::CommandChannel;
pub(crate) use desktop::DesktopChannel;
pub(crate) use email::EmailChannel;
pub(crate) use http::HttpEndpoint;
pub(crate) use ntfy::NtfyChannel;
pub(crate) use slack::SlackChannel;
pub(crate) use telegram::TelegramChannel;
pub(crate) use tmux::{Sign as TmuxSign, TmuxChannel};
pub(crate) use webhook::WebhookChannel;
pub(crate) use webpush::WebPushChannel;

/// The server's environment variables, for programs that channels run.
pub(crate) type ChannelVariables = Arc<[(String, String)]>;

#[derive(Debug)]
pub(crate) enum ChannelSender {
    /// A program of the person.
    Command(CommandChannel),
    /// Notifications of the desktop.
    Desktop(DesktopChannel),
    Email(EmailChannel),
    Ntfy(NtfyChannel),
    Slack(SlackChannel),
    Telegram(TelegramChannel),
    /// The status lines, or the bells, of tmux.
    Tmux(TmuxChannel),
    /// A signed request to a receiver.
    Webhook(WebhookChannel),
    /// All subscribed browsers.
    WebPush(WebPushChannel),
}

/// A note to send, with its context.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutgoingNote<'a> {
    pub(crate) runtime: &'a Runtime,
    /// The name of the channel.
    pub(crate) channel: &'a str,
    /// The ask; `None` for a test notification.
    pub(crate) ask: Option<&'a Ask>,
    pub(crate) note: &'a Note,
    pub(crate) now: Time,
}

/// Why a note was not sent. The reason never contains the content of the note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SendFailure {
    /// The reason, for the log.
    pub(crate) reason: String,
    /// Whether to retry.
    pub(crate) next: Next,
}

/// Whether a failed note is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Retry, but not before this duration has passed.
    Later(Option<Duration>),
    /// Do not retry, because the result would be the same.
    Never,
    /// The receiver no longer exists. Send nothing more to it until the server is restarted.
    Gone,
}

impl SendFailure {
    fn later(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), next: Next::Later(None) }
    }

    fn never(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), next: Next::Never }
    }
}

/// The reply to a button press, which the person reads in the channel.
struct PressReply {
    is_done: bool,
    text: String,
}

/// Carries out a button press in a channel.
async fn press(runtime: &Runtime, index: usize, people: &People, user: &str, carried: &str) -> PressReply {
    let (result, language) = match runtime.notifier.entry(index) {
        Some(entry) => {
            let result = asks::press_button(&runtime.services, entry.channel(), people, user, carried).await;
            (result, entry.style.language)
        }
        None => (ButtonResult::InvalidButton, Language::default()),
    };
    PressReply { is_done: result == ButtonResult::Done, text: result.reply(language) }
}

/// The channel's own id of the sent message, if it has one.
pub(crate) type SendResult = Result<Option<String>, SendFailure>;

impl ChannelSender {
    pub(crate) async fn send_note(&self, sent: &OutgoingNote<'_>) -> SendResult {
        let OutgoingNote { note, now, .. } = *sent;
        match self {
            Self::Command(command) => command.send_note(note).await,
            Self::Desktop(desktop) => desktop.send_note(note).await,
            Self::Email(email) => email.send_note(note).await,
            Self::Ntfy(ntfy) => ntfy.send_note(note).await,
            Self::Slack(slack) => slack.send_note(note).await,
            Self::Telegram(telegram) => telegram.send_note(note).await,
            Self::Tmux(tmux) => tmux.send_note(note).await,
            Self::Webhook(webhook) => webhook.send_note(note, now).await,
            Self::WebPush(push) => push.send_note(sent).await,
        }
    }

    /// Reports the outcome, if the channel can change its notes or a program listens. Otherwise does nothing.
    pub(crate) async fn over(&self, sent: &OutgoingNote<'_>, message: Option<&str>, words: &str) -> Result<(), SendFailure> {
        match (self, message) {
            (Self::Ntfy(ntfy), Some(message)) => ntfy.over(message, words).await,
            (Self::Slack(slack), Some(message)) => slack.over(message, words).await,
            (Self::Telegram(telegram), Some(message)) => telegram.over(message, words).await,
            (Self::Webhook(webhook), _) => webhook.over(sent.note, words, sent.now).await,
            (Self::WebPush(push), _) => push.over(sent, words).await,
            (Self::Ntfy(_) | Self::Slack(_) | Self::Telegram(_), None)
            | (Self::Command(_) | Self::Desktop(_) | Self::Email(_) | Self::Tmux(_), _) => Ok(()),
        }
    }

    /// Listens for button presses until the server stops, if the channel has its own buttons.
    pub(crate) async fn listen(&self, runtime: &Arc<Runtime>, index: usize) {
        match self {
            Self::Telegram(telegram) => telegram.listen(runtime, index).await,
            Self::Slack(slack) => slack.listen(runtime, index).await,
            Self::Command(_)
            | Self::Desktop(_)
            | Self::Email(_)
            | Self::Ntfy(_)
            | Self::Tmux(_)
            | Self::Webhook(_)
            | Self::WebPush(_) => {}
        }
    }
}

/// A note as programs get it: a command on its standard input, a webhook under `data`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    ask_id: Option<String>,
    kind: &'a str,
    agent: &'a str,
    project: Option<&'a str>,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    buttons: Vec<WireButton<'a>>,
    opened_at: Time,
}

#[derive(Debug, Serialize)]
struct WireButton<'a> {
    label: &'a str,
    press: String,
}

impl<'a> From<&'a Note> for Wire<'a> {
    fn from(note: &'a Note) -> Self {
        let button =
            |button: &'a crate::service::notes::Button| WireButton { label: &button.label, press: button.press.encode() };
        Self {
            ask_id: note.ask.map(|ask| ask.to_string()),
            kind: note.kind,
            agent: &note.agent,
            project: note.project.as_deref(),
            text: &note.line,
            content: note.content.as_deref(),
            link: note.link.as_deref(),
            // A press is a request to the answer link.
            buttons: note.link.iter().flat_map(|_| note.buttons.iter().map(button)).collect(),
            opened_at: note.at,
        }
    }
}
