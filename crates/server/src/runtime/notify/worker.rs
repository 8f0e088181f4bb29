//! The task of one channel: sends due notes, a few at once, and stores the results.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sayso_core::ask::{Ask, AskState};
use sayso_core::id::AskId;
use sayso_core::plain_text;
use sayso_core::scope::Scope;
use sayso_store::StoreError;
use sayso_store::ops::{DeleteNotification, NotificationRow, NotificationState, PutNotification};
use sayso_store::read::{GetAsk, GetNotification};
use tokio::task::JoinSet;
use tracing::Instrument as _;

use super::ConfiguredChannel;
use super::channel::{Next, OutgoingNote, SendFailure, SendResult};
use super::queue::NoteJob;
use super::schedule;
use crate::auth::{Caller, Permission};
use crate::entropy;
use crate::runtime::Runtime;
use crate::service::notes::{self, Note, NoteDetail, NoteStyle};
use crate::service::{ServiceError, authorize};

/// Maximum number of notes that one channel sends concurrently. The others stay in the queue.
const AT_ONCE: usize = 8;
/// Time limit for one attempt. Channels have shorter limits of their own.
const LIMIT: Duration = Duration::from_secs(30);
/// How long a stopping server waits for notes that are being sent.
const STOPPING: Duration = Duration::from_secs(3);
/// How long to wait after a database error.
const STORE: Duration = Duration::from_secs(5);

/// Sends due notes until the server stops.
pub(super) async fn run(runtime: Arc<Runtime>, index: usize) {
    let Some(entry) = runtime.notifier.entry(index) else { return };
    let mut under_way = JoinSet::new();
    loop {
        while under_way.len() < AT_ONCE
            && let Some((ask, job)) = entry.queue.pop_due(runtime.services.clock.now())
        {
            let span = tracing::debug_span!("notification", channel = entry.name, %ask);
            under_way.spawn(attempt(Arc::clone(&runtime), index, ask, job).instrument(span));
        }
        let first = entry.queue.first().filter(|_| under_way.len() < AT_ONCE);
        tokio::select! {
            () = runtime.stopping.cancelled() => break,
            () = entry.queue.changed.notified() => {}
            Some(_) = under_way.join_next() => {}
            () = sleep_until(&runtime, first) => {}
        }
    }
    let all = async { while under_way.join_next().await.is_some() {} };
    if tokio::time::timeout(STOPPING, all).await.is_err() {
        tracing::warn!(channel = entry.name, "the server stopped while it sent a notification; it may be sent again");
    }
}

