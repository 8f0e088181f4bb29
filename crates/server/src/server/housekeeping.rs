//! Periodic work: reloads the policy file and the certificate when they change, and deletes rows past their retention.

use std::sync::Arc;
use std::time::Duration;

use sayso_core::time::Time;
use sayso_store::RetentionLimits;
use sayso_store::StoreError;

use crate::app::App;
use crate::service::{Services, policy};

/// How often the policy file and the certificate are checked for changes.
const RELOAD: Duration = Duration::from_secs(2);
/// How often rows past their retention are deleted.
const TRIM: Duration = Duration::from_secs(600);
/// The retention of events, unless `keep_events` is set.
const KEEP_EVENTS: Duration = Duration::from_secs(7 * 86_400);
/// The retention of idempotency keys.
const KEEP_KEYS: Duration = Duration::from_secs(86_400);

/// Runs until it is dropped.
pub(super) async fn housekeeping(app: Arc<App>) {
    let mut reload = tokio::time::interval(RELOAD);
    reload.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut trim = tokio::time::interval(TRIM);
    loop {
        tokio::select! {
            _ = reload.tick() => {
                if let Some(tls) = &app.tls {
                    tls.reload();
                }
                if app.services.policies.reload() && policy::announce(&app.services).await.is_err() {
                    tracing::warn!("the new policy is active, but its event could not be published");
                }
            }
            _ = trim.tick() => {
                if let Err(error) = retain(&app.services).await {
                    tracing::warn!(%error, "cannot delete rows past their retention");
                }
            }
        }
    }
}

async fn retain(services: &Services) -> Result<(), StoreError> {
    let now = services.clock.now();
    let before = |age: Duration| Time::from_millis(now.as_millis() - i64::try_from(age.as_millis()).unwrap_or(i64::MAX));
    let keep = services.config.keep_events.map_or(KEEP_EVENTS, |span| span.0);
    let retain = || RetentionLimits { events_before: before(keep), keys_before: before(KEEP_KEYS), at_most: 1_000 };
    while services.store.retain(retain()).await? {
        tokio::task::yield_now().await;
    }
    Ok(())
}
