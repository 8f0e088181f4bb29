//! The process of an agent as its connection sees it: what it says, and what waits to be sent to it.

use std::collections::VecDeque;
use std::time::Duration;

use sayso_agents::translator::{Exit, HttpCall, Input, Launch};
use sayso_core::connection::{Connection, WirePosition};
use sayso_core::id::{AskId, SessionId};
use sayso_store::{OutboxId, OutboxPayload, OutboxRow};
use sayso_supervisor::protocol::Acceptance;
use serde::{Deserialize, Serialize};

use crate::config::agents::Agent;
use crate::runtime::Runtime;
use crate::runtime::link::{AcceptedInputs, InputFate, InputKey, LinkError, ProcessMessage, Supervised};
use crate::service::tokens;

/// How many messages and bytes wait here for one process. The rest stays in the database until these left.
const WAITING: usize = 64;
const WAITING_BYTES: usize = 8 * 1024 * 1024;
/// How many lines and bytes share one transaction.
const TOGETHER: usize = 256;
const TOGETHER_BYTES: usize = 1024 * 1024;
/// The journal is trimmed in steps of this many bytes.
const TRIM: u64 = 1024 * 1024;
/// How long a process may take to end; its supervisor kills it before.
const ENDS: Duration = Duration::from_secs(20);

/// Why an outcome is not sent that was on its way when another program wrote to the process.
const ANOTHER_PROGRAM_WROTE: &str =
    "Another program sent input to the agent, so it is not certain whether this reached it. It was not sent again.";

/// What is sent to a process, as it is stored in the outbox.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Message {
    /// Start it.
    Launch(Launch),
    /// Lines for its standard input.
    Lines(Vec<String>),
    /// End it.
    Stop,
    /// A call to the server that it is.
    Call(HttpCall),
}

/// Whether this row starts a process.
pub(super) fn is_launch(row: &OutboxRow) -> bool {
    match &row.payload {
        OutboxPayload::Send { message, .. } => matches!(serde_json::from_str(message.as_str()), Ok(Message::Launch(_))),
        OutboxPayload::Outcome { .. } | OutboxPayload::Command(_) => false,
    }
}

/// What came from a process since it was last asked; one transaction.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// What it said, and that it ended.
    pub(super) inputs: Vec<Input>,
    /// Its output is read up to here.
    pub(super) read: Option<WirePosition>,
    /// It has these messages.
    pub(super) taken: Vec<OutboxId>,
    /// It does not take these.
    pub(super) refused: Vec<Refused>,
    /// There is room for messages that were left in the database.
    pub(super) room: bool,
    /// The way to it is gone; it may live on.
    pub(super) lost: bool,
    /// Other programs interfered, in words for a person.
    pub(super) warnings: Vec<String>,
    pub(super) bytes: usize,
}

/// A message that a process does not take.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) id: OutboxId,
    pub(super) ask: Option<AskId>,
    /// In words for a person.
    pub(super) reason: String,
}

impl Heard {
    pub(super) fn is_empty(&self) -> bool {
        let nothing_came = self.inputs.is_empty() && self.taken.is_empty() && self.refused.is_empty() && self.warnings.is_empty();
        nothing_came && !self.room && !self.lost
    }

    fn is_enough(&self) -> bool {
        self.inputs.len() >= TOGETHER || self.bytes >= TOGETHER_BYTES
    }
}

struct Waiting {
    id: OutboxId,
    ask: Option<AskId>,
    /// Set for a direct input: the supervisor records that it accepted it.
    acceptance: Option<Acceptance>,
    bytes: Vec<u8>,
}

/// A process that we are attached to.
pub(super) struct AttachedProcess {
    link: Supervised,
    /// What waits, the first one is on its way if `sending`.
    queue: VecDeque<Waiting>,
    queued_bytes: usize,
    sending: bool,
    /// The last message that was queued here.
    last: OutboxId,
    /// Messages stayed in the database because there was no room.
    left: bool,
    /// What came and was not taken yet.
    heard: Heard,
    trimmed: u64,
    /// See [`Self::stop_reading_at`].
    stop_at: Option<u64>,
}

impl AttachedProcess {
    fn new(link: Supervised, from: WirePosition) -> Self {
        Self {
            link,
            queue: VecDeque::new(),
            queued_bytes: 0,
            sending: false,
            last: OutboxId(0),
            left: false,
            heard: Heard::default(),
            trimmed: from.0,
            stop_at: None,
        }
    }

