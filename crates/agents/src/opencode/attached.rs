//! An OpenCode server that the user started: one server with all its sessions, and other clients connected at the same
//! time.
//!
//! The translator starts and stops nothing. When a session first asks something, its root session is looked up (the
//! asking session may be a sub-agent) and becomes a session in Sayso, handled by an [`OpenCodeTranslator`] like one
//! that Sayso started: a request that arrives as an event, in a list and after a reconnect is one ask, decisions of
//! other clients withdraw the ask, and approvals are only sent while the session is busy.
//!
//! The upper half of a call number is the session that made the call, and 0 is the server itself.

use std::time::Duration;

use sayso_core::id::SessionId;
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};

use super::calls::encoded;
use super::launch::USER;
use super::replies::describe_failure;
use super::state::{Conversation, OpenCodeLife, OpenCodeProcess, OpenCodeState, is_id};
use super::translator::{CAPABILITIES, OpenCodeTranslator};
use crate::attached::{FollowedSession, GONE, SLOT, TITLE, evict_idle, find, is_directory, withdraw_all_sessions};
use crate::json::{Object, list};
use crate::out::Out;
use crate::process::memory::ID;
use crate::text::one_line;
use crate::translator::{
    AttachedAgent, Capabilities, Command, FoundSession, HttpCall, HttpReply, HttpServer, Input, Login, Method, Output, Saved,
    Standing, Translator,
};

/// Capabilities of an OpenCode that the user started. It cannot be resumed, because the user continues it in the
/// terminal.
pub const ATTACHED: Capabilities = Capabilities { resume: false, ..CAPABILITIES };

/// Version of the saved state's format.
const VERSION: u32 = 1;
/// How often all pending requests are polled without an event.
const EVERY: Duration = Duration::from_secs(15);
/// Maximum number of polled directories, and of the hub's own calls without a reply.
const DIRECTORIES: usize = 32;
const CALLS: usize = 128;
/// How many parents are followed from a sub-agent to its root session.
const DEPTH: u8 = 8;

/// Translator for one OpenCode server and all its sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct AttachedOpenCode {
    hub: Hub,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hub {
    url: String,
    user: Option<String>,
    standing: Standing,
    version: Option<String>,
    /// Consecutive failures to open the stream.
    failures: u8,
    /// The numbers of the last call and the last session.
    called: u64,
    slots: u64,
    calls: Vec<HubCall>,
    /// Directories with activity, in addition to the server's own.
    directories: Vec<String>,
    look_at: Option<Time>,
    carried: Vec<FollowedRoot>,
}

/// A call without a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HubCall {
    id: u64,
    what: HubCallPurpose,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum HubCallPurpose {
    /// Requests the server's health and version.
    Health,
    /// Requests the busy sessions of a directory; `None` is the directory of the server.
    Status { directory: Option<String> },
    /// Requests the pending asks; `busy` are the sessions that work.
    List { busy: Vec<String> },
    /// Requests a session, because `asks` has a pending request.
    Session { asks: String, at: String, depth: u8 },
}

/// One session of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FollowedRoot {
    slot: u64,
    opencode: OpenCodeTranslator,
}

impl FollowedRoot {
    fn process(&self) -> Option<&OpenCodeProcess> {
        match &self.opencode.state.life {
            OpenCodeLife::Up(process) => Some(process),
            OpenCodeLife::Down | OpenCodeLife::Closing { .. } => None,
        }
    }

    fn root(&self) -> Option<&str> {
        self.opencode.state.conversation.as_ref().map(|conversation| conversation.id.as_str())
    }

    /// Whether an OpenCode session is this session or one of its sub-agents.
    fn carries(&self, session: &str) -> bool {
        self.process().is_some_and(|process| process.carries(session, self.root()))
    }

    /// Forwards one input; resulting calls get the session's slot.
    fn handle(&mut self, now: Time, input: Input, all: &mut Vec<Output>) {
        let outputs = self.opencode.handle(now, input);
        self.pass_on(outputs, all);
    }

    /// Polls the pending requests of the session.
    fn poll(&mut self, now: Time, all: &mut Vec<Output>) {
        self.handle(now, Input::StreamOpened, all);
    }
}

impl FollowedSession for FollowedRoot {
    const AGENT: &'static str = "OpenCode";

    fn session(&self) -> Option<SessionId> {
        self.opencode.state.session
    }

