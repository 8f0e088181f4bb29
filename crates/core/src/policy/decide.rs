//! The entry point of the policy: decides an ask, or leaves it to a person.

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

/// The ask to decide, with the facts about it.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    pub agent: &'a str,
    /// The absolute path of the project.
    pub project: Option<&'a str>,
    /// The absolute path of the home directory.
    pub home: Option<&'a str>,
    pub body: &'a AskBody,
    /// Whether the ask belongs to a workflow step.
    pub step: bool,
    /// The facts about the paths of the ask, if the server read the disk.
    pub disk: Option<&'a DiskFacts>,
}

/// The result of the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Verdict {
    /// The policy decided the ask.
    Decided {
        decision: Decision,
        /// The name of the rule or setting that decided.
        rule: String,
        /// The keys of the rules that decided. Empty if a setting decided.
        hits: Vec<String>,
    },
    Person(PolicyNote),
}

/// Decides an ask, or leaves it to a person. The function is deterministic, and its time is bounded for any content.
#[must_use]
pub fn decide(set: &PolicySet, subject: &Subject<'_>, now: Time) -> Verdict {
    decide_with_trace(set, subject, now, None)
}

/// Like [`decide`], and records the result of every rule in `seen`.
pub(super) fn decide_with_trace(
    set: &PolicySet,
    subject: &Subject<'_>,
    now: Time,
    seen: Option<&mut Vec<Considered>>,
) -> Verdict {
    let prepared = PreparedAsk::at(subject, now, set.claims);
    let settings = Settings::of(set, subject.step, now);
    match subject.body {
        AskBody::Question { questions } => questions::decide(set, &settings, questions, &prepared, seen),
        AskBody::Approval(_) | AskBody::Link(_) => approvals::decide(set, &settings, &prepared, seen),
    }
}

/// Returns the decision at a deadline that no person met.
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

/// Returns the message of a rule or setting, or the default if it has none or an empty one. The agent reads it.
pub(super) fn message_or(own: Option<&String>, default: &str) -> String {
    own.filter(|own| !own.trim().is_empty()).map_or_else(|| default.to_owned(), Clone::clone)
}

/// Formats a part of an ask for a sentence: one line, shortened, between backticks.
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
