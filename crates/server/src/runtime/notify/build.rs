//! Builds the channels from the `[[notify]]` entries of `config.toml`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use jiff::tz::TimeZone;
use sayso_net::AllowedAddresses;

use super::ConfiguredChannel;
use super::channel::{
    ChannelSender, ChannelVariables, CommandChannel, DesktopChannel, EmailChannel, HttpEndpoint, NtfyChannel, SlackChannel,
    TelegramChannel, TmuxChannel, TmuxSign, WebPushChannel, WebhookChannel,
};
use super::schedule::{Quiet, Timing};
use crate::config::notify::{CallbackConfig, ChannelKind, NotifyConfig, People};
use crate::service::notes::{NoteDetail, NoteStyle};

/// The default delay before a notification.
const AFTER: Duration = Duration::from_secs(20);
/// Maximum number of channels.
const MOST: usize = 32;

/// The context that entries are built in.
#[derive(Debug)]
pub(crate) struct ChannelContext<'a> {
    pub(crate) variables: ChannelVariables,
    /// The directory that relative paths refer to.
    pub(crate) dir: &'a Path,
}

/// Builds the channels and their schedules. Errors name the entry.
pub(crate) fn read(
    entries: &[NotifyConfig],
    around: &ChannelContext<'_>,
) -> Result<(Vec<ConfiguredChannel>, Vec<Timing>), String> {
    if entries.len() > MOST {
        return Err(format!("there are {} [[notify]] entries; the limit is {MOST}", entries.len()));
    }
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_deref().unwrap_or(entry.kind.as_str())).collect();
    let place = |index: usize| format!("[[notify]] {} (\"{}\")", index + 1, names.get(index).unwrap_or(&""));
    let (mut channels, mut timings) = (Vec::new(), Vec::new());
    for (index, entry) in entries.iter().enumerate() {
        let wrong = |message: String| format!("{}: {message}", place(index));
        let name = names.get(index).copied().unwrap_or_default();
        if name.is_empty() || name.len() > 32 || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(wrong("a name must have 1 to 32 letters, digits and hyphens".to_owned()));
        }
        if names.iter().position(|other| *other == name) != Some(index) {
            return Err(wrong("another channel has this name; set name to a unique one".to_owned()));
        }
        if let Some(alien) = entry.alien() {
            return Err(wrong(format!("{alien} is not a setting of the kind {}", entry.kind.as_str())));
        }
        channels.push(entry.entry(name, around).map_err(wrong)?);
        timings.push(entry.timing(&names).map_err(wrong)?);
    }
    for target in entries.iter().filter_map(|entry| entry.then.as_ref()) {
        for (timing, _) in timings.iter_mut().zip(&names).filter(|(_, name)| **name == target.name) {
            timing.first = false;
        }
    }
    for index in 0..timings.len() {
        if leads_into_itself(&timings, index) {
            return Err(format!("{}: then leads back to the same channel", place(index)));
        }
    }
    Ok((channels, timings))
}

fn leads_into_itself(timings: &[Timing], from: usize) -> bool {
    let mut here = from;
    for _ in 0..timings.len() {
        match timings.get(here).and_then(|timing| timing.then) {
            Some((next, _)) if next == from => return true,
            Some((next, _)) => here = next,
            None => return false,
        }
    }
    // The entry leads into a cycle that it is not part of. An entry of the cycle reports the error.
    false
}

impl NotifyConfig {
    fn timing(&self, names: &[&str]) -> Result<Timing, String> {
        let quiet = match (&self.quiet, &self.zone) {
            (None, None) => None,
            (None, Some(_)) => return Err("zone requires quiet, which is missing".to_owned()),
            (Some(text), zone) => {
                let quiet: Quiet = text.parse().map_err(|error: super::schedule::NoHours| error.to_string())?;
                match zone {
                    None => Some(quiet),
                    Some(zone) => {
                        let zone = TimeZone::get(zone).map_err(|_| format!("there is no time zone \"{zone}\""))?;
                        Some(quiet.within(zone))
                    }
                }
            }
        };
        let then = match &self.then {
            None => None,
            Some(then) => {
                let next = names.iter().position(|name| *name == then.name);
                Some((next.ok_or_else(|| format!("then names \"{}\", which is not a channel", then.name))?, then.after.0))
            }
        };
        Ok(Timing { after: self.after.map_or(AFTER, |after| after.0), quiet, then, first: true })
    }

