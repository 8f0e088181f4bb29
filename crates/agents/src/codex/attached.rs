//! The Codex daemon that the user's terminals share: one socket for all their threads, with the terminals connected at
//! the same time.
//!
//! The translator subscribes to threads as soon as they start to work. A thread becomes a session when it first asks
//! something, and is then handled by a [`CodexTranslator`] like a thread that Sayso started. Codex sends a request to
//! all subscribers; the first answer counts and all are notified. The translator only answers what a person decided:
//! requests that Sayso does not support are left to the terminal.
//!
//! A call is a list of messages for the socket; an event is a message from it. The upper half of a request number is
//! the session that sent it, and 0 is the connection itself.

use std::time::Duration;

use sayso_core::ask::Delivery;
use sayso_core::id::{AskId, SessionId};
use sayso_core::raw::Raw;
use sayso_core::texts;
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::handshake::{INITIALIZED, introduction};
use super::state::{CodexPhase, CodexState, ID};
use super::translator::{CAPABILITIES, CodexTranslator};
use crate::attached::{FollowedSession, GONE, SLOT, TITLE, evict_idle, find, is_directory, withdraw_all_sessions};
use crate::json::{Object, list, text};
use crate::json_rpc::{self, Fault, Id, Message};
use crate::out::Out;
use crate::process::rpc::Requests;
use crate::text::one_line;
use crate::translator::{
    AgentEvent, AttachedAgent, Capabilities, Command, FoundSession, HttpCall, HttpReply, HttpServer, Input, Login, Method,
    Output, Saved, Standing, Translator,
};

/// Capabilities of a Codex that the user started. It cannot be resumed, because the user continues it in the terminal.
pub const ATTACHED: Capabilities = Capabilities { resume: false, ..CAPABILITIES };

/// Version of the saved state's format.
const VERSION: u32 = 2;
/// How long Codex may take to repeat pending requests after the socket was opened.
const SETTLES: Duration = Duration::from_secs(10);
/// How many threads are subscribed to at a time; the oldest is dropped.
const THREADS: usize = 64;
/// How many lines are kept of a thread that has not asked yet: Codex reports a patch before it asks for its approval.
const LINES: usize = 16;
const LINE: usize = 64 * 1024;

/// Methods that become asks. All other requests are left to the terminal.
const ASKS: [&str; 5] = [
    "item/commandExecution/requestApproval",
    "item/fileChange/requestApproval",
    "item/permissions/requestApproval",
    "item/tool/requestUserInput",
    "mcpServer/elicitation/request",
];

/// Translator for one daemon and all its threads.
#[derive(Debug, Clone, PartialEq)]
pub struct AttachedCodex {
    hub: Hub,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hub {
    socket: String,
    standing: Standing,
    /// Consecutive failures to open the socket.
    failures: u8,
    /// The numbers of the last call, the last request and the last session.
    called: u64,
    next: u64,
    slots: u64,
    asked: Vec<(u64, HubRequest)>,
    /// Calls that carry outcomes and are not written yet.
    sent: Vec<(u64, SessionId, AskId)>,
    threads: Vec<Thread>,
    carried: Vec<FollowedThread>,
    settle_at: Option<Time>,
}

/// A request of the connection itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum HubRequest {
    Initialize,
    Loaded,
    Resume { thread: String },
}

/// A subscribed thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thread {
    id: String,
    cwd: String,
    title: String,
    model: Option<String>,
    /// Lines that arrived before the thread asked.
    lines: Vec<String>,
}

/// A thread that has a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FollowedThread {
    slot: u64,
    thread: String,
    /// Requests that were repeated since the socket was opened.
    told: Vec<Id>,
    codex: CodexTranslator,
}

impl FollowedThread {
    /// Handles a request of this thread. The translator never refuses it, because the user can still decide it in the
    /// terminal.
    fn request(&mut self, now: Time, id: &Id, line: String, all: &mut Vec<Output>) {
        if self.told.len() >= THREADS {
            self.told.remove(0);
        }
        self.told.push(id.clone());
        self.emit_outputs(|carried, out| carried.codex.state.withdraw_other(id, &line, out), all);
        let outputs = self.codex.handle(now, Input::Line(line));
        let opened = |output: &Output| matches!(output, Output::Event { event: AgentEvent::AskOpened(_), .. });
        if outputs.iter().any(opened) {
            all.extend(outputs);
        }
    }
}

impl FollowedSession for FollowedThread {
    const AGENT: &'static str = "Codex";

    fn session(&self) -> Option<SessionId> {
        self.codex.state.session
    }

    fn is_idle(&self) -> bool {
        self.codex.state.open.is_empty() && self.codex.state.sent.is_empty()
    }

