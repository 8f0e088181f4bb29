//! The conversation with one client, as a pure state machine over messages, events and calls.

use std::collections::{BTreeMap, VecDeque};

use sayso_agents::json::Object;
use sayso_agents::json_rpc::{self, Fault, Id, Message, Unreadable};
use sayso_api::ask::Ask;
use sayso_api::event::FeedEvent;
use sayso_api::session::{NewSession, Session};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::ask_methods::{self, Answer, AskMethod};
use super::call::{Refusal, Reply, SessionCall};
use super::client::{self, Client};
use super::session_state::{Activity, HeldRequest, SessionState};
use super::updates;

/// The maximum number of open sessions of one client.
const SESSIONS: usize = 64;
/// The maximum number of queued prompts of one session.
const PROMPTS: usize = 16;
/// How often an ask is presented again after an invalid response.
const TRIES: u8 = 3;

/// The JSON-RPC error code for an unknown session.
const NOT_FOUND: i32 = -32002;

/// Settings that are known before the client sends a message.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// The agent of sessions that do not name one.
    pub agent: Option<String>,
    /// The environment variables that agents get.
    pub environment: Option<BTreeMap<String, String>>,
}

/// An input of the conversation.
#[derive(Debug)]
pub enum Input<'a> {
    /// A message of the client. Some transports know which session it is about.
    Line { text: &'a str, session: Option<&'a str> },
    /// The result of the oldest call that is in flight.
    Done(Result<Reply, Refusal>),
    /// Something happened in a followed session.
    Heard { session: &'a str, what: Heard },
}

/// Something that happens in a followed session.
#[derive(Debug)]
pub enum Heard {
    Event(Box<FeedEvent>),
    /// Events are missing.
    Gap,
    /// The stream has ended for this reason.
    Over(String),
}

/// An output of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send this message to the client.
    Send(Frame),
    /// Execute this call; its result comes back as [`Input::Done`].
    Call(SessionCall),
    /// Follow this session from this position in the feed.
    Follow {
        session: String,
        /// The feed position.
        since: i64,
    },
}

/// One message to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The stream for the message, if the transport has several.
    pub to: To,
    /// The message.
    pub line: String,
}

/// A stream of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum To {
    /// The stream of the connection.
    Connection,
    /// The stream of a session.
    Session(String),
    /// The stream of a session if it exists, otherwise the stream of the connection.
    Known(String),
}

/// An ask that is, was or will be presented to the client.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) session: String,
    pub(super) ask: Box<Ask>,
    /// The methods of presenting it that were not tried yet.
    ways: VecDeque<AskMethod>,
    /// The number of invalid responses.
    tries: u8,
}

/// The reason for a call.
#[derive(Debug)]
pub(super) enum Purpose {
    Create(Id),
    New(Id),
    Load(Id),
    Replay { id: Id, session: Box<Session>, pending: Vec<Ask> },
    Resume(Id),
    List { id: Id, cwd: Option<String> },
    Prompt { id: Id, session: String },
    Interrupt,
    SetMode { id: Id, session: String },
    TakeUp(String),
    Whole(String),
    Decide(Pending),
    LookAgain(String),
}

/// The conversation with one client.
#[derive(Debug)]
pub struct Conversation {
    setting: Setting,
    /// `None` until the client has sent `initialize`.
    client: Option<Client>,
    pub(super) sessions: BTreeMap<String, SessionState>,
    pub(super) under_way: VecDeque<Purpose>,
    /// Our requests that the client has not answered, by id.
    open: BTreeMap<u64, (Pending, AskMethod)>,
    next: u64,
}

impl Conversation {
    /// Creates a conversation with a client that has not sent a message.
    #[must_use]
    pub fn new(setting: Setting) -> Self {
        Self { setting, client: None, sessions: BTreeMap::new(), under_way: VecDeque::new(), open: BTreeMap::new(), next: 1 }
    }

    /// Returns whether a message to an agent is in flight. Session events are processed only afterwards, so that it is clear
    /// which events precede the message.
    #[must_use]
    pub fn is_sending(&self) -> bool {
        self.under_way.iter().any(|purpose| matches!(purpose, Purpose::Prompt { .. }))
    }

