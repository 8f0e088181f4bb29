//! The translator for a server that the user started.

use sayso_agents::opencode::AttachedOpenCode;
use sayso_agents::translator::{AgentEvent, HttpCall, HttpReply, Input, Method, Output, Standing, Translator};
use sayso_core::id::SessionId;
use sayso_core::time::Time;
use serde_json::{Value, json};

use super::{permission, question};
use crate::common::handle_restored;

struct Host {
    opencode: AttachedOpenCode,
    now: i64,
    found: Vec<String>,
}

/// The outputs for one input.
#[derive(Debug, Default)]
struct Led {
    calls: Vec<HttpCall>,
    events: Vec<AgentEvent>,
}

impl Led {
    fn call(&self, path: &str) -> &HttpCall {
        self.calls.iter().find(|call| call.path.starts_with(path)).unwrap_or_else(|| panic!("no {path} in {self:?}"))
    }

    fn changes(&self) -> usize {
        self.calls.iter().filter(|call| call.method == Method::Post).count()
    }

    fn asks(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, AgentEvent::AskOpened(_))).count()
    }
}

impl Host {
    fn new() -> Self {
        let opencode = AttachedOpenCode::new("http://127.0.0.1:4096".to_owned(), None);
        Self { opencode, now: 1_000, found: Vec::new() }
    }

    fn input(&mut self, input: Input) -> Led {
        let outputs = handle_restored(&mut self.opencode, AttachedOpenCode::restore, self.now, input);
        let mut led = Led::default();
        self.handle_outputs(outputs, &mut led);
        led
    }