    fn lose(&mut self, reason: &str, out: &mut Out) {
        self.codex.state.lost(reason, out);
    }
}

impl AttachedCodex {
    /// Creates a translator for the daemon behind this socket.
    #[must_use]
    pub const fn new(socket: String) -> Self {
        let hub = Hub {
            socket,
            standing: Standing::Connecting,
            failures: 0,
            called: 0,
            next: 0,
            slots: 0,
            asked: Vec::new(),
            sent: Vec::new(),
            threads: Vec::new(),
            carried: Vec::new(),
            settle_at: None,
        };
        Self { hub }
    }

    /// Restores a saved translator; `None` if the state has another format version.
    #[must_use]
    pub fn restore(saved: &Saved) -> Option<Self> {
        saved.read(VERSION).map(|hub| Self { hub })
    }
}

impl Hub {
    /// Queues messages for the socket. Read-only messages are dropped if the connection is lost.
    fn write(&mut self, method: Method, lines: &[String], all: &mut Vec<Output>) -> u64 {
        self.called += 1;
        let (id, body) = (self.called, Some(Raw::of(&lines)));
        all.push(Output::HttpCall(HttpCall { id, method, path: String::new(), body, guard: None, streamed: false }));
        id
    }

    fn ask(&mut self, asked: HubRequest, method: &str, params: &impl Serialize, all: &mut Vec<Output>) {
        self.next += 1;
        let line = json_rpc::request(self.next, method, params);
        self.asked.push((self.next, asked));
        self.write(Method::Get, &[line], all);
    }

    /// Forwards outputs of a session; the lines that it writes become calls.
    fn pass_on(&mut self, outputs: Vec<Output>, carries: Option<(SessionId, AskId)>, all: &mut Vec<Output>) {
        for output in outputs {
            match output {
                Output::Lines(lines) => {
                    let id = self.write(Method::Post, &lines, all);
                    self.sent.extend(carries.map(|(session, ask)| (id, session, ask)));
                }
                Output::Launch(_) | Output::Stop => {}
                other => all.push(other),
            }
        }
    }

    fn opened(&mut self, all: &mut Vec<Output>) {
        self.failures = 0;
        self.asked.clear();
        self.threads.clear();
        self.carried.iter_mut().for_each(|carried| carried.told.clear());
        self.ask(HubRequest::Initialize, "initialize", &introduction(), all);
    }

    fn message(&mut self, now: Time, line: String, all: &mut Vec<Output>) {
        let Ok(message) = json_rpc::read(&line) else { return };
        match message {
            Message::Response { id, outcome } => match id.as_str().parse::<u64>().map(|id| (id >> SLOT, id)) {
                Ok((0, id)) => self.response(now, id, outcome, all),
                Ok((slot, _)) => self.forward_line(now, |carried| carried.slot == slot, line, all),
                Err(_) => {}
            },
            Message::Request { id, method, params } => {
                let thread = params.and_then(Object::of).and_then(|params| params.non_blank_text("threadId"));
                if let (Some(thread), true) = (thread, ASKS.contains(&method.as_str())) {
                    self.request(now, &thread, &id, line, all);
                }
            }
            Message::Notification { method, params } => {
                let params = params.and_then(Object::of).unwrap_or_default();
                self.handle_notification(now, &method, &params, &line, all);
            }
        }
    }

    fn forward_line(&mut self, now: Time, whose: impl Fn(&FollowedThread) -> bool, line: String, all: &mut Vec<Output>) {
        if let Some(carried) = self.carried.iter_mut().find(|carried| whose(carried)) {
            let outputs = carried.codex.handle(now, Input::Line(line));
            self.pass_on(outputs, None, all);
        }
    }

    fn request(&mut self, now: Time, thread: &str, id: &Id, line: String, all: &mut Vec<Output>) {
        if let Some(carried) = self.carried.iter_mut().find(|carried| carried.thread == thread) {
            let mut outputs = Vec::new();
            carried.request(now, id, line, &mut outputs);
            self.pass_on(outputs, None, all);
        } else if let Some(thread) = self.threads.iter_mut().find(|known| known.id == thread) {
            thread.keep(line);
            all.push(Output::Found(thread.found_session()));
        }
    }