    /// Returns the sessions in which a turn is running or about to run.
    #[must_use]
    pub fn running(&self) -> Vec<String> {
        let running = |(id, session_state): (&String, &SessionState)| {
            (session_state.activity == Activity::Running || !session_state.prompts.is_empty()).then(|| id.clone())
        };
        self.sessions.iter().filter_map(running).collect()
    }

    /// Processes one input and returns the outputs that follow.
    pub fn handle(&mut self, input: Input<'_>) -> Vec<Output> {
        let mut out = Vec::new();
        match input {
            Input::Line { text, session } => self.line(text, session, &mut out),
            Input::Done(outcome) => {
                if let Some(purpose) = self.under_way.pop_front() {
                    self.done(purpose, outcome, &mut out);
                }
            }
            Input::Heard { session, what: Heard::Event(event) } => self.event(session, *event, &mut out),
            Input::Heard { session, what: Heard::Gap } => {
                self.call(Purpose::LookAgain(session.to_owned()), SessionCall::Look { session: session.to_owned() }, &mut out);
            }
            Input::Heard { session, what: Heard::Over(reason) } => self.forget(session, &reason, &mut out),
        }
        out
    }

    fn line(&mut self, text: &str, session: Option<&str>, out: &mut Vec<Output>) {
        match json_rpc::read(text) {
            Ok(Message::Request { id, method, params }) => self.request(id, &method, params, session, out),
            Ok(Message::Notification { method, params }) => {
                let params = params.and_then(Object::of).unwrap_or_default();
                match method.as_str() {
                    "session/cancel" => {
                        if let Some(session) = params.text("sessionId").or_else(|| session.map(str::to_owned)) {
                            self.cancel(&session, out);
                        }
                    }
                    "$/cancel_request" => {
                        let request = params.get("requestId").and_then(Id::of);
                        if let Some(session) = request.and_then(|id| self.prompted_by(&id)) {
                            self.cancel(&session, out);
                        }
                    }
                    // Notifications need no reply.
                    _ => {}
                }
            }
            Ok(Message::Response { id, outcome }) => self.answered(&id, outcome, out),
            Err(unreadable) => out.push(Output::Send(Frame { to: To::Connection, line: no_message(&unreadable, text) })),
        }
    }

    fn request(&mut self, id: Id, method: &str, params: Option<&RawValue>, named: Option<&str>, out: &mut Vec<Output>) {
        let params = params.and_then(Object::of).unwrap_or_default();
        if method == "initialize" {
            self.client = Some(Client::of(&params));
            return reply(&id, To::Connection, &client::introduction(), out);
        }
        if self.client.is_none() {
            return self.fault(&id, json_rpc::INVALID_REQUEST, "send `initialize` first", out);
        }
        let session = || params.non_blank_text("sessionId").or_else(|| named.map(str::to_owned)).ok_or("`sessionId` is missing");
        let wrong = match method {
            "session/new" => self.new_session(&id, &params, out),
            "session/load" | "session/resume" => session().map_err(str::to_owned).and_then(|session| {
                if self.sessions.len() >= SESSIONS && !self.sessions.contains_key(&session) {
                    return Err(too_many_sessions());
                }
                let purpose = if method == "session/load" { Purpose::Load(id.clone()) } else { Purpose::Resume(id.clone()) };
                self.call(purpose, SessionCall::Look { session }, out);
                Ok(())
            }),
            "session/list" => {
                let purpose = Purpose::List { id: id.clone(), cwd: params.non_blank_text("cwd") };
                self.call(purpose, SessionCall::List { cursor: params.non_blank_text("cursor") }, out);
                Ok(())
            }
            "session/prompt" => session().map_err(str::to_owned).and_then(|session| {
                let text = client::prompt(&params)?;
                self.prompt(&id, &session, text, out);
                Ok(())
            }),
            "session/set_mode" => session().map_err(str::to_owned).and_then(|session| {
                let mode = params.non_blank_text("modeId").ok_or("`modeId` is missing")?;
                self.call(
                    Purpose::SetMode { id: id.clone(), session: session.clone() },
                    SessionCall::SetMode { session, mode },
                    out,
                );
                Ok(())
            }),
            _ => {
                let message = format!("there is no method `{}`", sayso_core::limits::head(method, 80));
                return self.fault(&id, json_rpc::METHOD_NOT_FOUND, &message, out);
            }
        };
        if let Err(wrong) = wrong {
            self.fault(&id, json_rpc::INVALID_PARAMS, &wrong, out);
        }
    }

