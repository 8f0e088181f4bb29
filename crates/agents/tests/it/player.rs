//! Shared parts of the players for recordings of process agents.

use std::collections::BTreeMap;

use sayso_agents::translator::{AgentEvent, Input, NewAsk, Output, Saved, Translator};
use sayso_core::time::Time;
use serde_json::Value;
use serde_json::value::RawValue;

/// One line of a recording.
pub(crate) struct Entry {
    pub(crate) dir: String,
    pub(crate) msg: Value,
    /// The message exactly as in the file.
    pub(crate) text: String,
}

/// How the translator reproduced a recorded line of the host.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RecordedReply {
    /// The translator writes exactly the same line.
    Same,
    /// The translator never writes such a line, or no request waits for it.
    NotOurs,
    /// The line is not a response.
    Else,
}

/// A translator that replays a recording.
pub(crate) trait Player {
    fn new() -> Self;

    /// Replays one line.
    fn play(&mut self, entry: &Entry) -> (Vec<Output>, RecordedReply);

    fn save(&self) -> Saved;

    fn restore(&mut self, saved: &Saved);
}

/// Writes one output per line.
pub(crate) trait Log: Default {
    fn write(&mut self, output: &Output, said: &RecordedReply);

    fn text(&mut self) -> &mut String;
}

pub(crate) fn entries(file: &str) -> Vec<Entry> {
    #[derive(serde::Deserialize)]
    struct Line<'a> {
        dir: String,
        #[serde(borrow)]
        msg: &'a RawValue,
    }
    let entry = |line: &str| {
        let Line { dir, msg } = serde_json::from_str(line).unwrap();
        Entry { dir, text: msg.get().to_owned(), msg: serde_json::from_str(msg.get()).unwrap() }
    };
    file.lines().map(entry).collect()
}

/// Handles an input, and updates `open` as the server would update its pending asks.
pub(crate) fn handle(translator: &mut impl Translator, open: &mut Vec<NewAsk>, input: Input) -> Vec<Output> {
    let outputs = translator.handle(Time::from_millis(0), input);
    for output in &outputs {
        match output {
            Output::Event { event: AgentEvent::AskOpened(ask), .. } => {
                assert_eq!(ask.body.check_limits(), Ok(()));
                open.push((**ask).clone());
            }
            Output::Event { event: AgentEvent::AskWithdrawn { native_id, .. }, .. } => {
                let before = open.len();
                open.retain(|ask| ask.native_id != *native_id);
                assert_eq!(open.len() + 1, before, "only open asks are withdrawn");
            }
            Output::Event { event: AgentEvent::Ended { .. }, .. } => open.clear(),
            _ => {}
        }
    }
    outputs
}

fn replayed<P: Player, L: Log>(entries: &[Entry]) -> String {
    let (mut player, mut log) = (P::new(), L::default());
    for entry in entries {
        let (outputs, said) = player.play(entry);
        if said == RecordedReply::NotOurs {
            log.text().push_str("(a response that we do not write)\n");
        }
        for output in outputs {
            log.write(&output, &said);
        }
    }
    std::mem::take(log.text())
}

/// Asserts that recordings lead to the events in the snapshots of an agent.
pub(crate) fn assert_snapshots<P: Player, L: Log>(agent: &str, all: BTreeMap<String, Vec<Entry>>) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("snapshots/{agent}"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (name, entries) in all {
            insta::assert_snapshot!(name.clone(), replayed::<P, L>(&entries));
        }
    });
}

/// Asserts that the saved state is complete: a translator that is restored before every line behaves identically.
pub(crate) fn assert_restorable<P: Player>(all: BTreeMap<String, Vec<Entry>>) {
    for (name, entries) in all {
        let (mut steady, mut restored) = (P::new(), P::new());
        for (at, entry) in entries.iter().enumerate() {
            let saved = restored.save();
            restored.restore(&saved);
            assert_eq!(restored.play(entry), steady.play(entry), "{name}, line {}", at + 1);
            assert_eq!(restored.save(), steady.save(), "{name}, line {}", at + 1);
        }
    }
}