    fn is_idle(&self) -> bool {
        self.process().is_none_or(|process| process.open.is_empty() && process.sent.is_empty())
    }

    fn lose(&mut self, reason: &str, out: &mut Out) {
        if let OpenCodeLife::Up(process) = &mut self.opencode.state.life {
            process.lost(reason, out);
        }
    }

    fn pass_on(&self, outputs: Vec<Output>, all: &mut Vec<Output>) {
        all.extend(outputs.into_iter().map(|output| match output {
            Output::HttpCall(call) => Output::HttpCall(HttpCall { id: call.id | (self.slot << SLOT), ..call }),
            other => other,
        }));
    }
}

impl AttachedOpenCode {
    /// Creates a translator for the server at `url`, with the user name for basic authentication if it needs one.
    #[must_use]
    pub fn new(url: String, user: Option<String>) -> Self {
        let hub = Hub {
            url,
            user,
            standing: Standing::Connecting,
            version: None,
            failures: 0,
            called: 0,
            slots: 0,
            calls: Vec::new(),
            directories: Vec::new(),
            look_at: None,
            carried: Vec::new(),
        };
        Self { hub }
    }

    /// OpenCode's default user name.
    pub const USER: &str = USER;

    /// Restores a saved translator; `None` if the state has another format version.
    #[must_use]
    pub fn restore(saved: &Saved) -> Option<Self> {
        saved.read(VERSION).map(|hub| Self { hub })
    }
}

impl Hub {
    fn get(&mut self, what: HubCallPurpose, path: String, all: &mut Vec<Output>) {
        self.called += 1;
        // A read-only call may be dropped without a reply.
        if self.calls.len() >= CALLS {
            self.calls.remove(0);
        }
        self.calls.push(HubCall { id: self.called, what });
        all.push(Output::HttpCall(HttpCall {
            id: self.called,
            method: Method::Get,
            path,
            body: None,
            guard: None,
            streamed: false,
        }));
    }

    fn opened(&mut self, now: Time, all: &mut Vec<Output>) {
        self.failures = 0;
        self.calls.clear();
        self.get(HubCallPurpose::Health, "/global/health".to_owned(), all);
        for carried in &mut self.carried {
            carried.poll(now, all);
        }
    }

    /// Polls all pending requests, including those of sessions that are not followed yet.
    fn poll(&mut self, now: Time, all: &mut Vec<Output>) {
        self.look_at = Some(now.plus(EVERY));
        let places = std::iter::once(None).chain(self.directories.clone().into_iter().map(Some));
        for directory in places.collect::<Vec<_>>() {
            self.poll_directory(directory, all);
        }
    }

    fn poll_directory(&mut self, directory: Option<String>, all: &mut Vec<Output>) {
        let path = in_directory("/session/status", directory.as_deref());
        self.get(HubCallPurpose::Status { directory }, path, all);
    }

    fn event(&mut self, now: Time, data: String, all: &mut Vec<Output>) {
        let Some(frame) = Object::parse(&data) else { return };
        let directory = frame.text("directory");
        let event = frame.object("payload").unwrap_or(frame);
        let (Some(kind), Some(fields)) = (event.text("type"), event.object("properties")) else { return };
        if let Some(directory) = directory.filter(|directory| is_directory(directory))
            && !self.directories.contains(&directory)
        {
            if self.directories.len() >= DIRECTORIES {
                self.directories.remove(0);
            }
            self.directories.push(directory.clone());
            self.poll_directory(Some(directory), all);
        }
        if kind == "server.instance.disposed" {
            self.carried.iter_mut().for_each(|carried| carried.handle(now, Input::StreamEvent(data.clone()), all));
            return;
        }
        let Some(session) = fields.text("sessionID").filter(|id| is_id(id)) else { return };
        let parent = fields.object("info").and_then(|info| info.text("parentID"));
        let carried = self
            .carried
            .iter_mut()
            .find(|carried| carried.carries(&session) || parent.as_ref().is_some_and(|parent| carried.carries(parent)));
        match carried {
            Some(carried) => carried.handle(now, Input::StreamEvent(data), all),
            None if kind == "question.asked" || kind == "permission.asked" => {
                self.look_up_session(session.clone(), session, 0, all)
            }
            None => {}
        }
    }

