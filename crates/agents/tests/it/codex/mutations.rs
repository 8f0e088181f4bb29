//! Lines that nobody wrote: recorded ones, broken in every way. Nothing panics, nothing grows, and
//! whatever is written is one line of JSON.
//!
//! `SAYSO_MUTATIONS` says how many (50 000), `SAYSO_SEED` which ones.

use sayso_agents::codex::CodexTranslator;
use sayso_agents::translator::{AgentEvent, Command, DecidedBy, Exit, Input, NewAsk, Output, Translator};
use sayso_core::ask::Decision;
use sayso_core::raw::Raw;
use sayso_core::time::Time;
use serde::de::IgnoredAny;

use super::recording::all;
use super::{ask_id, prompt, session, start};
use crate::claude::mutations::{Chance, broken, from_env};

/// Bytes of the state that no number of lines may lead beyond.
const STATE: usize = 256 * 1024;
/// Lines that one translator hears before the next one begins.
const LIFE: usize = 60;

fn decision(chance: &mut Chance) -> Decision {
    let words = || "wörds \"\n\u{2028}".to_owned();
    match chance.below(7) {
        0 => Decision::Rejected { message: words(), stop: chance.below(2) == 0 },
        1 => Decision::Denied { message: words(), stop: chance.below(2) == 0 },
        2 => Decision::Withdrawn { reason: words() },
        3 => {
            Decision::Approved { choice: Some((*chance.pick(&["session", "rule", "host-0", "always"])).to_owned()), input: None }
        }
        4 => Decision::Approved { choice: None, input: Some(Raw::parse("{\n \"command\": \"ls\"}".to_owned()).unwrap()) },
        5 => Decision::Approved { choice: None, input: None },
        _ => Decision::Answered { answers: vec![vec![words()]; chance.below(4)], note: (chance.below(2) == 0).then(words) },
    }
}

fn next_input(chance: &mut Chance, lines: &[String], at: usize, open: &mut Vec<NewAsk>) -> Input {
    match chance.below(40) {
        0 => Input::Command(prompt("go\non")),
        1 => Input::Command(start((chance.below(2) == 0).then_some("go"))),
        2 => Input::Command(Command::Interrupt { session: session() }),
        3 if chance.below(4) == 0 => Input::Command(Command::Close { session: session() }),
        4 if chance.below(4) == 0 => {
            let message = lines[at % lines.len()].clone();
            Input::Exited(Exit { code: (chance.below(2) == 0).then_some(1), signal: None, message })
        }
        5..=9 if !open.is_empty() => {
            let ask = open.swap_remove(chance.below(open.len()));
            let raw = if chance.below(10) == 0 { None } else { ask.raw };
            let by = [DecidedBy::Person, DecidedBy::Person, DecidedBy::Typed, DecidedBy::Nobody][chance.below(4)];
            let decision = decision(chance);
            Input::Command(Command::Outcome { session: session(), ask: ask_id(), native_id: ask.native_id, decision, raw, by })
        }
        _ => Input::Line(broken(chance, lines, at)),
    }
}

#[test]
fn broken_lines_do_no_harm() {
    let cases: usize = from_env("SAYSO_MUTATIONS", 50_000);
    let seed: u64 = from_env("SAYSO_SEED", 0x5a75_0c0d_e000);
    let mut chance = Chance(seed.max(1));
    let recorded = all().into_values().flatten().filter(|entry| entry.dir == "out");
    let lines: Vec<String> = recorded.map(|entry| entry.text).collect();
    let (mut asks, mut written, mut understood) = (0_usize, 0_usize, 0_usize);
    let mut codex = CodexTranslator::attached(session());
    let mut open: Vec<NewAsk> = Vec::new();
    let mut at = 0;
    for case in 0..cases {
        if case % LIFE == 0 {
            codex = CodexTranslator::attached(session());
            open.clear();
            at = chance.below(lines.len());
        }
        let input = next_input(&mut chance, &lines, at, &mut open);
        at += 1;
        // Now and then another one goes on from what was saved.
        let twin = (case % 16 == 0).then(|| CodexTranslator::restore(&codex.save()).unwrap());
        let told = format!("seed {seed}, case {case}");
        let twin = twin.map(|mut twin| (twin.handle(Time::from_millis(0), input.clone()), twin.save()));
        let outputs = codex.handle(Time::from_millis(0), input);
        let state = codex.save();
        assert!(state.state.as_str().len() <= STATE, "{told}: the state has {} bytes", state.state.as_str().len());
        if let Some(twin) = twin {
            assert_eq!(twin, (outputs.clone(), state), "{told}");
        }
        for output in outputs {
            match output {
                Output::Lines(lines) => {
                    for line in lines {
                        assert!(!line.contains(['\n', '\r']), "{told}: {line}");
                        let read: Result<IgnoredAny, _> = serde_json::from_str(&line);
                        assert!(line.starts_with('{') && read.is_ok(), "{told}: {line}");
                        written += 1;
                    }
                }
                Output::Event { event: AgentEvent::AskOpened(ask), .. } => {
                    assert!(open.iter().all(|open| open.native_id != ask.native_id), "{told}: one request, one ask");
                    open.push(*ask);
                    asks += 1;
                }
                Output::Event { event: AgentEvent::AskWithdrawn { native_id, .. }, .. } => {
                    let before = open.len();
                    open.retain(|ask| ask.native_id != native_id);
                    assert_eq!(open.len() + 1, before, "{told}: withdrawn is what was open");
                }
                Output::Event { event: AgentEvent::Ended { .. }, .. } => open.clear(),
                Output::Event { .. } => understood += 1,
                Output::Launch(_) | Output::Stop | Output::Undeliverable { .. } => {}
                Output::HttpCall(_) | Output::Found(_) => panic!("{told}: Codex is no server"),
            }
        }
    }
    // The lines are broken, but not so much that nothing is left to go wrong.
    let enough = cases / 100;
    assert!(asks > enough && written > enough && understood > enough, "{asks} asks, {written} lines, {understood} events");
}