    fn new_session(&mut self, id: &Id, params: &Object<'_>, out: &mut Vec<Output>) -> Result<(), String> {
        if self.sessions.len() >= SESSIONS {
            return Err(too_many_sessions());
        }
        let new = client::wanted_session(params, self.setting.agent.as_deref())?;
        let new = NewSession { environment: self.setting.environment.clone(), ..new };
        self.call(Purpose::Create(id.clone()), SessionCall::Create(Box::new(new)), out);
        Ok(())
    }

    fn prompt(&mut self, id: &Id, session: &str, text: String, out: &mut Vec<Output>) {
        let Some(session_state) = self.sessions.get_mut(session) else {
            let data = json!({ "sessionId": session });
            let line = json_rpc::error_with(
                id,
                NOT_FOUND,
                "no such session on this connection; create it with session/new or session/load",
                &data,
            );
            return out.push(Output::Send(Frame { to: To::Known(session.to_owned()), line }));
        };
        if session_state.prompts.len() + session_state.held.len() >= PROMPTS {
            return error(
                id,
                session,
                json_rpc::INVALID_REQUEST,
                "too many prompts are waiting; wait until some of them are finished",
                out,
            );
        }
        match session_state.activity {
            Activity::Over { resumable: false } => error(id, session, json_rpc::INVALID_REQUEST, "the session has ended", out),
            Activity::Over { resumable: true } => {
                // The session is starting, and accepts the prompt when it becomes idle.
                session_state.activity = Activity::Running;
                session_state.held.push(HeldRequest::Prompt(id.clone(), text));
                self.call(Purpose::TakeUp(session.to_owned()), SessionCall::Resume { session: session.to_owned() }, out);
            }
            Activity::Running if !session_state.held.is_empty() => session_state.held.push(HeldRequest::Prompt(id.clone(), text)),
            Activity::Running | Activity::Idle => self.send_prompt(id.clone(), session, text, out),
        }
    }

    pub(super) fn send_prompt(&mut self, id: Id, session: &str, text: String, out: &mut Vec<Output>) {
        let session = session.to_owned();
        self.call(Purpose::Prompt { id, session: session.clone() }, SessionCall::Message { session, text }, out);
    }

    /// Returns the session that this request of the client prompted.
    fn prompted_by(&self, id: &Id) -> Option<String> {
        let sending = self.under_way.iter().find_map(|purpose| match purpose {
            Purpose::Prompt { id: sending, session } if sending == id => Some(session.clone()),
            _ => None,
        });
        let has = |session_state: &SessionState| {
            let held = session_state.held.iter().any(|held| matches!(held, HeldRequest::Prompt(held, _) if held == id));
            held || session_state.prompts.iter().any(|prompt| prompt.id == *id)
        };
        sending.or_else(|| self.sessions.iter().find(|(_, session_state)| has(session_state)).map(|(session, _)| session.clone()))
    }

    fn cancel(&mut self, session: &str, out: &mut Vec<Output>) {
        let sending =
            self.under_way.iter().any(|purpose| matches!(purpose, Purpose::Prompt { session: to, .. } if to == session));
        let Some(session_state) = self.sessions.get_mut(session) else { return };
        session_state.cancelled = sending || !session_state.prompts.is_empty();
        let (cancelled, held) =
            std::mem::take(&mut session_state.held).into_iter().partition(|held| matches!(held, HeldRequest::Prompt(..)));
        session_state.held = held;
        for held in cancelled {
            if let HeldRequest::Prompt(id, _) = held {
                stopped(&id, session, "cancelled", out);
            }
        }
        if sending || session_state.activity == Activity::Running {
            self.call(Purpose::Interrupt, SessionCall::Interrupt { session: session.to_owned() }, out);
        }
    }

