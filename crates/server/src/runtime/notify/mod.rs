//! Notifications for people who do not have Sayso open. The policy decides first; each channel notifies once per ask, and only
//! while the ask is pending.
//!
//! Commits only put asks into the queues of the channels. Each channel has its own task that sends due notes, so that a failing
//! channel delays no other one. Sent notes are rows, and due times follow from the ask and the configuration, so a restart
//! neither loses nor repeats a note.

mod build;
mod channel;
mod push;
mod queue;
mod schedule;
mod worker;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sayso_core::id::AskId;
use sayso_core::raw::Raw;
use sayso_core::time::{Span, Time};
use sayso_store::ops::{DeleteNotification, NotificationState, PutSetting};
use sayso_store::read::{ReadNotifications, StoredNotifications, StoredPolicy};
use sayso_store::{EventPayload, Store, StoreError, StoredEvent, WorkspaceId};
use tokio::task::JoinSet;

use crate::auth::{Caller, Permission};
use crate::config::notify::ChannelKind;
use crate::runtime::Runtime;
use crate::service::answer_links::{BadLink, Holder, HolderIdentity};
use crate::service::asks;
use crate::service::notes::{NoteDetail, NoteStyle};
use crate::service::{ServiceError, authorize};
use channel::ChannelSender;
pub(crate) use channel::{Next, WebhookChannel};
use queue::{NoteJob, NoteQueue};
use schedule::Timing;

pub(crate) use build::{ChannelContext, read, read_callbacks};
pub(crate) use push::{PushKey, Unusable};
pub(crate) use worker::test;

/// Key of the setting with the time at which each channel was added, so that a new channel does not report asks from before.
const SINCE: &str = "notify_since";

/// A channel with its queue and its schedule.
#[derive(Debug)]
pub(crate) struct ConfiguredChannel {
    pub(crate) name: String,
    pub(crate) kind: ChannelKind,
    pub(crate) style: NoteStyle,
    /// The person that its links are signed for.
    pub(crate) person: Option<String>,
    channel: ChannelSender,
    queue: NoteQueue,
    /// True after the receiver reported that it no longer exists.
    gone: AtomicBool,
    last_failure: Mutex<Option<String>>,
}

impl ConfiguredChannel {
    fn new(name: String, kind: ChannelKind, style: NoteStyle, person: Option<String>, channel: ChannelSender) -> Self {
        let (queue, gone, last_failure) = (NoteQueue::default(), AtomicBool::new(false), Mutex::new(None));
        Self { name, kind, style, person, channel, queue, gone, last_failure }
    }

    /// Returns the holder that its links are signed for.
    pub(crate) fn holder(&self) -> Option<Holder<'_>> {
        let person = self.person.as_deref()?;
        Some(Holder { channel: &self.name, identity: HolderIdentity::Person(person) })
    }

    /// Returns the channel as the origin of decisions.
    pub(crate) fn channel(&self) -> asks::DecisionChannel<'_> {
        asks::DecisionChannel { name: &self.name, kind: self.kind, style: self.style }
    }

    fn failed(&self, reason: Option<String>) {
        *self.last_failure.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }
}

/// All channels of a server.
#[derive(Debug)]
pub(crate) struct Notifier {
    entries: Vec<ConfiguredChannel>,
    timings: Vec<Timing>,
}

impl Notifier {
    pub(crate) fn new((entries, timings): (Vec<ConfiguredChannel>, Vec<Timing>)) -> Self {
        Self { entries, timings }
    }

    pub(crate) fn entry(&self, index: usize) -> Option<&ConfiguredChannel> {
        self.entries.get(index)
    }

    pub(crate) fn entries(&self) -> &[ConfiguredChannel] {
        &self.entries
    }

    /// Returns whether there is a channel of this kind.
    pub(crate) fn has(&self, kind: ChannelKind) -> bool {
        self.entries.iter().any(|entry| entry.kind == kind)
    }