    /// Requests the session that has a pending request.
    fn look_up_session(&mut self, asks: String, at: String, depth: u8, all: &mut Vec<Output>) {
        let known = |call: &HubCall| matches!(&call.what, HubCallPurpose::Session { asks: other, .. } if *other == asks);
        if depth > DEPTH || !is_id(&asks) || !is_id(&at) || self.calls.iter().any(known) {
            return;
        }
        let path = format!("/session/{at}");
        self.get(HubCallPurpose::Session { asks, at, depth }, path, all);
    }

    fn replied(&mut self, now: Time, reply: &HttpReply, all: &mut Vec<Output>) {
        let Some(at) = self.calls.iter().position(|call| call.id == reply.id) else { return };
        match self.calls.remove(at).what {
            HubCallPurpose::Health => {
                let health = reply.object();
                self.version = health.and_then(|health| health.non_blank_text("version")).map(|version| one_line(&version, ID));
                self.poll(now, all);
            }
            HubCallPurpose::Status { directory } => match reply.object() {
                Some(sessions) => {
                    // The pending requests of the server's own directory are requested after the version is known.
                    if directory.is_none() {
                        self.standing = Standing::Connected { version: self.version.clone() };
                    }
                    let busy: Vec<String> = sessions.fields().map(|(id, _)| id.to_owned()).filter(|id| is_id(id)).collect();
                    if !busy.is_empty() {
                        for place in ["/question", "/permission"] {
                            let path = in_directory(place, directory.as_deref());
                            self.get(HubCallPurpose::List { busy: busy.clone() }, path, all);
                        }
                    }
                }
                // A missing directory is not a problem of the server.
                None if directory.is_none() && reply.status.is_some() => self.report_not_opencode(reply),
                None => {}
            },
            HubCallPurpose::List { busy } => self.listed(now, &busy, reply, all),
            HubCallPurpose::Session { asks, depth, .. } => self.session_found_for(now, asks, depth, reply, all),
        }
    }

    fn report_not_opencode(&mut self, reply: &HttpReply) {
        let why = match reply.status {
            Some(401) => format!("OpenCode at {} rejected the password (status 401)", self.url),
            _ => format!("the server at {} is not OpenCode, or it is broken: {}", self.url, describe_failure(reply)),
        };
        self.standing = Standing::Unreachable { why };
    }

    /// Handles the list of pending requests. Requests of idle sessions are stale and ignored.
    fn listed(&mut self, now: Time, busy: &[String], reply: &HttpReply, all: &mut Vec<Output>) {
        let Some(entries) = reply.json().filter(|_| reply.status == Some(200)).and_then(list) else { return };
        let requests = entries.into_iter().filter_map(Object::of);
        let told = requests.filter_map(|request| Some((request.text("id")?, request.text("sessionID")?)));
        for (id, session) in told.filter(|(_, session)| busy.contains(session)).collect::<Vec<_>>() {
            match self.carried.iter_mut().find(|carried| carried.carries(&session)) {
                Some(carried) if carried.process().is_some_and(|process| !process.is_known_request(&id)) => {
                    carried.poll(now, all)
                }
                Some(_) => {}
                None => self.look_up_session(session.clone(), session, 0, all),
            }
        }
    }

    /// Handles a session lookup: a root session is followed, and for others the parent is looked up.
    fn session_found_for(&mut self, now: Time, asks: String, depth: u8, reply: &HttpReply, all: &mut Vec<Output>) {
        let Some(session) = reply.object() else { return };
        let Some(id) = session.text("id").filter(|id| is_id(id)) else { return };
        let title = one_line(&session.non_blank_text("title").unwrap_or_default(), TITLE);
        let parent = session.text("parentID").filter(|id| is_id(id));
        let above = parent.as_deref().unwrap_or(&id);
        if let Some(carried) = self.carried.iter_mut().find(|carried| carried.carries(above)) {
            if let (Some(_), OpenCodeLife::Up(process)) = (&parent, &mut carried.opencode.state.life) {
                process.helpers.set(&id, &title);
            }
            return if carried.carries(&asks) {
                carried.poll(now, all)
            } else {
                self.look_up_session(asks.clone(), asks, 0, all)
            };
        }
        match parent {
            Some(parent) => self.look_up_session(asks, parent, depth + 1, all),
            None => {
                let Some(project) = session.non_blank_text("directory").filter(|path| is_directory(path)) else { return };
                all.push(Output::Found(FoundSession { native_id: id, project, title }));
            }
        }
    }

