//! The one decision: by policy, or by a person.

use serde::Serialize;

use super::disk_facts::DiskFacts;
use super::explain::Considered;
use super::model::OnTimeout;
use super::rules::PreparedAsk;
use super::scopes::PolicySet;
use super::settings::Settings;
use super::{approvals, questions};
use crate::ask::{AskBody, Deadline, Decision, PolicyNote, first_options};
use crate::limits;
use crate::texts;
use crate::time::Time;

/// What is decided on.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The agent's configured name.
    pub agent: &'a str,
    /// The session's project, absolute.
    pub project: Option<&'a str>,
    /// The person's home directory, absolute.
    pub home: Option<&'a str>,
    /// What is asked.
    pub body: &'a AskBody,
    /// Whether a workflow step asks.
    pub step: bool,
    /// What the disk says about the paths of the ask, if it was read.
    pub disk: Option<&'a DiskFacts>,
}

/// What the policy says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Verdict {
    /// It is decided.
    Decided {
        /// The decision.
        decision: Decision,
        /// The rule, or the setting, that decided.
        rule: String,
        /// The keys of the rules that decided; empty if it was a setting.
        hits: Vec<String>,
    },
    /// A person decides.
    Person(PolicyNote),
}

/// Decides an ask, or leaves it to a person. Deterministic, and quick whatever the ask holds.
#[must_use]
pub fn decide(set: &PolicySet, subject: &Subject<'_>, now: Time) -> Verdict {
    decide_seeing(set, subject, now, None)
}

/// The same, telling how every rule fared.
pub(super) fn decide_seeing(set: &PolicySet, subject: &Subject<'_>, now: Time, seen: Option<&mut Vec<Considered>>) -> Verdict {
    let look = PreparedAsk::at(subject, now, set.claims);
    let settings = Settings::of(set, subject.step, now);
    match subject.body {
        AskBody::Question { questions } => questions::decide(set, &settings, questions, &look, seen),
        AskBody::Approval(_) | AskBody::Link(_) => approvals::decide(set, &settings, &look, seen),
    }
}

/// What a deadline does when nobody came.
#[must_use]
pub fn timed_out(body: &AskBody, deadline: &Deadline) -> Decision {
    let after = deadline.after.0;
    match body {
        AskBody::Question { questions } => {
            let first = match deadline.then {
                OnTimeout::AcceptFirst => first_options(questions).filter(|answers| !answers.is_empty()),
                OnTimeout::Reject | OnTimeout::Deny => None,
            };
            match first {
                Some(answers) => Decision::Answered { answers, note: None },
                None => Decision::Rejected { message: texts::question_timed_out(after), stop: false },
            }
        }
        AskBody::Approval(_) | AskBody::Link(_) => Decision::Denied { message: texts::approval_timed_out(after), stop: false },
    }
}

/// A piece of an ask inside a sentence: on one line, shortened, between backticks.
pub(super) fn quoted(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let head = limits::head(&line, 80);
    if head.len() < line.len() { format!("`{}…`", head.trim_end()) } else { format!("`{line}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_on_one_line_and_shortened() {
        assert_eq!(quoted("a\n  b\tc "), "`a b c`");
        let fits = "x".repeat(80);
        assert_eq!(quoted(&fits), format!("`{fits}`"));
        assert_eq!(quoted(&format!("{fits}y")), format!("`{fits}…`"));
        assert_eq!(quoted(&format!("{} y", "x".repeat(79))), format!("`{}…`", "x".repeat(79)));
    }
}
