//! Waits for an outcome as long as the agent waits, even while the server restarts.

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

/// Time limit of one request to wait.
const ONCE: Duration = Duration::from_secs(25);
/// Interval between retries while the server is gone. Short, because the server keeps an ask without a waiting hook
/// for a few seconds only.
const AGAIN: Duration = Duration::from_millis(500);
/// Time limit for the last request.
const GOODBYE: Duration = Duration::from_secs(2);

#[derive(Debug)]
enum WaitEnd {
    Outcome(Box<Ask>),
    /// The agent no longer needs the outcome, for example because the call has finished.
    NotNeeded,
    /// The server does not know the ask, or does not accept this hook.
    Refused,
}

/// Opens an ask that no rule decides and waits for its outcome. Returns `None` when the outcome is no longer needed;
/// the ask is then withdrawn with the reason `there`, which says where to answer instead.
pub(super) async fn decided(client: &Client, new: &NewAsk, slot: Option<&Slot>, longest: Duration, there: &str) -> Option<Ask> {
    let mut not_needed = pin!(not_needed(HookSignals::listen(), longest));
    loop {
        let mut opening = pin!(opened(client, new));
        let opened = tokio::select! {
            opened = &mut opening => opened?,
            () = &mut not_needed => {
                // The request may have reached the server already.
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
        // If the ask was withdrawn because the server did not see this hook after a restart, open it again.
        if !is_lost(&ask) {
            return Some(ask);
        }
    }
}

/// Resolves when a signal arrives, the agent is gone, or the time is over.
async fn not_needed(mut signals: HookSignals, longest: Duration) {
    tokio::select! {
        () = signals.told_to_end() => {}
        () = stdout_closed() => {}
        () = sleep(longest) => {}
    }
}

/// Opens the ask, and retries while the server is unavailable. It was available a moment ago.
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

/// Returns true if a retry may succeed.
fn is_passing(error: &Error) -> bool {
    let later = [ErrorCode::ShuttingDown, ErrorCode::RateLimited, ErrorCode::StorageFull, ErrorCode::Internal];
    matches!(error, Error::Unreachable { .. } | Error::Protocol { .. }) || error.code().is_some_and(|code| later.contains(&code))
}

/// Withdraws the ask, if it is still pending.
async fn goodbye(client: &Client, id: &str, reason: &str) {
    let _ = timeout(GOODBYE, client.withdraw_with_reason(id, reason)).await;
}

/// Confirms that the agent received the outcome.
pub(super) async fn received(client: &Client, id: &str) {
    let _ = timeout(GOODBYE, client.receive(id)).await;
}

/// Agents end hooks with signals. Handlers are installed before the ask is opened, so that a hook that is ended during
/// that request still withdraws the ask.
#[derive(Debug)]
struct HookSignals(Vec<Signal>);

impl HookSignals {
    /// Installs the handlers. The signals no longer end the process.
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

/// Resolves when the agent has closed its end of standard output, so that a decision could not be delivered. The
/// blocking wait has its own thread, which ends with the process.
async fn stdout_closed() {
    let (gone, heard) = oneshot::channel();
    std::thread::spawn(move || {
        let stdout = std::io::stdout();
        let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
        // `poll` always reports a closed reader. No other event ends this wait.
        while matches!(poll(&mut watched, None), Err(rustix::io::Errno::INTR)) {}
        let _ = gone.send(());
    });
    let _ = heard.await;
}
