//! Why a policy decides as it does: every rule with how it fared.

use serde::Serialize;

use super::decide::{Subject, Verdict, decide_seeing};
use super::guard;
use super::model::{ApprovalPolicy, Effect, QuestionPolicy};
use super::rules::{Miss, PreparedAsk, PreparedQuestion, Rule};
use super::scopes::{PolicySet, Scope};
use super::settings::Settings;
use crate::ask::{AskBody, Claims};
use crate::time::Time;

/// One rule and how it fared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Considered {
    /// Where it comes from.
    pub scope: Scope,
    /// What it is called.
    pub name: String,
    /// What it does.
    pub effect: Effect,
    /// Whether it fits. Of an `allow` for commands: whether it covers at least one.
    pub matched: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<&'static str>,
}

impl Considered {
    pub(super) fn of(scope: Scope, rule: &Rule, fit: Result<(), Miss>) -> Self {
        Self { scope, name: rule.label(scope), effect: rule.effect(), matched: fit.is_ok(), why_not: fit.err() }
    }

    pub(super) fn built_in(guarded: Option<&'static str>) -> Self {
        let why_not = if guarded.is_some() { None } else { Some("it does not touch Sayso") };
        Self { scope: Scope::BuiltIn, name: guard::NAME.to_owned(), effect: Effect::Ask, matched: guarded.is_some(), why_not }
    }
}

/// What a policy does to an ask, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// What it says.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Every rule, the nearest scope first.
    pub considered: Vec<Considered>,
    /// What holds for questions when no rule fits.
    pub questions: QuestionPolicy,
    /// What holds for approvals when no rule fits.
    pub approvals: ApprovalPolicy,
    /// The fingerprint of the rules in force.
    pub fingerprint: String,
}

/// Decides as [`decide`](super::decide) does and says why.
#[must_use]
pub fn explain(set: &PolicySet, subject: &Subject<'_>, now: Time) -> Explanation {
    let mut considered = Vec::new();
    let verdict = decide_seeing(set, subject, now, Some(&mut considered));
    let settings = Settings::of(set, subject.step, now);
    Explanation {
        verdict,
        considered,
        questions: settings.questions,
        approvals: settings.approvals,
        fingerprint: set.fingerprint(),
    }
}

/// Whether one rule alone would take effect on an ask: to try a rule on past asks before it is written.
/// An `allow` has to cover every command of a line, an answer every question that is asked.
#[must_use]
pub fn matches_ask(rule: &Rule, subject: &Subject<'_>, now: Time) -> bool {
    let look = PreparedAsk::at(subject, now, Claims::default());
    match (rule.effect(), subject.body) {
        (Effect::Deny | Effect::Ask, AskBody::Approval(_) | AskBody::Link(_)) => {
            rule.fits_surroundings(&look).is_ok() && rule.catches(&look).is_ok()
        }
        (Effect::Ask, AskBody::Question { questions }) => {
            rule.fits_surroundings(&look).is_ok()
                && questions.iter().any(|question| rule.fits_question(&PreparedQuestion::of(question)).is_ok())
        }
        (Effect::Allow | Effect::Answer | Effect::Reject | Effect::Deny, _) => {
            matches!(decide_seeing(&PolicySet::of_one(rule), subject, now, None), Verdict::Decided { rule: decided, .. } if decided == rule.label(Scope::User))
        }
    }
}