    fn handle_outputs(&mut self, outputs: Vec<Output>, led: &mut Led) {
        for output in outputs {
            match output {
                Output::HttpCall(call) => led.calls.push(call),
                Output::Event { event, .. } => led.events.push(event),
                Output::Found(found) => {
                    self.found.push(found.native_id.clone());
                    let number = u8::try_from(self.found.len()).unwrap();
                    let session = SessionId::new(Time::from_millis(1), [number; 10]);
                    let outputs = self.opencode.adopt(Time::from_millis(self.now), session, &found);
                    self.handle_outputs(outputs, led);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn event(&mut self, kind: &str, properties: &Value) -> Led {
        let payload = json!({ "id": "evt_1", "type": kind, "properties": properties });
        self.input(Input::StreamEvent(json!({ "directory": "/project", "payload": payload }).to_string()))
    }

    fn reply(&mut self, call: &HttpCall, body: &Value) -> Led {
        self.input(Input::HttpReply(HttpReply { id: call.id, status: Some(200), body: body.to_string() }))
    }

    /// A session asks for the first time, and the next poll finds it.
    fn asks_first(&mut self, session: &str, request: &Value) -> Led {
        let led = self.event("question.asked", request);
        let found = json!({ "id": session, "directory": "/project", "title": "A title" });
        let led = self.reply(led.call(&format!("/session/{session}")), &found);
        let led = self.reply(led.call("/session/status"), &json!({ session: { "type": "busy" } }));
        self.reply(led.call("/question"), &json!([request]))
    }
}

#[test]
fn session_is_found_by_its_first_ask() {
    let mut host = Host::new();
    host.input(Input::StreamOpened);
    assert_eq!(host.asks_first("ses_1", &question("que_1", "ses_1")).asks(), 1);
    assert_eq!(host.asks_first("ses_2", &question("que_2", "ses_2")).asks(), 1);
    assert_eq!(host.found, ["ses_1", "ses_2"]);
    assert_eq!(host.event("question.asked", &question("que_1", "ses_1")).asks(), 0, "told again");
    assert_eq!(host.event("permission.asked", &permission("per_1", "ses_1")).asks(), 1);
}

#[test]
fn version_is_known_once_connected() {
    let mut host = Host::new();
    let opened = host.input(Input::StreamOpened);
    let early = host.event("session.idle", &json!({ "sessionID": "ses_1" }));
    host.reply(early.call("/session/status"), &json!({}));
    assert_eq!(host.opencode.attached().unwrap().standing, Standing::Connecting);
    let led = host.reply(opened.call("/global/health"), &json!({ "version": "1.2.3" }));
    host.reply(led.calls.iter().find(|call| call.path == "/session/status").unwrap(), &json!({}));
    let version = Some("1.2.3".to_owned());
    assert_eq!(host.opencode.attached().unwrap().standing, Standing::Connected { version });
}

#[test]
fn request_started_between_polls_is_not_rejected() {
    let mut host = Host::new();
    host.input(Input::StreamOpened);
    host.asks_first("ses_1", &question("que_1", "ses_1"));
    host.event("question.replied", &json!({ "sessionID": "ses_1", "requestID": "que_1", "answers": [["A"]] }));
    host.event("session.idle", &json!({ "sessionID": "ses_1" }));
    // The session became busy and asked between the two halves of a poll.
    let led = host.input(Input::StreamOpened);
    let calls: Vec<HttpCall> = led.calls.iter().filter(|call| call.path.starts_with("/session/status")).cloned().collect();
    for call in calls {
        let led = host.reply(&call, &json!({}));
        for call in led.calls.iter().filter(|call| call.path.starts_with("/question")) {
            let led = host.reply(call, &json!([question("que_2", "ses_1")]));
            assert_eq!((led.changes(), led.asks()), (0, 0), "{led:?}");
        }
    }
    assert_eq!(host.event("question.asked", &question("que_2", "ses_1")).asks(), 1);
}

#[test]
fn asks_are_withdrawn_when_the_server_is_gone_and_reopened_on_return() {
    let mut host = Host::new();
    host.input(Input::StreamOpened);
    host.asks_first("ses_1", &question("que_1", "ses_1"));
    host.input(Input::StreamClosed);
    let failed = || Input::HttpReply(HttpReply { id: HttpReply::EVENTS, status: None, body: "connection refused".to_owned() });
    assert_eq!(host.input(failed()).events, []);
    assert_eq!(host.input(failed()).events, []);
    let led = host.input(failed());
    assert!(matches!(&led.events[..], [AgentEvent::AskWithdrawn { .. }, AgentEvent::TurnEnded]), "{led:?}");
    assert_eq!((host.input(failed()).events, host.opencode.deadline()), (Vec::new(), None));
    let standing = host.opencode.attached().unwrap().standing;
    assert!(matches!(standing, Standing::Unreachable { why } if why.contains("connection refused")));
    host.input(Input::StreamOpened);
    assert_eq!(host.event("question.asked", &question("que_1", "ses_1")).asks(), 1);
}

#[test]
fn idle_session_is_dropped_at_the_limit() {
    let mut host = Host::new();
    host.input(Input::StreamOpened);
    for n in 0..70 {
        let session = format!("ses_{n}");
        let request = format!("que_{n}");
        assert_eq!(host.asks_first(&session, &question(&request, &session)).asks(), 1, "{n}");
        host.event("question.replied", &json!({ "sessionID": session, "requestID": request, "answers": [["A"]] }));
    }
    assert!(host.opencode.save().state.as_str().len() < 512 * 1024);
    assert_eq!(host.asks_first("ses_0", &question("que_x", "ses_0")).asks(), 1, "it is found again");
}

#[test]
fn invalid_server_data_does_no_harm() {
    let mut host = Host::new();
    host.input(Input::StreamOpened);
    let long = "x".repeat(100_000);
    for data in [
        String::new(),
        "[]".to_owned(),
        json!({ "directory": long, "payload": { "type": "question.asked", "properties": { "sessionID": long, "id": 1 } } })
            .to_string(),
        json!({ "payload": { "type": "question.asked", "properties": { "sessionID": "../../x", "id": "que_1" } } }).to_string(),
        json!({ "payload": { "type": "server.instance.disposed", "properties": {} } }).to_string(),
    ] {
        let led = host.input(Input::StreamEvent(data.clone()));
        assert_eq!((led.changes(), led.asks(), host.found.len()), (0, 0, 0), "{data}");
    }
    // A session that is its own parent has no root.
    let mut led = host.event("question.asked", &question("que_1", "ses_1"));
    for _ in 0..20 {
        let Some(call) = led.calls.iter().find(|call| call.path.starts_with("/session/ses_")).cloned() else { break };
        led = host.reply(&call, &json!({ "id": "ses_1", "parentID": "ses_2", "directory": "/project" }));
    }
    assert!(led.calls.is_empty() && host.found.is_empty(), "{led:?}");
    for id in [0, 1, 77, u64::MAX] {
        host.input(Input::HttpReply(HttpReply { id, status: Some(200), body: "<html>".to_owned() }));
    }
}
