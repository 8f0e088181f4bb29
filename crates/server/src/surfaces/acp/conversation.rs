//! One client: what it says, what it is told, and what that means for the sessions. Pure.

use std::collections::{BTreeMap, VecDeque};

use sayso_agents::json::Object;
use sayso_agents::json_rpc::{self, Fault, Id, Message, Unreadable};
use sayso_api::ask::Ask;
use sayso_api::event::FeedEvent;
use sayso_api::session::{NewSession, Session};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::asking::{self, Answer, Way};
use super::call::{Refusal, Reply, SessionCall};
use super::client::{self, Client};
use super::talk::{Doing, Held, Talk};
use super::telling;

/// Sessions that one client may have open.
const SESSIONS: usize = 64;
/// Prompts of one session that may wait.
const PROMPTS: usize = 16;
/// How often a client is asked again whose answer does not fit.
const TRIES: u8 = 3;

/// There is no such session.
const NOT_FOUND: i32 = -32002;

/// What is known before the client says anything.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// The agent of sessions that name none.
    pub agent: Option<String>,
    /// The variables that the agent gets from whoever started this.
    pub environment: Option<BTreeMap<String, String>>,
}

/// What happened.
#[derive(Debug)]
pub enum Input<'a> {
    /// The client said this; a transport may know which session it is about.
    Line {
        /// One message.
        text: &'a str,
        /// The session.
        session: Option<&'a str>,
    },
    /// The oldest call that is under way gave this.
    Done(Result<Reply, Refusal>),
    /// Something happened in a session that is followed.
    Heard {
        /// The session.
        session: &'a str,
        /// What.
        what: Heard,
    },
}

/// What whoever follows a session hears.
#[derive(Debug)]
pub enum Heard {
    /// An event.
    Event(Box<FeedEvent>),
    /// Events are missing.
    Gap,
    /// There will be no more; in these words.
    Over(String),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send this to the client.
    Send(Frame),
    /// Call; its outcome comes back as [`Input::Done`].
    Call(SessionCall),
    /// Tell what happens in this session after this place in the feed.
    Follow {
        /// The session.
        session: String,
        /// The place.
        since: i64,
    },
}

/// One message to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// On which stream, where there are several.
    pub to: To,
    /// The message.
    pub line: String,
}

/// The streams of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum To {
    /// That of the connection.
    Connection,
    /// That of a session.
    Session(String),
    /// That of a session if there is one, else that of the connection.
    Known(String),
}

/// An ask that the client is asked, was asked, or is to be asked.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) session: String,
    pub(super) ask: Box<Ask>,
    /// The ways that were not tried yet.
    ways: VecDeque<Way>,
    /// How often an answer did not fit.
    tries: u8,
}

/// Why a call is made.
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

/// One client.
#[derive(Debug)]
pub struct Conversation {
    setting: Setting,
    /// Absent until it has introduced itself.
    client: Option<Client>,
    pub(super) sessions: BTreeMap<String, Talk>,
    pub(super) under_way: VecDeque<Purpose>,
    /// Our requests that it has not answered, by their id.
    open: BTreeMap<u64, (Pending, Way)>,
    next: u64,
}

impl Conversation {
    /// A client that has said nothing yet.
    #[must_use]
    pub fn new(setting: Setting) -> Self {
        Self { setting, client: None, sessions: BTreeMap::new(), under_way: VecDeque::new(), open: BTreeMap::new(), next: 1 }
    }

    /// Whether a message is on its way. What the sessions tell is taken up afterwards, so that it is clear what came before
    /// the message and what after.
    #[must_use]
    pub fn is_sending(&self) -> bool {
        self.under_way.iter().any(|purpose| matches!(purpose, Purpose::Prompt { .. }))
    }

    /// The sessions in which a turn is under way, or soon will be.
    #[must_use]
    pub fn running(&self) -> Vec<String> {
        let running =
            |(id, talk): (&String, &Talk)| (talk.doing == Doing::Running || !talk.prompts.is_empty()).then(|| id.clone());
        self.sessions.iter().filter_map(running).collect()
    }