    fn handle_notification(&mut self, now: Time, method: &str, params: &Object<'_>, line: &str, all: &mut Vec<Output>) {
        let started = params.object("thread").and_then(|thread| thread.non_blank_text("id"));
        let Some(thread) = params.non_blank_text("threadId").or(started).filter(|id| id.len() <= ID) else { return };
        if method == "thread/started" || method == "thread/status/changed" {
            let active = params.object("status").and_then(|status| status.text("type")).as_deref() == Some("active");
            if method == "thread/started" || active {
                self.subscribe_thread(thread, all);
            }
            return;
        }
        if self.carried.iter().any(|carried| carried.thread == thread) {
            return self.forward_line(now, |carried| carried.thread == thread, line.to_owned(), all);
        }
        let Some(known) = self.threads.iter_mut().find(|known| known.id == thread) else { return };
        let asks = || params.object("item").and_then(|item| item.list("questions")).is_some_and(|list| !list.is_empty());
        match method {
            "item/started" if line.len() <= LINE => known.keep(line.to_owned()),
            // The thread's ask can be resolved before its session exists.
            "serverRequest/resolved" | "turn/completed" if !known.lines.is_empty() => known.keep(line.to_owned()),
            // Questions that do not block Codex arrive as a message.
            "item/completed" if asks() => {
                known.keep(line.to_owned());
                all.push(Output::Found(known.found_session()));
            }
            _ => {}
        }
    }

    /// Subscribes to a thread. Codex then repeats the thread's pending requests.
    fn subscribe_thread(&mut self, thread: String, all: &mut Vec<Output>) {
        let asked = |(_, asked): &(u64, HubRequest)| matches!(asked, HubRequest::Resume { thread: other } if *other == thread);
        if self.threads.iter().any(|known| known.id == thread) || self.asked.iter().any(asked) {
            return;
        }
        let params = json!({ "threadId": thread, "excludeTurns": true });
        self.ask(HubRequest::Resume { thread }, "thread/resume", &params, all);
    }

    fn response(&mut self, now: Time, id: u64, outcome: Result<Option<&RawValue>, Fault>, all: &mut Vec<Output>) {
        let Some(at) = self.asked.iter().position(|(number, _)| *number == id) else { return };
        let result = outcome.map(|result| result.and_then(Object::of).unwrap_or_default());
        match (self.asked.remove(at).1, result) {
            (HubRequest::Initialize, Ok(result)) => {
                // Format: `codex-tui/0.166.0 (Debian 12; x86_64) …`
                let agent = result.non_blank_text("userAgent").unwrap_or_default();
                let version = agent.split([' ', '(']).next().and_then(|name| name.split_once('/'));
                let version = version.map(|(_, version)| one_line(version, ID));
                self.standing = Standing::Connected { version };
                self.write(Method::Get, &[INITIALIZED.to_owned()], all);
                self.ask(HubRequest::Loaded, "thread/loaded/list", &json!({}), all);
            }
            (HubRequest::Initialize, Err(fault)) => {
                let why =
                    format!("the process at {} is not Codex, or it is broken: {}", self.socket, one_line(&fault.message, TITLE));
                self.standing = Standing::Unreachable { why };
            }
            (HubRequest::Loaded, Ok(result)) => {
                self.settle_at = Some(now.plus(SETTLES));
                let threads = result.get("data").and_then(list).unwrap_or_default();
                for thread in threads.into_iter().filter_map(text).filter(|id| id.len() <= ID).take(THREADS) {
                    self.subscribe_thread(thread, all);
                }
            }
            (HubRequest::Resume { thread }, Ok(result)) => self.thread_subscribed(thread, &result),
            // Threads without a recording yet are retried when they work; helper threads of the terminal never get
            // one.
            (HubRequest::Loaded | HubRequest::Resume { .. }, Err(_)) => {}
        }
    }

    fn thread_subscribed(&mut self, id: String, result: &Object<'_>) {
        let thread = result.object("thread").unwrap_or_default();
        let cwd = result.non_blank_text("cwd").or_else(|| thread.non_blank_text("cwd"));
        let cwd = cwd.filter(|cwd| is_directory(cwd)).unwrap_or_else(|| "/".to_owned());
        let title = ["name", "preview"].into_iter().find_map(|name| thread.non_blank_text(name)).unwrap_or_default();
        let model = result.non_blank_text("model").map(|model| one_line(&model, ID));
        if self.threads.len() >= THREADS {
            self.threads.remove(0);
        }
        self.threads.push(Thread { id, cwd, title: one_line(&title, TITLE), model, lines: Vec::new() });
    }

    fn adopt(&mut self, now: Time, session: SessionId, found: &FoundSession, all: &mut Vec<Output>) {
        evict_idle(&mut self.carried, all);
        let known = self.threads.iter_mut().find(|known| known.id == found.native_id);
        let (lines, model) = known.map(|known| (std::mem::take(&mut known.lines), known.model.clone())).unwrap_or_default();
        self.slots += 1;
        let state = CodexState {
            session: Some(session),
            phase: CodexPhase::Ready,
            thread: Some(found.native_id.clone()),
            recorded: true,
            model,
            requests: Requests::starting_at(self.slots << SLOT),
            ..CodexState::default()
        };
        let codex = CodexTranslator { state };
        self.carried.push(FollowedThread { slot: self.slots, thread: found.native_id.clone(), told: Vec::new(), codex });
        for line in lines {
            self.message(now, line, all);
        }
    }