    /// Returns all possible holders of links: the persons of channels, and these tokens for browsers.
    fn holders<'a>(&'a self, tokens: &'a [Arc<Caller>]) -> impl Iterator<Item = Holder<'a>> {
        self.entries.iter().flat_map(move |entry| {
            let browsers = if entry.kind == ChannelKind::WebPush { tokens } else { &[] };
            let of_token = |caller: &Arc<Caller>| Holder { channel: &entry.name, identity: HolderIdentity::Token(caller.token) };
            entry.holder().into_iter().chain(browsers.iter().map(of_token))
        })
    }

    /// Handles changes of asks. Called on the writer's thread, so it must not block.
    pub(crate) fn observe_events(&self, events: &[StoredEvent]) {
        if self.entries.is_empty() {
            return;
        }
        for event in events {
            if let EventPayload::AskRequested(ask) = &event.payload {
                for (entry, at) in self.due(ask.opened_at) {
                    entry.queue.add(at, ask.id, NoteJob::Tell);
                }
            } else if let EventPayload::AskResolved(ask) = &event.payload {
                for (entry, at) in self.due(ask.opened_at) {
                    entry.queue.resolved(ask.id, at, event.at);
                }
            }
        }
    }

    /// Returns this time, or the end of the channel's quiet hours if the time is within them.
    fn outside_quiet_hours(&self, index: usize, at: Time) -> Time {
        self.timings.get(index).map_or(at, |timing| timing.outside_quiet_hours(at))
    }

    fn due(&self, opened: Time) -> impl Iterator<Item = (&ConfiguredChannel, Time)> {
        let times = schedule::due(&self.timings, opened);
        self.entries.iter().zip(times).filter_map(|(entry, at)| Some((entry, at?)))
    }

    /// Loads pending asks and sent notes when the server starts.
    pub(crate) async fn begin(
        &self,
        store: &Store,
        workspace: WorkspaceId,
        stored: &StoredPolicy,
        now: Time,
    ) -> Result<(), StoreError> {
        let since = since(store, workspace, stored, &self.entries, now).await?;
        if self.entries.is_empty() {
            return Ok(());
        }
        let StoredNotifications { pending, notes } = store.read(ReadNotifications { workspace }).await?;
        let waiting: std::collections::HashSet<AskId> = pending.iter().map(|(ask, _)| *ask).collect();
        let mut known: std::collections::HashSet<(AskId, &str)> = std::collections::HashSet::new();
        for note in &notes {
            let Some(entry) = self.entries.iter().find(|entry| entry.name == note.channel) else {
                // The channel is no longer configured.
                store.write(DeleteNotification { workspace, ask: note.ask, channel: note.channel.clone() }).await?;
                continue;
            };
            known.insert((note.ask, &entry.name));
            match (waiting.contains(&note.ask), note.state) {
                (true, NotificationState::Again(at)) => {
                    entry.queue.noted(note.ask);
                    entry.queue.add(at, note.ask, NoteJob::Tell);
                }
                (true, NotificationState::Told | NotificationState::GivenUp) => entry.queue.noted(note.ask),
                (false, _) => entry.queue.add(now, note.ask, NoteJob::Over { tries: 0 }),
            }
        }
        for (ask, opened) in pending {
            for (entry, at) in self.due(opened) {
                let is_new = since.get(&entry.name).is_none_or(|since| opened >= *since);
                if is_new && !known.contains(&(ask, entry.name.as_str())) {
                    entry.queue.add(at, ask, NoteJob::Tell);
                }
            }
        }
        Ok(())
    }