    /// Whether an input can be sent before it is committed: it would be queued, and the supervisor records it.
    pub(super) fn takes_direct_input(&self) -> bool {
        self.has_room() && self.link.records_inputs()
    }

    fn has_room(&self) -> bool {
        !self.left && self.queue.len() < WAITING && self.queued_bytes < WAITING_BYTES
    }

    /// Queues the lines of a stored message.
    pub(super) fn queue(&mut self, id: OutboxId, ask: Option<AskId>, lines: &[String]) {
        self.enqueue(id, ask, None, join_lines(lines));
    }

    /// Queues the lines of a direct input, which was translated when the output was read up to `after`. The caller has checked
    /// [`Self::takes_direct_input`].
    pub(super) fn queue_direct(&mut self, id: OutboxId, ask: Option<AskId>, after: WirePosition, bytes: Vec<u8>) {
        let acceptance = Acceptance { after: after.0, digest: self.link.digest_of(id, &bytes) };
        self.enqueue(id, ask, Some(acceptance), bytes);
    }

    /// The digest of an input that the supervisor records.
    pub(super) fn digest_of(&self, id: OutboxId, bytes: &[u8]) -> [u8; 16] {
        self.link.digest_of(id, bytes)
    }

    /// Each id is sent once, and only in order.
    fn enqueue(&mut self, id: OutboxId, ask: Option<AskId>, acceptance: Option<Acceptance>, bytes: Vec<u8>) {
        if id <= self.last {
            return;
        }
        if !self.has_room() {
            self.left = true;
            return;
        }
        self.last = id;
        match self.link.fate_of(id) {
            InputFate::Accepted => {
                self.heard.taken.push(id);
                return;
            }
            InputFate::Uncertain => {
                self.heard.refused.push(Refused { id, ask, reason: ANOTHER_PROGRAM_WROTE.to_owned() });
                return;
            }
            InputFate::NotAccepted => {}
        }
        self.queued_bytes += bytes.len();
        self.queue.push_back(Waiting { id, ask, acceptance, bytes });
        self.send();
    }

    fn send(&mut self) {
        if let Some(next) = self.queue.front_mut().filter(|_| !self.sending) {
            self.sending = true;
            self.queued_bytes -= next.bytes.len();
            if let Some(ask) = next.ask {
                tracing::debug!(%ask, outbox = next.id.0, to = "process", "ask sent");
            }
            self.link.input(next.id, next.acceptance, std::mem::take(&mut next.bytes));
        }
    }

    /// Ends it: no more input, then a signal, then a stronger one.
    pub(super) fn stop(&mut self) {
        self.link.stop();
    }

    /// Ends it and waits until it is over; nobody hears what it still says.
    pub(super) async fn end(mut self) {
        self.stop();
        let is_over = |heard: &Heard| heard.lost || heard.inputs.iter().any(|input| matches!(input, Input::Exited(_)));
        let ending = async { while !is_over(&self.hear().await) {} };
        if tokio::time::timeout(ENDS, ending).await.is_err() {
            tracing::error!("an agent that was given up does not end");
        }
    }

    /// Whether it said something before we came that has not been heard.
    pub(super) fn has_past(&self) -> bool {
        self.link.has_past()
    }

    /// What was read up to here is on disk.
    pub(super) fn committed(&mut self, position: WirePosition) {
        if position.0 >= self.trimmed + TRIM {
            self.trimmed = position.0;
            self.link.trim(position);
        }
    }

    /// Returns from [`Self::hear`] as soon as the output is read up to this position.
    pub(super) fn stop_reading_at(&mut self, position: Option<u64>) {
        self.stop_at = position;
    }

    /// The inputs that the journal of the process says were accepted, from a position on.
    pub(super) async fn accepted_inputs(&self, from: WirePosition) -> AcceptedInputs {
        self.link.accepted_inputs(from).await
    }

