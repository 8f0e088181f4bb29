//! The mock's script: a pure function of the prompt and the outcomes so far.

use std::time::Duration;

use sayso_core::limits;
use serde::{Deserialize, Serialize};

use super::asks::MockAsk;

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
    does: ScriptAction,
    /// The number of rounds.
    times: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum ScriptAction {
    Ask(MockAsk),
    Parallel,
    Withdraw,
    Crash,
    Slow,
    Echo(String),
}

/// The keywords, longest first. Among keywords of equal length, those that modify a question precede the others, so
/// that "withdraw the question" withdraws.
const WORDS: [(&str, ScriptAction); 12] = [
    ("questions", ScriptAction::Ask(MockAsk::Three)),
    ("parallel", ScriptAction::Parallel),
    ("withdraw", ScriptAction::Withdraw),
    ("question", ScriptAction::Ask(MockAsk::Database)),
    ("approve", ScriptAction::Ask(MockAsk::Command)),
    ("deploy", ScriptAction::Ask(MockAsk::Script)),
    ("secret", ScriptAction::Ask(MockAsk::Secret)),
    ("crash", ScriptAction::Crash),
    ("form", ScriptAction::Ask(MockAsk::Form)),
    ("link", ScriptAction::Ask(MockAsk::Link)),
    ("plan", ScriptAction::Ask(MockAsk::Plan)),
    ("slow", ScriptAction::Slow),
];

/// Progress of the turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct TurnProgress {
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
        shapes: &'static [MockAsk],
        then: FollowUp,
    },
    /// Send this message and end the turn.
    Say(String),
    /// Stream [`SLOW`] piece by piece and end the turn.
    Stream,
}

/// What happens after the asks are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FollowUp {
    Wait,
    TakeBack,
    Die,
}

impl Script {
    pub(crate) fn of(prompt: &str) -> Self {
        let words: Vec<&str> = prompt.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
        let found = WORDS.into_iter().find(|(word, _)| words.iter().any(|said| said.eq_ignore_ascii_case(word)));
        let does = found.map_or_else(|| ScriptAction::Echo(prompt.to_owned()), |(_, does)| does);
        let times = match does {
            ScriptAction::Ask(_) | ScriptAction::Parallel => times(&words).unwrap_or(1),
            ScriptAction::Withdraw | ScriptAction::Crash | ScriptAction::Slow | ScriptAction::Echo(_) => 1,
        };
        Self { does, times }
    }

