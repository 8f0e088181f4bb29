//! Feeds recordings of a real agent to its translator and prints the resulting events, one JSON object per line, with
//! the event names of the HTTP API.
//!
//! A recording consists of JSON lines `{"dir": …, "msg": …}`; `out` is output of the agent, `sse` an event of an agent
//! that is a server. Messages of the host are not replayed: the translator behaves as if it had attached to a running
//! agent.

mod events;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::{Parser, ValueEnum};
use sayso_agents::acp::AcpTranslator;
use sayso_agents::claude::ClaudeTranslator;
use sayso_agents::codex::CodexTranslator;
use sayso_agents::opencode::OpenCodeTranslator;
use sayso_agents::translator::{Input, Translator};
use sayso_core::id::SessionId;
use sayso_core::time::Time;
use serde_json::value::RawValue;

use crate::events::Events;

#[derive(Debug, Parser)]
#[command(name = "replay", about = "Print the events that follow from recordings of a real agent")]
struct Args {
    /// The agent's protocol
    protocol: ReplayProtocol,
    /// Recordings to replay
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ReplayProtocol {
    Claude,
    Codex,
    Acp,
    Opencode,
}

/// One line of a recording. An event of a server has `data` instead of a message.
#[derive(serde::Deserialize)]
struct Recorded {
    dir: String,
    #[serde(alias = "data")]
    msg: Option<Box<RawValue>>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut out = std::io::stdout().lock();
    for file in &args.files {
        let name = (args.files.len() > 1).then(|| file.display().to_string());
        for event in replay(args.protocol, file)? {
            writeln!(out, "{}", event.line(name.as_deref()))?;
        }
    }
    Ok(())
}

fn replay(protocol: ReplayProtocol, file: &Path) -> Result<Vec<events::ReplayEvent>> {
    let session = SessionId::new(Time::from_millis(0), [7; 10]);
    let mut translator: Box<dyn Translator> = match protocol {
        ReplayProtocol::Claude => Box::new(ClaudeTranslator::attached(session)),
        ReplayProtocol::Codex => Box::new(CodexTranslator::attached(session)),
        ReplayProtocol::Acp => Box::new(AcpTranslator::attached(session)),
        ReplayProtocol::Opencode => Box::new(OpenCodeTranslator::attached(session)),
    };
    let mut events = Events::new(session);
    let recording = std::fs::File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    for (number, line) in BufReader::new(recording).lines().enumerate() {
        let line = line.with_context(|| format!("cannot read {}", file.display()))?;
        let Some(said) = recorded_input(&line) else { continue };
        let now = Time::from_millis(i64::try_from(number).unwrap_or(i64::MAX));
        for output in translator.handle(now, said) {
            events.record_output(output, now);
        }
    }
    Ok(events.into_inner())
}

/// The input in this line of a recording, if it is output of the agent. A message that is a string was not JSON.
fn recorded_input(line: &str) -> Option<Input> {
    let recorded: Recorded = serde_json::from_str(line).ok()?;
    let text = recorded.msg.as_ref()?.get();
    match recorded.dir.as_str() {
        "out" => Some(Input::Line(serde_json::from_str::<String>(text).unwrap_or_else(|_| text.to_owned()))),
        "sse" => Some(Input::StreamEvent(text.to_owned())),
        _ => None,
    }
}
