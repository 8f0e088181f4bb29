//! Mutated events and replies. The translator must not panic, its state must stay bounded, each request must be one
//! ask, and every call must have a valid path and a JSON body.
//!
//! `SAYSO_MUTATIONS` sets the number of cases (default 50,000), `SAYSO_SEED` the seed.

use sayso_agents::opencode::OpenCodeTranslator;
use sayso_agents::translator::{AgentEvent, Command, Exit, HttpCall, HttpReply, Input, NewAsk, Output};
use sayso_core::time::Time;
use serde::de::IgnoredAny;

use super::recording::all;
use crate::common::{session, start};
use crate::mutation::{Chance, LIFE, broken, from_env, handled, noted, outcome};

/// Maximum size of the saved state in bytes.
const STATE: usize = 8 * 1024 * 1024;

/// Recorded events and reply bodies.
struct Recorded {
    events: Vec<String>,
    replies: Vec<String>,
}

fn next_input(chance: &mut Chance, recorded: &Recorded, at: usize, open: &mut Vec<NewAsk>, calls: &[HttpCall]) -> Input {
    match chance.below(40) {
        0 => Input::Command(Command::Prompt { session: session(), text: "go\non".to_owned() }),
        1 => Input::Command(start((chance.below(2) == 0).then_some("go"))),
        2 => Input::Command(Command::Interrupt { session: session() }),
        3 if chance.below(4) == 0 => Input::Command(Command::Close { session: session() }),
        4 if chance.below(4) == 0 => Input::Exited(Exit { code: (chance.below(2) == 0).then_some(1), ..Exit::default() }),
        5 => Input::Line("opencode server listening on http://127.0.0.1:4096".to_owned()),
        6 => Input::StreamOpened,
        7 => Input::Tick,
        8..=12 if !open.is_empty() => outcome(chance, open, &["once", "always", "suggestion-0"]),
        13..=19 if !calls.is_empty() => {
            let status = [None, Some(200), Some(200), Some(200), Some(204), Some(404), Some(412), Some(500)][chance.below(8)];
            let at = chance.below(recorded.replies.len());
            let body = if chance.below(2) == 0 { recorded.replies[at].clone() } else { broken(chance, &recorded.replies, at) };
            Input::HttpReply(HttpReply { id: calls[chance.below(calls.len())].id, status, body })
        }
        20 => Input::Line(broken(chance, &recorded.events, at)),
        _ => Input::StreamEvent(broken(chance, &recorded.events, at)),
    }
}

#[test]
fn mutated_events_and_replies_do_no_harm() {
    let cases: usize = from_env("SAYSO_MUTATIONS", 50_000);
    let seed: u64 = from_env("SAYSO_SEED", 0x09e4_c0de);
    let mut chance = Chance(seed.max(1));
    let (mut events, mut replies) = (Vec::new(), Vec::new());
    for entry in all().into_values().flatten() {
        match entry["dir"].as_str() {
            Some("sse") => events.push(entry["data"].to_string()),
            Some("res") => replies.push(entry["body"].to_string()),
            _ => {}
        }
    }
    let recorded = Recorded { events, replies };
    let (mut asks, mut called, mut understood) = (0_usize, 0_usize, 0_usize);
    let mut opencode = OpenCodeTranslator::attached(session());
    let (mut open, mut calls): (Vec<NewAsk>, Vec<HttpCall>) = (Vec::new(), Vec::new());
    let mut at = 0;
    for case in 0..cases {
        if case % LIFE == 0 {
            opencode = OpenCodeTranslator::attached(session());
            open.clear();
            calls.clear();
            at = chance.below(recorded.events.len());
        }
        let input = next_input(&mut chance, &recorded, at, &mut open, &calls);
        at += 1;
        let now = Time::from_millis(i64::try_from(case).unwrap() * 1_000);
        let told = format!("seed {seed}, case {case}");
        for output in handled(&mut opencode, OpenCodeTranslator::restore, (now, input), STATE, (&told, case)) {
            match output {
                Output::HttpCall(call) => {
                    assert!(
                        call.path.starts_with('/') && call.path.is_ascii() && call.path.matches('?').count() == 1,
                        "{told}: {call:?}"
                    );
                    assert!(!call.path.contains(['\n', '\r', ' ', '#', '\\']) && !call.path.contains(".."), "{told}: {call:?}");
                    let json = |body: &sayso_core::raw::Raw| serde_json::from_str::<IgnoredAny>(body.as_str()).is_ok();
                    assert!(call.body.as_ref().is_none_or(json), "{told}: {call:?}");
                    assert!(calls.iter().all(|other| other.id != call.id), "{told}: an id is used once");
                    calls.push(call);
                    called += 1;
                }
                Output::Event { event, .. } => {
                    asks += usize::from(matches!(event, AgentEvent::AskOpened(_)));
                    understood += 1;
                    noted(event, &mut open, &told);
                }
                Output::Launch(_) | Output::Stop | Output::Undeliverable { .. } => {}
                Output::Lines(lines) => panic!("{told}: OpenCode reads no lines: {lines:?}"),
                Output::Found(found) => panic!("{told}: it has one session: {found:?}"),
            }
        }
    }
    // Enough mutated input must still be valid to exercise the translator.
    let enough = cases / 200;
    assert!(asks > enough && called > enough && understood > enough, "{asks} asks, {called} calls, {understood} events");
}