    /// Handles a lost connection. If the daemon still runs, it repeats its pending requests after the reconnect.
    fn lost(&mut self, all: &mut Vec<Output>) {
        self.settle_at = None;
        withdraw_all_sessions(&mut self.carried, &self.socket, all);
    }

    fn handle_open_failure(&mut self, reply: &HttpReply, all: &mut Vec<Output>) {
        let why = format!("Codex does not listen at {}: {}", self.socket, one_line(&reply.body, TITLE));
        self.standing = Standing::Unreachable { why };
        self.failures = self.failures.saturating_add(1);
        if self.failures == GONE {
            self.lost(all);
        }
    }

    /// Handles the result of writing an outcome.
    fn outcome_written(&mut self, reply: &HttpReply, all: &mut Vec<Output>) {
        let Some(at) = self.sent.iter().position(|(id, ..)| *id == reply.id) else { return };
        let (_, session, ask) = self.sent.remove(at);
        if reply.status.is_none() {
            let delivery = Delivery::Undeliverable { reason: texts::AGENT_GONE_NOT_CERTAIN.to_owned() };
            all.push(Output::Event { session, event: AgentEvent::AskDelivery { ask, delivery } });
        }
    }

    fn command(&mut self, now: Time, command: Command, all: &mut Vec<Output>) {
        let session = command.session();
        let ask = match &command {
            Command::Outcome { ask, .. } => Some(*ask),
            Command::Start { .. }
            | Command::Prompt { .. }
            | Command::Interrupt { .. }
            | Command::Close { .. }
            | Command::Configure { .. } => None,
        };
        if let Some(carried) = find(&mut self.carried, &command, all) {
            let outputs = carried.codex.handle(now, Input::Command(command));
            self.pass_on(outputs, ask.map(|ask| (session, ask)), all);
        }
    }

    /// Withdraws open asks that Codex did not repeat: they were answered elsewhere.
    fn withdraw_unrepeated(&mut self, now: Time, all: &mut Vec<Output>) {
        if self.settle_at.is_none_or(|at| at > now) {
            return;
        }
        self.settle_at = None;
        for carried in &mut self.carried {
            let told = std::mem::take(&mut carried.told);
            carried.emit_outputs(|carried, out| carried.codex.state.withdraw_except(&told, out), all);
        }
    }
}

impl Thread {
    fn keep(&mut self, line: String) {
        if self.lines.len() >= LINES {
            self.lines.remove(0);
        }
        self.lines.push(line);
    }

    fn found_session(&self) -> FoundSession {
        FoundSession { native_id: self.id.clone(), project: self.cwd.clone(), title: self.title.clone() }
    }
}

impl Translator for AttachedCodex {
    fn handle(&mut self, now: Time, input: Input) -> Vec<Output> {
        let (hub, mut all) = (&mut self.hub, Vec::new());
        match input {
            Input::Command(command) => hub.command(now, command, &mut all),
            Input::StreamOpened => hub.opened(&mut all),
            Input::StreamEvent(line) => hub.message(now, line, &mut all),
            Input::StreamClosed => hub.lost(&mut all),
            Input::HttpReply(reply) if reply.id == HttpReply::EVENTS => hub.handle_open_failure(&reply, &mut all),
            Input::HttpReply(reply) => hub.outcome_written(&reply, &mut all),
            Input::Tick => hub.withdraw_unrepeated(now, &mut all),
            // Sayso has no process here.
            Input::Line(_) | Input::Exited(_) => {}
        }
        all
    }

    fn deadline(&self) -> Option<Time> {
        self.hub.settle_at
    }

    fn save(&self) -> Saved {
        Saved::of(VERSION, &self.hub)
    }

    fn server(&self) -> Option<HttpServer> {
        Some(HttpServer { url: format!("unix:{}", self.hub.socket), login: Login::Open, events: Some(String::new()) })
    }

    fn adopt(&mut self, now: Time, session: SessionId, found: &FoundSession) -> Vec<Output> {
        let mut all = Vec::new();
        self.hub.adopt(now, session, found, &mut all);
        all
    }

    fn attached(&self) -> Option<AttachedAgent> {
        Some(AttachedAgent { place: self.hub.socket.clone(), standing: self.hub.standing.clone() })
    }
}
