//! The mock as an agent that speaks the Agent Client Protocol, for clients that start it as a process.
//!
//! Nothing is kept across processes: a session that is loaded or resumed starts without history, whatever its id.
//! `crash` ends the process with exit code 3.

use std::collections::VecDeque;

use sayso_core::ask::{AskBody, Decision, Input as Takes};
use sayso_core::id::{AskId, SessionId};
use sayso_core::time::Time;
use sayso_core::transcript::ToolStatus;
use serde_json::json;
use serde_json::value::RawValue;

use super::MockTranslator;
use super::acp_answer::{ALLOW, By, REJECT, Waiting, rejected};
use crate::form::form;
use crate::json::{self, Object};
use crate::json_rpc::{self, Fault, INVALID_PARAMS, INVALID_REQUEST, Id, METHOD_NOT_FOUND, Message, PARSE_ERROR, Unreadable};
use crate::translator::{AgentEvent, Command, DecidedBy, Input, NewAsk, Output, Translator};

/// Maximum number of sessions per process.
const SESSIONS: usize = 64;
const CRASHED: i32 = 3;
/// Error code: the session does not exist.
const NOT_FOUND: i32 = -32002;
/// The permission modes of the mock.
const MODES: [(&str, &str); 5] = [
    ("default", "Asks before it uses tools"),
    ("plan", "Plans first"),
    ("acceptEdits", "Uses tools without asking"),
    ("bypassPermissions", "Uses tools without asking"),
    ("dontAsk", "Asks nothing at all"),
];
const CANNOT_ASK: &str = "The client cannot show this question.";
const CANNOT_LINK: &str = "The client cannot show a link.";

/// The inputs of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcpInput {
    /// One line of the client.
    Line(String),
    /// The deadline returned by [`AcpAgent::deadline`] has passed.
    Tick,
}

/// The mock agent's side of the protocol. It consumes lines and the time, and returns lines.
#[derive(Debug, Default)]
pub struct AcpAgent {
    client: Client,
    sessions: Vec<Session>,
    /// The id of the next request.
    next: u64,
    /// The number of sessions opened so far.
    opened: u64,
    waiting: Vec<Waiting>,
    exit: Option<i32>,
}

/// The kinds of requests that the client supports.
#[derive(Debug, Default)]
struct Client {
    forms: bool,
    links: bool,
    questions: bool,
}

#[derive(Debug)]
struct Session {
    name: String,
    id: SessionId,
    mock: MockTranslator,
    /// The ids of unanswered prompts; the first one is running.
    prompts: VecDeque<Id>,
    /// Whether the running turn was cancelled.
    cancelled: bool,
    /// The tool calls that were already reported.
    told: Vec<String>,
    /// Distinguishes the session's tool call ids from those of an earlier process.
    mark: i64,
}

impl AcpAgent {
    /// Creates an agent that waits for `initialize`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Handles one input and returns the resulting lines.
    pub fn handle(&mut self, now: Time, input: AcpInput) -> Vec<String> {
        let mut lines = Vec::new();
        match input {
            AcpInput::Line(line) if line.trim().is_empty() => {}
            AcpInput::Line(line) => self.line(now, &line, &mut lines),
            AcpInput::Tick => {
                for at in 0..self.sessions.len() {
                    let outputs = self.sessions[at].mock.handle(now, Input::Tick);
                    self.report_outputs(now, at, outputs, &mut lines);
                }
            }
        }
        lines
    }