    /// What it says next, with everything else that is there. May be dropped while it waits; nothing
    /// is lost.
    pub(super) async fn hear(&mut self) -> Heard {
        loop {
            if self.left && self.queue.is_empty() {
                self.left = false;
                self.heard.room = true;
            }
            if self.heard.is_enough() || !(self.heard.is_empty() || self.link.is_ready()) {
                return std::mem::take(&mut self.heard);
            }
            match self.link.next().await {
                ProcessMessage::Line { text, position } => {
                    self.heard.bytes += text.len();
                    self.heard.inputs.push(Input::Line(text));
                    self.heard.read = Some(position);
                    if self.stop_at.is_some_and(|at| position.0 >= at) {
                        return std::mem::take(&mut self.heard);
                    }
                }
                ProcessMessage::Exited { exit, position } => {
                    self.heard.inputs.push(Input::Exited(exit));
                    self.heard.read = Some(position);
                    return std::mem::take(&mut self.heard);
                }
                ProcessMessage::Taken(id) => {
                    if let Some(sent) = self.sent(id) {
                        self.heard.taken.push(sent.id);
                    }
                }
                ProcessMessage::Refused { id, message } => {
                    if let Some(Waiting { id, ask, .. }) = self.sent(id) {
                        let reason = format!("The agent takes no more input: {message}");
                        self.heard.refused.push(Refused { id, ask, reason });
                    }
                }
                ProcessMessage::Warning(text) => self.heard.warnings.push(text),
                // Whoever reads the past must not wait for what comes after it.
                ProcessMessage::CaughtUp => return std::mem::take(&mut self.heard),
                ProcessMessage::Closed => {
                    self.heard.lost = true;
                    return std::mem::take(&mut self.heard);
                }
            }
        }
    }

    /// The message that was on its way; the next one leaves.
    fn sent(&mut self, id: OutboxId) -> Option<Waiting> {
        if self.queue.front()?.id > id {
            return None;
        }
        let sent = self.queue.pop_front()?;
        self.sending = false;
        self.send();
        Some(sent)
    }
}

/// The bytes of lines for standard input.
pub(super) fn join_lines(lines: &[String]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for line in lines {
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
    }
    bytes
}

/// Starts the process of a connection and attaches to it. Doing it twice starts one.
pub(super) async fn launch(
    runtime: &Runtime,
    agent: &Agent,
    connection: &Connection,
    session: Option<SessionId>,
    launch: Launch,
) -> Result<AttachedProcess, Exit> {
    let services = &runtime.services;
    let failed = |message: String| Exit { code: None, signal: None, message };
    let Some(program) = &agent.program else { return Err(failed(format!("the agent `{}` has no program", agent.name))) };
    if *runtime.halt.borrow() {
        return Err(failed("all agents are being stopped".to_owned()));
    }
    let mut env = services.environment.for_connection(connection.id);
    let Some(found) = program.find(env.get("PATH").map(String::as_str)) else { return Err(failed(program.missing(&agent.name))) };
    let token = tokens::agent_secret(services, connection);
    if let Err(error) = tokens::issue_agent_token(services, &agent.name, session, &token).await {
        tracing::warn!(%error, "the token of an agent could not be kept; it gets none");
    }
    env.extend(agent.env.iter().cloned().chain(launch.env));
    env.extend(launch.password.map(|variable| (variable, tokens::agent_password(services, connection))));
    env.insert("SAYSO_URL".to_owned(), services.url.clone());
    env.insert("SAYSO_AGENT_TOKEN".to_owned(), token);
    if let Some(session) = session {
        env.insert("SAYSO_SESSION".to_owned(), session.to_string());
    }
    let mut command = vec![found.into_os_string()];
    command.extend(program.args.iter().chain(&launch.args).map(Into::into));
    let key = InputKey(tokens::agent_input_key(services, connection));
    match Supervised::launch(&runtime.processes, connection, key, command, env, launch.directory.into()).await {
        Ok(link) => Ok(AttachedProcess::new(link, WirePosition(0))),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Attaches to the process of a connection, or to what is left of it.
pub(super) async fn attach(runtime: &Runtime, connection: &Connection, from: WirePosition) -> Result<AttachedProcess, LinkError> {
    let key = InputKey(tokens::agent_input_key(&runtime.services, connection));
    Supervised::attach(&runtime.processes, connection, key, from).await.map(|link| AttachedProcess::new(link, from))
}

/// The process has ended and all its output is committed: its files and its token go.
pub(super) async fn forget(runtime: &Runtime, connection: &Connection) {
    runtime.processes.remove(connection).await;
    if let Err(error) = tokens::revoke_agent_token(&runtime.services, connection).await {
        tracing::warn!(%error, "the token of an agent that is gone could not be revoked");
    }
}
