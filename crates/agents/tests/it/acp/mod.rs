//! The ACP translator: replayed recordings, every kind of request, the lifecycle of a session, and hostile input.

mod hostile;
mod lifecycle;
mod peers;
mod replay;
mod requests;
mod turns;

use std::fmt::Write as _;

use sayso_agents::acp::AcpTranslator;
use sayso_agents::translator::{AgentEvent, Command, DecidedBy, Exit, Input, NewAsk, Output, Translator};
use sayso_core::ask::Decision;
use sayso_core::id::{AskId, SessionId};
use sayso_core::raw::Raw;
use sayso_core::time::Time;
use serde_json::{Value, json};

pub(crate) const NOW: Time = Time::from_millis(1_700_000_000_000);

pub(crate) fn session() -> SessionId {
    SessionId::new(Time::from_millis(0), [1; 10])
}

pub(crate) fn start(prompt: Option<&str>) -> Command {
    start_in(prompt, "default", None, true)
}

pub(crate) fn start_in(prompt: Option<&str>, mode: &str, model: Option<&str>, questions: bool) -> Command {
    Command::Start {
        session: session(),
        project: "/project".to_owned(),
        prompt: prompt.map(str::to_owned),
        permission_mode: mode.to_owned(),
        model: model.map(str::to_owned),
        questions,
    }
}

pub(crate) fn prompt(text: &str) -> Command {
    Command::Prompt { session: session(), text: text.to_owned() }
}

pub(crate) fn interrupt() -> Command {
    Command::Interrupt { session: session() }
}

pub(crate) fn close() -> Command {
    Command::Close { session: session() }
}

pub(crate) fn answered(answers: &[&[&str]]) -> Decision {
    let answers = answers.iter().map(|entries| entries.iter().map(|entry| (*entry).to_owned()).collect()).collect();
    Decision::Answered { answers, note: None }
}

pub(crate) fn approved() -> Decision {
    Decision::Approved { choice: None, input: None }
}

pub(crate) fn denied(message: &str) -> Decision {
    Decision::Denied { message: message.to_owned(), stop: false }
}

pub(crate) fn rejected(message: &str) -> Decision {
    Decision::Rejected { message: message.to_owned(), stop: false }
}

