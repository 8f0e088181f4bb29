//! OpenCode: replayed recordings, the session lifecycle, and mutated input.

mod attached;
mod lifecycle;
mod mutations;
mod recording;

use sayso_agents::opencode::OpenCodeTranslator;
use sayso_agents::translator::{AgentEvent, Command, DecidedBy, HttpCall, HttpReply, Input, Method, NewAsk, Output, Translator};
use sayso_core::ask::Decision;
use sayso_core::time::Time;
use serde_json::{Value, json};

use crate::common::{ask_id, session, start};

fn outcome(ask: &NewAsk, decision: Decision, by: DecidedBy) -> Command {
    let (native_id, raw) = (ask.native_id.clone(), ask.raw.clone());
    Command::Outcome { session: session(), ask: ask_id(), native_id, decision, raw, by }
}

/// A translator, its clock, and the server that it wants.
struct Host {
    opencode: OpenCodeTranslator,
    now: i64,
}

/// The outputs for one input.
#[derive(Debug, Default)]
struct Led {
    calls: Vec<HttpCall>,
    events: Vec<AgentEvent>,
    undeliverable: Vec<String>,
    others: Vec<Output>,
}

impl Led {
    /// `METHOD path` of the calls, without the directory.
    fn paths(&self) -> Vec<String> {
        let path = |call: &HttpCall| {
            let method = match call.method {
                Method::Get => "GET",
                Method::Post => "POST",
            };
            format!("{method} {}", call.path.replace("?directory=/project", ""))
        };
        self.calls.iter().map(path).collect()
    }

    fn asks(&self) -> Vec<NewAsk> {
        let ask = |event: &AgentEvent| match event {
            AgentEvent::AskOpened(ask) => Some((**ask).clone()),
            _ => None,
        };
        self.events.iter().filter_map(ask).collect()
    }

    fn call(&self, path: &str) -> &HttpCall {
        self.calls.iter().find(|call| call.path.contains(path)).unwrap_or_else(|| panic!("no {path} in {self:?}"))
    }
}

impl Host {
    fn input(&mut self, input: Input) -> Led {
        // The saved state must be complete.
        self.opencode = OpenCodeTranslator::restore(&self.opencode.save()).unwrap();
        let mut led = Led::default();
        for output in self.opencode.handle(Time::from_millis(self.now), input) {
            match output {
                Output::Event { event, .. } => led.events.push(event),
                Output::HttpCall(call) => led.calls.push(call),
                Output::Undeliverable { reason, .. } => led.undeliverable.push(reason),
                other => led.others.push(other),
            }
        }
        led
    }

    fn command(&mut self, command: Command) -> Led {
        self.input(Input::Command(command))
    }

    fn event(&mut self, kind: &str, properties: Value) -> Led {
        let payload = json!({ "id": "evt_1", "type": kind, "properties": properties });
        self.input(Input::StreamEvent(json!({ "directory": "/project", "payload": payload }).to_string()))
    }

    fn reply(&mut self, call: &HttpCall, status: u16, body: &Value) -> Led {
        self.input(Input::HttpReply(HttpReply { id: call.id, status: Some(status), body: body.to_string() }))
    }

    fn no_reply(&mut self, call: &HttpCall) -> Led {
        self.input(Input::HttpReply(HttpReply { id: call.id, status: None, body: "connection reset".to_owned() }))
    }

    /// A session that exists and works on a prompt.
    fn working() -> Self {
        let mut host = Self { opencode: OpenCodeTranslator::new(), now: 1_000 };
        host.command(start(Some("go")));
        host.input(Input::Line("opencode server listening on http://127.0.0.1:4711".to_owned()));
        let led = host.input(Input::StreamOpened);
        let led = host.reply(led.call("/session?"), 200, &json!({ "id": "ses_1", "directory": "/project" }));
        host.reply(led.call("/prompt_async"), 204, &Value::Null);
        host.event("session.status", json!({ "sessionID": "ses_1", "status": { "type": "busy" } }));
        host
    }

    /// A poll that returns these requests.
    fn poll(&mut self, busy: &[&str], questions: &[Value], permissions: &[Value]) -> Vec<Led> {
        self.now = self.opencode.deadline().unwrap().as_millis();
        let led = self.input(Input::Tick);
        let busy: Value =
            busy.iter().map(|id| ((*id).to_owned(), json!({ "type": "busy" }))).collect::<serde_json::Map<_, _>>().into();
        let led = self.reply(led.call("/session/status"), 200, &busy);
        let (asked, permitted) = (led.call("/question").clone(), led.call("/permission").clone());
        vec![led, self.reply(&asked, 200, &json!(questions)), self.reply(&permitted, 200, &json!(permissions))]
    }
}

fn question(id: &str, session: &str) -> Value {
    json!({ "id": id, "sessionID": session, "tool": { "messageID": "msg_1", "callID": format!("call_{id}") },
        "questions": [{ "question": "Which?", "header": "H", "options": [{ "label": "A", "description": "a" }, { "label": "B", "description": "b" }] }] })
}

fn permission(id: &str, session: &str) -> Value {
    json!({ "id": id, "sessionID": session, "permission": "bash", "patterns": ["touch a"], "metadata": { "command": "touch a" },
        "always": ["touch *"], "tool": { "messageID": "msg_1", "callID": format!("call_{id}") } })
}