    fn entry(&self, name: &str, around: &ChannelContext<'_>) -> Result<ConfiguredChannel, String> {
        for person in self.person.iter().chain(self.people.values()) {
            if person.trim().is_empty() || person.len() > sayso_core::limits::NAME {
                return Err("the name of a person is empty or too long".to_owned());
            }
        }
        let detail = if self.content { NoteDetail::WithContent } else { NoteDetail::AgentOnly };
        let style = NoteStyle { detail, language: self.language };
        Ok(ConfiguredChannel::new(name.to_owned(), self.kind, style, self.person.clone(), self.build_sender(around)?))
    }

    fn build_sender(&self, around: &ChannelContext<'_>) -> Result<ChannelSender, String> {
        let variables = || ChannelVariables::clone(&around.variables);
        Ok(match self.kind {
            ChannelKind::Bell => {
                ChannelSender::Tmux(TmuxChannel { socket: self.socket.clone(), sign: TmuxSign::Bell, variables: variables() })
            }
            ChannelKind::Tmux => {
                ChannelSender::Tmux(TmuxChannel { socket: self.socket.clone(), sign: TmuxSign::Line, variables: variables() })
            }
            ChannelKind::Desktop => ChannelSender::Desktop(DesktopChannel { variables: variables() }),
            ChannelKind::Command => {
                let (program, args) = self
                    .command
                    .as_deref()
                    .and_then(<[String]>::split_first)
                    .ok_or("command is missing: [\"program\", \"argument\"]")?;
                ChannelSender::Command(CommandChannel { program: program.clone(), args: args.to_vec(), variables: variables() })
            }
            ChannelKind::Webhook => {
                let secret = self.secret(around)?.ok_or("secret_env or secret_file is missing")?;
                ChannelSender::Webhook(WebhookChannel::new(self.caller(None)?, &secret)?)
            }
            ChannelKind::WebPush => {
                let contact =
                    self.contact.clone().filter(|contact| contact.starts_with("mailto:") || contact.starts_with("https://"));
                let contact =
                    contact.ok_or("contact is missing: \"mailto:you@example.com\", so that push services can contact you")?;
                ChannelSender::WebPush(WebPushChannel { contact, reach: self.reach() })
            }
            ChannelKind::Ntfy => ChannelSender::Ntfy(NtfyChannel {
                caller: self.caller(Some("https://ntfy.sh"))?,
                topic: self.topic.clone().ok_or("topic is missing")?,
                token: self.token(around)?,
            }),
            ChannelKind::Telegram => ChannelSender::Telegram(TelegramChannel {
                caller: self.caller(Some("https://api.telegram.org"))?,
                token: self.token(around)?.ok_or("token_env or token_file is missing")?,
                chat: self.chat.clone().ok_or("chat is missing")?,
                people: People::clone(&self.people),
            }),
            ChannelKind::Slack => ChannelSender::Slack(SlackChannel {
                caller: self.caller(Some("https://slack.com/api"))?,
                token: self.token(around)?.ok_or("token_env or token_file is missing")?,
                app_token: read_secret("app_token", self.app_token_env.as_deref(), self.app_token_file.as_deref(), around)?,
                channel: self.channel.clone().ok_or("channel is missing")?,
                people: People::clone(&self.people),
            }),
            ChannelKind::Email => {
                let account = match (&self.user, self.secret(around)?) {
                    (None, None) => None,
                    (Some(user), Some(password)) => Some((user.clone(), password)),
                    _ => return Err("set both user and secret_env or secret_file, or neither".to_owned()),
                };
                let url = self.url.as_deref().ok_or("url is missing")?;
                let from = self.from.as_deref().ok_or("from is missing")?;
                ChannelSender::Email(EmailChannel::new(url, account, from, self.to.as_deref().ok_or("to is missing")?)?)
            }
        })
    }