    /// Starts the tasks of all channels.
    pub(crate) fn run(runtime: &Arc<Runtime>) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        for index in 0..runtime.notifier.entries.len() {
            tasks.spawn(worker::run(Arc::clone(runtime), index));
            let runtime = Arc::clone(runtime);
            tasks.spawn(async move {
                let Some(entry) = runtime.notifier.entry(index) else { return };
                tokio::select! {
                    () = runtime.stopping.cancelled() => {}
                    () = entry.channel.listen(&runtime, index) => {}
                }
            });
        }
        tasks
    }

    /// A channel without its secrets, for admins.
    fn list(&self) -> Vec<sayso_api::notify::Channel> {
        let shown = |(entry, timing): (&ConfiguredChannel, &Timing)| sayso_api::notify::Channel {
            name: entry.name.clone(),
            kind: entry.kind.as_str().to_owned(),
            after: timing.first.then(|| Span(timing.after).to_string()),
            then: timing.then.and_then(|(next, after)| {
                Some(sayso_api::notify::Then { name: self.entries.get(next)?.name.clone(), after: Span(after).to_string() })
            }),
            quiet: timing.quiet.as_ref().map(ToString::to_string),
            content: entry.style.detail == NoteDetail::WithContent,
            person: entry.person.clone(),
            gone: entry.gone.load(Ordering::Relaxed),
            last_failure: entry.last_failure.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        };
        self.entries.iter().zip(&self.timings).map(shown).collect()
    }
}

/// The ask and the holder of a verified answer link.
pub(crate) struct LinkTarget<'a> {
    pub(crate) ask: AskId,
    /// The channel that sent the link.
    pub(crate) entry: &'a ConfiguredChannel,
    pub(crate) decider: asks::ChannelDecider,
}

/// Verifies an answer link. Links of browsers are for one token, which has to be valid and to have permission to answer
/// now; links of other channels are for the person of the channel.
pub(crate) fn read_answer_link<'a>(runtime: &'a Runtime, code: &str) -> Result<LinkTarget<'a>, BadLink> {
    let (services, notifier) = (&runtime.services, &runtime.notifier);
    let now = services.clock.now();
    let tokens = if notifier.has(ChannelKind::WebPush) { services.tokens.with(Permission::Answer, now) } else { Vec::new() };
    let (ask, holder) = services.answer_links.read(code, notifier.holders(&tokens), now)?;
    let entry = notifier.entries.iter().find(|entry| entry.name == holder.channel).ok_or(BadLink::Wrong)?;
    let decider = match holder.identity {
        HolderIdentity::Person(name) => asks::ChannelDecider::Person(name.to_owned()),
        HolderIdentity::Token(token) => {
            let caller = tokens.iter().find(|caller| caller.token == token).ok_or(BadLink::Wrong)?;
            asks::ChannelDecider::Token(Arc::clone(caller))
        }
    };
    Ok(LinkTarget { ask, entry, decider })
}

/// Lists the channels, without their secrets.
pub(crate) fn list(runtime: &Runtime, caller: &Caller) -> Result<Vec<sayso_api::notify::Channel>, ServiceError> {
    authorize(caller, Permission::Administer)?;
    Ok(runtime.notifier.list())
}

/// Returns when each channel was added. Adds new channels with the current time, and removes those that are not configured.
async fn since(
    store: &Store,
    workspace: WorkspaceId,
    stored: &StoredPolicy,
    entries: &[ConfiguredChannel],
    now: Time,
) -> Result<BTreeMap<String, Time>, StoreError> {
    let kept: BTreeMap<String, Time> = stored
        .settings
        .iter()
        .find(|(key, _)| key == SINCE)
        .and_then(|(_, raw)| serde_json::from_str(raw.as_str()).ok())
        .unwrap_or_default();
    let known: BTreeMap<String, Time> =
        entries.iter().map(|entry| (entry.name.clone(), kept.get(&entry.name).copied().unwrap_or(now))).collect();
    if known != kept {
        let value = if known.is_empty() { None } else { Some(Raw::of(&known)) };
        store.write(PutSetting { workspace, key: SINCE, value }).await?;
    }
    Ok(known)
}
