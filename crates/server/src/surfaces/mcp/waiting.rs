//! Waits for a person, and sends progress notifications to the client.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// The interval of progress notifications. Some clients time out after 60 seconds of silence, and proxies may be faster.
const PROGRESS: Duration = Duration::from_secs(15);

/// Cancelled when the connection of a call is closed.
#[derive(Debug, Clone)]
pub(crate) struct CallerGone(pub(crate) CancellationToken);

/// Runs a long operation and sends progress at once and every 15 seconds. Returns `None` and drops the operation if the client
/// cancels the call or disconnects.
pub(super) async fn patiently<T>(context: &RequestContext<RoleServer>, work: impl Future<Output = T>) -> Option<T> {
    let parts = context.extensions.get::<axum::http::request::Parts>();
    let gone = parts.and_then(|parts| parts.extensions.get::<CallerGone>()).map(|gone| gone.0.clone());
    let gone = async {
        match gone {
            Some(gone) => gone.cancelled_owned().await,
            None => std::future::pending().await,
        }
    };
    let mut work = pin!(work);
    let mut gone = pin!(gone);
    let began = Instant::now();
    let mut ticks = interval(PROGRESS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let token = context.meta.get_progress_token();
    let mut told: u32 = 0;
    loop {
        tokio::select! {
            biased;
            done = &mut work => return Some(done),
            () = context.ct.cancelled() => return None,
            () = &mut gone => return None,
            _ = ticks.tick(), if token.is_some() => {
                told += 1;
                if let Some(token) = token.clone() {
                    let minutes = began.elapsed().as_secs() / 60;
                    let message = match minutes {
                        0 => "Waiting for a person".to_owned(),
                        minutes => format!("Waiting for a person, {minutes} min"),
                    };
                    let progress = ProgressNotificationParam::new(token, f64::from(told)).with_message(message);
                    // A failure to send is handled when the connection is closed.
                    let _ = context.peer.notify_progress(progress).await;
                }
            }
        }
    }
}
