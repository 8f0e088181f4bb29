//! What the task of a connection owns: the translator, its place in the agent's stream, its sessions
//! and its process. Everything that follows from one input is one transaction.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_core::future::BoxFuture;
use sayso_agents::translator::{Command, DecidedBy, Exit, Input, Translator};
use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, Decision, Delivery};
use sayso_core::connection::{Connection, ConnectionKind, Epoch, Position, WirePosition};
use sayso_core::id::{AskId, BlockId, ConnectionId, SessionId};
use sayso_core::policy::PolicySet;
use sayso_core::raw::Raw;
use sayso_core::session::{Session, SessionStatus};
use sayso_core::texts;
use sayso_core::time::Time;
use sayso_core::transcript::{BlockBody, Role};
use sayso_store::read::LoadConnection;
use sayso_store::ops::{Advance, Advanced, Change, Process};
use sayso_store::{EventKind, OutboxId, OutboxPayload, OutboxRow, StoreError, WorkspaceId};
use tracing::{Instrument as _, Span};

use super::consequence::{Consequences, block};
use super::process::{self, Attached, Heard, Message, Refused};
use super::secrets::Secrets;
use crate::config::agents::{Agent, OnStale};
use crate::runtime::Runtime;
use crate::runtime::link::Http;
use crate::service::policies::SessionScope;
use crate::service::sessions::{found_session, resume_command};

/// How many bytes may be heard without a commit.
const HELD: u64 = 256 * 1024;

pub(super) struct Owner {
    pub(super) runtime: Arc<Runtime>,
    pub(super) agent: Agent,
    pub(super) connection: Connection,
    pub(super) translator: Box<dyn Translator>,
    pub(super) sessions: HashMap<SessionId, Box<Carried>>,
    pub(super) pending: usize,
    pub(super) seen_tools: HashSet<BlockId>,
    /// The message that streams in a session: the agent's name of it, and ours.
    pub(super) streaming: HashMap<SessionId, (String, BlockId)>,
    pub(super) secrets: Secrets,
    /// The agent's process, while we are attached to it.
    pub(super) process: Option<Attached>,
    /// The server that the agent is, while it is known where.
    pub(super) http: Option<Http>,
    /// The last row that was a call. What is found again below it is under way.
    pub(super) called: OutboxId,
    /// Answers that were said to the agent as messages since it last spoke.
    pub(super) said: Vec<AskId>,
    /// How far the process was heard, if that is further than what is committed.
    heard_to: Option<WirePosition>,
    /// When the agent was last heard or spoken to.
    heard_at: Time,
    /// All agents are being stopped.
    pub(super) halted: bool,
    /// Why nothing can be done with what is on disk.
    pub(super) unusable: Option<String>,
}

/// A session and the rules that hold for it.
pub(super) struct Carried {
    pub(super) session: Session,
    pub(super) set: PolicySet,
    version: u64,
    /// The agent's last words, to be shown with what it asks next.
    pub(super) last_said: String,
}

/// What one transaction is made of.
#[derive(Default)]
pub(super) struct Work {
    pub(super) inputs: Vec<Input>,
    pub(super) changes: Vec<Change>,
    /// Rows of the outbox that need not be sent again.
    pub(super) delivered: Vec<OutboxId>,
    /// Rows of the outbox that are sent as soon as this is on disk.
    pub(super) trying: Vec<OutboxId>,
    /// It is not worth a transaction if nothing follows from it: it is told again, or asked for again.
    pub(super) passing: bool,
    /// How far the process was read.
    pub(super) read: Option<WirePosition>,
    /// Whether the inputs hold a secret answer.
    pub(super) secret: bool,
    /// Whether the process is given up.
    pub(super) gone: bool,
}

