//! What the task of a connection owns, and how it carries out a transition: plan, commit, effects.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_core::future::BoxFuture;
use sayso_core::connection::ConnectionKind;
use sayso_core::id::{ConnectionId, SessionId};
use sayso_core::time::Time;
use sayso_store::ops::{Advance, Advanced};
use sayso_store::read::LoadConnection;
use sayso_store::{OutboxId, OutboxRow, StoreError};

use super::plan::{Effect, Transition, plan};
use super::process::{self, AttachedProcess};
use super::secrets::Secrets;
use super::state::{CarriedSession, ConnectionState};
use super::work::Work;
use crate::config::agents::Agent;
use crate::entropy::{self, IdSource};
use crate::runtime::Runtime;
use crate::runtime::feed::LiveEvent;
use crate::runtime::link::Http;
use crate::service::policy;
use crate::service::sessions::found_session;

pub(super) struct Owner {
    pub(super) runtime: Arc<Runtime>,
    pub(super) agent: Agent,
    pub(super) state: ConnectionState,
    /// The agent's process, while we are attached to it.
    pub(super) process: Option<AttachedProcess>,
    /// The agent's server, while its address is known.
    pub(super) http: Option<Http>,
    /// The last row that was a call. A call that is read again at or below it is under way.
    pub(super) called: OutboxId,
    /// Why the connection cannot be continued from what is on disk.
    pub(super) unusable: Option<String>,
}

/// Why an actor stops working.
#[derive(Debug)]
pub(super) enum Stop {
    /// The database refused; go back to what is on disk.
    Store(StoreError),
    /// Another life of the connection has taken over.
    Stale,
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Owner {
    /// Loads the connection as it was committed, with the rows that wait for its agent.
    pub(super) async fn load(runtime: Arc<Runtime>, id: ConnectionId) -> Result<Option<(Self, Vec<OutboxRow>)>, Stop> {
        let services = &runtime.services;
        let workspace = services.workspace;
        let Some(loaded) = services.store.read(LoadConnection { workspace, connection: id }).await? else {
            return Ok(None);
        };
        let name = &loaded.connection.agent;
        let (agent, unusable) = match services.agents.get(name) {
            Some(agent) => (agent.clone(), None),
            None => (Agent::inside(name), Some(format!("the agent `{name}` is not configured any more"))),
        };
        let saved = loaded.connection.state.as_ref();
        let known = match loaded.connection.kind {
            ConnectionKind::Attached => agent.attached(saved),
            ConnectionKind::InProcess | ConnectionKind::Supervised | ConnectionKind::Caller => agent.translator(saved),
        };
        let (translator, unusable) = match known {
            Some(translator) => (translator, unusable),
            None => (agent.fresh(), unusable.or_else(|| Some("its state is of another version of Sayso".to_owned()))),
        };
        let carried = |session| Box::new(CarriedSession::under(&services.policies, session));
        let state = ConnectionState {
            workspace,
            connection: loaded.connection,
            translator,
            sessions: loaded.sessions.into_iter().map(|session| (session.id, carried(session))).collect(),
            pending: loaded.pending,
            seen_tools: HashSet::new(),
            streaming: HashMap::new(),
            secrets: Secrets::default(),
            said: Vec::new(),
            heard_to: None,
            heard_at: services.clock.now(),
            halted: false,
            stale_after: agent.stale_after,
            on_stale: agent.on_stale,
            home: services.home.clone(),
            ids: IdSource::new(entropy::bytes()),
        };
        let owner = Self { runtime, agent, state, process: None, http: None, called: OutboxId(0), unusable };
        Ok(Some((owner, loaded.outbox)))
    }

    /// Carries out the transition that follows from `work`.
    ///
    /// Boxed: the memory that a transition needs is held while it runs, not by every actor that waits.
    pub(super) fn step(&mut self, work: Work) -> BoxFuture<'_, Result<(), Stop>> {
        Box::pin(self.transact(work))
    }

    async fn transact(&mut self, work: Work) -> Result<(), Stop> {
        let now = self.runtime.services.clock.now();
        self.state.refresh_policies(&self.runtime.services.policies);
        let Transition { live, advance, effects } = plan(&mut self.state, work, now);
        self.publish(live);
        if let Some(advance) = advance {
            self.commit(advance).await?;
        }
        self.follow_server();
        for effect in effects {
            Box::pin(self.apply(effect, now)).await?;
        }
        Ok(())
    }

    fn publish(&self, live: Vec<LiveEvent>) {
        if let Some(attached) = self.state.translator.attached() {
            self.runtime.attachments.stands(self.state.connection.id, attached.standing);
        }
        for event in live {
            self.runtime.feed.publish_live(event);
        }
    }

    async fn commit(&mut self, advance: Advance) -> Result<(), Stop> {
        let (position, process, wake_at) = (advance.to, advance.process, advance.wake_at);
        match self.runtime.services.store.write(advance).await? {
            Advanced::Yes => {
                self.state.committed(position, process, wake_at);
                Ok(())
            }
            Advanced::Stale => Err(Stop::Stale),
        }
    }

    async fn apply(&mut self, effect: Effect, now: Time) -> Result<(), Stop> {
        match effect {
            Effect::TrimJournal(position) => {
                if let Some(process) = &mut self.process {
                    process.committed(position);
                }
            }
            Effect::DetachProcess => self.process = None,
            Effect::ForgetProcess => {
                process::forget(&self.runtime, &self.state.connection).await;
                self.process = None;
            }
            Effect::Read(call) => self.read(call),
            Effect::Grant { session, run } => self.grant(session, run, now).await,
            Effect::Adopt(found) => {
                let session = found_session(&self.state.connection, &found, now).await;
                let session = Box::new(CarriedSession::under(&self.runtime.services.policies, session));
                self.step(Work::Adopt { found, session }).await?;
            }
        }
        Ok(())
    }

    /// Allows commands like these for this agent in the project of a session.
    async fn grant(&mut self, session: SessionId, run: Vec<String>, now: Time) {
        let Some(carried) = self.state.sessions.get(&session) else { return };
        let project = carried.session.project.clone();
        policy::grant_to_agent(&self.runtime.services, &self.agent.name, project, run, now).await;
    }
}