    /// When the agent needs an [`AcpInput::Tick`] if no line arrives before.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.sessions.iter().filter_map(|session| session.mock.deadline()).min()
    }

    /// The code with which the process must exit, if it must.
    #[must_use]
    pub const fn exit_code(&self) -> Option<i32> {
        self.exit
    }

    fn line(&mut self, now: Time, line: &str, lines: &mut Vec<String>) {
        match json_rpc::read(line) {
            Ok(Message::Request { id, method, params }) => {
                let params = params.and_then(Object::of).unwrap_or_default();
                if let Err((code, message)) = self.request(now, &id, &method, &params, lines) {
                    lines.push(json_rpc::error(&id, code, message));
                }
            }
            Ok(Message::Notification { method, params }) => {
                let params = params.and_then(Object::of).unwrap_or_default();
                let asked = params.get("requestId").and_then(Id::of);
                let at = match method.as_str() {
                    "session/cancel" => self.session(&params),
                    "$/cancel_request" => self.sessions.iter().position(|session| session.prompts.front() == asked.as_ref()),
                    _ => None,
                };
                if let Some(at) = at {
                    self.cancel(now, at, lines);
                }
            }
            Ok(Message::Response { id, outcome }) => self.answered(now, &id, outcome, lines),
            Err(Unreadable::NotAMessage) => lines.push(json_rpc::error(&Id::null(), PARSE_ERROR, "Parse error")),
            Err(Unreadable::BadId) => lines.push(json_rpc::error(&Id::null(), INVALID_REQUEST, "Invalid id")),
            Err(Unreadable::NoMethod(id)) => lines.push(json_rpc::error(&id, INVALID_REQUEST, "Invalid request")),
        }
    }

    fn session(&self, params: &Object<'_>) -> Option<usize> {
        let name = params.text("sessionId")?;
        self.sessions.iter().position(|session| session.name == name)
    }

    fn request(
        &mut self,
        now: Time,
        id: &Id,
        method: &str,
        params: &Object<'_>,
        lines: &mut Vec<String>,
    ) -> Result<(), (i32, &'static str)> {
        let session = self.session(params).ok_or((NOT_FOUND, "Resource not found"));
        match method {
            "initialize" => {
                self.client = Client::of(params);
                let sessions = json!({ "resume": {}, "close": {} });
                let result = json!({
                    "protocolVersion": 1,
                    "agentCapabilities": { "loadSession": true, "sessionCapabilities": sessions },
                    "agentInfo": { "name": "sayso-mock", "title": "Mock", "version": env!("CARGO_PKG_VERSION") },
                    "authMethods": [],
                });
                lines.push(json_rpc::result(id, &result));
            }
            "session/new" | "session/load" | "session/resume" => {
                let name = match (method, params.non_blank_text("sessionId")) {
                    ("session/new", _) => format!("mock-{}-{}", now.as_millis(), self.opened),
                    (_, Some(name)) => name,
                    (_, None) => return Err((INVALID_PARAMS, "`sessionId` is missing")),
                };
                let name = self.open(now, name)?;
                let modes: Vec<_> =
                    MODES.iter().map(|(id, about)| json!({ "id": id, "name": id, "description": about })).collect();
                let modes = json!({ "currentModeId": "default", "availableModes": modes });
                lines.push(json_rpc::result(id, &json!({ "sessionId": name, "modes": modes })));
            }
            "session/set_mode" => {
                let at = session?;
                let mode = params.text("modeId").filter(|mode| MODES.iter().any(|(known, _)| known == mode));
                let mode = mode.ok_or((INVALID_PARAMS, "there is no such mode"))?;
                lines.push(json_rpc::result(id, &json!({})));
                let start = self.start(self.sessions[at].id, mode);
                self.command(now, at, start, lines);
            }
            "session/prompt" => {
                let at = session?;
                let blocks = params.list("prompt").unwrap_or_default().into_iter().filter_map(Object::of);
                let text: Vec<String> = blocks.filter_map(|block| block.text("text")).collect();
                self.sessions[at].prompts.push_back(id.clone());
                let command = Command::Prompt { session: self.sessions[at].id, text: text.join("\n") };
                self.command(now, at, command, lines);
            }
            "session/close" => {
                let at = session?;
                let command = Command::Close { session: self.sessions[at].id };
                self.command(now, at, command, lines);
                let closed = self.sessions.remove(at);
                lines.extend(closed.prompts.iter().map(|prompt| json_rpc::result(prompt, &json!({ "stopReason": "cancelled" }))));
                lines.push(json_rpc::result(id, &json!({})));
            }
            _ => return Err((METHOD_NOT_FOUND, "Method not found")),
        }
        Ok(())
    }

    /// Opens a session without history, or returns one that is already open.
    fn open(&mut self, now: Time, name: String) -> Result<String, (i32, &'static str)> {
        if self.sessions.iter().any(|session| session.name == name) {
            return Ok(name);
        }
        if self.sessions.len() == SESSIONS {
            return Err((INVALID_REQUEST, "too many sessions are open"));
        }
        let mut entropy = [0; 10];
        entropy[2..].copy_from_slice(&self.opened.to_be_bytes());
        self.opened += 1;
        let id = SessionId::new(now, entropy);
        let mut mock = MockTranslator::new();
        mock.handle(now, Input::Command(self.start(id, "default".to_owned())));
        let (prompts, told) = (VecDeque::new(), Vec::new());
        self.sessions.push(Session { name: name.clone(), id, mock, prompts, cancelled: false, told, mark: now.as_millis() });
        Ok(name)
    }

    fn start(&self, session: SessionId, permission_mode: String) -> Command {
        Command::Start { session, project: String::new(), prompt: None, permission_mode, model: None, questions: true }
    }

    fn cancel(&mut self, now: Time, at: usize, lines: &mut Vec<String>) {
        let session = &mut self.sessions[at];
        session.cancelled = !session.prompts.is_empty();
        let command = Command::Interrupt { session: session.id };
        self.command(now, at, command, lines);
    }

    fn command(&mut self, now: Time, at: usize, command: Command, lines: &mut Vec<String>) {
        let outputs = self.sessions[at].mock.handle(now, Input::Command(command));
        self.report_outputs(now, at, outputs, lines);
    }

    /// Reports the mock's outputs to the client.
    fn report_outputs(&mut self, now: Time, at: usize, outputs: Vec<Output>, lines: &mut Vec<String>) {
        for output in outputs {
            let Output::Event { event, .. } = output else { continue };
            let session = &mut self.sessions[at];
            match event {
                AgentEvent::MessageDelta { message, text } => {
                    let content = json!({ "type": "text", "text": text });
                    lines.push(
                        session
                            .update(json!({ "sessionUpdate": "agent_message_chunk", "messageId": message, "content": content })),
                    );
                }
                AgentEvent::Tool { tool_call_id, name, input, output, status, .. } => {
                    let tool_call_id = session.call(&tool_call_id);
                    let first = !session.told.contains(&tool_call_id);
                    if first {
                        session.told.push(tool_call_id.clone());
                    }
                    let status = match status {
                        ToolStatus::Running => "pending",
                        ToolStatus::Complete => "completed",
                        ToolStatus::Error => "failed",
                    };
                    let mut update = json!({
                        "sessionUpdate": if first { "tool_call" } else { "tool_call_update" },
                        "toolCallId": tool_call_id, "name": name, "title": name, "kind": kind(&name), "status": status,
                        "rawInput": input.map(|input| value(input.as_str())),
                    });
                    if let Some(output) = output {
                        update["content"] = json!([{ "type": "content", "content": { "type": "text", "text": output } }]);
                    }
                    lines.push(session.update(update));
                }
                AgentEvent::AskOpened(ask) => self.ask(now, at, *ask, lines),
                AgentEvent::AskWithdrawn { native_id, .. } => {
                    let of = session.id;
                    let open = self.waiting.iter().position(|waiting| waiting.session == of && waiting.native == native_id);
                    if let Some(waiting) = open.map(|open| self.waiting.remove(open)) {
                        lines.push(json_rpc::notification("$/cancel_request", &json!({ "requestId": waiting.id })));
                    }
                }
                AgentEvent::TurnEnded => {
                    let reason = if session.cancelled { "cancelled" } else { "end_turn" };
                    session.cancelled = false;
                    session.told.clear();
                    if let Some(prompt) = session.prompts.pop_front() {
                        lines.push(json_rpc::result(&prompt, &json!({ "stopReason": reason })));
                    }
                }
                AgentEvent::Ended { failed: true, .. } => self.exit = Some(CRASHED),
                AgentEvent::Error(text) | AgentEvent::Notice(text) => {
                    lines.push(session.update(json!({ "sessionUpdate": "notice", "severity": "warning", "title": text })));
                }
                // The text was already streamed; the protocol has no message for the other events.
                AgentEvent::Message { .. }
                | AgentEvent::TurnStarted
                | AgentEvent::AskDelivery { .. }
                | AgentEvent::Granted { .. }
                | AgentEvent::Configured { .. }
                | AgentEvent::Ended { failed: false, .. } => {}
            }
        }
    }

    /// Sends an ask with the best method that the client supports.
    fn ask(&mut self, now: Time, at: usize, ask: NewAsk, lines: &mut Vec<String>) {
        let name = &self.sessions[at].name;
        let call = ask.tool_call_id.as_deref().map(|call| self.sessions[at].call(call));
        let (by, method, params) = match &ask.body {
            AskBody::Question { questions } if self.client.forms => {
                let (message, schema) = form(questions);
                let (name, call, message) = (json::line(name), json::line(&call), json::line(&message));
                let scope = format!(r#""mode":"form","sessionId":{name},"toolCallId":{call}"#);
                (By::Elicitation, "elicitation/create", format!(r#"{{{scope},"message":{message},"requestedSchema":{schema}}}"#))
            }
            AskBody::Question { questions } => match (questions.as_slice(), self.client.questions) {
                ([only], true) if !only.is_secret() && matches!(only.input, Takes::Choice { .. } | Takes::Text { .. }) => {
                    let options: Vec<_> = only.options().iter().map(|option| [&option.value, &option.label]).collect();
                    let params =
                        json!({ "sessionId": name, "questionId": ask.native_id, "prompt": only.text, "options": options });
                    (By::Question, "_sandboxagent/session/request_question", json::line(&params))
                }
                _ => return self.decide(now, at, &ask.native_id, rejected(CANNOT_ASK), lines),
            },
            AskBody::Approval(approval) => {
                let choices = approval
                    .choices
                    .iter()
                    .map(|choice| json!({ "optionId": choice.id, "name": choice.label, "kind": "allow_always" }));
                let allow = json!({ "optionId": ALLOW, "name": "Allow", "kind": "allow_once" });
                let reject = json!({ "optionId": REJECT, "name": "Reject", "kind": "reject_once" });
                let options: Vec<_> = std::iter::once(allow).chain(choices).chain([reject]).collect();
                let tool = json!({ "toolCallId": call, "name": approval.tool, "title": approval.title, "kind": kind(&approval.tool),
                    "status": "pending", "rawInput": value(approval.input.as_str()) });
                let params = json!({ "sessionId": name, "toolCall": tool, "options": options });
                (By::Permission, "session/request_permission", json::line(&params))
            }
            AskBody::Link(link) if self.client.links => {
                let params = json!({ "mode": "url", "sessionId": name, "elicitationId": ask.native_id, "url": link.url, "message": link.message });
                (By::Elicitation, "elicitation/create", json::line(&params))
            }
            AskBody::Link(_) => {
                let decision = Decision::Denied { message: CANNOT_LINK.to_owned(), stop: false };
                return self.decide(now, at, &ask.native_id, decision, lines);
            }
        };
        let id = self.next;
        self.next += 1;
        lines.push(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
        let session = self.sessions[at].id;
        self.waiting.push(Waiting { id, session, native: ask.native_id, body: ask.body, by });
    }

    /// Delivers a decision to the mock.
    fn decide(&mut self, now: Time, at: usize, native: &str, decision: Decision, lines: &mut Vec<String>) {
        let session = self.sessions[at].id;
        let ask = AskId::new(now, [0; 10]);
        let command = Command::Outcome { session, ask, native_id: native.to_owned(), decision, raw: None, by: DecidedBy::Person };
        self.command(now, at, command, lines);
    }

    /// Handles a response of the client. Responses to withdrawn asks are ignored.
    fn answered(&mut self, now: Time, id: &Id, outcome: Result<Option<&RawValue>, Fault>, lines: &mut Vec<String>) {
        let Some(at) = self.waiting.iter().position(|waiting| waiting.id.to_string() == id.as_str()) else { return };
        let waiting = self.waiting.remove(at);
        let Some(session) = self.sessions.iter().position(|session| session.id == waiting.session) else { return };
        let decision = match outcome {
            Ok(result) => waiting.decision(&result.and_then(Object::of).unwrap_or_default()),
            Err(fault) => waiting.reject(fault.message),
        };
        self.decide(now, session, &waiting.native, decision, lines);
    }
}

impl Client {
    fn of(params: &Object<'_>) -> Self {
        let capabilities = params.object("clientCapabilities").unwrap_or_default();
        let elicitation = capabilities.object("elicitation").unwrap_or_default();
        let meta = capabilities.object("_meta").unwrap_or_default();
        let places = [meta.object("sandboxagent"), meta.object("extensions"), capabilities.object("extensions")];
        Self {
            forms: elicitation.object("form").is_some(),
            links: elicitation.object("url").is_some(),
            questions: places.into_iter().flatten().any(|place| place.is_true("sessionRequestQuestion")),
        }
    }
}

impl Session {
    fn call(&self, id: &str) -> String {
        format!("{id}-{}", self.mark)
    }

    fn update(&self, update: serde_json::Value) -> String {
        json_rpc::notification("session/update", &json!({ "sessionId": self.name, "update": update }))
    }
}

fn kind(tool: &str) -> &'static str {
    match tool {
        "Bash" => "execute",
        "ExitPlanMode" => "switch_mode",
        _ => "other",
    }
}

fn value(json: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(json.to_owned()).ok()
}