async fn sleep_until(runtime: &Runtime, first: Option<sayso_core::time::Time>) {
    match first {
        Some(at) => runtime.services.clock.sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn attempt(runtime: Arc<Runtime>, index: usize, ask: AskId, job: NoteJob) {
    let Some(entry) = runtime.notifier.entry(index) else { return };
    let done = match job {
        NoteJob::Tell => notify_channel(&runtime, index, entry, ask).await,
        NoteJob::Over { tries } => over(&runtime, entry, ask, tries).await,
    };
    if let Err(error) = done {
        // Most likely the disk is full.
        tracing::warn!(%error, channel = entry.name, %ask, "could not store a notification; trying again");
        entry.queue.add(runtime.services.clock.now().plus(STORE), ask, job);
    }
}

async fn load_ask(runtime: &Runtime, ask: AskId) -> Result<Option<Ask>, StoreError> {
    runtime.services.store.read(GetAsk { workspace: runtime.services.workspace, ask, scope: Scope::All }).await
}

const fn is_pending(ask: &Ask) -> bool {
    matches!(ask.state, AskState::Pending(_))
}

async fn notify_channel(runtime: &Runtime, index: usize, entry: &ConfiguredChannel, id: AskId) -> Result<(), StoreError> {
    let Some(ask) = load_ask(runtime, id).await? else { return Ok(()) };
    if !is_pending(&ask) {
        return Ok(());
    }
    let now = runtime.services.clock.now();
    if let Some(until) = ask.snoozed_until.filter(|until| *until > now) {
        entry.queue.add(runtime.notifier.outside_quiet_hours(index, until), id, NoteJob::Tell);
        return Ok(());
    }
    let get = GetNotification { workspace: runtime.services.workspace, ask: id, channel: entry.name.clone() };
    let earlier = if entry.queue.is_noted(id) { runtime.services.store.read(get).await? } else { None };
    if earlier.as_ref().is_some_and(|note| !matches!(note.state, NotificationState::Again(_))) {
        return Ok(());
    }
    let attempts = earlier.map_or(0, |note| note.attempts) + 1;
    let mut note = Note::about(&ask, &entry.name, entry.style);
    note.link = entry.holder().and_then(|holder| runtime.services.answer_links.address(id, holder, now));
    let told = send(runtime, entry, Some(&ask), &note).await;
    let now = runtime.services.clock.now();
    let (state, message) = match told {
        // Ignore an id that cannot be stored. The message is then not updated later.
        Ok(message) => {
            (NotificationState::Told, message.filter(|message| plain_text::check("the id of the message", message).is_ok()))
        }
        Err(failure) => match after_failure(entry, id, &failure, attempts) {
            Some(wait) => (NotificationState::Again(runtime.notifier.outside_quiet_hours(index, now.plus(wait))), None),
            None => (NotificationState::GivenUp, None),
        },
    };
    tracing::debug!(attempts, sent = matches!(state, NotificationState::Told), "notification attempted");
    let row = NotificationRow { ask: id, channel: entry.name.clone(), state, attempts, message };
    runtime.services.store.write(PutNotification { workspace: runtime.services.workspace, note: row }).await?;
    entry.queue.noted(id);
    if let NotificationState::Again(at) = state {
        entry.queue.add(at, id, NoteJob::Tell);
    }
    // The ask may have been decided while the note was being sent.
    if load_ask(runtime, id).await?.is_none_or(|ask| !is_pending(&ask)) && entry.queue.end(id) {
        entry.queue.add(now, id, NoteJob::Over { tries: 0 });
    }
    Ok(())
}

/// Returns the delay until the next attempt; `None` if the channel gives up.
fn after_failure(entry: &ConfiguredChannel, ask: AskId, failure: &SendFailure, attempts: u32) -> Option<Duration> {
    let [chance] = entropy::bytes::<1>();
    let wait = match failure.next {
        Next::Later(asked) => schedule::again(attempts, chance, asked),
        Next::Never | Next::Gone => None,
    };
    let reason = &failure.reason;
    match wait {
        Some(_) => tracing::info!(channel = entry.name, %ask, attempts, reason, "could not send a notification; trying again"),
        None => tracing::warn!(channel = entry.name, %ask, attempts, reason, "could not send a notification; giving up"),
    }
    wait
}

/// Makes one attempt with a time limit.
async fn send(runtime: &Runtime, entry: &ConfiguredChannel, ask: Option<&Ask>, note: &Note) -> SendResult {
    if entry.gone.load(Ordering::Relaxed) {
        return Err(SendFailure { reason: "the receiver no longer exists".to_owned(), next: Next::Never });
    }
    let sent = OutgoingNote { runtime, channel: &entry.name, ask, note, now: runtime.services.clock.now() };
    let told = tokio::time::timeout(LIMIT, entry.channel.send_note(&sent))
        .await
        .unwrap_or_else(|_| Err(SendFailure { reason: "the receiver took too long".to_owned(), next: Next::Later(None) }));
    match &told {
        Ok(_) => entry.failed(None),
        Err(failure) => {
            entry.failed(Some(failure.reason.clone()));
            if failure.next == Next::Gone {
                entry.gone.store(true, Ordering::Relaxed);
            }
        }
    }
    told
}

async fn over(runtime: &Runtime, entry: &ConfiguredChannel, id: AskId, tries: u32) -> Result<(), StoreError> {
    let get = GetNotification { workspace: runtime.services.workspace, ask: id, channel: entry.name.clone() };
    let Some(row) = runtime.services.store.read(get).await? else { return Ok(()) };
    if let (NotificationState::Told, false, Some(ask)) =
        (row.state, entry.gone.load(Ordering::Relaxed), load_ask(runtime, id).await?)
    {
        let note = Note::about(&ask, &entry.name, NoteStyle { detail: NoteDetail::AgentOnly, ..entry.style });
        let words = notes::describe_outcome(&ask, entry.style.language);
        let sent =
            OutgoingNote { runtime, channel: &entry.name, ask: Some(&ask), note: &note, now: runtime.services.clock.now() };
        let changed = entry.channel.over(&sent, row.message.as_deref(), &words);
        let failure = match tokio::time::timeout(LIMIT, changed).await {
            Ok(Ok(())) => None,
            Ok(Err(failure)) => Some(failure.next),
            Err(_) => Some(Next::Later(None)),
        };
        let [chance] = entropy::bytes::<1>();
        if let Some(Next::Later(asked)) = failure
            && let Some(wait) = schedule::again(tries + 1, chance, asked)
        {
            entry.queue.add(runtime.services.clock.now().plus(wait), id, NoteJob::Over { tries: tries + 1 });
            return Ok(());
        }
    }
    runtime
        .services
        .store
        .write(DeleteNotification { workspace: runtime.services.workspace, ask: id, channel: entry.name.clone() })
        .await
}

/// Sends a test note through one channel or all channels, and returns the result of each.
pub(crate) async fn test(
    runtime: &Runtime,
    caller: &Caller,
    name: Option<&str>,
) -> Result<Vec<sayso_api::notify::Tested>, ServiceError> {
    authorize(caller, Permission::Administer)?;
    let wanted: Vec<&ConfiguredChannel> =
        runtime.notifier.entries().iter().filter(|entry| name.is_none_or(|name| name == entry.name)).collect();
    if name.is_some() && wanted.is_empty() {
        return Err(ServiceError::NotFound("no such channel; see [[notify]] in config.toml"));
    }
    let id = entropy::hex(&entropy::bytes::<8>());
    let tests = wanted.into_iter().map(|entry| {
        let note = Note::test(&entry.name, &id, entry.style.language, runtime.services.clock.now());
        async move {
            let told = send(runtime, entry, None, &note).await;
            sayso_api::notify::Tested {
                name: entry.name.clone(),
                kind: entry.kind.as_str().to_owned(),
                sent: told.is_ok(),
                failure: told.err().map(|failure| failure.reason),
            }
        }
    });
    Ok(futures_util::future::join_all(tests).await)
}