/// A translator whose outputs are logged. It is saved, restored and compared after every input.
pub(crate) struct Host {
    pub(crate) translator: AcpTranslator,
    pub(crate) log: String,
    /// The lines for the agent that no assertion has consumed yet.
    pub(crate) sent: Vec<Value>,
    pub(crate) asks: Vec<NewAsk>,
    opened: u8,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self::of(AcpTranslator::new())
    }

    pub(crate) fn attached() -> Self {
        Self::of(AcpTranslator::attached(session()))
    }

    fn of(translator: AcpTranslator) -> Self {
        Self { translator, log: String::new(), sent: Vec::new(), asks: Vec::new(), opened: 0 }
    }

    /// A translator with a session `s1` that accepts prompts.
    pub(crate) fn ready() -> Self {
        let mut host = Self::new();
        host.command(start(None));
        host.reply(json!({ "protocolVersion": 1, "agentCapabilities": {} }));
        host.reply(json!({ "sessionId": "s1" }));
        host.log.clear();
        host
    }

    /// A translator with a running turn.
    pub(crate) fn working() -> Self {
        let mut host = Self::ready();
        host.command(prompt("go"));
        host.sent.clear();
        host.log.clear();
        host
    }

    pub(crate) fn command(&mut self, command: Command) -> &mut Self {
        self.input(Input::Command(command))
    }

    pub(crate) fn line(&mut self, line: &str) -> &mut Self {
        self.input(Input::Line(line.to_owned()))
    }

    pub(crate) fn message(&mut self, message: Value) -> &mut Self {
        self.line(&message.to_string())
    }

    pub(crate) fn update(&mut self, update: Value) -> &mut Self {
        self.message(json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s1", "update": update } }))
    }

    pub(crate) fn request(&mut self, id: Value, method: &str, params: Value) -> &mut Self {
        self.message(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
    }

    /// Answers the oldest pending request of the translator.
    pub(crate) fn reply(&mut self, result: Value) -> &mut Self {
        let id = self.take_request()["id"].clone();
        self.message(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    pub(crate) fn fail(&mut self, code: i32, message: &str) -> &mut Self {
        let id = self.take_request()["id"].clone();
        self.message(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }))
    }

    pub(crate) fn take_request(&mut self) -> Value {
        let at = self.sent.iter().position(|line| line.get("method").is_some() && line.get("id").is_some()).unwrap();
        self.sent.remove(at)
    }

    pub(crate) fn exit(&mut self, code: Option<i32>, signal: Option<i32>, message: &str) -> &mut Self {
        self.input(Input::Exited(Exit { code, signal, message: message.to_owned() }))
    }

    /// Decides the latest ask.
    pub(crate) fn decide(&mut self, decision: Decision) -> &mut Self {
        let ask = self.asks.last().unwrap();
        let command = outcome(&ask.native_id, decision, ask.raw.clone());
        self.command(command)
    }

    /// Decides the latest ask as a policy.
    pub(crate) fn decide_automatically(&mut self, decision: Decision) -> &mut Self {
        let ask = self.asks.last().unwrap();
        let mut command = outcome(&ask.native_id, decision, ask.raw.clone());
        if let Command::Outcome { by, .. } = &mut command {
            *by = DecidedBy::Automatic;
        }
        self.command(command)
    }

    /// The result of the latest response.
    pub(crate) fn result(&self) -> &Value {
        let line = self.sent.iter().rev().find(|line| line.get("result").is_some() || line.get("error").is_some()).unwrap();
        line.get("result").unwrap_or(&line["error"])
    }

    pub(crate) fn input(&mut self, input: Input) -> &mut Self {
        let saved = self.translator.save();
        let mut twin = AcpTranslator::restore(&saved).unwrap();
        assert_eq!(twin, self.translator);
        let outputs = self.translator.handle(NOW, input.clone());
        assert_eq!(twin.handle(NOW, input), outputs, "a restored translator behaves like the original");
        if !self.log.is_empty() {
            self.log.push_str("--\n");
        }
        for output in outputs {
            self.note(output);
        }
        self
    }

    fn note(&mut self, output: Output) {
        let text = match output {
            Output::Event { session: of, event } => {
                assert_eq!(of, session());
                self.event(event)
            }
            Output::Launch(launch) => format!("launch in {} {:?} {:?}", launch.directory, launch.args, launch.env),
            Output::Lines(lines) => {
                let mut text = String::new();
                for line in lines {
                    assert!(!line.contains('\n'), "one message a line");
                    self.sent.push(serde_json::from_str(&line).unwrap());
                    writeln!(text, "> {}", line.replace(env!("CARGO_PKG_VERSION"), "VERSION")).unwrap();
                }
                text.trim_end().to_owned()
            }
            Output::Stop => "stop".to_owned(),
            other @ (Output::HttpCall(_) | Output::Found(_)) => panic!("{other:?}"),
            Output::Undeliverable { reason, .. } => format!("undeliverable: {reason}"),
        };
        writeln!(self.log, "{text}").unwrap();
    }

    fn event(&mut self, event: AgentEvent) -> String {
        match event {
            AgentEvent::TurnStarted => "turn started".to_owned(),
            AgentEvent::TurnEnded => "turn ended".to_owned(),
            AgentEvent::AskOpened(ask) => {
                assert_eq!(ask.body.check_limits(), Ok(()));
                assert!(ask.blocking && ask.labels.is_empty() && ask.context.is_none());
                self.opened += 1;
                let call = ask.tool_call_id.as_deref().unwrap_or("-");
                let of = ask.subagent.as_deref().map(|name| format!(" of {name}")).unwrap_or_default();
                let text = format!("ask {} {call}{of}\n{}", ask.native_id, serde_json::to_string_pretty(&ask.body).unwrap());
                self.asks.push(*ask);
                text
            }
            AgentEvent::AskWithdrawn { native_id, reason } => format!("withdrawn {native_id}: {reason}"),
            AgentEvent::AskDelivery { delivery, .. } => format!("delivery {}", delivery.as_str()),
            AgentEvent::MessageDelta { message, text } => format!("delta {message} {text:?}"),
            AgentEvent::Message { message, role, text, subagent } => {
                format!("message {message} {role:?}{}: {text}", subagent.map(|name| format!(" of {name}")).unwrap_or_default())
            }
            AgentEvent::Tool { tool_call_id, name, input, output, status, subagent } => {
                let input = input.as_ref().map_or("-", Raw::as_str);
                let of = subagent.map(|name| format!(" of {name}")).unwrap_or_default();
                format!("tool {tool_call_id} {name}{of} {status:?} {input} {}", output.as_deref().unwrap_or("-"))
            }
            AgentEvent::Configured { permission_mode, model } => format!("configured: {permission_mode:?} {model:?}"),
            AgentEvent::Granted { run } => format!("granted: {run:?}"),
            AgentEvent::Notice(text) => format!("notice: {text}"),
            AgentEvent::Error(text) => format!("error: {text}"),
            AgentEvent::Ended { reason, failed, resumable } => format!("ended: {reason} failed={failed} resumable={resumable}"),
        }
    }
}

pub(crate) fn outcome(native_id: &str, decision: Decision, raw: Option<Raw>) -> Command {
    let ask = AskId::new(Time::from_millis(0), [2; 10]);
    Command::Outcome { session: session(), ask, native_id: native_id.to_owned(), decision, raw, by: DecidedBy::Person }
}
