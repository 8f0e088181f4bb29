//! The owner of a connection's state. It carries out one transition at a time: plan, commit, effects.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use sayso_core::ask::AskState;
use sayso_core::connection::ConnectionKind;
use sayso_core::id::{ConnectionId, SessionId};
use sayso_core::time::Time;
use sayso_store::ops::{AdvanceConnection, AdvanceResult, ConnectionChange, LoadConnection};
use sayso_store::{OutboxId, OutboxRow, StoreError};
use tokio::time::Instant;

use super::direct::{DirectInput, Uncommitted};
use super::plan::{Effect, Transition, plan};
use super::process::{self, AttachedProcess, join_lines};
use super::secrets::Secrets;
use super::state::{CarriedSession, ConnectionState};
use super::work::Work;
use crate::config::agents::Agent;
use crate::entropy::{self, IdSource};
use crate::runtime::Runtime;
use crate::runtime::feed::LiveEvent;
use crate::runtime::link::{AcceptedInput, Http};
use crate::service::asks::{AskingAgent, decide_with_disk};
use crate::service::quota::ByteQuota;
use crate::service::sessions::found_session;
use crate::service::{Services, asks, policy};

/// How long the state and the delivery of a direct input may stay uncommitted.
const COMMIT_WITHIN: Duration = Duration::from_millis(100);

pub(super) struct Owner {
    pub(super) runtime: Arc<Runtime>,
    pub(super) agent: Agent,
    pub(super) state: ConnectionState,
    /// The agent's process, while the server is attached to it.
    pub(super) process: Option<AttachedProcess>,
    /// The agent's server, while its address is known.
    pub(super) http: Option<Http>,
    /// The last row that was sent as a call. Rows up to this one are in flight and are skipped when they are read again.
    pub(super) called: OutboxId,
    /// The last outcome or command that was passed to the translator.
    pub(super) taken: OutboxId,
    /// The last outcome or command whose consequences are committed. Lower than `taken` while a direct input is uncommitted.
    pub(super) committed: OutboxId,
    /// The latest time to commit the consequences of direct inputs.
    pub(super) commit_by: Option<Instant>,
    /// The input that is being repeated after a restart, until its lines have been compared.
    pub(super) repeating: Option<AcceptedInput>,
    /// Why the stored state of the connection cannot be used.
    pub(super) unusable: Option<String>,
}

/// Why an actor stops.
#[derive(Debug)]
pub(super) enum Stop {
    /// A read or commit failed. The actor loads the committed state again.
    Store(StoreError),
    /// Another actor has advanced the connection.
    Stale,
    /// The supervisor closed the connection while earlier output was being read.
    LinkLost,
    /// A repeated input translates to other lines than those that the process accepted before the restart.
    Diverged,
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Owner {
    /// Loads the committed state of the connection and the pending rows of its outbox.
    pub(super) async fn load(
        runtime: Arc<Runtime>,
        id: ConnectionId,
        committed: OutboxId,
    ) -> Result<Option<(Self, Vec<OutboxRow>)>, Stop> {
        let services = &runtime.services;
        let workspace = services.workspace;
        let Some(loaded) = services.store.write(LoadConnection { workspace, connection: id }).await? else {
            return Ok(None);
        };
        let name = &loaded.connection.agent;
        let (agent, unusable) = match services.agents.get(name) {
            Some(agent) => (agent.clone(), None),
            None => (Agent::inside(name), Some(format!("the agent `{name}` is no longer configured"))),
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
            quota: ByteQuota::default(),
            seen_tools: HashSet::new(),
            streaming: HashMap::new(),
            secrets: Secrets::default(),
            said: Vec::new(),
            uncommitted: Uncommitted::default(),
            takes_direct_input: false,
            heard_to: None,
            heard_at: services.clock.now(),
            halted: false,
            stale_after: agent.stale_after,
            on_stale: agent.on_stale,
            home: services.home.clone(),
            link_schemes: services.config.link_schemes.clone(),
            ids: IdSource::new(entropy::bytes()),
        };
        let owner = Self {
            runtime,
            agent,
            state,
            process: None,
            http: None,
            called: OutboxId(0),
            taken: committed,
            committed,
            commit_by: None,
            repeating: None,
            unusable,
        };
        Ok(Some((owner, loaded.outbox)))
    }

    /// Carries out the transition that follows from `work`.
    ///
    /// The future is boxed so that only running transitions hold its memory, not every waiting actor.
    pub(super) fn step(&mut self, work: Work) -> BoxFuture<'_, Result<(), Stop>> {
        Box::pin(self.transact(work))
    }

