//! The task of one connection: it owns the translator, feeds it what arrives, and commits what
//! follows from it in one transaction.
//!
//! A row of the outbox is taken once: delivering it to an agent in this process is the same
//! transaction as everything the agent does next. When a commit fails, the actor goes back to what
//! is on disk and does it again, exactly as after a crash.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use sayso_agents::translator::{AgentEvent, Command, Input, Output, Translator};
use sayso_api::event::names;
use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, AskKind, AskState, Decision, Delivery};
use sayso_core::connection::{Connection, Position};
use sayso_core::id::{AskId, BlockId, ConnectionId, SessionId};
use sayso_core::limits::{self, LimitExceeded};
use sayso_core::policy::{PolicySet, QuestionPolicy};
use sayso_core::raw::Raw;
use sayso_core::session::{Session, SessionStatus};
use sayso_core::texts;
use sayso_core::time::Time;
use sayso_core::transcript::{Block, BlockBody, Role, ToolStatus};
use sayso_store::read::LoadConnection;
use sayso_store::write::{Advance, Advanced, Change, Process};
use sayso_store::{EventKind, OutboxId, OutboxPayload, OutboxRow, StoreError, WorkspaceId};
use sha2::{Digest, Sha256};

use super::registry::{Mailbox, Registry};
use super::secrets::Secrets;
use crate::app::App;
use crate::broker;
use crate::entropy;
use crate::feed::LiveEvent;
use crate::policies::SessionScope;

/// An actor without work for this long ends; the next row starts it again.
const IDLE: Duration = Duration::from_secs(60);
/// How long to wait after the database refused.
const PAUSE: Duration = Duration::from_millis(500);

struct Owner {
    app: Arc<App>,
    connection: Connection,
    translator: Box<dyn Translator>,
    sessions: HashMap<SessionId, Carried>,
    pending: usize,
    seen_tools: HashSet<BlockId>,
    secrets: Secrets,
}

/// A session and the rules that hold for it.
struct Carried {
    session: Session,
    set: PolicySet,
    version: u64,
}

/// What one transaction is made of.
struct Work {
    inputs: Vec<Input>,
    changes: Vec<Change>,
}

impl Work {
    fn inputs(commands: Vec<Command>) -> Self {
        Self { inputs: commands.into_iter().map(Input::Command).collect(), changes: Vec::new() }
    }

    fn tick() -> Self {
        Self { inputs: vec![Input::Tick], changes: Vec::new() }
    }
}

/// Why an actor stops working.
enum Stop {
    /// The database refused; go back to what is on disk.
    Store(StoreError),
    /// Another life of the connection has taken over.
    Stale,
}

