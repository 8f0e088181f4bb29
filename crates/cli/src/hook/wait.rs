//! Waiting for an outcome: for as long as the agent waits, through restarts of the server.

use std::pin::pin;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use sayso_client::api::ask::{Ask, AskStatus, NewAsk};
use sayso_client::api::error::ErrorCode;
use sayso_client::{Client, Error};
use sayso_core::texts;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::slots::Slot;

/// How long one call waits.
const ONCE: Duration = Duration::from_secs(25);
/// How often a server that is gone is looked for. The ask is kept for a few seconds only.
const AGAIN: Duration = Duration::from_millis(500);
/// How long saying goodbye may take.
const GOODBYE: Duration = Duration::from_secs(2);

/// How the waiting ended.
#[derive(Debug)]
enum WaitEnd {
    /// With an outcome.
    Outcome(Box<Ask>),
    /// Somebody else goes on with it, or nobody.
    NotNeeded,
    /// The server does not know the ask, or does not want this hook.
    Refused,
}

/// Opens an ask that no rule decides and waits for its outcome. Nothing if it is not needed any more: then it is taken
/// back, and whoever looks at it is told where it is answered.
pub(super) async fn decided(client: &Client, new: &NewAsk, slot: Option<&Slot>, longest: Duration, there: &str) -> Option<Ask> {
    let mut not_needed = pin!(not_needed(HookSignals::listen(), longest));
    loop {
        let mut opening = pin!(opened(client, new));
        let opened = tokio::select! {
            opened = &mut opening => opened?,
            () = &mut not_needed => {
                // It may be there already.
                let opened = timeout(GOODBYE, opening).await.ok()??;
                goodbye(client, &opened.id, there).await;
                return None;
            }
        };
        let end = tokio::select! {
            end = outcome(client, &opened.id, slot) => end,
            () = &mut not_needed => WaitEnd::NotNeeded,
        };
        let ask = match end {
            WaitEnd::Outcome(ask) => *ask,
            WaitEnd::NotNeeded => {
                goodbye(client, &opened.id, there).await;
                return None;
            }
            WaitEnd::Refused => return None,
        };
        // The server came back and did not find this hook in time; but here it is.
        if !is_lost(&ask) {
            return Some(ask);
        }
    }
}

/// The agent told the hook to end, or is gone, or the time is over.
async fn not_needed(mut signals: HookSignals, longest: Duration) {
    tokio::select! {
        () = signals.told_to_end() => {}
        () = nobody_listens() => {}
        () = sleep(longest) => {}
    }
}

/// The ask, once the server has it. It was there a moment ago.
async fn opened(client: &Client, new: &NewAsk) -> Option<Ask> {
    loop {
        match client.open_ask(new).await {
            Ok(ask) => return Some(ask),
            Err(error) if is_passing(&error) => sleep(AGAIN).await,
            Err(_) => return None,
        }
    }
}

async fn outcome(client: &Client, id: &str, slot: Option<&Slot>) -> WaitEnd {
    loop {
        if slot.is_some_and(|slot| !slot.is_there()) {
            return WaitEnd::NotNeeded;
        }
        match client.wait_once(id, ONCE).await {
            Ok(ask) if ask.status == AskStatus::Pending => {}
            Ok(ask) => return WaitEnd::Outcome(Box::new(ask)),
            Err(error) if is_passing(&error) => sleep(AGAIN).await,
            Err(_) => return WaitEnd::Refused,
        }
    }
}

fn is_lost(ask: &Ask) -> bool {
    let why = ask.outcome.as_ref().and_then(|outcome| outcome.message.as_deref());
    ask.status == AskStatus::Withdrawn && why == Some(texts::WITHDRAWN_CALLER_GONE)
}

/// Whether it may work a moment later.
fn is_passing(error: &Error) -> bool {
    let later = [ErrorCode::ShuttingDown, ErrorCode::RateLimited, ErrorCode::StorageFull, ErrorCode::Internal];
    matches!(error, Error::Unreachable { .. } | Error::Protocol { .. }) || error.code().is_some_and(|code| later.contains(&code))
}

/// Takes the ask back, if that is still possible.
async fn goodbye(client: &Client, id: &str, reason: &str) {
    let _ = timeout(GOODBYE, client.withdraw_with_reason(id, reason)).await;
}

/// Says that the outcome was passed on.
pub(super) async fn received(client: &Client, id: &str) {
    let _ = timeout(GOODBYE, client.receive(id)).await;
}

/// The agent ends the hook with a signal. They are listened to before the ask is opened: a hook that is ended in the
/// moment in which the server writes the ask down takes it back, too.
#[derive(Debug)]
struct HookSignals(Vec<Signal>);

impl HookSignals {
    /// From now on none of them ends the process.
    fn listen() -> Self {
        let kinds = [SignalKind::terminate(), SignalKind::hangup(), SignalKind::interrupt()];
        Self(kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect())
    }

    async fn told_to_end(&mut self) {
        std::future::poll_fn(|context| {
            let told = self.0.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if told { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }
}

/// The agent is gone: nobody reads what this hook would say. Waiting for that blocks, so it has a thread of
/// its own, which ends with the process.
async fn nobody_listens() {
    let (gone, heard) = oneshot::channel();
    std::thread::spawn(move || {
        let stdout = std::io::stdout();
        let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
        // A reader that is gone is told without being asked for; nothing else ends this.
        while matches!(poll(&mut watched, None), Err(rustix::io::Errno::INTR)) {}
        let _ = gone.send(());
    });
    let _ = heard.await;
}