    fn caller(&self, usual: Option<&str>) -> Result<HttpEndpoint, String> {
        let url = self.url.as_deref().or(usual).ok_or("url is missing")?;
        HttpEndpoint::new(url, self.reach())
    }

    const fn reach(&self) -> AllowedAddresses {
        if self.allow_private { AllowedAddresses::Anywhere } else { AllowedAddresses::Public }
    }

    fn secret(&self, around: &ChannelContext<'_>) -> Result<Option<String>, String> {
        read_secret("secret", self.secret_env.as_deref(), self.secret_file.as_deref(), around)
    }

    fn token(&self, around: &ChannelContext<'_>) -> Result<Option<String>, String> {
        read_secret("token", self.token_env.as_deref(), self.token_file.as_deref(), around)
    }
}

/// Builds the targets of `[callbacks]`. Errors name the target.
pub(crate) fn read_callbacks(
    entries: &BTreeMap<String, CallbackConfig>,
    around: &ChannelContext<'_>,
) -> Result<BTreeMap<String, WebhookChannel>, String> {
    let target = |entry: &CallbackConfig| {
        let secret = read_secret("secret", entry.secret_env.as_deref(), entry.secret_file.as_deref(), around)?;
        let secret = secret.ok_or("secret_env or secret_file is missing")?;
        let reach = if entry.allow_private { AllowedAddresses::Anywhere } else { AllowedAddresses::Public };
        WebhookChannel::new(HttpEndpoint::new(&entry.url, reach)?, &secret)
    };
    let with_name = |(name, entry): (&String, &CallbackConfig)| match target(entry) {
        Ok(target) => Ok((name.clone(), target)),
        Err(message) => Err(format!("[callbacks.{name}]: {message}")),
    };
    entries.iter().map(with_name).collect()
}

