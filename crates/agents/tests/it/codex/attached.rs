//! The translator for the daemon that the user's terminals share.

use sayso_agents::codex::AttachedCodex;
use sayso_agents::translator::{
    AgentEvent, Command, DecidedBy, FoundSession, HttpReply, Input, Method, Output, Standing, Translator,
};
use sayso_core::ask::{Decision, Delivery};
use sayso_core::id::{AskId, SessionId};
use sayso_core::time::Time;
use serde_json::{Value, json};

use crate::common::handle_restored;

struct Host {
    codex: AttachedCodex,
    now: i64,
    sessions: u8,
}

/// The outputs for one input.
#[derive(Debug, Default)]
struct Led {
    /// The written messages, and whether each is stored until it is sent.
    written: Vec<(Method, u64, Value)>,
    events: Vec<AgentEvent>,
    undeliverable: usize,
}

impl Led {
    fn methods(&self) -> Vec<String> {
        self.written.iter().map(|(_, _, line)| line["method"].as_str().unwrap_or("answer").to_owned()).collect()
    }

    fn withdrawn(&self) -> Vec<String> {
        let reason = |event: &'_ AgentEvent| match event {
            AgentEvent::AskWithdrawn { reason, .. } => Some(reason.clone()),
            _ => None,
        };
        self.events.iter().filter_map(reason).collect()
    }

    fn asks(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, AgentEvent::AskOpened(_))).count()
    }
}

impl Host {
    /// A translator that is subscribed to a thread.
    fn listening() -> Self {
        let mut host = Self { codex: AttachedCodex::new("/run/codex.sock".to_owned()), now: 1_000, sessions: 0 };
        host.open();
        host
    }

    fn open(&mut self) {
        let led = self.input(Input::StreamOpened);
        assert_eq!(led.methods(), ["initialize"]);
        let led = self.answer(&led, json!({ "userAgent": "codex-tui/0.166.0 (x)" }));
        assert_eq!(led.methods(), ["initialized", "thread/loaded/list"]);
        let list = Led { written: led.written.into_iter().skip(1).collect(), ..Led::default() };
        let led = self.answer(&list, json!({ "data": ["t-1", "helper"] }));
        assert_eq!(led.methods(), ["thread/resume", "thread/resume"]);
        let thread = json!({ "thread": { "id": "t-1", "preview": "Make a file" }, "cwd": "/project", "model": "gpt-5.5" });
        self.answer(&led, thread);
    }

    fn input(&mut self, input: Input) -> Led {
        let outputs = handle_restored(&mut self.codex, AttachedCodex::restore, self.now, input);
        let mut led = Led::default();
        self.handle_outputs(outputs, &mut led);
        led
    }

    fn handle_outputs(&mut self, outputs: Vec<Output>, led: &mut Led) {
        for output in outputs {
            match output {
                Output::HttpCall(call) => {
                    let lines: Vec<String> = serde_json::from_str(call.body.unwrap().as_str()).unwrap();
                    led.written.extend(lines.iter().map(|line| (call.method, call.id, serde_json::from_str(line).unwrap())));
                }
                Output::Event { event, .. } => led.events.push(event),
                Output::Undeliverable { .. } => led.undeliverable += 1,
                Output::Found(found) => {
                    assert_eq!(
                        found,
                        FoundSession { native_id: "t-1".into(), project: "/project".into(), title: "Make a file".into() }
                    );
                    self.sessions += 1;
                    let outputs = self.codex.adopt(Time::from_millis(self.now), session(), &found);
                    self.handle_outputs(outputs, led);
                }
                other @ (Output::Launch(_) | Output::Lines(_) | Output::Stop) => panic!("{other:?}"),
            }
        }
    }

    fn message(&mut self, message: &Value) -> Led {
        self.input(Input::StreamEvent(message.to_string()))
    }

    /// Responds to the first written request.
    fn answer(&mut self, led: &Led, result: Value) -> Led {
        let id = led.written[0].2["id"].clone();
        self.message(&json!({ "id": id, "result": result }))
    }

    fn decide(&mut self, native_id: &str, raw: &Value) -> Led {
        let raw = Some(sayso_core::raw::Raw::of(raw));
        let decision = Decision::Approved { choice: None, input: None };
        let (ask, native_id) = (ask(), native_id.to_owned());
        self.input(Input::Command(Command::Outcome { session: session(), ask, native_id, decision, raw, by: DecidedBy::Person }))
    }
}