    /// What follows from what happened.
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
                    // What is said without waiting for an answer needs none.
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
            return self.fault(&id, json_rpc::INVALID_REQUEST, "say `initialize` first", out);
        }
        let session = || params.words("sessionId").or_else(|| named.map(str::to_owned)).ok_or("`sessionId` is missing");
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
                let purpose = Purpose::List { id: id.clone(), cwd: params.words("cwd") };
                self.call(purpose, SessionCall::List { cursor: params.words("cursor") }, out);
                Ok(())
            }
            "session/prompt" => session().map_err(str::to_owned).and_then(|session| {
                let text = client::prompt(&params)?;
                self.prompt(&id, &session, text, out);
                Ok(())
            }),
            "session/set_mode" => session().map_err(str::to_owned).and_then(|session| {
                let mode = params.words("modeId").ok_or("`modeId` is missing")?;
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
        let Some(talk) = self.sessions.get_mut(session) else {
            let data = json!({ "sessionId": session });
            let line =
                json_rpc::error_with(id, NOT_FOUND, "no such session here: make it with session/new or session/load", &data);
            return out.push(Output::Send(Frame { to: To::Known(session.to_owned()), line }));
        };
        if talk.prompts.len() + talk.held.len() >= PROMPTS {
            return error(id, session, json_rpc::INVALID_REQUEST, "too many prompts wait; let some of them end", out);
        }
        match talk.doing {
            Doing::Over { resumable: false } => error(id, session, json_rpc::INVALID_REQUEST, "the session is over", out),
            Doing::Over { resumable: true } => {
                // From here on it starts, and takes the prompt when it is idle.
                talk.doing = Doing::Running;
                talk.held.push(Held::Prompt(id.clone(), text));
                self.call(Purpose::TakeUp(session.to_owned()), SessionCall::Resume { session: session.to_owned() }, out);
            }
            Doing::Running if !talk.held.is_empty() => talk.held.push(Held::Prompt(id.clone(), text)),
            Doing::Running | Doing::Idle => self.say(id.clone(), session, text, out),
        }
    }

    pub(super) fn say(&mut self, id: Id, session: &str, text: String, out: &mut Vec<Output>) {
        let session = session.to_owned();
        self.call(Purpose::Prompt { id, session: session.clone() }, SessionCall::Message { session, text }, out);
    }

    /// The session that this request of the client prompted.
    fn prompted_by(&self, id: &Id) -> Option<String> {
        let sending = self.under_way.iter().find_map(|purpose| match purpose {
            Purpose::Prompt { id: sending, session } if sending == id => Some(session.clone()),
            _ => None,
        });
        let has = |talk: &Talk| {
            let held = talk.held.iter().any(|held| matches!(held, Held::Prompt(held, _) if held == id));
            held || talk.prompts.iter().any(|prompt| prompt.id == *id)
        };
        sending.or_else(|| self.sessions.iter().find(|(_, talk)| has(talk)).map(|(session, _)| session.clone()))
    }

    fn cancel(&mut self, session: &str, out: &mut Vec<Output>) {
        let sending =
            self.under_way.iter().any(|purpose| matches!(purpose, Purpose::Prompt { session: to, .. } if to == session));
        let Some(talk) = self.sessions.get_mut(session) else { return };
        talk.cancelled = sending || !talk.prompts.is_empty();
        let (cancelled, held) = std::mem::take(&mut talk.held).into_iter().partition(|held| matches!(held, Held::Prompt(..)));
        talk.held = held;
        for held in cancelled {
            if let Held::Prompt(id, _) = held {
                stopped(&id, session, "cancelled", out);
            }
        }
        if sending || talk.doing == Doing::Running {
            self.call(Purpose::Interrupt, SessionCall::Interrupt { session: session.to_owned() }, out);
        }
    }

    /// Puts an ask to the client, if it is not asked already.
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
        let ways = asking::ways(&ask, self.client.unwrap_or_default()).into();
        self.put(Pending { session: session.to_owned(), ask: Box::new(ask), ways, tries: 0 }, None, out);
    }

    /// Asks in the next way; if there is none, says where it can be answered.
    fn put(&mut self, mut pending: Pending, again: Option<&str>, out: &mut Vec<Output>) {
        let Some(way) = pending.ways.pop_front() else { return elsewhere(&pending, again, out) };
        let (method, params) = asking::request(way, &pending.session, &pending.ask, again);
        let (id, to) = (self.next, To::Session(pending.session.clone()));
        self.next += 1;
        self.open.insert(id, (pending, way));
        out.push(Output::Send(Frame { to, line: json_rpc::request(id, method, &params) }));
    }

    /// The client answered a request of ours. What was never asked, or is no longer open, is ignored.
    fn answered(&mut self, id: &Id, outcome: Result<Option<&RawValue>, Fault>, out: &mut Vec<Output>) {
        let Some((pending, way)) = id.as_str().parse().ok().and_then(|id: u64| self.open.remove(&id)) else { return };
        match outcome {
            Err(fault) if fault.code == i64::from(json_rpc::CANCELLED) => {}
            // It cannot be asked like this.
            Err(_) => self.put(pending, None, out),
            Ok(result) => {
                let result = result.and_then(Object::of).unwrap_or_default();
                match asking::read(way, &pending.ask, &result) {
                    Answer::Left => {}
                    Answer::Unreadable => self.put(pending, None, out),
                    Answer::Decided(verdict) => {
                        let call = SessionCall::Decide { ask: pending.ask.id.clone(), verdict };
                        let pending = Pending { ways: [way].into(), ..pending };
                        self.call(Purpose::Decide(pending), call, out);
                    }
                }
            }
        }
    }

    /// An answer was not taken, and the ask is as it was.
    pub(super) fn refused(&mut self, mut pending: Pending, reason: &str, out: &mut Vec<Output>) {
        pending.tries += 1;
        if pending.tries >= TRIES {
            pending.ways.clear();
        }
        self.put(pending, Some(reason), out);
    }

    /// Takes back what is asked, because somebody else decided it.
    pub(super) fn take_back(&mut self, is_over: impl Fn(&Pending) -> bool, out: &mut Vec<Output>) {
        let over: Vec<u64> = self.open.iter().filter(|(_, (pending, _))| is_over(pending)).map(|(id, _)| *id).collect();
        for id in over {
            let Some((pending, _)) = self.open.remove(&id) else { continue };
            let line = json_rpc::notification("$/cancel_request", &json!({ "requestId": id }));
            // On the stream of the request: on another one it could overtake it.
            out.push(Output::Send(Frame { to: To::Session(pending.session), line }));
        }
    }

    /// The session cannot be seen any more.
    pub(super) fn forget(&mut self, session: &str, reason: &str, out: &mut Vec<Output>) {
        let Some(talk) = self.sessions.remove(session) else { return };
        self.take_back(|pending| pending.session == session, out);
        let held = talk.held.into_iter().map(|held| match held {
            Held::New(id) | Held::Prompt(id, _) => id,
        });
        for id in talk.prompts.into_iter().map(|prompt| prompt.id).chain(held) {
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

/// What is answered to a line that is no message.
pub(crate) fn no_message(unreadable: &Unreadable, text: &str) -> String {
    let null = Id::null();
    let (id, code, message) = match unreadable {
        Unreadable::NotAMessage if text.trim_start().starts_with('[') => {
            (&null, json_rpc::INVALID_REQUEST, "batches are not supported: send one message at a time")
        }
        Unreadable::NotAMessage => (&null, json_rpc::PARSE_ERROR, "this is no JSON-RPC message"),
        Unreadable::NoMethod(id) => (id, json_rpc::INVALID_REQUEST, "the request has no `method`"),
        Unreadable::BadId => (&null, json_rpc::INVALID_REQUEST, "an id is a number or a short text"),
    };
    json_rpc::error(id, code, message)
}

fn too_many_sessions() -> String {
    format!("one client may have {SESSIONS} sessions open")
}

/// Says that an ask waits which this client cannot be asked.
fn elsewhere(pending: &Pending, again: Option<&str>, out: &mut Vec<Output>) {
    let ask = &pending.ask;
    let subject = match (&ask.approval, &ask.link) {
        (Some(approval), _) => approval.title.clone(),
        (None, Some(link)) => link.url.clone(),
        (None, None) => ask.questions.iter().map(|question| question.text.as_str()).collect::<Vec<_>>().join("\n"),
    };
    let before = again.map(|again| format!("{again}\n\n")).unwrap_or_default();
    let text =
        format!("\n\n{before}This waits for you and cannot be asked here. Answer it in your Sayso inbox:\n\n{subject}\n\n");
    update(&pending.session, &telling::said("agent_message_chunk", &text), out);
}

/// Tells the client what happened in a session.
pub(super) fn update(session: &str, update: &Value, out: &mut Vec<Output>) {
    let line = json_rpc::notification("session/update", &json!({ "sessionId": session, "update": update }));
    out.push(Output::Send(Frame { to: To::Session(session.to_owned()), line }));
}

pub(super) fn reply(id: &Id, to: To, result: &impl Serialize, out: &mut Vec<Output>) {
    out.push(Output::Send(Frame { to, line: json_rpc::result(id, result) }));
}

/// A turn is over.
pub(super) fn stopped(id: &Id, session: &str, reason: &str, out: &mut Vec<Output>) {
    reply(id, To::Known(session.to_owned()), &json!({ "stopReason": reason }), out);
}

/// A request about a session came to nothing.
pub(super) fn error(id: &Id, session: &str, code: i32, message: &str, out: &mut Vec<Output>) {
    out.push(Output::Send(Frame { to: To::Known(session.to_owned()), line: json_rpc::error(id, code, message) }));
}

/// The refusal of a call, for the client.
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