impl Work {
    fn inputs(commands: Vec<Command>) -> Self {
        Self { inputs: commands.into_iter().map(Input::Command).collect(), ..Self::default() }
    }
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
    /// Takes the connection up where the database says it is.
    pub(super) async fn load(runtime: Arc<Runtime>, id: ConnectionId) -> Result<Option<(Self, Vec<OutboxRow>)>, Stop> {
        let Some(loaded) = runtime.services.store.read(LoadConnection { workspace: WorkspaceId::MAIN, connection: id }).await? else { return Ok(None) };
        let name = &loaded.connection.agent;
        let (agent, unusable) = match runtime.services.agents.get(name) {
            Some(agent) => (agent.clone(), None),
            None => (Agent::inside(name), Some(format!("the agent `{name}` is not configured any more"))),
        };
        let state = loaded.connection.state.as_ref();
        let known = match loaded.connection.kind {
            ConnectionKind::Attached => agent.attached(state),
            ConnectionKind::InProcess | ConnectionKind::Supervised | ConnectionKind::Caller => agent.translator(state),
        };
        let (translator, unusable) = match known {
            Some(translator) => (translator, unusable),
            None => (agent.fresh(), unusable.or_else(|| Some("its state is of another version of Sayso".to_owned()))),
        };
        let sessions =
            loaded.sessions.into_iter().map(|session| (session.id, Box::new(Carried::new(&runtime, session)))).collect();
        let heard_at = runtime.services.clock.now();
        let owner = Self {
            runtime,
            agent,
            connection: loaded.connection,
            translator,
            sessions,
            pending: loaded.pending,
            seen_tools: HashSet::new(),
            streaming: HashMap::new(),
            secrets: Secrets::default(),
            process: None,
            http: None,
            called: OutboxId(0),
            said: Vec::new(),
            heard_to: None,
            heard_at,
            halted: false,
            unusable,
        };
        Ok(Some((owner, loaded.outbox)))
    }

    /// What has to be sent and is not with the agent yet, from the database.
    pub(super) fn rows(&self) -> impl Future<Output = Result<Vec<OutboxRow>, Stop>> + use<> {
        let (runtime, connection) = (Arc::clone(&self.runtime), self.connection.id);
        async move {
            let loaded = runtime.services.store.read(LoadConnection { workspace: WorkspaceId::MAIN, connection }).await?;
            Ok(loaded.map(|loaded| loaded.outbox).unwrap_or_default())
        }
    }

    /// Takes rows of the outbox, each once and in order: `taken` is the last command that was committed.
    pub(super) async fn take(&mut self, rows: Vec<OutboxRow>, taken: &mut OutboxId) -> Result<(), Stop> {
        for row in rows {
            let OutboxRow { id, session, payload, .. } = row;
            let mut span = Span::none();
            let mut work = match payload {
                OutboxPayload::Send { ask, message, tried } => {
                    self.pass_on(id, ask, &message, tried).await?;
                    continue;
                }
                OutboxPayload::Outcome { .. } | OutboxPayload::Command(_) if id <= *taken => continue,
                OutboxPayload::Outcome { ask, decision, follow_up } => {
                    span = tracing::debug_span!("delivery", outbox = id.0, ask = %ask.id);
                    span.in_scope(|| self.outcome(session, &ask, decision, follow_up))
                }
                OutboxPayload::Command(raw) => match serde_json::from_str(raw.as_str()) {
                    Ok(command) => Work::inputs(vec![command]),
                    Err(error) => {
                        tracing::error!(connection = %self.connection.id, %error, "a stored command cannot be read; it is dropped");
                        Work::default()
                    }
                },
            };
            work.delivered.push(id);
            self.step(work).instrument(span).await?;
            *taken = id;
        }
        Ok(())
    }

    /// The outcome of an ask, for the agent that waits for it or that no longer does.
    fn outcome(&mut self, session: SessionId, ask: &Ask, decision: Decision, follow_up: bool) -> Work {
        tracing::debug!(to = "translator", "ask sent");
        if ask.outcome().is_some_and(|outcome| !matches!(outcome.by, Actor::Policy { .. })) {
            self.pending = self.pending.saturating_sub(1);
        }
        self.secrets.learn(ask, &decision);
        let secret = ask.body.is_secret();
        // The agent may have ended between the answer and now.
        let resumable = self
            .sessions
            .get(&session)
            .is_some_and(|carried| matches!(carried.session.status, SessionStatus::Ended { resumable: true, .. }));
        if follow_up || (resumable && !secret && matches!(decision, Decision::Answered { .. })) {
            return self.follow_up(session, ask, decision);
        }
        let by = match ask.outcome().map(|outcome| &outcome.by) {
            Some(Actor::Message { .. }) => DecidedBy::Typed,
            Some(Actor::Policy { .. } | Actor::Timeout { .. }) => DecidedBy::Nobody,
            Some(Actor::Person { .. } | Actor::Agent) | None => DecidedBy::Person,
        };
        let native_id = ask.origin.native_id.clone().unwrap_or_default();
        let mut work =
            Work::inputs(vec![Command::Outcome { session, ask: ask.id, native_id, decision, raw: ask.raw.clone(), by }]);
        work.secret = secret;
        work
    }