    /// Presents an ask to the client, unless it is already presented.
    pub(super) fn ask(&mut self, session: &str, ask: Ask, out: &mut Vec<Output>) {
        let known = self.open.values().any(|(pending, _)| pending.ask.id == ask.id);
        let deciding =
            self.under_way.iter().any(|purpose| matches!(purpose, Purpose::Decide(pending) if pending.ask.id == ask.id));
        if known || deciding || ask.outcome.is_some() {
            return;
        }
        if ask.truncated {
            return self.call(Purpose::Whole(session.to_owned()), SessionCall::Whole { ask: ask.id }, out);
        }
        let ways = ask_methods::ways(&ask, self.client.unwrap_or_default()).into();
        self.present(Pending { session: session.to_owned(), ask: Box::new(ask), ways, tries: 0 }, None, out);
    }

    /// Presents an ask with the next method. If there is none, tells the client where it can be answered.
    fn present(&mut self, mut pending: Pending, again: Option<&str>, out: &mut Vec<Output>) {
        let Some(way) = pending.ways.pop_front() else { return elsewhere(&pending, again, out) };
        let (method, params) = ask_methods::request(way, &pending.session, &pending.ask, again);
        let (id, to) = (self.next, To::Session(pending.session.clone()));
        self.next += 1;
        self.open.insert(id, (pending, way));
        out.push(Output::Send(Frame { to, line: json_rpc::request(id, method, &params) }));
    }

    /// Handles a response to one of our requests. Responses to unknown or closed requests are ignored.
    fn answered(&mut self, id: &Id, outcome: Result<Option<&RawValue>, Fault>, out: &mut Vec<Output>) {
        let Some((pending, way)) = id.as_str().parse().ok().and_then(|id: u64| self.open.remove(&id)) else { return };
        match outcome {
            Err(fault) if fault.code == i64::from(json_rpc::CANCELLED) => {}
            // The client does not support this method.
            Err(_) => self.present(pending, None, out),
            Ok(result) => {
                let result = result.and_then(Object::of).unwrap_or_default();
                match ask_methods::read(way, &pending.ask, &result) {
                    Answer::Left => {}
                    Answer::Unreadable => self.present(pending, None, out),
                    Answer::Decided(verdict) => {
                        let call = SessionCall::Decide { ask: pending.ask.id.clone(), verdict };
                        let pending = Pending { ways: [way].into(), ..pending };
                        self.call(Purpose::Decide(pending), call, out);
                    }
                }
            }
        }
    }

    /// Handles an answer that the server refused. The ask is unchanged.
    pub(super) fn refused(&mut self, mut pending: Pending, reason: &str, out: &mut Vec<Output>) {
        pending.tries += 1;
        if pending.tries >= TRIES {
            pending.ways.clear();
        }
        self.present(pending, Some(reason), out);
    }

    /// Cancels our requests about asks that were decided elsewhere.
    pub(super) fn cancel_requests(&mut self, is_over: impl Fn(&Pending) -> bool, out: &mut Vec<Output>) {
        let over: Vec<u64> = self.open.iter().filter(|(_, (pending, _))| is_over(pending)).map(|(id, _)| *id).collect();
        for id in over {
            let Some((pending, _)) = self.open.remove(&id) else { continue };
            let line = json_rpc::notification("$/cancel_request", &json!({ "requestId": id }));
            // Sent on the stream of the request, because on another stream it could overtake the request.
            out.push(Output::Send(Frame { to: To::Session(pending.session), line }));
        }
    }

    /// Handles a session that the client can no longer see.
    pub(super) fn forget(&mut self, session: &str, reason: &str, out: &mut Vec<Output>) {
        let Some(session_state) = self.sessions.remove(session) else { return };
        self.cancel_requests(|pending| pending.session == session, out);
        let held = session_state.held.into_iter().map(|held| match held {
            HeldRequest::New(id) | HeldRequest::Prompt(id, _) => id,
        });
        for id in session_state.prompts.into_iter().map(|prompt| prompt.id).chain(held) {
            error(&id, session, json_rpc::INTERNAL, reason, out);
        }
    }

