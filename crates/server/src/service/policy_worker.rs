//! Runs policy work whose cost the caller controls: texts with many rules, applied to many asks.
//!
//! The work runs on blocking threads, at most two at a time, so that it never delays other requests.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::ServiceError;

/// Maximum number of concurrent jobs.
const AT_ONCE: usize = 2;
/// How long a request waits for a free slot before it fails.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct PolicyWorker {
    turns: Arc<Semaphore>,
}

impl Default for PolicyWorker {
    fn default() -> Self {
        Self { turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

impl PolicyWorker {
    /// Waits for a free slot, then runs `prepare` and the work. `prepare` loads the input after the wait, so that waiting
    /// requests hold no asks in memory.
    pub(crate) async fn run<P, T: Send + 'static>(
        &self,
        prepare: impl Future<Output = Result<P, ServiceError>>,
        work: impl FnOnce(P) -> Result<T, ServiceError> + Send + 'static,
    ) -> Result<T, ServiceError>
    where
        P: Send + 'static,
    {
        let turn = timeout(LONGEST_WAIT, Arc::clone(&self.turns).acquire_owned()).await;
        let turn = turn.ok().and_then(Result::ok).ok_or(ServiceError::PolicyWorkerBusy)?;
        let prepared = prepare.await?;
        let worked = tokio::task::spawn_blocking(move || {
            // The slot is free when the work ends, even if the caller has disconnected.
            let _turn = turn;
            work(prepared)
        });
        worked.await.unwrap_or(Err(ServiceError::Internal("the policy could not be tried; the log says why")))
    }
}