    /// The answer to a question that the agent no longer waits for: the session is resumed if it is
    /// over, and the answer is said to the agent as a message.
    fn follow_up(&mut self, session: SessionId, ask: &Ask, decision: Decision) -> Work {
        let Decision::Answered { answers, note } = decision else {
            let delivery = Delivery::Undeliverable { reason: texts::AGENT_GONE_NOTHING_SENT.to_owned() };
            return Work { changes: vec![Change::Delivery { ask: ask.id, delivery }], ..Work::default() };
        };
        let now = self.runtime.services.clock.now();
        let text = texts::follow_up(ask.body.questions(), &answers, note.as_deref());
        let mut commands = Vec::new();
        if let Some(carried) = self.sessions.get(&session).filter(|carried| carried.session.status.is_ended()) {
            commands.push(resume_command(&carried.session));
        }
        commands.push(Command::Prompt { session, text: text.clone() });
        self.said.push(ask.id);
        let mut work = Work::inputs(commands);
        let block = block(now, None, BlockBody::Message { role: Role::User, text });
        work.changes.push(Change::Block { session, block, event: EventKind::MessageCompleted });
        work
    }

    /// A message to the process: a launch, lines, a call, or the end.
    async fn pass_on(&mut self, id: OutboxId, ask: Option<AskId>, message: &Raw, tried: bool) -> Result<(), Stop> {
        let message = match serde_json::from_str(message.as_str()) {
            Ok(message) => message,
            Err(error) => {
                tracing::error!(connection = %self.connection.id, %error, "a stored message cannot be read; it is dropped");
                return self.delivered(vec![id]).await;
            }
        };
        match (message, &mut self.process) {
            (Message::Launch(launch), None) if self.connection.process.is_some() => {
                let session = self.sessions.keys().next().copied();
                match Box::pin(process::launch(&self.runtime, &self.agent, &self.connection, session, launch)).await {
                    Ok(attached) => self.process = Some(attached),
                    Err(exit) => {
                        let inputs = vec![Input::Exited(exit)];
                        return self.step(Work { inputs, delivered: vec![id], ..Work::default() }).await;
                    }
                }
                self.delivered(vec![id]).await
            }
            (Message::Lines(lines), Some(process)) => {
                process.queue(id, ask, &lines);
                Ok(())
            }
            (Message::Call(call), _) => {
                if let Some(ask) = ask.filter(|_| id > self.called && !tried) {
                    tracing::debug!(%ask, outbox = id.0, to = "server", "ask sent");
                }
                Box::pin(self.call(id, call, tried)).await
            }
            (Message::Stop, Some(process)) => {
                process.stop();
                self.delivered(vec![id]).await
            }
            // It runs already, or it is gone and nothing can be sent any more.
            (Message::Launch(_), _) | (Message::Lines(_) | Message::Stop, None) => self.delivered(vec![id]).await,
        }
    }

    async fn delivered(&mut self, delivered: Vec<OutboxId>) -> Result<(), Stop> {
        self.step(Work { delivered, ..Work::default() }).await
    }

    /// Attaches to the process that the database says there is. What it said meanwhile is heard before
    /// anything else is sent to it.
    pub(super) async fn attach(&mut self) -> Result<(), Stop> {
        let Some(from) = self.heard_to.or(self.connection.process) else { return Ok(()) };
        match process::attach(&self.runtime, &self.connection, from).await {
            Ok(attached) => self.process = Some(attached),
            Err(error) => {
                let exit = Exit { message: error.to_string(), ..Exit::default() };
                return self.step(Work { inputs: vec![Input::Exited(exit)], ..Work::default() }).await;
            }
        }
        while let Some(process) = self.process.as_mut().filter(|process| process.has_past()) {
            let heard = process.hear().await;
            self.take_in(heard).await?;
        }
        Ok(())
    }