    fn adopt(&mut self, now: Time, session: SessionId, found: &FoundSession, all: &mut Vec<Output>) {
        evict_idle(&mut self.carried, all);
        self.slots += 1;
        let process =
            OpenCodeProcess { heard: true, ready: true, shared: true, url: Some(self.url.clone()), ..OpenCodeProcess::default() };
        let conversation = Conversation { id: found.native_id.clone(), directory: found.project.clone() };
        let state = OpenCodeState {
            session: Some(session),
            conversation: Some(conversation),
            life: OpenCodeLife::Up(Box::new(process)),
            ..OpenCodeState::default()
        };
        let mut carried = FollowedRoot { slot: self.slots, opencode: OpenCodeTranslator { state } };
        carried.poll(now, all);
        self.carried.push(carried);
        // Requests of sub-agents are found by polling again.
        self.poll_directory(Some(found.project.clone()), all);
    }

    /// Handles a failure to open the event stream.
    fn not_opened(&mut self, reply: &HttpReply, all: &mut Vec<Output>) {
        if reply.status.is_some() {
            self.report_not_opencode(reply);
        } else {
            let why = format!("OpenCode does not answer at {}: {}", self.url, describe_failure(reply));
            self.standing = Standing::Unreachable { why };
        }
        self.failures = self.failures.saturating_add(1);
        if self.failures == GONE {
            withdraw_all_sessions(&mut self.carried, &self.url, all);
        }
    }

    fn command(&mut self, now: Time, command: Command, all: &mut Vec<Output>) {
        if let Some(carried) = find(&mut self.carried, &command, all) {
            carried.handle(now, Input::Command(command), all);
        }
    }

    fn tick(&mut self, now: Time, all: &mut Vec<Output>) {
        if self.failures > 0 {
            return;
        }
        for carried in self.carried.iter_mut().filter(|carried| carried.opencode.deadline().is_some_and(|at| at <= now)) {
            carried.handle(now, Input::Tick, all);
        }
        if self.look_at.is_some_and(|at| at <= now) {
            self.poll(now, all);
        }
    }
}

impl Translator for AttachedOpenCode {
    fn handle(&mut self, now: Time, input: Input) -> Vec<Output> {
        let (hub, mut all) = (&mut self.hub, Vec::new());
        match input {
            Input::Command(command) => hub.command(now, command, &mut all),
            Input::StreamOpened => hub.opened(now, &mut all),
            Input::StreamEvent(data) => hub.event(now, data, &mut all),
            Input::HttpReply(reply) if reply.id == HttpReply::EVENTS => hub.not_opened(&reply, &mut all),
            Input::HttpReply(reply) => match reply.id >> SLOT {
                0 => hub.replied(now, &reply, &mut all),
                slot => {
                    let reply = HttpReply { id: reply.id & u64::from(u32::MAX), ..reply };
                    if let Some(carried) = hub.carried.iter_mut().find(|carried| carried.slot == slot) {
                        carried.handle(now, Input::HttpReply(reply), &mut all);
                    }
                }
            },
            Input::Tick => hub.tick(now, &mut all),
            // The caller reopens the stream and everything is polled then. Sayso has no process here.
            Input::StreamClosed | Input::Line(_) | Input::Exited(_) => {}
        }
        all
    }

    fn deadline(&self) -> Option<Time> {
        let carried = self.hub.carried.iter().filter_map(|carried| carried.opencode.deadline());
        self.hub.look_at.into_iter().chain(carried).min().filter(|_| self.hub.failures == 0)
    }

    fn save(&self) -> Saved {
        Saved::of(VERSION, &self.hub)
    }

    fn server(&self) -> Option<HttpServer> {
        let login = self.hub.user.clone().map_or(Login::Open, Login::Basic);
        Some(HttpServer { url: self.hub.url.clone(), login, events: Some("/global/event".to_owned()) })
    }

    fn adopt(&mut self, now: Time, session: SessionId, found: &FoundSession) -> Vec<Output> {
        let mut all = Vec::new();
        self.hub.adopt(now, session, found, &mut all);
        all
    }

    fn attached(&self) -> Option<AttachedAgent> {
        Some(AttachedAgent { place: self.hub.url.clone(), standing: self.hub.standing.clone() })
    }
}

fn in_directory(path: &str, directory: Option<&str>) -> String {
    match directory {
        Some(directory) => format!("{path}?directory={}", encoded(directory)),
        None => path.to_owned(),
    }
}
