//! Compares the state machine of an ask with a small model: 100,000 random sequences of valid and invalid commands, on asks of
//! every kind.
//!
//! The model is independent of the code. For every command it predicts whether the command is accepted and what the outcome is,
//! and the test checks that nothing else changes.

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use sayso_core::actor::Actor;
use sayso_core::ask::{
    Action, Approval, Ask, AskBody, AskContext, AskKind, AskState, Choice, Decision, Delivery, Input, Link, MASK, Origin,
    OutcomeStatus, PolicyNote, Question, QuestionOption, Reach, Refused, resolve,
};
use sayso_core::id::{AskId, TokenId};
use sayso_core::raw::Raw;
use sayso_core::time::Time;

/// The number of random sequences.
const SEQUENCES: u32 = 100_000;
/// The text that is typed into secret fields. No other value contains it.
const SECRET: &str = "hunter2-of-the-model";

/// The answers that a question accepts, according to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    OneOption,
    OneOptionOrOwn,
    Options,
    OptionsAndOwn,
    Text,
    Secret,
    Port,
    YesNo,
    MaybeText,
}

const SHAPES: [Shape; 9] = [
    Shape::OneOption,
    Shape::OneOptionOrOwn,
    Shape::Options,
    Shape::OptionsAndOwn,
    Shape::Text,
    Shape::Secret,
    Shape::Port,
    Shape::YesNo,
    Shape::MaybeText,
];

/// Possible entries. The options are A, B (which the agent recommends) and C.
const ENTRIES: [&str; 12] =
    ["A", "B", "B (Recommended)", "C", "", "  ", "8080", "0", "1.5", "yes", SECRET, "something of my own"];

impl Shape {
    fn question(self, index: usize) -> Question {
        let choice = |multiple, custom| {
            let options = ["A", "B (Recommended)", "C"].map(|label| QuestionOption::new(label, None)).to_vec();
            Input::Choice { options, multiple, custom }
        };
        let input = match self {
            Self::OneOption => choice(false, false),
            Self::OneOptionOrOwn => choice(false, true),
            Self::Options => choice(true, false),
            Self::OptionsAndOwn => choice(true, true),
            Self::Text | Self::MaybeText => Input::Text { secret: false },
            Self::Secret => Input::Text { secret: true },
            Self::Port => Input::Number { minimum: Some(1.0), maximum: Some(65_535.0), integer: true },
            Self::YesNo => Input::YesNo,
        };
        Question {
            key: index.to_string(),
            header: None,
            text: format!("{self:?}?"),
            input,
            required: self != Self::MaybeText,
            response_schema: None,
        }
    }

    /// Returns what the agent gets for these entries, or `None` if they are invalid.
    fn takes(self, entries: &[&'static str]) -> Option<Vec<&'static str>> {
        let said: Vec<&'static str> = entries.iter().copied().filter(|entry| !entry.trim().is_empty()).collect();
        let one = |fits: fn(&str) -> Option<&'static str>| match said[..] {
            [only] => fits(only).map(|value| vec![value]),
            _ => None,
        };
        if said.is_empty() {
            return (self == Self::MaybeText).then(Vec::new);
        }
        match self {
            Self::OneOption => one(option),
            Self::OneOptionOrOwn => (said.len() == 1).then(|| vec![option(said[0]).unwrap_or(said[0])]),
            Self::Options | Self::OptionsAndOwn => {
                let mut chosen = Vec::new();
                let mut own = Vec::new();
                for entry in said {
                    match option(entry) {
                        Some(value) if chosen.contains(&value) => {}
                        Some(value) => chosen.push(value),
                        None => own.push(entry),
                    }
                }
                let fits = if self == Self::Options { own.is_empty() } else { own.len() <= 1 };
                chosen.extend(own);
                fits.then_some(chosen)
            }
            Self::Text | Self::Secret | Self::MaybeText => (said.len() == 1).then_some(said),
            Self::Port => one(|entry| (entry == "8080").then_some("8080")),
            Self::YesNo => one(|entry| (entry == "yes").then_some("true")),
        }
    }
}

/// Returns the option that an entry names.
fn option(entry: &str) -> Option<&'static str> {
    match entry {
        "A" => Some("A"),
        "B" | "B (Recommended)" => Some("B (Recommended)"),
        "C" => Some("C"),
        _ => None,
    }
}

#[derive(Debug, Clone)]
enum AskShape {
    Questions(Vec<Shape>),
    Tool { editable: bool },
    Link,
}

