//! Waiting for a person, so that the client knows that we are still there.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// How often a client hears of us. Some give up after 60 seconds of silence, and a proxy may be faster.
const PROGRESS: Duration = Duration::from_secs(15);

/// The connection that a call came over is gone.
#[derive(Debug, Clone)]
pub(crate) struct CallerGone(pub(crate) CancellationToken);

/// Does something that takes long, and tells the client so at once and every 15 seconds. Nothing if the client no
/// longer wants it or is gone; it is dropped then.
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
                    // A client that does not take it is noticed by its connection.
                    let _ = context.peer.notify_progress(progress).await;
                }
            }
        }
    }
}