/// Runs a connection until it has nothing more to do.
pub(super) async fn run(app: Arc<App>, registry: Arc<Registry>, id: ConnectionId, mut mailbox: Mailbox) {
    // Rows come by load and by mailbox; what was committed is not taken again, also not after a failure.
    let mut taken = OutboxId(0);
    loop {
        match life(&app, &registry, id, &mut mailbox, &mut taken).await {
            Ok(()) => return,
            Err(Stop::Stale) => {
                tracing::warn!(connection = %id, "the connection was elsewhere; reading it again");
            }
            Err(Stop::Store(error)) => {
                tracing::warn!(connection = %id, %error, "could not store what the agent did; trying again");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn life(
    app: &Arc<App>,
    registry: &Registry,
    id: ConnectionId,
    mailbox: &mut Mailbox,
    taken: &mut OutboxId,
) -> Result<(), Stop> {
    let Some((mut actor, rows)) = Owner::load(Arc::clone(app), id).await? else {
        registry.retire(id, mailbox);
        return Ok(());
    };
    actor.take(rows, taken).await?;
    loop {
        if mailbox.fell_behind() {
            let loaded = app.store.read(LoadConnection { connection: id }).await.map_err(Stop::Store)?;
            actor.take(loaded.map(|loaded| loaded.outbox).unwrap_or_default(), taken).await?;
        }
        let deadline = actor.translator.deadline();
        tokio::select! {
            row = mailbox.rows.recv() => match row {
                Some(row) => {
                    let mut rows = vec![*row];
                    while let Ok(more) = mailbox.rows.try_recv() {
                        rows.push(*more);
                    }
                    actor.take(rows, taken).await?;
                }
                None => return Ok(()),
            },
            () = wait(app, deadline), if deadline.is_some() => actor.step(Work::tick(), Vec::new()).await?,
            () = tokio::time::sleep(IDLE), if deadline.is_none() => {
                if registry.retire(id, mailbox) {
                    return Ok(());
                }
            }
        }
    }
}

async fn wait(app: &App, deadline: Option<Time>) {
    if let Some(deadline) = deadline {
        app.clock.sleep_until(deadline).await;
    }
}

impl Owner {
    /// Takes the connection up where the database says it is.
    async fn load(app: Arc<App>, id: ConnectionId) -> Result<Option<(Self, Vec<OutboxRow>)>, Stop> {
        let loaded = app.store.read(LoadConnection { connection: id }).await.map_err(Stop::Store)?;
        let Some(loaded) = loaded else { return Ok(None) };
        let Some(agent) = app.agents.get(&loaded.connection.agent) else {
            tracing::error!(agent = loaded.connection.agent, "no such agent is configured any more");
            return Ok(None);
        };
        let Some(translator) = agent.translator(loaded.connection.state.as_ref()) else {
            tracing::error!(connection = %id, "the translator's state is of an unknown version");
            return Ok(None);
        };
        let sessions = loaded.sessions.into_iter().map(|session| (session.id, Carried::new(&app, session))).collect();
        let actor = Self {
            app,
            connection: loaded.connection,
            translator,
            sessions,
            pending: loaded.pending,
            seen_tools: HashSet::new(),
            secrets: Secrets::default(),
        };
        Ok(Some((actor, loaded.outbox)))
    }

    /// Hands rows to the translator, each once and in order.
    async fn take(&mut self, rows: Vec<OutboxRow>, taken: &mut OutboxId) -> Result<(), Stop> {
        for row in rows {
            if row.id <= *taken {
                continue;
            }
            let id = row.id;
            if let OutboxPayload::Outcome { ask, .. } = &row.payload
                && ask.outcome().is_some_and(|outcome| !matches!(outcome.by, Actor::Policy { .. }))
            {
                self.pending = self.pending.saturating_sub(1);
            }
            if let OutboxPayload::Outcome { ask, decision, .. } = &row.payload {
                self.secrets.learn(ask, decision);
            }
            let inputs = match row.payload {
                OutboxPayload::Outcome { ask, decision, follow_up: true } => self.follow_up(row.session, &ask, decision),
                OutboxPayload::Outcome { ask, decision, follow_up: false } => Work::inputs(vec![Command::Outcome {
                    session: row.session,
                    ask: ask.id,
                    native_id: ask.origin.native_id.clone().unwrap_or_default(),
                    decision,
                    raw: ask.raw.clone(),
                    typed: ask.outcome().is_some_and(|outcome| matches!(outcome.by, Actor::Message { .. })),
                }]),
                OutboxPayload::Command(raw) => match serde_json::from_str(raw.as_str()) {
                    Ok(command) => Work::inputs(vec![command]),
                    Err(error) => {
                        tracing::error!(connection = %self.connection.id, %error, "a stored command cannot be read; it is dropped");
                        Work::inputs(Vec::new())
                    }
                },
            };
            self.step(inputs, vec![id]).await?;
            *taken = id;
        }
        Ok(())
    }

    /// The answer to a question that the agent no longer waits for: the session is resumed if it is
    /// over, and the answer is said to the agent as a message.
    fn follow_up(&self, session: SessionId, ask: &Ask, decision: Decision) -> Work {
        let Decision::Answered { answers, note } = decision else {
            let reason = texts::AGENT_GONE_NOTHING_SENT.to_owned();
            return Work {
                inputs: Vec::new(),
                changes: vec![Change::Delivery { ask: ask.id, delivery: Delivery::Undeliverable { reason } }],
            };
        };
        let now = self.app.clock.now();
        let text = texts::follow_up(ask.body.questions(), &answers, note.as_deref());
        let mut commands = Vec::new();
        if let Some(carried) = self.sessions.get(&session).filter(|carried| carried.session.status.is_ended()) {
            commands.push(resume(&carried.session));
        }
        commands.push(Command::Prompt { session, text: text.clone() });
        let mut work = Work::inputs(commands);
        let block = self.block(now, None, BlockBody::Message { role: Role::User, text });
        work.changes.push(Change::Block { session, block, event: EventKind::MessageCompleted });
        work
    }

    /// One input and everything that follows from it, in one transaction.
    async fn step(&mut self, work: Work, delivered: Vec<OutboxId>) -> Result<(), Stop> {
        let now = self.app.clock.now();
        let Work { inputs, mut changes } = work;
        let mut outputs: Vec<Output> = inputs.into_iter().flat_map(|input| self.translator.handle(now, input)).collect();
        while !outputs.is_empty() {
            let mut refusals = Vec::new();
            for output in outputs {
                self.consequence(output, now, &mut changes, &mut refusals);
            }
            outputs = refusals.into_iter().flat_map(|refusal| self.translator.handle(now, Input::Command(refusal))).collect();
        }
        let to = Position(self.connection.position.0 + 1);
        let advance = Advance {
            workspace: WorkspaceId::MAIN,
            connection: self.connection.id,
            epoch: self.connection.epoch,
            from: self.connection.position,
            to,
            process: Process::Same,
            state: Raw::of(&self.translator.save()),
            wake_at: self.translator.deadline(),
            delivered,
            changes,
            now,
        };
        match self.app.store.write(advance).await.map_err(Stop::Store)? {
            Advanced::Yes => {
                self.connection.position = to;
                Ok(())
            }
            Advanced::Stale => Err(Stop::Stale),
        }
    }

    /// What one output means for the database. What has to be refused goes straight back.
    fn consequence(&mut self, output: Output, now: Time, changes: &mut Vec<Change>, refusals: &mut Vec<Command>) {
        match output {
            Output::Event { session, event } => self.event(session, event, now, changes, refusals),
            Output::Undeliverable { ask, reason } => {
                changes.push(Change::Delivery { ask, delivery: Delivery::Undeliverable { reason } });
            }
            Output::Launch(_) | Output::Lines(_) | Output::Stop | Output::HttpCall(_) => {
                tracing::error!(connection = %self.connection.id, "an agent without a link wanted to send something");
            }
        }
    }

    fn event(
        &mut self,
        session: SessionId,
        event: AgentEvent,
        now: Time,
        changes: &mut Vec<Change>,
        refusals: &mut Vec<Command>,
    ) {
        match event {
            AgentEvent::TurnStarted => self.status(session, SessionStatus::Running, changes),
            AgentEvent::TurnEnded => {
                self.seen_tools.clear();
                self.status(session, SessionStatus::Idle, changes);
            }
            AgentEvent::Ended { reason, failed, resumable } => {
                self.pending = 0;
                self.status(session, SessionStatus::Ended { reason, failed, resumable }, changes);
            }
            AgentEvent::AskOpened(new) => {
                let (native_id, kind, raw) = (new.native_id.clone(), new.body.kind(), new.raw.clone());
                match self.open(session, *new, now) {
                    Ok(Some(ask)) => {
                        if matches!(ask.state, AskState::Pending(_)) {
                            self.pending += 1;
                        }
                        changes.push(Change::OpenAsk(Box::new(ask)));
                    }
                    Ok(None) => tracing::error!(%session, "an ask came for a session that this connection does not carry"),
                    Err(limit) => refusals.push(Command::Outcome {
                        session,
                        ask: AskId::new(now, entropy::id()),
                        native_id,
                        decision: refusal(kind, &limit),
                        raw,
                        typed: false,
                    }),
                }
            }
            AgentEvent::AskWithdrawn { native_id, reason } => {
                self.pending = self.pending.saturating_sub(1);
                changes.push(Change::Withdraw { native_id, reason });
            }
            AgentEvent::AskDelivery { ask, delivery } => changes.push(Change::Delivery { ask, delivery }),
            AgentEvent::MessageDelta { message, text } => self.app.feed.publish_live(LiveEvent {
                workspace: WorkspaceId::MAIN,
                session,
                at: now,
                name: names::MESSAGE_DELTA,
                data: Raw::of(&Delta { message_id: &message, text: &self.secrets.mask(text) }),
            }),
            AgentEvent::Message { message: _, role, text, subagent } => {
                let block = self.block(now, subagent, BlockBody::Message { role, text: self.secrets.mask(text) });
                changes.push(Change::Block { session, block, event: EventKind::MessageCompleted });
            }
            AgentEvent::Tool { tool_call_id, name, input, output, status } => {
                let id = tool_block(session, &tool_call_id);
                let first = self.seen_tools.insert(id);
                let event = match status {
                    ToolStatus::Complete | ToolStatus::Error => EventKind::ToolCompleted,
                    ToolStatus::Running if first => EventKind::ToolStarted,
                    ToolStatus::Running => EventKind::ToolUpdated,
                };
                let output = output.map(|output| self.secrets.mask(output));
                let body = BlockBody::Tool { tool_call_id, name, input, output, status };
                changes.push(Change::Block { session, block: Block { id, at: now, subagent: None, body }, event });
            }
            AgentEvent::Notice(text) => {
                let block = self.block(now, None, BlockBody::Notice { text: self.secrets.mask(text) });
                changes.push(Change::Block { session, block, event: EventKind::Notice });
            }
            AgentEvent::Error(text) => {
                let block = self.block(now, None, BlockBody::Error { text: self.secrets.mask(text) });
                changes.push(Change::Block { session, block, event: EventKind::Error });
            }
        }
    }

    fn status(&mut self, session: SessionId, status: SessionStatus, changes: &mut Vec<Change>) {
        if let Some(carried) = self.sessions.get_mut(&session) {
            carried.session.status = status.clone();
        }
        changes.push(Change::Status { session, status });
    }

    fn block(&self, now: Time, subagent: Option<String>, body: BlockBody) -> Block {
        Block { id: BlockId::new(now, entropy::id()), at: now, subagent, body }
    }

    fn open(
        &mut self,
        session: SessionId,
        new: sayso_agents::translator::NewAsk,
        now: Time,
    ) -> Result<Option<Ask>, LimitExceeded> {
        limits::check("the number of pending asks", self.pending + 1, limits::PENDING)?;
        let Some(carried) = self.sessions.get_mut(&session) else { return Ok(None) };
        carried.refresh(&self.app);
        broker::open_for_agent(&self.app, &carried.set, &carried.session, self.connection.id, new, now).map(Some)
    }
}

impl Carried {
    fn new(app: &App, session: Session) -> Self {
        let version = app.policies.in_force().version;
        let set = app.policies.set(Some(&SessionScope::from(&session)), None);
        Self { session, set, version }
    }

    /// Takes over a policy that changed since.
    fn refresh(&mut self, app: &App) {
        let version = app.policies.in_force().version;
        if version != self.version {
            self.set = app.policies.set(Some(&SessionScope::from(&self.session)), None);
            self.version = version;
        }
    }
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Delta<'a> {
    message_id: &'a str,
    text: &'a str,
}

/// What the agent is told when its request is over a limit.
fn refusal(kind: AskKind, limit: &LimitExceeded) -> Decision {
    let message = format!("Sayso refused this request: {limit}.");
    match kind {
        AskKind::Question => Decision::Rejected { message, stop: false },
        AskKind::Approval | AskKind::Link => Decision::Denied { message, stop: false },
    }
}

/// What takes a session up again.
pub(crate) fn resume(session: &Session) -> Command {
    Command::Start {
        session: session.id,
        project: session.project.clone(),
        prompt: None,
        permission_mode: session.permission_mode.clone(),
        model: session.model.clone(),
        questions: session.policy.questions.policy != Some(QuestionPolicy::Reject),
    }
}

/// The block of a tool call has the same id whenever it is named, also after a restart.
fn tool_block(session: SessionId, call: &str) -> BlockId {
    let digest = Sha256::new().chain_update(session.as_bytes()).chain_update(call.as_bytes()).finalize();
    let mut id = [0; 16];
    id.copy_from_slice(&digest[..16]);
    BlockId::from_bytes(id)
}