    pub(super) fn call(&mut self, purpose: Purpose, call: SessionCall, out: &mut Vec<Output>) {
        self.under_way.push_back(purpose);
        out.push(Output::Call(call));
    }

    fn fault(&self, id: &Id, code: i32, message: &str, out: &mut Vec<Output>) {
        out.push(Output::Send(Frame { to: To::Connection, line: json_rpc::error(id, code, message) }));
    }
}

/// Builds the reply to a line that is not a valid message.
pub(crate) fn no_message(unreadable: &Unreadable, text: &str) -> String {
    let null = Id::null();
    let (id, code, message) = match unreadable {
        Unreadable::NotAMessage if text.trim_start().starts_with('[') => {
            (&null, json_rpc::INVALID_REQUEST, "batches are not supported: send one message at a time")
        }
        Unreadable::NotAMessage => (&null, json_rpc::PARSE_ERROR, "this is not a JSON-RPC message"),
        Unreadable::NoMethod(id) => (id, json_rpc::INVALID_REQUEST, "the request has no `method`"),
        Unreadable::BadId => (&null, json_rpc::INVALID_REQUEST, "an id must be a number or a short string"),
    };
    json_rpc::error(id, code, message)
}

fn too_many_sessions() -> String {
    format!("one client may have {SESSIONS} sessions open")
}

/// Tells the client that an ask is pending that it cannot present.
fn elsewhere(pending: &Pending, again: Option<&str>, out: &mut Vec<Output>) {
    let ask = &pending.ask;
    let subject = match (&ask.approval, &ask.link) {
        (Some(approval), _) => approval.title.clone(),
        (None, Some(link)) => link.url.clone(),
        (None, None) => ask.questions.iter().map(|question| question.text.as_str()).collect::<Vec<_>>().join("\n"),
    };
    let before = again.map(|again| format!("{again}\n\n")).unwrap_or_default();
    let text = format!(
        "\n\n{before}This ask is waiting for you and cannot be shown here. Answer it in your Sayso inbox:\n\n{subject}\n\n"
    );
    update(&pending.session, &updates::text_update("agent_message_chunk", &text), out);
}

/// Sends the client an update about a session.
pub(super) fn update(session: &str, update: &Value, out: &mut Vec<Output>) {
    let line = json_rpc::notification("session/update", &json!({ "sessionId": session, "update": update }));
    out.push(Output::Send(Frame { to: To::Session(session.to_owned()), line }));
}

pub(super) fn reply(id: &Id, to: To, result: &impl Serialize, out: &mut Vec<Output>) {
    out.push(Output::Send(Frame { to, line: json_rpc::result(id, result) }));
}

/// Replies that a turn has ended.
pub(super) fn stopped(id: &Id, session: &str, reason: &str, out: &mut Vec<Output>) {
    reply(id, To::Known(session.to_owned()), &json!({ "stopReason": reason }), out);
}

/// Replies to a request about a session with an error.
pub(super) fn error(id: &Id, session: &str, code: i32, message: &str, out: &mut Vec<Output>) {
    out.push(Output::Send(Frame { to: To::Known(session.to_owned()), line: json_rpc::error(id, code, message) }));
}

/// Replies to the client with the error of a call.
pub(super) fn refusal(id: &Id, to: To, refusal: &Refusal, out: &mut Vec<Output>) {
    use sayso_api::error::ErrorCode;
    let code = match refusal.code {
        Some(ErrorCode::SessionNotFound) => NOT_FOUND,
        Some(ErrorCode::Unauthorized | ErrorCode::Forbidden) => -32000,
        Some(ErrorCode::Internal | ErrorCode::StorageFull | ErrorCode::ShuttingDown) | None => json_rpc::INTERNAL,
        Some(_) => json_rpc::INVALID_PARAMS,
    };
    let line = match refusal.code {
        Some(named) => json_rpc::error_with(id, code, &refusal.message, &json!({ "code": named })),
        None => json_rpc::error(id, code, &refusal.message),
    };
    out.push(Output::Send(Frame { to, line }));
}
