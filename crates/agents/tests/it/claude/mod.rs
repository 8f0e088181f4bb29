//! Claude Code: replayed recordings in both directions, the session lifecycle, and mutated lines.

mod answers;
mod lifecycle;
mod lines;
mod mutations;
mod recording;
mod replay;

use sayso_agents::claude::ClaudeTranslator;
use sayso_agents::translator::{AgentEvent, Command, DecidedBy, Input, NewAsk, Output, Translator};
use sayso_core::ask::Decision;
use sayso_core::raw::Raw;
use sayso_core::time::Time;
use serde_json::Value;

use crate::common::{ask_id, prompt, session, start};

fn outcome(ask: &NewAsk, decision: Decision) -> Command {
    let (native_id, raw) = (ask.native_id.clone(), ask.raw.clone());
    Command::Outcome { session: session(), ask: ask_id(), native_id, decision, raw, by: DecidedBy::Person }
}

fn command(claude: &mut ClaudeTranslator, command: Command) -> Vec<Output> {
    claude.handle(Time::from_millis(0), Input::Command(command))
}

/// The events for a line; any other output fails the test.
fn events_of_line(claude: &mut ClaudeTranslator, line: &str) -> Vec<AgentEvent> {
    let outputs = claude.handle(Time::from_millis(0), Input::Line(line.to_owned()));
    events(outputs)
}

fn events(outputs: Vec<Output>) -> Vec<AgentEvent> {
    let event = |output| match output {
        Output::Event { session: of, event } if of == session() => event,
        other => panic!("not an event of the session: {other:?}"),
    };
    outputs.into_iter().map(event).collect()
}

/// The lines among outputs, as JSON. Each must be a single line.
fn sent(outputs: &[Output]) -> Vec<Value> {
    let lines = outputs.iter().filter_map(|output| match output {
        Output::Lines(lines) => Some(lines),
        _ => None,
    });
    lines
        .flatten()
        .inspect(|line| assert!(!line.contains(['\n', '\r']), "{line}"))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A tool request in Claude's format.
fn tool_request(id: &str, tool: &str, input: &Value) -> String {
    let request =
        serde_json::json!({"subtype":"can_use_tool","tool_name":tool,"input":input,"tool_use_id":format!("toolu_{id}")});
    serde_json::json!({"type":"control_request","request_id":id,"request":request}).to_string()
}

/// The ask that a line opens.
fn handle_ask(claude: &mut ClaudeTranslator, line: &str) -> NewAsk {
    let mut asks = events_of_line(claude, line).into_iter().filter_map(|event| match event {
        AgentEvent::AskOpened(ask) => Some(*ask),
        _ => None,
    });
    let ask = asks.next().unwrap();
    assert!(asks.next().is_none() && ask.raw.as_ref().is_some_and(|raw: &Raw| line.contains(raw.as_str())));
    ask
}
