//! The mock's script: a pure function of the prompt and the outcomes so far.

use std::time::Duration;

use sayso_core::limits;
use serde::{Deserialize, Serialize};

use super::asks::Shape;

/// How long `withdraw` keeps its question open.
pub(crate) const TAKE_BACK_AFTER: Duration = Duration::from_secs(1);
/// The interval between two pieces of `slow`.
pub(crate) const PIECE_EVERY: Duration = Duration::from_millis(50);
/// The message of `slow`.
pub(crate) const SLOW: &str = "This message streams slowly, one word every fifty milliseconds, so that you can watch it arrive.";
/// Maximum number for `N times`.
const TIMES: u32 = 1_000_000;

/// The parsed prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Script {
    does: Does,
    /// The number of rounds.
    times: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Does {
    Ask(Shape),
    Parallel,
    Withdraw,
    Crash,
    Slow,
    Echo(String),
}

/// The keywords, longest first. Among keywords of equal length, those that modify a question precede the others, so
/// that "withdraw the question" withdraws.
const WORDS: [(&str, Does); 12] = [
    ("questions", Does::Ask(Shape::Three)),
    ("parallel", Does::Parallel),
    ("withdraw", Does::Withdraw),
    ("question", Does::Ask(Shape::Database)),
    ("approve", Does::Ask(Shape::Command)),
    ("deploy", Does::Ask(Shape::Script)),
    ("secret", Does::Ask(Shape::Secret)),
    ("crash", Does::Crash),
    ("form", Does::Ask(Shape::Form)),
    ("link", Does::Ask(Shape::Link)),
    ("plan", Does::Ask(Shape::Plan)),
    ("slow", Does::Slow),
];

/// Progress of the turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SoFar {
    /// The number of finished rounds.
    pub(crate) rounds: u32,
    /// Whether no more asks are allowed.
    pub(crate) enough: bool,
    /// The replies to the outcomes of the last round, in the order of its asks. Earlier rounds are only counted,
    /// because this state is saved at every step and must stay small.
    pub(crate) received: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Open all of these asks.
    Ask {
        /// The message before the asks; only in the first round.
        lead: Option<&'static str>,
        shapes: &'static [Shape],
        then: Then,
    },
    /// Send this message and end the turn.
    Say(String),
    /// Stream [`SLOW`] piece by piece and end the turn.
    Stream,
}

/// What happens after the asks are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Wait,
    TakeBack,
    Die,
}

impl Script {
    pub(crate) fn of(prompt: &str) -> Self {
        let words: Vec<&str> = prompt.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
        let found = WORDS.into_iter().find(|(word, _)| words.iter().any(|said| said.eq_ignore_ascii_case(word)));
        let does = found.map_or_else(|| Does::Echo(prompt.to_owned()), |(_, does)| does);
        let times = match does {
            Does::Ask(_) | Does::Parallel => times(&words).unwrap_or(1),
            Does::Withdraw | Does::Crash | Does::Slow | Does::Echo(_) => 1,
        };
        Self { does, times }
    }

    /// The message before the first ask.
    pub(crate) const fn lead(&self) -> &'static str {
        match self.does {
            Does::Ask(Shape::Database | Shape::TestRunner) => "I can add this feature. One thing is open.",
            Does::Ask(Shape::Three) => "Before I write the tests I need three answers.",
            Does::Ask(Shape::Command) => "I would like to see whether the tests pass.",
            Does::Ask(Shape::Script) => "Everything is ready to be deployed.",
            Does::Ask(Shape::Plan) => "I have read the code and made a plan.",
            Does::Ask(Shape::Form) => "I need a few details about the service.",
            Does::Ask(Shape::Secret) => "The registry wants me to sign in.",
            Does::Ask(Shape::Link) => "The sign-in happens in your browser.",
            Does::Parallel => "Three things at once.",
            Does::Withdraw => "I have a question, but I may find the answer myself.",
            Does::Crash => "I have a question, and then I crash.",
            Does::Slow | Does::Echo(_) => "",
        }
    }

    /// The next step after these outcomes.
    pub(crate) fn next(&self, so_far: &SoFar) -> Step {
        let (shapes, then): (&'static [Shape], Then) = match &self.does {
            Does::Slow => return Step::Stream,
            Does::Echo(prompt) if prompt.trim().is_empty() => return Step::Say("You said nothing.".to_owned()),
            Does::Echo(prompt) => return Step::Say(prompt.clone()),
            Does::Ask(shape) => (alone(*shape), Then::Wait),
            Does::Parallel => (&[Shape::Database, Shape::Command, Shape::TestRunner], Then::Wait),
            Does::Withdraw => (&[Shape::Database], Then::TakeBack),
            Does::Crash => (&[Shape::Database], Then::Die),
        };
        if so_far.rounds >= self.times || so_far.enough {
            return Step::Say(summary(so_far));
        }
        Step::Ask { lead: (so_far.rounds == 0).then(|| self.lead()), shapes, then }
    }
}