    /// Ends what cannot be gone on with: the process, the sessions, and what was to be sent.
    pub(super) async fn give_up(&mut self, reason: &str, rows: Vec<OutboxRow>) -> Result<(), Stop> {
        tracing::error!(connection = %self.connection.id, reason, "a connection cannot be taken up");
        if let Some(from) = self.connection.process
            && let Ok(process) = process::attach(&self.runtime, &self.connection, from).await
        {
            process.end().await;
        }
        let mut work = Work::default();
        for OutboxRow { id, payload, .. } in rows {
            work.delivered.push(id);
            if let OutboxPayload::Outcome { ask, .. } = payload {
                let delivery = Delivery::Undeliverable { reason: texts::AGENT_GONE_NOTHING_SENT.to_owned() };
                work.changes.push(Change::Delivery { ask: ask.id, delivery });
            }
        }
        for (id, carried) in &self.sessions {
            if !carried.session.status.is_ended() {
                let status = SessionStatus::Ended { reason: reason.to_owned(), failed: true, resumable: false };
                work.changes.push(Change::Status { session: *id, status });
            }
        }
        work.gone = true;
        self.step(work).await
    }

    /// Takes what came from the process.
    pub(super) async fn take_in(&mut self, heard: Heard) -> Result<(), Stop> {
        let Heard { inputs, read, taken, refused, lost, .. } = heard;
        let mut work = Work { inputs, read, delivered: taken, ..Work::default() };
        if read.is_some() {
            self.heard_at = self.runtime.services.clock.now();
            self.awake(&mut work.changes);
        }
        for Refused { id, ask, message } in refused {
            work.delivered.push(id);
            if let Some(ask) = ask {
                let reason = format!("The agent takes no more input: {message}");
                work.changes.push(Change::Delivery { ask, delivery: Delivery::Undeliverable { reason } });
            }
        }
        self.step(work).await?;
        if lost {
            self.process = None;
            Box::pin(self.attach()).await?;
        }
        Ok(())
    }

    /// The agent says something, so it is not stalled.
    fn awake(&mut self, changes: &mut Vec<Change>) {
        for (id, carried) in &mut self.sessions {
            if carried.session.status == SessionStatus::Stalled {
                carried.session.status = SessionStatus::Running;
                changes.push(Change::Status { session: *id, status: SessionStatus::Running });
            }
        }
    }