    /// The message before the first ask.
    pub(crate) const fn lead(&self) -> &'static str {
        match self.does {
            ScriptAction::Ask(MockAsk::Database | MockAsk::TestRunner) => "I can add this feature. One thing is open.",
            ScriptAction::Ask(MockAsk::Three) => "Before I write the tests I need three answers.",
            ScriptAction::Ask(MockAsk::Command) => "I would like to see whether the tests pass.",
            ScriptAction::Ask(MockAsk::Script) => "Everything is ready to be deployed.",
            ScriptAction::Ask(MockAsk::Plan) => "I have read the code and made a plan.",
            ScriptAction::Ask(MockAsk::Form) => "I need a few details about the service.",
            ScriptAction::Ask(MockAsk::Secret) => "The registry wants me to sign in.",
            ScriptAction::Ask(MockAsk::Link) => "The sign-in happens in your browser.",
            ScriptAction::Parallel => "Three things at once.",
            ScriptAction::Withdraw => "I have a question, but I may find the answer myself.",
            ScriptAction::Crash => "I have a question, and then I crash.",
            ScriptAction::Slow | ScriptAction::Echo(_) => "",
        }
    }

    /// The next step after these outcomes.
    pub(crate) fn next(&self, so_far: &TurnProgress) -> Step {
        let (shapes, then): (&'static [MockAsk], FollowUp) = match &self.does {
            ScriptAction::Slow => return Step::Stream,
            ScriptAction::Echo(prompt) if prompt.trim().is_empty() => return Step::Say("You said nothing.".to_owned()),
            ScriptAction::Echo(prompt) => return Step::Say(prompt.clone()),
            ScriptAction::Ask(shape) => (alone(*shape), FollowUp::Wait),
            ScriptAction::Parallel => (&[MockAsk::Database, MockAsk::Command, MockAsk::TestRunner], FollowUp::Wait),
            ScriptAction::Withdraw => (&[MockAsk::Database], FollowUp::TakeBack),
            ScriptAction::Crash => (&[MockAsk::Database], FollowUp::Die),
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

const fn alone(shape: MockAsk) -> &'static [MockAsk] {
    match shape {
        MockAsk::Database => &[MockAsk::Database],
        MockAsk::TestRunner => &[MockAsk::TestRunner],
        MockAsk::Three => &[MockAsk::Three],
        MockAsk::Command => &[MockAsk::Command],
        MockAsk::Script => &[MockAsk::Script],
        MockAsk::Plan => &[MockAsk::Plan],
        MockAsk::Form => &[MockAsk::Form],
        MockAsk::Secret => &[MockAsk::Secret],
        MockAsk::Link => &[MockAsk::Link],
    }
}

fn summary(so_far: &TurnProgress) -> String {
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

    fn does(prompt: &str) -> ScriptAction {
        Script::of(prompt).does
    }

    #[test]
    fn longest_whole_word_selects_the_script() {
        assert_eq!(does("ask me a question"), ScriptAction::Ask(MockAsk::Database));
        assert_eq!(does("QUESTION!"), ScriptAction::Ask(MockAsk::Database));
        assert_eq!(does("a question, no: Questions"), ScriptAction::Ask(MockAsk::Three));
        assert_eq!(does("plan a question and approve it"), ScriptAction::Ask(MockAsk::Database));
        assert_eq!(does("withdraw the question"), ScriptAction::Withdraw);
        assert_eq!(does("question them in parallel"), ScriptAction::Parallel);
        for echoed in ["questionable", "my_question", "disapprove", "planned links", "", "Fragen"] {
            assert_eq!(does(echoed), ScriptAction::Echo(echoed.to_owned()));
        }
    }

    #[test]
    fn every_keyword_is_reachable() {
        for (word, wanted) in WORDS {
            assert_eq!(does(&format!("please: {}.", word.to_uppercase())), wanted);
        }
        assert!(WORDS.windows(2).all(|pair| pair[0].0.len() >= pair[1].0.len()), "longest first");
    }

    #[test]
    fn number_before_times_sets_the_rounds() {
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
    fn script_ends_after_its_rounds() {
        let script = Script::of("question 2 times");
        let ask = |lead| Step::Ask { lead, shapes: &[MockAsk::Database], then: FollowUp::Wait };
        let mut so_far = TurnProgress::default();
        assert_eq!(script.next(&so_far), ask(Some("I can add this feature. One thing is open.")));
        so_far = TurnProgress { rounds: 1, enough: false, received: vec!["A".into()] };
        assert_eq!(script.next(&so_far), ask(None));
        assert_eq!(script.next(&TurnProgress { enough: true, ..so_far.clone() }), Step::Say("A".into()));
        so_far.rounds = 2;
        assert_eq!(script.next(&so_far), Step::Say("Asked 2 times. The last time: A".into()));
    }

    #[test]
    fn chunks_join_to_the_text_and_are_limited() {
        for text in ["", "short", "Grüße aus Köln, ein längerer Satz", &"x".repeat(100_000), &"ä b ".repeat(30_000), SLOW] {
            let pieces = pieces(text);
            assert_eq!(pieces.concat(), text);
            assert!(pieces.len() <= 130 && pieces.iter().all(|piece| !piece.is_empty()), "{}", pieces.len());
        }
        assert_eq!(pieces("fix the tests please"), ["fix the tests ", "please"]);
    }
}
