//! The process of an agent: its output, and the queue of messages to it.

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

/// The maximum length of the queue to one process. Further messages stay in the database until the queue has room.
const WAITING: usize = 64;
const WAITING_BYTES: usize = 8 * 1024 * 1024;
/// The maximum number of output lines in one transaction.
const TOGETHER: usize = 256;
const TOGETHER_BYTES: usize = 1024 * 1024;
/// The journal is trimmed in steps of this many bytes.
const TRIM: u64 = 1024 * 1024;
/// How long to wait for a process to end. Its supervisor kills it earlier.
const ENDS: Duration = Duration::from_secs(20);

/// The delivery reason of an outcome that was being sent when another program wrote to the process.
const ANOTHER_PROGRAM_WROTE: &str =
    "Another program sent input to the agent, so it is not certain whether this reached it. It was not sent again.";

/// A message to a process, as the outbox stores it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Message {
    Launch(Launch),
    /// Lines for its standard input.
    Lines(Vec<String>),
    Stop,
    /// A call to the HTTP server of the agent.
    Call(HttpCall),
}

/// Returns whether this row starts a process.
pub(super) fn is_launch(row: &OutboxRow) -> bool {
    match &row.payload {
        OutboxPayload::Send { message, .. } => matches!(serde_json::from_str(message.as_str()), Ok(Message::Launch(_))),
        OutboxPayload::Outcome { .. } | OutboxPayload::Command(_) => false,
    }
}

/// Everything that arrived from a process since the last call of [`AttachedProcess::receive`]. Committed in one transaction.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Output lines, and the exit of the process.
    pub(super) inputs: Vec<Input>,
    /// The position up to which the output was read.
    pub(super) read: Option<WirePosition>,
    /// The messages that the process accepted.
    pub(super) taken: Vec<OutboxId>,
    /// The messages that the process refused.
    pub(super) refused: Vec<Refused>,
    /// Whether the queue has room again for messages that were left in the database.
    pub(super) room: bool,
    /// Whether the connection to the supervisor was lost. The process may still be running.
    pub(super) lost: bool,
    /// Warnings about interference by other programs, for people.
    pub(super) warnings: Vec<String>,
    pub(super) bytes: usize,
}

/// A message that a process refused.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) id: OutboxId,
    pub(super) ask: Option<AskId>,
    /// The reason, for people.
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
    /// Set for a direct input: what the supervisor records when it accepts the input.
    acceptance: Option<Acceptance>,
    bytes: Vec<u8>,
}

/// A process that the server is attached to.
pub(super) struct AttachedProcess {
    link: Supervised,
    /// Messages to send. The first one is in flight if `sending` is set.
    queue: VecDeque<Waiting>,
    queued_bytes: usize,
    sending: bool,
    /// The last message that was queued.
    last: OutboxId,
    /// Whether messages stayed in the database because the queue was full.
    left: bool,
    /// Messages from the process that were not returned yet.
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

    /// Returns whether an input can be sent before it is committed: the queue has room, and the supervisor records what it
    /// accepts.
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

    /// Computes the digest of an input that the supervisor records.
    pub(super) fn digest_of(&self, id: OutboxId, bytes: &[u8]) -> [u8; 16] {
        self.link.digest_of(id, bytes)
    }

    /// Queues a message unless it was already queued. Ids only increase.
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

    /// Stops the process: closes its stdin, then sends a signal, then a stronger one.
    pub(super) fn stop(&mut self) {
        self.link.stop();
    }

    /// Stops the process and waits until it has ended. Its remaining output is discarded.
    pub(super) async fn end(mut self) {
        self.stop();
        let is_over = |heard: &Heard| heard.lost || heard.inputs.iter().any(|input| matches!(input, Input::Exited(_)));
        let ending = async { while !is_over(&self.receive().await) {} };
        if tokio::time::timeout(ENDS, ending).await.is_err() {
            tracing::error!("process of an abandoned connection did not exit");
        }
    }

    /// Returns whether output from before the attachment has not been read yet.
    pub(super) fn has_past(&self) -> bool {
        self.link.has_past()
    }

    /// Records that output up to this position is committed, and trims the journal.
    pub(super) fn committed(&mut self, position: WirePosition) {
        if position.0 >= self.trimmed + TRIM {
            self.trimmed = position.0;
            self.link.trim(position);
        }
    }

    /// Makes [`Self::receive`] return as soon as the output is read up to this position.
    pub(super) fn stop_reading_at(&mut self, position: Option<u64>) {
        self.stop_at = position;
    }

    /// Returns the inputs that the journal of the process lists as accepted, from a position on.
    pub(super) async fn accepted_inputs(&self, from: WirePosition) -> AcceptedInputs {
        self.link.accepted_inputs(from).await
    }

    /// Waits for messages from the process, and returns them with everything else that is available. Cancel safe.
    pub(super) async fn receive(&mut self) -> Heard {
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
                        let reason = format!("The agent no longer accepts input: {message}");
                        self.heard.refused.push(Refused { id, ask, reason });
                    }
                }
                ProcessMessage::Warning(text) => self.heard.warnings.push(text),
                // The caller reads earlier output first and must not wait for new output.
                ProcessMessage::CaughtUp => return std::mem::take(&mut self.heard),
                ProcessMessage::Closed => {
                    self.heard.lost = true;
                    return std::mem::take(&mut self.heard);
                }
            }
        }
    }

    /// Removes the message in flight and sends the next one.
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

/// Joins lines to the bytes for stdin.
pub(super) fn join_lines(lines: &[String]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for line in lines {
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
    }
    bytes
}

/// Starts the process of a connection and attaches to it. Idempotent: a second call attaches to the same process.
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
        tracing::warn!(%error, "cannot store the token of an agent; starting it without one");
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

/// Attaches to the process of a connection, or reads the journal that it left.
pub(super) async fn attach(runtime: &Runtime, connection: &Connection, from: WirePosition) -> Result<AttachedProcess, LinkError> {
    let key = InputKey(tokens::agent_input_key(&runtime.services, connection));
    Supervised::attach(&runtime.processes, connection, key, from).await.map(|link| AttachedProcess::new(link, from))
}

/// Removes the files and the token of a process that has ended and whose output is committed.
pub(super) async fn forget(runtime: &Runtime, connection: &Connection) {
    runtime.processes.remove(connection).await;
    if let Err(error) = tokens::revoke_agent_token(&runtime.services, connection).await {
        tracing::warn!(%error, "cannot revoke the token of an agent that has exited");
    }
}
