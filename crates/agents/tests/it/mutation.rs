//! Mutated recordings. The translators must not panic, their state must stay bounded, and every line that they write
//! must be one line of JSON.
//!
//! `SAYSO_MUTATIONS` sets the number of cases (default 50,000), `SAYSO_SEED` the seed.

use std::fmt::Display;
use std::str::FromStr;

use sayso_agents::translator::{AgentEvent, Command, DecidedBy, Exit, Input, NewAsk, Output, Saved, Translator};
use sayso_core::ask::Decision;
use sayso_core::raw::Raw;
use sayso_core::time::Time;
use serde::de::IgnoredAny;

use crate::common::{ask_id, prompt, session, start};

/// Number of inputs per translator.
pub(crate) const LIFE: usize = 60;

/// A deterministic random generator.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit.max(1)).unwrap()).unwrap()
    }

    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

pub(crate) fn from_env<T: FromStr<Err: Display>>(name: &str, default: T) -> T {
    std::env::var(name).map_or(default, |value| value.parse().unwrap_or_else(|error| panic!("{name}: {error}")))
}

/// A mutated line of the recording. Lines stay in order, so that mutated lines meet a fitting state.
pub(crate) fn broken(chance: &mut Chance, lines: &[String], at: usize) -> String {
    let line = &lines[at % lines.len()];
    let mut bytes = line.clone().into_bytes();
    for _ in 0..=chance.below(3) {
        let place = chance.below(bytes.len());
        match chance.below(16) {
            0 => bytes.truncate(place),
            1 if !bytes.is_empty() => bytes[place] ^= 1 << chance.below(8),
            2 if !bytes.is_empty() => bytes[place] = *chance.pick(b"\0\"\\{}[],:0 \n\r\x1b\xff"),
            3 => {
                let end = (place + chance.below(40)).min(bytes.len());
                bytes.drain(place..end);
            }
            4 => {
                let end = (place + chance.below(200)).min(bytes.len());
                let piece = bytes[place..end].to_vec();
                bytes.splice(place..place, piece);
            }
            5 => bytes = swapped(chance, &bytes),
            6 => {
                let other = chance.pick(lines).as_bytes();
                let from = chance.below(other.len());
                bytes.splice(place.., other[from..].iter().copied());
            }
            7 => {
                let value =
                    chance.pick(&["null", "7", "-0.0e+9", "[]", "{}", "\"\"", "true", "\"\\ud800\"", "1e999", "\"a\\nb\""]);
                bytes = replaced(chance, &bytes, value);
            }
            8 if chance.below(20) == 0 => {
                let depth = chance.below(10_000);
                bytes = replaced(chance, &bytes, &format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
            }
            9 if chance.below(100) == 0 => {
                let long = "ü".repeat(chance.below(300_000));
                bytes = replaced(chance, &bytes, &format!("\"{long}\""));
            }
            10 => bytes = lines[chance.below(lines.len())].clone().into_bytes(),
            _ => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Swaps two words of a line.
fn swapped(chance: &mut Chance, bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut words: Vec<&str> = text.split('"').collect();
    let (a, b) = (chance.below(words.len()), chance.below(words.len()));
    words.swap(a, b);
    words.join("\"").into_bytes()
}

/// Replaces the value after one of the line's colons.
fn replaced(chance: &mut Chance, bytes: &[u8], value: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let colons: Vec<usize> = text.match_indices("\": ").map(|(at, _)| at + 3).collect();
    if colons.is_empty() {
        return bytes.to_vec();
    }
    let from = *chance.pick(&colons);
    let to = text[from..].find([',', '}', ']']).map_or(text.len(), |end| from + end);
    format!("{}{value}{}", &text[..from], &text[to..]).into_bytes()
}

pub(crate) fn decision(chance: &mut Chance, choices: &[&str]) -> Decision {
    let words = || "wörds \"\n\u{2028}".to_owned();
    match chance.below(7) {
        0 => Decision::Rejected { message: words(), stop: chance.below(2) == 0 },
        1 => Decision::Denied { message: words(), stop: chance.below(2) == 0 },
        2 => Decision::Withdrawn { reason: words() },
        3 => Decision::Approved { choice: Some((*chance.pick(choices)).to_owned()), input: None },
        4 => Decision::Approved { choice: None, input: Some(Raw::parse("{\n \"command\": \"ls\"}".to_owned()).unwrap()) },
        5 => Decision::Approved { choice: None, input: None },
        _ => Decision::Answered { answers: vec![vec![words()]; chance.below(4)], note: (chance.below(2) == 0).then(words) },
    }
}

/// A decision about one of the open asks.
pub(crate) fn outcome(chance: &mut Chance, open: &mut Vec<NewAsk>, choices: &[&str]) -> Input {
    let ask = open.swap_remove(chance.below(open.len()));
    let raw = if chance.below(10) == 0 { None } else { ask.raw };
    let by = [DecidedBy::Person, DecidedBy::Person, DecidedBy::Typed, DecidedBy::Automatic][chance.below(4)];
    let decision = decision(chance, choices);
    Input::Command(Command::Outcome { session: session(), ask: ask_id(), native_id: ask.native_id, decision, raw, by })
}

/// The outputs and the saved state for an input. Now and then, a restored translator handles the same input and must
/// behave identically.
pub(crate) fn handled<T: Translator>(
    translator: &mut T,
    restore: fn(&Saved) -> Option<T>,
    (now, input): (Time, Input),
    most: usize,
    (told, case): (&str, usize),
) -> Vec<Output> {
    let twin = (case % 16 == 0).then(|| restore(&translator.save()).unwrap());
    let twin = twin.map(|mut twin| (twin.handle(now, input.clone()), twin.save()));
    let outputs = translator.handle(now, input);
    let state = translator.save();
    assert!(state.state.as_str().len() <= most, "{told}: the state has {} bytes", state.state.as_str().len());
    if let Some(twin) = twin {
        assert_eq!(twin, (outputs.clone(), state), "{told}");
    }
    outputs
}

/// Tracks the open asks.
pub(crate) fn noted(event: AgentEvent, open: &mut Vec<NewAsk>, told: &str) {
    match event {
        AgentEvent::AskOpened(ask) => {
            assert!(open.iter().all(|open| open.native_id != ask.native_id), "{told}: one request, one ask");
            open.push(*ask);
        }
        AgentEvent::AskWithdrawn { native_id, .. } => {
            let before = open.len();
            open.retain(|ask| ask.native_id != native_id);
            assert_eq!(open.len() + 1, before, "{told}: only open asks are withdrawn");
        }
        AgentEvent::Ended { .. } => open.clear(),
        _ => {}
    }
}

/// An agent that writes lines.
pub(crate) struct Subject<T> {
    pub(crate) seed: u64,
    /// The recorded lines.
    pub(crate) lines: Vec<String>,
    pub(crate) fresh: fn() -> T,
    pub(crate) restore: fn(&Saved) -> Option<T>,
    /// Maximum size of the saved state in bytes.
    pub(crate) most: usize,
    /// Choices that the agent may have offered.
    pub(crate) choices: &'static [&'static str],
    /// The characters that end a line for the agent.
    pub(crate) ends: &'static [char],
}

impl<T: Translator> Subject<T> {
    fn next_input(&self, chance: &mut Chance, at: usize, open: &mut Vec<NewAsk>) -> Input {
        match chance.below(40) {
            0 => Input::Command(prompt("go\non")),
            1 => Input::Command(start((chance.below(2) == 0).then_some("go"))),
            2 => Input::Command(Command::Interrupt { session: session() }),
            3 if chance.below(4) == 0 => Input::Command(Command::Close { session: session() }),
            4 if chance.below(4) == 0 => {
                let message = self.lines[at % self.lines.len()].clone();
                Input::Exited(Exit { code: (chance.below(2) == 0).then_some(1), signal: None, message })
            }
            5..=9 if !open.is_empty() => outcome(chance, open, self.choices),
            _ => Input::Line(broken(chance, &self.lines, at)),
        }
    }

    pub(crate) fn is_not_harmed(&self) {
        let cases: usize = from_env("SAYSO_MUTATIONS", 50_000);
        let seed: u64 = from_env("SAYSO_SEED", self.seed);
        let mut chance = Chance(seed.max(1));
        let (mut asks, mut written, mut understood) = (0_usize, 0_usize, 0_usize);
        let mut translator = (self.fresh)();
        let mut open: Vec<NewAsk> = Vec::new();
        let mut at = 0;
        for case in 0..cases {
            if case % LIFE == 0 {
                translator = (self.fresh)();
                open.clear();
                at = chance.below(self.lines.len());
            }
            let input = (Time::from_millis(0), self.next_input(&mut chance, at, &mut open));
            at += 1;
            let told = format!("seed {seed}, case {case}");
            for output in handled(&mut translator, self.restore, input, self.most, (&told, case)) {
                match output {
                    Output::Lines(lines) => {
                        for line in lines {
                            assert!(!line.contains(self.ends), "{told}: {line}");
                            let read: Result<IgnoredAny, _> = serde_json::from_str(&line);
                            assert!(line.starts_with('{') && read.is_ok(), "{told}: {line}");
                            written += 1;
                        }
                    }
                    Output::Event { event, .. } => {
                        asks += usize::from(matches!(event, AgentEvent::AskOpened(_)));
                        understood += 1;
                        noted(event, &mut open, &told);
                    }
                    Output::Launch(_) | Output::Stop | Output::Undeliverable { .. } => {}
                    Output::HttpCall(_) | Output::Found(_) => panic!("{told}: it is no server"),
                }
            }
        }
        // Enough mutated lines must still be valid to exercise the translator.
        let enough = cases / 100;
        assert!(asks > enough && written > enough && understood > enough, "{asks} asks, {written} lines, {understood} events");
    }
}