/// A whole number directly before the word `times`.
fn times(words: &[&str]) -> Option<u32> {
    words
        .windows(2)
        .filter(|pair| pair[1].eq_ignore_ascii_case("times"))
        .find_map(|pair| pair[0].parse().ok().filter(|times| (1..=TIMES).contains(times)))
}

const fn alone(shape: Shape) -> &'static [Shape] {
    match shape {
        Shape::Database => &[Shape::Database],
        Shape::TestRunner => &[Shape::TestRunner],
        Shape::Three => &[Shape::Three],
        Shape::Command => &[Shape::Command],
        Shape::Script => &[Shape::Script],
        Shape::Plan => &[Shape::Plan],
        Shape::Form => &[Shape::Form],
        Shape::Secret => &[Shape::Secret],
        Shape::Link => &[Shape::Link],
    }
}

fn summary(so_far: &SoFar) -> String {
    let received = so_far.received.join("\n");
    if so_far.rounds > 1 { format!("Asked {} times. The last time: {received}", so_far.rounds) } else { received }
}

/// Splits a text into stream chunks: after spaces if possible, and into a limited number of chunks for any length.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    let size = text.len().div_ceil(64).max(16);
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > size {
        let head = limits::head(rest, size);
        let cut = head.rfind([' ', '\n']).map_or(head.len(), |space| space + 1);
        let (piece, after) = rest.split_at(cut);
        pieces.push(piece);
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn does(prompt: &str) -> Does {
        Script::of(prompt).does
    }

    #[test]
    fn the_longest_whole_word_decides() {
        assert_eq!(does("ask me a question"), Does::Ask(Shape::Database));
        assert_eq!(does("QUESTION!"), Does::Ask(Shape::Database));
        assert_eq!(does("a question, no: Questions"), Does::Ask(Shape::Three));
        assert_eq!(does("plan a question and approve it"), Does::Ask(Shape::Database));
        assert_eq!(does("withdraw the question"), Does::Withdraw);
        assert_eq!(does("question them in parallel"), Does::Parallel);
        for echoed in ["questionable", "my_question", "disapprove", "planned links", "", "Fragen"] {
            assert_eq!(does(echoed), Does::Echo(echoed.to_owned()));
        }
    }

    #[test]
    fn every_word_is_reached() {
        for (word, wanted) in WORDS {
            assert_eq!(does(&format!("please: {}.", word.to_uppercase())), wanted);
        }
        assert!(WORDS.windows(2).all(|pair| pair[0].0.len() >= pair[1].0.len()), "longest first");
    }

    #[test]
    fn a_number_before_times_repeats() {
        for (prompt, times) in [
            ("question 500 times", 500),
            ("question 1000000 TIMES", 1_000_000),
            ("question 1000001 times", 1),
            ("question 0 times", 1),
            ("question many times, 3 times", 3),
            ("question 5", 1),
            ("times question 5", 1),
            ("withdraw 5 times", 1),
        ] {
            assert_eq!(Script::of(prompt).times, times, "{prompt}");
        }
    }

    #[test]
    fn rounds_are_counted_and_end() {
        let script = Script::of("question 2 times");
        let ask = |lead| Step::Ask { lead, shapes: &[Shape::Database], then: Then::Wait };
        let mut so_far = SoFar::default();
        assert_eq!(script.next(&so_far), ask(Some("I can add this feature. One thing is open.")));
        so_far = SoFar { rounds: 1, enough: false, received: vec!["A".into()] };
        assert_eq!(script.next(&so_far), ask(None));
        assert_eq!(script.next(&SoFar { enough: true, ..so_far.clone() }), Step::Say("A".into()));
        so_far.rounds = 2;
        assert_eq!(script.next(&so_far), Step::Say("Asked 2 times. The last time: A".into()));
    }

    #[test]
    fn pieces_join_to_the_text_and_are_few() {
        for text in ["", "short", "Grüße aus Köln, ein längerer Satz", &"x".repeat(100_000), &"ä b ".repeat(30_000), SLOW] {
            let pieces = pieces(text);
            assert_eq!(pieces.concat(), text);
            assert!(pieces.len() <= 130 && pieces.iter().all(|piece| !piece.is_empty()), "{}", pieces.len());
        }
        assert_eq!(pieces("fix the tests please"), ["fix the tests ", "please"]);
    }
}
