//! Policy work that a request makes as large as it likes: texts with many rules, tried on many asks.
//!
//! It runs on threads of its own and few at a time, so that it never holds up other requests.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::ServiceError;

/// Requests that are worked on at once.
const AT_ONCE: usize = 2;
/// How long a request waits for its turn.
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
    /// Waits for a turn, then does the work. `prepare` reads what the work needs, so that requests that wait hold no asks.
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
            // The turn ends with the work, also if the caller has disconnected.
            let _turn = turn;
            work(prepared)
        });
        worked.await.unwrap_or(Err(ServiceError::Internal("the policy could not be tried; the log says why")))
    }
}