/// Reads a secret from its environment variable or file. The configuration never contains secrets.
fn read_secret(
    what: &str,
    variable: Option<&str>,
    file: Option<&Path>,
    around: &ChannelContext<'_>,
) -> Result<Option<String>, String> {
    let secret = match (variable, file) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => return Err(format!("set only one of {what}_env and {what}_file")),
        (Some(variable), None) => {
            let found = around.variables.iter().find(|(name, _)| name == variable).map(|(_, value)| value.clone());
            found.ok_or_else(|| format!("the environment of the server has no variable {variable} ({what}_env)"))?
        }
        (None, Some(file)) => {
            let path = around.dir.join(file);
            std::fs::read_to_string(&path).map_err(|error| format!("cannot read {what}_file {}: {error}", path.display()))?
        }
    };
    let secret = secret.trim();
    let fits = !secret.is_empty() && secret.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    if fits { Ok(Some(secret.to_owned())) } else { Err(format!("{what} is empty or contains invalid characters")) }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct File {
        notify: Vec<NotifyConfig>,
    }

    fn load(text: &str) -> Result<(Vec<ConfiguredChannel>, Vec<Timing>), String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let variables =
            [("HOOK", secret), ("BAD", "x\ny"), ("NONE", " ")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        read(&file.notify, &ChannelContext { variables: variables.into(), dir: Path::new("/nowhere") })
    }

    #[test]
    fn channels_are_read_with_their_times() {
        let text = r#"
            [[notify]]
            kind = "desktop"
            after = "5s"
            then = { name = "mail", after = "10m" }
            [[notify]]
            name = "mail"
            kind = "email"
            url = "smtps://mail.example.com"
            from = "sayso@example.com"
            to = "Ada <ada@example.com>"
            quiet = "22:00-07:00"
            zone = "Europe/Berlin"
        "#;
        let (channels, timings) = load(text).unwrap();
        assert_eq!(channels.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["desktop", "mail"]);
        assert_eq!((timings[0].first, timings[0].then), (true, Some((1, Duration::from_secs(600)))));
        assert!(!timings[1].first && timings[1].quiet.is_some());
    }

    #[test]
    fn configuration_errors_name_their_entry() {
        for (text, said) in [
            ("kind = \"pigeon\"", "unknown variant `pigeon`"),
            ("name = \"x\"", "missing field `kind`"),
            ("kind = \"desktop\"\ncolour = 1", "unknown field `colour`"),
            ("kind = \"desktop\"\nname = \"a b\"", "[[notify]] 1 (\"a b\"): a name must have"),
            ("kind = \"desktop\"\nurl = \"x\"", "[[notify]] 1 (\"desktop\"): url is not a setting of the kind desktop"),
            ("kind = \"desktop\"\n[[notify]]\nkind = \"desktop\"", "[[notify]] 2 (\"desktop\"): another channel has this name"),
            ("kind = \"desktop\"\nquiet = \"night\"", "quiet must look like"),
            ("kind = \"desktop\"\nquiet = \"22:00-07:00\"\nzone = \"Mars/Base\"", "no time zone \"Mars/Base\""),
            ("kind = \"desktop\"\nzone = \"UTC\"", "zone requires quiet"),
            ("kind = \"desktop\"\nafter = \"soon\"", "not a duration such as"),
            ("kind = \"desktop\"\nthen = { name = \"x\", after = \"1m\" }", "then names \"x\""),
            ("kind = \"desktop\"\nthen = { name = \"desktop\", after = \"1m\" }", "leads back"),
            ("kind = \"command\"", "command is missing"),
            ("kind = \"command\"\ncommand = []", "command is missing"),
            ("kind = \"command\"\ncommand = [\"x\"]\nperson = \" \"", "name of a person"),
            ("kind = \"webhook\"\nurl = \"https://hooks.example.com\"", "secret_env or secret_file is missing"),
            ("kind = \"webhook\"\nsecret_env = \"HOOK\"", "url is missing"),
            ("kind = \"webhook\"\nurl = \"http://10.0.0.1/\"\nsecret_env = \"HOOK\"", "private network; allow_private = true"),
            ("kind = \"webhook\"\nurl = \"ftp://example.com\"\nsecret_env = \"HOOK\"", "must begin with http"),
            ("kind = \"webhook\"\nurl = \"https://example.com\"\nsecret_env = \"OTHER\"", "has no variable OTHER"),
            ("kind = \"webhook\"\nurl = \"https://example.com\"\nsecret_env = \"BAD\"", "contains invalid characters"),
            ("kind = \"webhook\"\nurl = \"https://example.com\"\nsecret_env = \"NONE\"", "secret is empty"),
            ("kind = \"webhook\"\nurl = \"https://example.com\"\nsecret_file = \"x\"", "cannot read secret_file /nowhere/x"),
            ("kind = \"ntfy\"", "topic is missing"),
            ("kind = \"telegram\"\nchat = \"1\"", "token_env or token_file is missing"),
            (
                "kind = \"email\"\nurl = \"smtp://u:p@host\"\nfrom = \"a@b\"\nto = \"c@d\"",
                "url must not contain a user or a password",
            ),
            ("kind = \"email\"\nurl = \"smtp://host\"\nfrom = \"sayso\"\nto = \"c@d\"", "from is not an email address"),
        ] {
            let error = load(&format!("[[notify]]\n{text}\n")).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
        let ring = "[[notify]]\nkind = \"desktop\"\nthen = { name = \"tmux\", after = \"1m\" }\n[[notify]]\nkind = \"tmux\"\nthen = { name = \"desktop\", after = \"1m\" }";
        assert!(load(ring).unwrap_err().contains("leads back"));
    }
}
