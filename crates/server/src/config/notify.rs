//! `[[notify]]` of `config.toml`: one entry is one channel. The runtime builds the channels from these entries.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sayso_core::time::Span;
use serde::Deserialize;

use super::language::Language;

/// The people with permission to press buttons: their id in the channel, and their name in Sayso.
pub(crate) type People = BTreeMap<String, String>;

/// The type of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChannelKind {
    Bell,
    Command,
    Desktop,
    Email,
    Ntfy,
    Slack,
    Telegram,
    Tmux,
    Webhook,
    WebPush,
}

impl ChannelKind {
    /// Returns the name of the type in the configuration.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Bell => "bell",
            Self::Command => "command",
            Self::Desktop => "desktop",
            Self::Email => "email",
            Self::Ntfy => "ntfy",
            Self::Slack => "slack",
            Self::Telegram => "telegram",
            Self::Tmux => "tmux",
            Self::Webhook => "webhook",
            Self::WebPush => "webpush",
        }
    }

    /// Returns the settings of this type, in addition to those of all channels.
    const fn settings(self) -> &'static [&'static str] {
        match self {
            Self::Bell | Self::Tmux => &["socket"],
            Self::Command => &["command", "person"],
            Self::Desktop => &[],
            Self::Email => &["url", "user", "secret", "from", "to", "person"],
            Self::Ntfy => &["url", "topic", "token", "person", "allow_private"],
            Self::Slack => &["url", "token", "app_token", "channel", "people", "person", "allow_private"],
            Self::Telegram => &["url", "token", "chat", "people", "person", "allow_private"],
            Self::Webhook => &["url", "secret", "person", "allow_private"],
            Self::WebPush => &["contact", "allow_private"],
        }
    }
}

/// One entry of the configuration.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotifyConfig {
    pub(crate) kind: ChannelKind,
    pub(crate) name: Option<String>,
    pub(crate) after: Option<Span>,
    pub(crate) quiet: Option<String>,
    pub(crate) zone: Option<String>,
    pub(crate) then: Option<ThenConfig>,
    #[serde(default)]
    pub(crate) content: bool,
    #[serde(default)]
    pub(crate) language: Language,
    pub(crate) person: Option<String>,
    #[serde(default)]
    pub(crate) people: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) allow_private: bool,
    pub(crate) url: Option<String>,
    pub(crate) command: Option<Vec<String>>,
    pub(crate) secret_env: Option<String>,
    pub(crate) secret_file: Option<PathBuf>,
    pub(crate) token_env: Option<String>,
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) app_token_env: Option<String>,
    pub(crate) app_token_file: Option<PathBuf>,
    pub(crate) topic: Option<String>,
    pub(crate) chat: Option<String>,
    pub(crate) channel: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    pub(crate) socket: Option<String>,
    pub(crate) contact: Option<String>,
}

/// The next channel of an escalation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThenConfig {
    pub(crate) name: String,
    pub(crate) after: Span,
}

impl NotifyConfig {
    /// Returns a setting that this type of channel does not have.
    pub(crate) fn alien(&self) -> Option<&'static str> {
        let given = [
            ("person", self.person.is_some()),
            ("people", !self.people.is_empty()),
            ("allow_private", self.allow_private),
            ("url", self.url.is_some()),
            ("command", self.command.is_some()),
            ("secret", self.secret_env.is_some() || self.secret_file.is_some()),
            ("token", self.token_env.is_some() || self.token_file.is_some()),
            ("app_token", self.app_token_env.is_some() || self.app_token_file.is_some()),
            ("topic", self.topic.is_some()),
            ("chat", self.chat.is_some()),
            ("channel", self.channel.is_some()),
            ("user", self.user.is_some()),
            ("from", self.from.is_some()),
            ("to", self.to.is_some()),
            ("socket", self.socket.is_some()),
            ("contact", self.contact.is_some()),
        ];
        given.into_iter().find(|(name, is_given)| *is_given && !self.kind.settings().contains(name)).map(|(name, _)| name)
    }
}

/// `[callbacks.NAME]`: a receiver of messages about groups. Callers give its name and never an address.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallbackConfig {
    pub(crate) url: String,
    pub(crate) secret_env: Option<String>,
    pub(crate) secret_file: Option<PathBuf>,
    #[serde(default)]
    pub(crate) allow_private: bool,
}
