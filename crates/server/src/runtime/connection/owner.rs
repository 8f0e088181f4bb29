//! What the task of a connection owns, and how it carries out a transition: plan, commit, effects.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use sayso_core::ask::AskState;
use sayso_core::connection::ConnectionKind;
use sayso_core::id::{ConnectionId, SessionId};
use sayso_core::time::Time;
use sayso_store::ops::{Advance, Advanced, Change, LoadConnection};
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

/// How long the state and the delivery of a direct input may wait for a commit.
const COMMIT_WITHIN: Duration = Duration::from_millis(100);

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
    /// The last outcome or command that the translator got.
    pub(super) taken: OutboxId,
    /// The last outcome or command whose consequences are committed. Behind `taken` while a direct input is not committed.
    pub(super) committed: OutboxId,
    /// When to commit what followed from direct inputs, although nothing else happens.
    pub(super) commit_by: Option<Instant>,
    /// The input that is repeated after a restart, until its lines were compared.
    pub(super) repeating: Option<AcceptedInput>,
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
    /// The supervisor closed the connection while its past was read.
    LinkLost,
    /// A repeated input gives other lines than those that the process accepted before the restart.
    Diverged,
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Owner {
    /// Loads the connection as it was committed, with the rows that wait for its agent.
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
    /// Boxed: the memory that a transition needs is held while it runs, not by every actor that waits.
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

    /// Decides new asks again if the disk says something about their paths. `plan` cannot look: it does no I/O.
    async fn look_at_disk(&mut self, advance: &mut Advance, now: Time) {
        for change in &mut advance.changes {
            let Change::OpenAsk(ask) = change else { continue };
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
                self.committed = self.taken;
                self.commit_by = None;
                Ok(())
            }
            Advanced::Stale => Err(Stop::Stale),
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

    /// Sends the lines of a direct input. The supervisor records the position that the translator has read, and the digest.
    fn send_direct(&mut self, row: OutboxId) {
        let Some(DirectInput { ask, lines, .. }) = self.state.uncommitted.input(row) else { return };
        let (ask, bytes) = (*ask, join_lines(lines));
        if let Some(process) = &mut self.process {
            process.queue_direct(row, ask, self.state.read_position(), bytes);
            self.commit_by.get_or_insert_with(|| Instant::now() + COMMIT_WITHIN);
        }
    }

    /// Checks that a repeated input gives the lines that the process has accepted, and nothing else.
    fn compare_lines(&self, expected: AcceptedInput, advance: Option<&Advance>, effects: &[Effect]) -> Result<(), Stop> {
        let AcceptedInput { row, digest, .. } = expected;
        let lines = self.state.uncommitted.input(row).map(|input| join_lines(&input.lines));
        let found = lines.zip(self.process.as_ref()).map(|(lines, process)| process.digest_of(row, &lines));
        let is_same = advance.is_none() && *effects == [Effect::SendDirect(row)] && found == Some(digest);
        if is_same { Ok(()) } else { Err(Stop::Diverged) }
    }

    /// Allows commands like these for this agent in the project of a session.
    async fn grant(&mut self, session: SessionId, run: Vec<String>, now: Time) {
        let Some(carried) = self.state.sessions.get(&session) else { return };
        let project = carried.session.project.clone();
        policy::grant_to_agent(&self.runtime.services, &self.agent.name, project, run, now).await;
    }
}

/// Reads the files that newly asked commands execute. Only in a session that this server started did the server choose the
/// directory.
async fn note_files(services: &Services, kind: ConnectionKind, advance: &mut Advance) {
    match kind {
        ConnectionKind::InProcess | ConnectionKind::Supervised => {}
        ConnectionKind::Attached | ConnectionKind::Caller => return,
    }
    for change in &mut advance.changes {
        if let Change::OpenAsk(ask) = change {
            asks::note_files(services, ask).await;
        }
    }
}