fn session() -> SessionId {
    SessionId::new(Time::from_millis(1), [1; 10])
}

fn ask() -> AskId {
    AskId::new(Time::from_millis(1), [2; 10])
}

fn command(id: u64, command: &str) -> Value {
    json!({ "id": id, "method": "item/commandExecution/requestApproval", "params": { "threadId": "t-1", "turnId": "turn-1",
        "itemId": "call_1", "command": command, "cwd": "/project", "availableDecisions": ["accept", "cancel"] } })
}

#[test]
fn repeated_request_is_one_ask_and_reused_id_is_another() {
    let mut host = Host::listening();
    assert!(
        matches!(host.codex.attached().unwrap().standing, Standing::Connected { version: Some(version) } if version == "0.166.0")
    );
    assert_eq!(host.message(&command(0, "touch a")).asks(), 1);
    assert_eq!(host.message(&command(0, "touch a")).asks(), 0);
    // The socket is opened again without being closed: Sayso's server restarted.
    host.open();
    assert_eq!(host.message(&command(0, "touch a")).events, []);
    host.open();
    let led = host.message(&command(0, "touch b"));
    assert_eq!(
        (led.withdrawn(), led.asks()),
        (vec!["The turn ended without an answer.".to_owned()], 1),
        "the daemon was another one"
    );
    assert_eq!(host.sessions, 1);
}

#[test]
fn request_missing_after_reconnect_was_answered_elsewhere() {
    let mut host = Host::listening();
    host.message(&command(0, "touch a"));
    host.message(&command(1, "touch b"));
    host.open();
    host.message(&command(1, "touch b"));
    host.now = host.codex.deadline().unwrap().as_millis();
    assert_eq!(host.input(Input::Tick).withdrawn(), ["It was answered elsewhere."]);
    assert_eq!(host.codex.deadline(), None);
    let led = host.decide("1", &command(1, "touch b"));
    assert_eq!(led.written[0].2["result"], json!({ "decision": "accept" }));
    assert_eq!(host.decide("0", &command(0, "touch a")).undeliverable, 1);
}

#[test]
fn unwritten_answer_is_kept_and_reported_if_lost() {
    let mut host = Host::listening();
    for (id, status) in [(0, Some(200)), (1, None)] {
        let request = command(id, "touch a");
        host.message(&request);
        let led = host.decide(&id.to_string(), &request);
        let (method, call, line) = &led.written[0];
        assert_eq!((*method, &line["id"]), (Method::Post, &json!(id)));
        let led = host.input(Input::HttpReply(HttpReply { id: *call, status, body: String::new() }));
        let lost = matches!(&led.events[..], [AgentEvent::AskDelivery { delivery: Delivery::Undeliverable { .. }, .. }]);
        assert_eq!(lost, status.is_none(), "{led:?}");
    }
    let led = host.message(&json!({ "method": "serverRequest/resolved", "params": { "threadId": "t-1", "requestId": 0 } }));
    assert!(matches!(led.events[..], [AgentEvent::AskDelivery { delivery: Delivery::Confirmed, .. }]), "{led:?}");
}

#[test]
fn invalid_daemon_messages_do_no_harm() {
    let mut host = Host::listening();
    let long = "x".repeat(300_000);
    for message in [
        json!({}),
        json!([]),
        json!({ "id": {}, "method": "x" }),
        json!({ "id": 99, "result": {} }),
        json!({ "id": u64::MAX, "result": {} }),
        json!({ "id": 0, "method": "item/commandExecution/requestApproval" }),
        json!({ "id": 0, "method": "item/commandExecution/requestApproval", "params": { "threadId": long } }),
        json!({ "method": "thread/started", "params": { "thread": { "id": long } } }),
        json!({ "method": "item/started", "params": { "threadId": "t-1", "item": { "text": long } } }),
        json!({ "id": 0, "method": "item/tool/requestUserInput", "params": { "threadId": "t-1", "questions": 7 } }),
    ] {
        let led = host.message(&message);
        assert!(led.written.is_empty() && led.asks() == 0, "{message}: {led:?}");
    }
    assert_eq!(host.message(&command(5, "touch a")).asks(), 1);
}
