//! Explains why a policy decides as it does, with the result of every rule.

use serde::Serialize;

use super::decide::{Subject, Verdict, decide_with_trace};
use super::guard;
use super::model::{ApprovalPolicy, Effect, QuestionPolicy};
use super::rules::{MismatchReason, PreparedAsk, PreparedQuestion, Rule};
use super::scopes::{PolicySet, Scope};
use super::settings::Settings;
use crate::ask::{AskBody, Claims};
use crate::time::Time;

/// The result of one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Considered {
    pub scope: Scope,
    pub name: String,
    pub effect: Effect,
    /// Whether the rule matches. For an `allow` rule for commands: whether it covers at least one of them.
    pub matched: bool,
    /// Why the rule does not match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<&'static str>,
}

impl Considered {
    pub(super) fn of(scope: Scope, rule: &Rule, fit: Result<(), MismatchReason>) -> Self {
        Self { scope, name: rule.label(scope), effect: rule.effect(), matched: fit.is_ok(), why_not: fit.err() }
    }

    pub(super) fn built_in(guarded: Option<&'static str>) -> Self {
        let why_not = if guarded.is_some() { None } else { Some("it does not touch Sayso") };
        Self { scope: Scope::BuiltIn, name: guard::NAME.to_owned(), effect: Effect::Ask, matched: guarded.is_some(), why_not }
    }
}

/// The decision of a policy about an ask, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    #[serde(flatten)]
    pub verdict: Verdict,
    /// All rules, the nearest scope first.
    pub considered: Vec<Considered>,
    /// The default for questions.
    pub questions: QuestionPolicy,
    /// The default for approvals.
    pub approvals: ApprovalPolicy,
    pub fingerprint: String,
}

/// Decides an ask like [`decide`](super::decide), and explains why.
#[must_use]
pub fn explain(set: &PolicySet, subject: &Subject<'_>, now: Time) -> Explanation {
    let mut considered = Vec::new();
    let verdict = decide_with_trace(set, subject, now, Some(&mut considered));
    let settings = Settings::of(set, subject.step, now);
    Explanation {
        verdict,
        considered,
        questions: settings.questions,
        approvals: settings.approvals,
        fingerprint: set.fingerprint(),
    }
}

/// Whether a single rule would decide an ask, to test a new rule with past asks. An `allow` rule has to cover every command of
/// a line, and an answer rule every question.
#[must_use]
pub fn matches_ask(rule: &Rule, subject: &Subject<'_>, now: Time) -> bool {
    let prepared = PreparedAsk::at(subject, now, Claims::default());
    match (rule.effect(), subject.body) {
        (Effect::Deny | Effect::Ask, AskBody::Approval(_) | AskBody::Link(_)) => {
            rule.matches_context(&prepared).is_ok() && rule.matches_broadly(&prepared).is_ok()
        }
        (Effect::Ask, AskBody::Question { questions }) => {
            rule.matches_context(&prepared).is_ok()
                && questions.iter().any(|question| rule.matches_question(&PreparedQuestion::of(question)).is_ok())
        }
        (Effect::Allow | Effect::Answer | Effect::Reject | Effect::Deny, _) => {
            matches!(decide_with_trace(&PolicySet::of_one(rule), subject, now, None), Verdict::Decided { rule: decided, .. } if decided == rule.label(Scope::User))
        }
    }
}