#[derive(Debug, Clone)]
enum Command {
    Answer(Vec<Vec<&'static str>>),
    Reject,
    Approve { choice: Option<&'static str>, input: bool },
    Deny,
    Withdraw,
    Park,
    Revive,
    Report(Delivery),
}

/// The state of the ask according to the model.
#[derive(Debug, Clone, PartialEq)]
enum Model {
    Live,
    Parked,
    Done { status: OutcomeStatus, by: u8, delivery: Delivery },
}

/// Derives all parts of a command from one number, so that sequences are quick to generate and to shrink.
fn command(which: u8, mut dice: u64, asked: &AskShape) -> Command {
    let mut roll = |sides: u64| {
        let rolled = dice % sides;
        dice /= sides;
        usize::try_from(rolled).unwrap_or(0)
    };
    match which {
        0..=3 => {
            let questions = match asked {
                AskShape::Questions(shapes) => shapes.len(),
                AskShape::Tool { .. } | AskShape::Link => 1,
            };
            // Rarely uses one list too few or too many.
            let lists = match roll(12) {
                0 => questions + 1,
                1 => questions - 1,
                _ => questions,
            };
            Command::Answer(
                (0..lists)
                    .map(|_| {
                        let entries = [1, 1, 1, 1, 2, 3, 0][roll(7)];
                        (0..entries).map(|_| ENTRIES[roll(ENTRIES.len() as u64)]).collect()
                    })
                    .collect(),
            )
        }
        4 => Command::Reject,
        5 => Command::Approve { choice: [None, None, Some("always"), Some("sometimes")][roll(4)], input: roll(3) == 0 },
        6 => Command::Deny,
        7 => Command::Withdraw,
        8 => Command::Park,
        9 => Command::Revive,
        _ => Command::Report(match roll(5) {
            0 => Delivery::Queued,
            1 => Delivery::Delivered,
            2 => Delivery::Confirmed,
            3 => Delivery::Withheld,
            _ => Delivery::Undeliverable { reason: "gone".to_owned() },
        }),
    }
}

fn any_ask_shape() -> impl Strategy<Value = AskShape> {
    prop_oneof![
        4 => proptest::collection::vec(0..SHAPES.len(), 1..4).prop_map(|shapes| AskShape::Questions(shapes.into_iter().map(|at| SHAPES[at]).collect())),
        2 => any::<bool>().prop_map(|editable| AskShape::Tool { editable }),
        1 => Just(AskShape::Link),
    ]
}

fn ask(asked: &AskShape) -> Ask {
    let body = match asked {
        AskShape::Questions(shapes) => {
            AskBody::Question { questions: shapes.iter().enumerate().map(|(index, shape)| shape.question(index)).collect() }
        }
        AskShape::Tool { editable } => AskBody::Approval(Approval {
            tool: "Bash".to_owned(),
            action: Action::Other,
            title: "Use Bash".to_owned(),
            input: Raw::of(&()),
            preview: None,
            choices: vec![Choice { id: "always".to_owned(), label: "Always".to_owned() }],
            editable: *editable,
            allowed_decisions: None,
            input_schema: None,
            reason: None,
        }),
        AskShape::Link => AskBody::Link(Link { url: "https://example.com".to_owned(), message: None }),
    };
    Ask {
        id: AskId::new(Time::from_millis(1), [1; 10]),
        origin: Origin { session: None, connection: None, native_id: None, opened_by: None },
        body: body.into(),
        context: AskContext::default().into(),
        policy: PolicyNote::default(),
        opened_at: Time::from_millis(1),
        snoozed_until: None,
        state: AskState::Pending(Reach::Live),
        raw: None,
    }
}

/// Returns whether the model accepts a decision, and what the agent then gets.
fn expect_decision(asked: &AskShape, command: &Command) -> Result<Decision, &'static str> {
    match (asked, command) {
        (_, Command::Withdraw) => Ok(Decision::Withdrawn { reason: "not needed".to_owned() }),
        (AskShape::Questions(shapes), Command::Answer(answers)) => {
            if shapes.len() != answers.len() {
                return Err("answers");
            }
            let taken: Option<Vec<Vec<&str>>> = shapes.iter().zip(answers).map(|(shape, entries)| shape.takes(entries)).collect();
            let answers = taken.ok_or("answers")?;
            Ok(Decision::Answered { answers: owned(&answers), note: None })
        }
        (AskShape::Questions(_), Command::Reject) => Ok(Decision::Rejected { message: "no".to_owned(), stop: false }),
        (AskShape::Tool { .. } | AskShape::Link, Command::Deny) => Ok(Decision::Denied { message: "no".to_owned(), stop: false }),
        (AskShape::Tool { editable }, Command::Approve { choice, input }) => match (choice, input) {
            (Some("sometimes"), _) => Err("choice"),
            (_, true) if !editable => Err("input"),
            _ => Ok(approved(*choice, *input)),
        },
        (AskShape::Link, Command::Approve { choice: None, input: false }) => Ok(approved(None, false)),
        (AskShape::Link, Command::Approve { choice: Some(_), .. }) => Err("choice"),
        (AskShape::Link, Command::Approve { choice: None, input: true }) => Err("input"),
        _ => Err("kind"),
    }
}

fn owned(answers: &[Vec<&str>]) -> Vec<Vec<String>> {
    answers.iter().map(|entries| entries.iter().map(|entry| (*entry).to_owned()).collect()).collect()
}

fn approved(choice: Option<&str>, input: bool) -> Decision {
    Decision::Approved { choice: choice.map(str::to_owned), input: input.then(|| Raw::of(&"other")) }
}

/// Converts a command of the model to a decision of the code.
fn decision(command: &Command) -> Option<Decision> {
    match command {
        Command::Answer(answers) => Some(Decision::Answered { answers: owned(answers), note: None }),
        Command::Reject => Some(Decision::Rejected { message: "no".to_owned(), stop: false }),
        Command::Approve { choice, input } => Some(approved(*choice, *input)),
        Command::Deny => Some(Decision::Denied { message: "no".to_owned(), stop: false }),
        Command::Withdraw => Some(Decision::Withdrawn { reason: "not needed".to_owned() }),
        Command::Park | Command::Revive | Command::Report(_) => None,
    }
}

/// A person with this number in the name.
fn person(number: u8) -> Actor {
    Actor::Person { name: number.to_string(), via: "test".to_owned(), token: TokenId::new(Time::from_millis(0), [number; 10]) }
}

fn check(asked: &AskShape, commands: &[(u8, u64)]) -> Result<(), TestCaseError> {
    let mut ask = ask(asked);
    let mut model = Model::Live;
    for (number, (which, dice)) in (1_u8..).zip(commands) {
        let command = command(*which, *dice, asked);
        let before = ask.clone();
        match decision(&command) {
            Some(wanted) => decide(asked, &command, wanted, number, &mut ask, &mut model)?,
            None => move_on(&command, &mut ask, &mut model)?,
        }
        // No command changes anything but the state.
        prop_assert_eq!(&Ask { state: before.state.clone(), ..ask.clone() }, &before);
        agree(&ask, &model, &command)?;
        // An outcome never changes.
        if let Some(outcome) = before.outcome() {
            prop_assert_eq!(ask.outcome(), Some(outcome));
        }
    }
    Ok(())
}

fn decide(
    asked: &AskShape,
    command: &Command,
    wanted: Decision,
    number: u8,
    ask: &mut Ask,
    model: &mut Model,
) -> Result<(), TestCaseError> {
    let now = Time::from_millis(1).plus(Duration::from_secs(u64::from(number)));
    let result = resolve(ask, wanted, person(number), now);
    if let Model::Done { status, by, .. } = model {
        // A late command fails with the winner's outcome, whatever it contains. The state is checked before the content.
        let Err(Refused::AlreadyResolved(winner)) = result else {
            return Err(TestCaseError::fail(format!("{command:?}: {result:?}")));
        };
        prop_assert_eq!(winner.decision.status(), *status);
        prop_assert_eq!(&winner.by, &person(*by));
        return Ok(());
    }
    match (expect_decision(asked, command), result) {
        (Ok(for_agent), Ok(resolution)) => {
            prop_assert_eq!(&resolution.for_agent, &for_agent);
            prop_assert_eq!((&resolution.outcome.by, resolution.outcome.at), (&person(number), now));
            masked(asked, &resolution.outcome.decision, &for_agent, resolution.secret)?;
            let status = resolution.outcome.decision.status();
            prop_assert_eq!(status, for_agent.status());
            ask.state = AskState::Resolved { outcome: resolution.outcome, delivery: Delivery::Queued };
            *model = Model::Done { status, by: number, delivery: Delivery::Queued };
        }
        (Err(why), Err(refused)) => {
            let kind = match asked {
                AskShape::Questions(_) => AskKind::Question,
                AskShape::Tool { .. } => AskKind::Approval,
                AskShape::Link => AskKind::Link,
            };
            let as_modelled = match why {
                "answers" => matches!(refused, Refused::InvalidAnswers(_)),
                "choice" => matches!(refused, Refused::UnknownChoice(_)),
                "input" => refused == Refused::NotEditable,
                _ => refused == Refused::WrongKind(kind),
            };
            prop_assert!(as_modelled, "{:?}: {} but {:?}", command, why, refused);
        }
        (modelled, real) => return Err(TestCaseError::fail(format!("{asked:?} {command:?}: {modelled:?} but {real:?}"))),
    }
    Ok(())
}

/// Checks that the displayed outcome equals what the agent gets, except for masked secrets.
fn masked(asked: &AskShape, shown: &Decision, for_agent: &Decision, secret: bool) -> Result<(), TestCaseError> {
    let (AskShape::Questions(shapes), Decision::Answered { answers: shown, .. }, Decision::Answered { answers: clear, .. }) =
        (asked, shown, for_agent)
    else {
        prop_assert_eq!(shown, for_agent);
        prop_assert!(!secret);
        return Ok(());
    };
    prop_assert_eq!(secret, shapes.contains(&Shape::Secret));
    for ((shape, shown), clear) in shapes.iter().zip(shown).zip(clear) {
        match shape {
            Shape::Secret => prop_assert_eq!(shown, &vec![MASK.to_owned()]),
            _ => prop_assert_eq!(shown, clear),
        }
    }
    Ok(())
}

fn move_on(command: &Command, ask: &mut Ask, model: &mut Model) -> Result<(), TestCaseError> {
    let real = match command {
        Command::Park => ask.state.park(),
        Command::Revive => ask.state.revive(),
        Command::Report(report) => match (&*model, ask.state.apply_delivery(report.clone())) {
            (Model::Done { .. }, Ok(news)) => news,
            (Model::Live | Model::Parked, Err(_)) => None,
            (model, real) => return Err(TestCaseError::fail(format!("{model:?} {report:?}: {real:?}"))),
        },
        _ => None,
    };
    let modelled = match (&*model, command) {
        (Model::Live, Command::Park) => Some(Model::Parked),
        (Model::Parked, Command::Revive) => Some(Model::Live),
        (Model::Done { status, by, delivery }, Command::Report(report)) => {
            let rank = |delivery: &Delivery| match delivery {
                Delivery::Queued => 0,
                Delivery::Delivered => 1,
                Delivery::Confirmed | Delivery::Withheld | Delivery::Undeliverable { .. } => 2,
            };
            // An outcome that the agent has cannot be withheld any more.
            let late = *report == Delivery::Withheld && *delivery == Delivery::Delivered;
            (rank(report) > rank(delivery) && !late).then(|| Model::Done { status: *status, by: *by, delivery: report.clone() })
        }
        _ => None,
    };
    prop_assert_eq!(real.is_some(), modelled.is_some(), "{:?} on {:?}", command, model);
    if let (Some(real), Some(modelled)) = (real, modelled) {
        ask.state = real;
        *model = modelled;
    }
    Ok(())
}

fn agree(ask: &Ask, model: &Model, after: &Command) -> Result<(), TestCaseError> {
    let same = match (&ask.state, model) {
        (AskState::Pending(Reach::Live), Model::Live) | (AskState::Pending(Reach::Parked), Model::Parked) => true,
        (AskState::Resolved { outcome, delivery }, Model::Done { status, by, delivery: modelled }) => {
            outcome.decision.status() == *status && outcome.by == person(*by) && delivery == modelled
        }
        _ => false,
    };
    prop_assert!(same, "after {:?}: {:?} but {:?}", after, ask.state, model);
    Ok(())
}

#[test]
fn every_sequence_of_commands_matches_the_model() {
    let config = ProptestConfig { cases: SEQUENCES, failure_persistence: None, ..ProptestConfig::default() };
    let sequences = (any_ask_shape(), proptest::collection::vec((0_u8..11, any::<u64>()), 1..12));
    TestRunner::new(config).run(&sequences, |(asked, commands)| check(&asked, &commands)).unwrap();
}

/// Checks that the model both accepts and refuses commands; otherwise the comparison would prove nothing.
#[test]
fn model_accepts_and_refuses_decisions() {
    assert_eq!(Shape::OptionsAndOwn.takes(&["mine", "C", "A", "C"]).unwrap_or_default(), ["C", "A", "mine"]);
    assert_eq!(Shape::OptionsAndOwn.takes(&["8080", "yes"]), None);
    assert_eq!(Shape::OneOption.takes(&["mine"]), None);
    assert_eq!(Shape::Secret.takes(&[" "]), None);
    assert_eq!(Shape::MaybeText.takes(&[""]), Some(Vec::new()));
    assert_eq!(Shape::Port.takes(&["0"]), None);
}

/// Checks that the stored outcome never contains a secret.
#[test]
fn secret_is_not_in_the_stored_outcome() {
    let asked = ask(&AskShape::Questions(vec![Shape::Text, Shape::Secret]));
    let answers = owned(&[vec!["open"], vec![SECRET]]);
    let resolution = resolve(&asked, Decision::Answered { answers, note: None }, person(1), Time::from_millis(2)).unwrap();
    assert!(resolution.secret);
    assert!(!serde_json::to_string(&resolution.outcome).unwrap().contains(SECRET));
    assert!(serde_json::to_string(&resolution.for_agent).unwrap().contains(SECRET));
}
