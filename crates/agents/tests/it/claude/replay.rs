//! Snapshots of the events of every recording.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sayso_agents::claude::ClaudeTranslator;
use sayso_agents::translator::{AgentEvent, Input, NewAsk, Output, Translator};
use sayso_core::ask::{Approval, AskBody, Input as Takes, Preview, Question};
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::time::Time;

use super::recording::{ClaudePlayer, all};
use crate::player::{Log, RecordedReply, assert_restorable, assert_snapshots};

/// Writes one event per line, with short names for Claude's random ids.
#[derive(Default)]
struct ClaudeLog {
    text: String,
    names: BTreeMap<String, String>,
}

impl Log for ClaudeLog {
    fn write(&mut self, output: &Output, said: &RecordedReply) {
        let line = match output {
            Output::Event { event, .. } => self.event(event),
            Output::Lines(lines) if *said == RecordedReply::Same => format!("> as recorded{}", "+".repeat(lines.len() - 1)),
            Output::Lines(lines) => {
                let lines = lines.iter().map(|line| {
                    let cut = if line.len() > 230 { "…" } else { "" };
                    format!("> {}{cut}", limits::head(line, 230))
                });
                let mut lines = lines.collect::<Vec<_>>().join("\n");
                for (id, name) in &self.names {
                    lines = lines.replace(id, name);
                }
                lines
            }
            Output::Launch(launch) => format!("launch {}", launch.args.last().unwrap()),
            Output::Undeliverable { reason, .. } => format!("undeliverable: {reason}"),
            Output::Stop | Output::HttpCall(_) | Output::Found(_) => panic!("unexpected output {output:?}"),
        };
        writeln!(self.text, "{line}").unwrap();
    }

    fn text(&mut self) -> &mut String {
        &mut self.text
    }
}

impl ClaudeLog {
    fn name(&mut self, id: &str, letter: char) -> String {
        let next = format!("{letter}{}", self.names.len() + 1);
        self.names.entry(id.to_owned()).or_insert(next).clone()
    }

    fn event(&mut self, event: &AgentEvent) -> String {
        match event {
            AgentEvent::TurnStarted => "turn started".to_owned(),
            AgentEvent::TurnEnded => "turn ended".to_owned(),
            AgentEvent::AskOpened(ask) => self.ask(ask),
            AgentEvent::AskWithdrawn { native_id, reason } => format!("withdrawn {}: {reason}", self.name(native_id, 'r')),
            AgentEvent::AskDelivery { delivery, .. } => format!("delivery {delivery:?}"),
            AgentEvent::MessageDelta { message, text } => format!("delta {} {text:?}", self.name(message, 'm')),
            AgentEvent::Message { message, role, text, subagent } => {
                format!("{role:?} {}{}: {}", self.name(message, 'm'), by(subagent.as_ref()), short(text))
            }
            AgentEvent::Tool { tool_call_id, name, input, output, status, subagent } => {
                let input = input.as_ref().map_or("", Raw::as_str);
                let output = output.as_deref().map(|output| format!(" = {}", short(output))).unwrap_or_default();
                format!("tool {tool_call_id} {name}{} {status:?} {}{output}", by(subagent.as_ref()), short(input))
            }
            AgentEvent::Configured { permission_mode, model } => format!("configured: {permission_mode:?} {model:?}"),
            AgentEvent::Granted { run } => format!("granted: {run:?}"),
            AgentEvent::Notice(text) => format!("notice: {}", short(text)),
            AgentEvent::Error(text) => format!("error: {}", short(text)),
            AgentEvent::Ended { reason, failed, resumable } => format!("ended: {reason} failed={failed} resumable={resumable}"),
        }
    }

    fn ask(&mut self, ask: &NewAsk) -> String {
        assert!(ask.blocking && ask.context.is_none() && ask.labels.is_empty() && ask.raw.is_some());
        let body = match &ask.body {
            AskBody::Question { questions } => questions.iter().map(question).collect::<Vec<_>>().join("\n  "),
            AskBody::Approval(asked) => approval(asked),
            AskBody::Link(link) => format!("open {} ({})", link.url, link.message.as_deref().unwrap()),
        };
        let name = self.name(&ask.native_id, 'r');
        format!("ask {name} {}{}\n  {body}", ask.tool_call_id.as_deref().unwrap_or("-"), by(ask.subagent.as_ref()))
    }
}

fn by(subagent: Option<&String>) -> String {
    subagent.map(|name| format!(" by {name}")).unwrap_or_default()
}

fn question(question: &Question) -> String {
    let takes = match &question.input {
        Takes::Choice { options, multiple, custom } => {
            let options: Vec<&str> = options.iter().map(|option| option.value.as_str()).collect();
            format!(
                "{}{} {}",
                if *multiple { "any of" } else { "one of" },
                if *custom { " or own text:" } else { ":" },
                options.join(" / ")
            )
        }
        other => format!("{other:?}"),
    };
    let header = question.header.as_deref().unwrap_or("-");
    format!("{}. {header} | {:?} | {takes}{}", question.key, question.text, if question.required { "" } else { " | optional" })
}

fn approval(approval: &Approval) -> String {
    let mut text = format!("{} {:?}: {:?}", approval.tool, approval.action, approval.title);
    if let Some(reason) = &approval.reason {
        write!(text, "\n  why: {}", reason.replace('\n', " / ")).unwrap();
    }
    match &approval.preview {
        Some(Preview::Diff { files }) => {
            let shown =
                files.iter().map(|file| format!("\n  {}\n    {}", file.path, file.diff.trim_end().replace('\n', "\n    ")));
            text.extend(shown);
        }
        Some(Preview::Plan { text: plan }) => write!(text, "\n  plan: {plan:?}").unwrap(),
        Some(Preview::Command { .. }) | None => {}
        Some(Preview::Text { .. }) => panic!("no preview is like this"),
    }
    for choice in &approval.choices {
        write!(text, "\n  {}: {}", choice.id, choice.label).unwrap();
    }
    text
}

fn short(text: &str) -> String {
    let line = text.replace('\n', "⏎");
    if line.chars().count() > 90 { line.chars().take(89).chain(['…']).collect() } else { line }
}

#[test]
fn recordings_produce_the_snapshotted_events() {
    assert_snapshots::<ClaudePlayer, ClaudeLog>("claude", all());
}

#[test]
fn translator_restored_at_every_line_behaves_identically() {
    assert_restorable::<ClaudePlayer>(all());
}

/// Without any response from the translator, the recorded lines still open every ask.
#[test]
fn translator_without_responses_opens_every_ask() {
    let (mut asks, mut requests) = (0, 0);
    for (name, entries) in all() {
        let mut claude = ClaudeTranslator::attached(super::session());
        let mut seen = std::collections::BTreeSet::new();
        for entry in entries.iter().filter(|entry| entry.dir == "out") {
            let subtype = &entry.msg["request"]["subtype"];
            let is_request =
                (*subtype == "can_use_tool" || *subtype == "elicitation") && seen.insert(entry.msg["request_id"].to_string());
            let outputs = claude.handle(Time::from_millis(0), Input::Line(entry.text.clone()));
            let opened =
                outputs.iter().filter(|output| matches!(output, Output::Event { event: AgentEvent::AskOpened(_), .. })).count();
            assert_eq!(opened, usize::from(is_request), "{name}");
            asks += opened;
            requests += usize::from(is_request);
        }
    }
    assert_eq!(asks, requests);
    assert!(asks > 70, "only {asks} asks were found");
}
