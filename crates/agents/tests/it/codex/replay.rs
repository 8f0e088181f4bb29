//! Snapshots of the events of every recording.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use sayso_agents::codex::CodexTranslator;
use sayso_agents::translator::{AgentEvent, Input, Output, Translator};
use sayso_core::ask::{AskBody, Preview};
use sayso_core::time::Time;

use super::recording::{CodexPlayer, all};
use crate::player::{Log, RecordedReply, assert_restorable, assert_snapshots};

/// Requests that block Codex.
const REQUESTS: [&str; 5] = [
    "item/commandExecution/requestApproval",
    "item/fileChange/requestApproval",
    "item/permissions/requestApproval",
    "item/tool/requestUserInput",
    "mcpServer/elicitation/request",
];

/// Writes one event per line, with short names for Codex's random ids.
#[derive(Default)]
struct CodexLog {
    text: String,
    names: BTreeMap<String, String>,
}

impl Log for CodexLog {
    fn write(&mut self, output: &Output, said: &RecordedReply) {
        let line = match output {
            Output::Event { event, .. } => event_line(event),
            Output::Lines(lines) if *said == RecordedReply::Same => format!("> as recorded{}", "+".repeat(lines.len() - 1)),
            Output::Lines(lines) => lines.iter().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n"),
            Output::Launch(launch) => format!("launch {:?}", launch.args),
            Output::Undeliverable { reason, .. } => format!("undeliverable: {reason}"),
            Output::Stop | Output::HttpCall(_) | Output::Found(_) => panic!("unexpected output {output:?}"),
        };
        let line = self.named(&line);
        writeln!(self.text, "{line}").unwrap();
    }

    fn text(&mut self) -> &mut String {
        &mut self.text
    }
}

impl CodexLog {
    /// Replaces UUIDs in a text by short names.
    fn named(&mut self, text: &str) -> String {
        let is_uuid = |token: &str| token.len() == 36 && token.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
        let uuids = text.split(|c: char| !c.is_ascii_hexdigit() && c != '-').filter(|token| is_uuid(token));
        let uuids: Vec<String> = uuids.map(str::to_owned).collect();
        let mut named = text.to_owned();
        for uuid in uuids {
            let next = format!("id{}", self.names.len() + 1);
            named = named.replace(&uuid, self.names.entry(uuid.clone()).or_insert(next));
        }
        named
    }
}

fn event_line(event: &AgentEvent) -> String {
    match event {
        AgentEvent::AskOpened(ask) => {
            let body = match &ask.body {
                AskBody::Question { questions } => {
                    let lines = questions.iter().map(|question| {
                        format!("\n  {} {:?} {:?} {:?}", question.key, question.header, question.text, question.input)
                    });
                    lines.collect::<String>()
                }
                AskBody::Approval(approval) => {
                    let mut text = format!("\n  {} {:?}: {}", approval.tool, approval.action, approval.title);
                    write!(text, "\n  why {:?}, with {}", approval.reason, approval.input.as_str()).unwrap();
                    match &approval.preview {
                        Some(Preview::Diff { files }) => {
                            for file in files {
                                write!(text, "\n  {} {:?}", file.path, file.diff).unwrap();
                            }
                        }
                        Some(Preview::Text { text: shown }) => write!(text, "\n  {shown:?}").unwrap(),
                        Some(Preview::Command { .. }) | None => {}
                        Some(Preview::Plan { .. }) => panic!("Codex has no plans"),
                    }
                    for choice in &approval.choices {
                        write!(text, "\n  {}: {}", choice.id, choice.label).unwrap();
                    }
                    text
                }
                AskBody::Link(link) => format!("\n  open {} ({:?})", link.url, link.message),
            };
            let waits = if ask.blocking { "waits" } else { "goes on" };
            format!("ask {} {:?} {:?} {waits}{body}", ask.native_id, ask.tool_call_id, ask.subagent)
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn recordings_produce_the_snapshotted_events() {
    assert_snapshots::<CodexPlayer, CodexLog>("codex", all());
}

#[test]
fn translator_restored_at_every_line_behaves_identically() {
    assert_restorable::<CodexPlayer>(all());
}

/// Without any response from the translator, the recorded lines still open every ask once, even if several hosts are
/// connected.
#[test]
fn translator_without_responses_opens_every_ask() {
    let mut asks = 0;
    for (name, entries) in all() {
        let mut codex = CodexTranslator::attached(super::session());
        let mut seen = BTreeSet::new();
        for entry in entries.iter().filter(|entry| entry.dir == "out") {
            let method = entry.msg["method"].as_str().unwrap_or_default();
            let is_request = REQUESTS.contains(&method) && seen.insert(entry.msg["id"].to_string());
            let asks_in_words = method == "item/completed" && entry.msg["params"]["item"]["questions"].is_array();
            let outputs = codex.handle(Time::from_millis(0), Input::Line(entry.text.clone()));
            let opened = outputs.iter().filter(|output| matches!(output, Output::Event { event: AgentEvent::AskOpened(_), .. }));
            let opened = opened.count();
            assert_eq!(opened, usize::from(is_request || asks_in_words), "{name}");
            asks += opened;
        }
    }
    assert!(asks > 40, "only {asks} asks were found");
}