    /// When the translator wants to be called, or the agent counts as stalled.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.translator.deadline().into_iter().chain(self.stale_at()).min()
    }

    /// The clock stands still while a person is asked, and begins anew with what is sent or heard.
    fn stale_at(&self) -> Option<Time> {
        let running = || self.sessions.values().any(|carried| carried.session.status == SessionStatus::Running);
        (self.process.is_some() && self.pending == 0 && running()).then(|| self.heard_at.plus(self.agent.stale_after))
    }

    /// The time of [`Self::deadline`] has come.
    pub(super) async fn tick(&mut self) -> Result<(), Stop> {
        let now = self.runtime.services.clock.now();
        let mut work = Work { inputs: vec![Input::Tick], passing: true, ..Work::default() };
        if self.stale_at().is_some_and(|at| at <= now) {
            for (id, carried) in &mut self.sessions {
                if carried.session.status == SessionStatus::Running {
                    carried.session.status = SessionStatus::Stalled;
                    work.changes.push(Change::Status { session: *id, status: SessionStatus::Stalled });
                    if self.agent.on_stale == OnStale::Interrupt {
                        let body = BlockBody::Notice { text: texts::WITHDRAWN_INTERRUPTED.to_owned() };
                        let block = block(now, None, body);
                        work.changes.push(Change::Block { session: *id, block, event: EventKind::Notice });
                        work.inputs.push(Input::Command(Command::Interrupt { session: *id }));
                    }
                }
            }
        }
        self.step(work).await
    }

    /// All agents are to end.
    pub(super) fn halt(&mut self) {
        self.halted = true;
        if let Some(process) = &mut self.process {
            process.stop();
        }
    }

    /// How many bytes were heard from the process since the last commit.
    fn held(&self, process: Process) -> u64 {
        match (process, self.connection.process) {
            (Process::Read(WirePosition(heard)), Some(WirePosition(committed))) => heard.saturating_sub(committed),
            (Process::Same, _) => 0,
            (Process::Read(_) | Process::Launched | Process::Gone, _) => u64::MAX,
        }
    }

    /// Inputs and everything that follows from them, in one transaction. What was only heard and changed
    /// nothing but the translator's memory, such as the words of a message that streams, is not worth
    /// one: after a crash it is heard again.
    ///
    /// Boxed: what a transaction needs is held while it runs, not by every actor that waits.
    pub(super) fn step(&mut self, work: Work) -> BoxFuture<'_, Result<(), Stop>> {
        Box::pin(self.transact(work))
    }

    async fn transact(&mut self, work: Work) -> Result<(), Stop> {
        let now = self.runtime.services.clock.now();
        let Work { inputs, changes, delivered, trying, passing, read, secret, gone } = work;
        let only_heard = read.is_some() || passing;
        self.heard_to = read.or(self.heard_to);
        let process = self.heard_to.map_or(Process::Same, Process::Read);
        let process = if gone { Process::Gone } else { process };
        let mut all =
            Consequences { changes, live: Vec::new(), process, reads: Vec::new(), granted: Vec::new(), found: Vec::new() };
        for input in inputs {
            // A server's stream is never silent; only what means something counts.
            let (told, speaks) = (all.told(), matches!(input, Input::HttpReply(_) | Input::StreamEvent(_)));
            if matches!(input, Input::Command(_)) {
                self.heard_at = now;
            }
            if matches!(input, Input::Exited(_)) {
                all.process = Process::Gone;
            }
            self.follow(input, secret, now, &mut all);
            if speaks && all.told() > told {
                self.heard_at = now;
                self.awake(&mut all.changes);
            }
        }
        for found in std::mem::take(&mut all.found) {
            let session = found_session(&self.connection, &found, now).await;
            self.adopt(&found, session, now, &mut all);
        }
        if let Some(attached) = self.translator.attached() {
            self.runtime.attachments.stands(self.connection.id, attached.standing);
        }
        // They are nowhere on disk, and have to come before the message that they are part of.
        for event in all.live {
            self.runtime.feed.publish_live(event);
        }
        let process = all.process;
        let wake_at = self.translator.deadline();
        // A connection with a process is taken up at a start anyway, and so is one to somebody's own server.
        let taken_up = self.connection.process.is_some() || self.connection.kind == ConnectionKind::Attached;
        let woken = wake_at == self.connection.wake_at || taken_up;
        let nothing = all.changes.is_empty() && delivered.is_empty() && trying.is_empty() && woken;
        if only_heard && nothing && self.held(process) < HELD {
            self.follow_server();
            self.read(all.reads);
            return Ok(());
        }
        let to = Position(self.connection.position.0 + 1);
        let advance = Advance {
            workspace: WorkspaceId::MAIN,
            connection: self.connection.id,
            epoch: self.connection.epoch,
            from: self.connection.position,
            to,
            process,
            state: Raw::of(&self.translator.save()),
            wake_at,
            delivered,
            trying,
            changes: all.changes,
            now,
        };
        match self.runtime.services.store.write(advance).await? {
            Advanced::Yes => {
                self.connection.position = to;
                self.connection.wake_at = wake_at;
                self.heard_to = None;
            }
            Advanced::Stale => return Err(Stop::Stale),
        }
        match process {
            Process::Same => {}
            Process::Read(position) => {
                self.connection.process = Some(position);
                if let Some(process) = &mut self.process {
                    process.committed(position);
                }
            }
            Process::Launched => {
                self.connection.epoch = Epoch(self.connection.epoch.0 + 1);
                self.connection.process = Some(WirePosition(0));
                self.process = None;
            }
            Process::Gone => {
                self.connection.process = None;
                Box::pin(process::forget(&self.runtime, &self.connection)).await;
                self.process = None;
            }
        }
        self.follow_server();
        self.read(all.reads);
        for (session, run) in all.granted {
            Box::pin(self.grant(session, run, now)).await;
        }
        Ok(())
    }
}

impl Carried {
    pub(super) fn new(runtime: &Runtime, session: Session) -> Self {
        let version = runtime.services.policies.in_force().version;
        let set = runtime.services.policies.set(Some(&SessionScope::from(&session)), None);
        Self { session, set, version, last_said: String::new() }
    }

    /// Takes over a policy that changed since.
    pub(super) fn refresh(&mut self, runtime: &Runtime) {
        let version = runtime.services.policies.in_force().version;
        if version != self.version {
            self.set = runtime.services.policies.set(Some(&SessionScope::from(&self.session)), None);
            self.version = version;
        }
    }
}
