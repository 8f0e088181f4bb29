//! The runtime: long-lived tasks that react to commits, and the state that they share.
//!
//! Commits wake the tasks. A task acts on agents or people, and commits through the service layer or the store. The runtime
//! does not depend on surfaces.

pub(crate) mod ask_log;
pub(crate) mod attachments;
pub(crate) mod connection;
pub(crate) mod deadlines;
pub(crate) mod feed;
pub(crate) mod groups;
pub(crate) mod keeper;
pub(crate) mod link;
pub(crate) mod metrics;
pub(crate) mod notify;
pub(crate) mod runs;
pub(crate) mod waiters;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sayso_core::ask::Reach;
use sayso_core::scope::Scope;
use sayso_store::ops::{SetReach, TokenRow};
use sayso_store::read::SessionDetail;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::auth::{Caller, Permission};
use crate::service::{ServiceError, Services, asks, authorize, tokens};
use attachments::Attachments;
use connection::Registry;
use feed::{Cursor, Feed, Native, OutcomeFrames, Render, Selection, StoredHistory};
use groups::Groups;
use keeper::Keeper;
use link::Processes;
use metrics::Metrics;
use notify::{Notifier, PushKey};
use runs::Runs;
use waiters::OutcomeWaiters;

/// The state that tasks share. Each part synchronizes itself; no lock is held across an await.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub(crate) services: Arc<Services>,
    pub(crate) feed: Arc<Feed>,
    pub(crate) waiters: Arc<OutcomeWaiters>,
    pub(crate) keeper: Arc<Keeper>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) processes: Processes,
    pub(crate) attachments: Attachments,
    pub(crate) connections: Arc<Registry>,
    pub(crate) runs: Arc<Runs>,
    pub(crate) notifier: Arc<Notifier>,
    pub(crate) groups: Arc<Groups>,
    /// Identifies this server to push services. Set only if a channel for browsers is configured.
    pub(crate) push_key: Option<PushKey>,
    /// Cancelled when the server stops.
    pub(crate) stopping: CancellationToken,
    /// Set to true when all agents are being stopped.
    pub(crate) halt: watch::Sender<bool>,
}

/// How long agents may take to exit. Their supervisors kill them earlier.
const STOP_AGENTS: Duration = Duration::from_secs(20);

impl Runtime {
    /// Stops the processes of all agents and returns their number. No agent starts until the server is restarted.
    pub(crate) async fn stop_agents(&self, caller: &Caller) -> Result<usize, ServiceError> {
        authorize(caller, Permission::Administer)?;
        let mut running = self.processes.running();
        let stopped = *running.borrow();
        self.halt.send_replace(true);
        let ended = tokio::time::timeout(STOP_AGENTS, running.wait_for(|running| *running == 0)).await;
        if ended.is_err() {
            tracing::error!("some agents did not exit in time");
            return Err(ServiceError::Internal("some agents did not exit in time in time"));
        }
        Ok(stopped)
    }

    /// Revokes a token and ends its streams at once, because streams check their token when they wake.
    pub(crate) async fn revoke_token(&self, caller: &Caller, id: &str) -> Result<TokenRow, ServiceError> {
        let row = tokens::revoke(&self.services, caller, id).await?;
        self.feed.wake();
        Ok(row)
    }

    /// Opens a stream of every event that the caller can see, after `since` or starting now.
    pub(crate) fn stream_events<R: Render>(
        &self,
        caller: &Caller,
        since: Option<i64>,
        render: R,
    ) -> Result<Cursor<R>, ServiceError> {
        asks::authorize_reading(caller)?;
        let (workspace, scope) = (caller.workspace, caller.scope.clone());
        Ok(self.cursor(Selection { workspace, session: None, scope, since }, render))
    }

    /// Opens a stream of the outcomes of the asks that the caller opened, after `since` or starting now. While the stream is
    /// open, the caller counts as waiting for all of them. Also returns the first bytes: a stream that starts now begins with
    /// its position.
    pub(crate) async fn stream_outcomes(
        &self,
        caller: &Caller,
        since: Option<i64>,
    ) -> Result<(Bytes, Cursor<OutcomeFrames>), ServiceError> {
        authorize(caller, Permission::Open)?;
        let (workspace, token) = (caller.workspace, caller.token);
        let (following, parked) = self.keeper.follow(token, &self.services.clock);
        for ask in parked {
            self.services.store.write(SetReach { workspace, ask, reach: Reach::Live }).await?;
        }
        let (after, first) = match since {
            Some(since) => (since, Bytes::new()),
            None => {
                let head = self.feed.head(workspace);
                (head, Native.reset(head))
            }
        };
        let selection = Selection { workspace, session: None, scope: Scope::OpenedBy { token }, since: Some(after) };
        Ok((first, self.cursor(selection, OutcomeFrames::new(following))))
    }

    /// Opens a stream of a session that the caller can see. Everything in a visible session is visible.
    pub(crate) fn stream_session<R: Render>(
        &self,
        caller: &Caller,
        session: &SessionDetail,
        since: Option<i64>,
        render: R,
    ) -> Cursor<R> {
        let (workspace, session) = (caller.workspace, Some(session.session.id));
        self.cursor(Selection { workspace, session, scope: Scope::All, since }, render)
    }

    fn cursor<R: Render>(&self, selection: Selection, render: R) -> Cursor<R> {
        self.feed.cursor(selection, Arc::new(StoredHistory(self.services.store.clone())), render)
    }
}
