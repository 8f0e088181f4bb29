//! Properties of the mock that hold for any input.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;
use sayso_agents::mock::MockTranslator;
use sayso_agents::translator::{AgentEvent, Command, Input, Output, Translator};
use sayso_core::ask::Decision;
use sayso_core::raw::Raw;
use sayso_core::time::Time;

use crate::mock::{outcome, prompt, session, start};

const SECRET: &str = "s3cr3t-value-7f1c";

#[derive(Debug, Clone)]
enum Act {
    Start(Option<String>, String, bool),
    Prompt(String),
    /// For the n-th latest ask; larger numbers address an unknown ask.
    Outcome(usize, Decision),
    Interrupt,
    Close,
    Wait(u64),
    Line(String),
}

fn text() -> impl Strategy<Value = String> {
    let words = [
        "question",
        "questions",
        "approve",
        "plan",
        "form",
        "secret",
        "link",
        "parallel",
        "withdraw",
        "crash",
        "slow",
        "hello",
        "question 3 times",
        "approve 2 times",
        "parallel 2 times",
        "secret 2 times",
    ];
    prop_oneof![9 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned), 1 => any::<String>()]
}

fn decision() -> impl Strategy<Value = Decision> {
    let entries = proptest::collection::vec(prop_oneof![Just(SECRET.to_owned()), "[a-zä]{0,8}"], 0..3);
    let answers = proptest::collection::vec(entries, 0..5);
    prop_oneof![
        3 => (answers, proptest::option::of("[a-z]{0,5}")).prop_map(|(answers, note)| Decision::Answered { answers, note }),
        2 => (proptest::option::of(Just("always".to_owned())), any::<bool>()).prop_map(|(choice, edited)| Decision::Approved {
            choice,
            input: edited.then(|| Raw::of(&serde_json::json!({ "command": "ls" }))),
        }),
        1 => ("[a-z]{0,5}", any::<bool>()).prop_map(|(message, stop)| Decision::Rejected { message, stop }),
        1 => ("[a-z]{0,5}", any::<bool>()).prop_map(|(message, stop)| Decision::Denied { message, stop }),
        1 => "[a-z]{0,5}".prop_map(|reason| Decision::Withdrawn { reason }),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let mode = proptest::sample::select(vec!["default", "default", "plan", "bypassPermissions", "dontAsk"]);
    prop_oneof![
        1 => (proptest::option::of(text()), mode, proptest::bool::weighted(0.9))
            .prop_map(|(prompt, mode, questions)| Act::Start(prompt, mode.to_owned(), questions)),
        4 => text().prop_map(Act::Prompt),
        8 => (0..4_usize, decision()).prop_map(|(back, decision)| Act::Outcome(back, decision)),
        1 => Just(Act::Interrupt),
        1 => Just(Act::Close),
        4 => proptest::sample::select(vec![0, 50, 1_000]).prop_map(Act::Wait),
        1 => any::<String>().prop_map(Act::Line),
    ]
}

/// A mock, and a second one that is restored from the saved state before every input.
struct Twin {
    mock: MockTranslator,
    now: Time,
    opened: Vec<String>,
}

impl Twin {
    fn input(&mut self, act: Act) -> Input {
        Input::Command(match act {
            Act::Start(text, mode, questions) => start(text.as_deref(), &mode, questions),
            Act::Prompt(text) => prompt(&text),
            Act::Outcome(back, decision) => {
                let native = self.opened.iter().rev().nth(back).map_or("req-0", String::as_str);
                outcome(native, decision)
            }
            Act::Interrupt => Command::Interrupt { session: session() },
            Act::Close => Command::Close { session: session() },
            Act::Wait(millis) => {
                self.now = self.now.plus(Duration::from_millis(millis));
                return Input::Tick;
            }
            Act::Line(line) => return Input::Line(line),
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn restored_mock_behaves_identically(acts in proptest::collection::vec(act(), 1..40)) {
        let mut twin = Twin { mock: MockTranslator::new(), now: Time::from_millis(1_700_000_000_000), opened: Vec::new() };
        let mut ever = BTreeSet::new();
        let mut open = BTreeSet::new();
        let mut running = false;
        for act in acts {
            let input = twin.input(act);
            let mut restored = MockTranslator::restore(&twin.mock.save()).expect("its own state");
            let outputs = twin.mock.handle(twin.now, input.clone());
            prop_assert_eq!(&outputs, &restored.handle(twin.now, input.clone()));
            prop_assert_eq!(twin.mock.deadline(), restored.deadline());
            prop_assert_eq!(twin.mock.save(), restored.save());

            // Only an open ask accepts an outcome, and only once.
            if let Input::Command(Command::Outcome { native_id, .. }) = &input {
                let refused = matches!(outputs.as_slice(), [Output::Undeliverable { .. }]);
                prop_assert_eq!(open.remove(native_id), !refused);
            }
            for output in outputs {
                let Output::Event { event, .. } = output else { continue };
                match event {
                    AgentEvent::TurnStarted => {
                        prop_assert!(!running);
                        running = true;
                    }
                    AgentEvent::TurnEnded => {
                        prop_assert!(open.is_empty(), "a turn ends with nothing open");
                        running = false;
                    }
                    AgentEvent::AskOpened(ask) => {
                        prop_assert!(running && ever.insert(ask.native_id.clone()), "ids are given once");
                        open.insert(ask.native_id.clone());
                        twin.opened.push(ask.native_id);
                    }
                    AgentEvent::AskWithdrawn { native_id, .. } => prop_assert!(open.remove(&native_id)),
                    AgentEvent::Ended { failed, .. } => {
                        // Only the crash leaves open asks behind; the agent no longer knows them.
                        prop_assert!(failed || open.is_empty());
                        open.clear();
                        running = false;
                    }
                    _ => prop_assert!(running || matches!(event, AgentEvent::Error(_))),
                }
            }
        }
    }

    #[test]
    fn secret_is_neither_saved_nor_repeated(
        before in proptest::collection::vec(text(), 0..3),
        note in proptest::option::of("[a-z]{1,5}"),
        rounds in 1..4_u32,
    ) {
        let mut mock = MockTranslator::new();
        let now = Time::from_millis(0);
        mock.handle(now, Input::Command(start(Some(&format!("secret {rounds} times")), "default", true)));
        for text in before {
            mock.handle(now, Input::Command(prompt(&text)));
        }
        for round in 1..=rounds {
            let decision = Decision::Answered { answers: vec![vec![SECRET.to_owned()]], note: note.clone() };
            let outputs = mock.handle(now, Input::Command(outcome(&format!("req-{round}"), decision)));
            prop_assert!(!format!("{:?}", outputs).contains(SECRET), "said");
            prop_assert!(!mock.save().state.as_str().contains(SECRET));
            prop_assert!(!format!("{:?}", mock).contains(SECRET), "kept");
        }
    }
}