    async fn transact(&mut self, work: Work) -> Result<(), Stop> {
        let now = self.runtime.services.clock.now();
        self.state.refresh_policies(&self.runtime.services.policies);
        let repeating = self.repeating.take();
        self.state.takes_direct_input =
            repeating.is_some() || self.process.as_ref().is_some_and(AttachedProcess::takes_direct_input);
        let Transition { live, advance, effects } = plan(&mut self.state, work, now);
        if let Some(expected) = repeating {
            self.compare_lines(expected, advance.as_ref(), &effects)?;
        }
        self.publish(live);
        if let Some(mut advance) = advance {
            self.look_at_disk(&mut advance, now).await;
            note_files(&self.runtime.services, self.state.connection.kind, &mut advance).await;
            self.commit(advance).await?;
        }
        self.follow_server();
        for effect in effects {
            Box::pin(self.apply(effect, now)).await?;
        }
        Ok(())
    }

    /// Decides new asks again if links or configuration on the disk affect their paths. `plan` cannot do this because it does
    /// no I/O.
    async fn look_at_disk(&mut self, advance: &mut AdvanceConnection, now: Time) {
        for change in &mut advance.changes {
            let ConnectionChange::OpenAsk(ask) = change else { continue };
            let Some(carried) = ask.origin.session.and_then(|session| self.state.sessions.get(&session)) else { continue };
            let was_pending = matches!(ask.state, AskState::Pending(_));
            let agent = AskingAgent {
                connection: self.state.connection.id,
                session: &carried.session,
                policy: &carried.policy,
                home: self.state.home.as_deref(),
                link_schemes: &self.state.link_schemes,
            };
            decide_with_disk(&agent, ask, now).await;
            match (was_pending, matches!(ask.state, AskState::Pending(_))) {
                (false, true) => self.state.pending += 1,
                (true, false) => self.state.pending = self.state.pending.saturating_sub(1),
                (true, true) | (false, false) => {}
            }
        }
    }

    fn publish(&self, live: Vec<LiveEvent>) {
        if let Some(attached) = self.state.translator.attached() {
            self.runtime.attachments.record_standing(self.state.connection.id, attached.standing);
        }
        for event in live {
            self.runtime.feed.publish_live(event);
        }
    }

    async fn commit(&mut self, advance: AdvanceConnection) -> Result<(), Stop> {
        let (position, process, wake_at) = (advance.to, advance.process, advance.wake_at);
        match self.runtime.services.store.write(advance).await? {
            AdvanceResult::Yes => {
                self.state.committed(position, process, wake_at);
                self.committed = self.taken;
                self.commit_by = None;
                Ok(())
            }
            AdvanceResult::Stale => Err(Stop::Stale),
        }
    }

    async fn apply(&mut self, effect: Effect, now: Time) -> Result<(), Stop> {
        match effect {
            Effect::SendDirect(row) => self.send_direct(row),
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
                let home = self.runtime.services.home.clone();
                let session = found_session(&self.state.connection, &found, home, now).await;
                let session = Box::new(CarriedSession::under(&self.runtime.services.policies, session));
                self.step(Work::Adopt { found, session }).await?;
            }
        }
        Ok(())
    }

    /// Sends the lines of a direct input. The supervisor records the translator's read position and the digest of the lines.
    fn send_direct(&mut self, row: OutboxId) {
        let Some(DirectInput { ask, lines, .. }) = self.state.uncommitted.input(row) else { return };
        let (ask, bytes) = (*ask, join_lines(lines));
        if let Some(process) = &mut self.process {
            process.queue_direct(row, ask, self.state.read_position(), bytes);
            self.commit_by.get_or_insert_with(|| Instant::now() + COMMIT_WITHIN);
        }
    }

    /// Checks that a repeated input produces exactly the lines that the process accepted.
    fn compare_lines(
        &self,
        expected: AcceptedInput,
        advance: Option<&AdvanceConnection>,
        effects: &[Effect],
    ) -> Result<(), Stop> {
        let AcceptedInput { row, digest, .. } = expected;
        let lines = self.state.uncommitted.input(row).map(|input| join_lines(&input.lines));
        let found = lines.zip(self.process.as_ref()).map(|(lines, process)| process.digest_of(row, &lines));
        let is_same = advance.is_none() && *effects == [Effect::SendDirect(row)] && found == Some(digest);
        if is_same { Ok(()) } else { Err(Stop::Diverged) }
    }

    /// Adds a grant that allows these commands for this agent in the project of a session.
    async fn grant(&mut self, session: SessionId, run: Vec<String>, now: Time) {
        let Some(carried) = self.state.sessions.get(&session) else { return };
        let project = carried.session.project.clone();
        policy::grant_to_agent(&self.runtime.services, &self.agent.name, project, run, now).await;
    }
}

/// Reads the files that newly requested commands execute. Only for sessions that this server started, because only there the
/// server chose the directory.
async fn note_files(services: &Services, kind: ConnectionKind, advance: &mut AdvanceConnection) {
    match kind {
        ConnectionKind::InProcess | ConnectionKind::Supervised => {}
        ConnectionKind::Attached | ConnectionKind::Caller => return,
    }
    for change in &mut advance.changes {
        if let ConnectionChange::OpenAsk(ask) = change {
            asks::note_files(services, ask).await;
        }
    }
}
