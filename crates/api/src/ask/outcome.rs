//! How asks end, and by whom.

use sayso_core::actor::Actor as CoreActor;
use sayso_core::ask as core;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::AskStatus;
use crate::text_code::TextCode;

/// Who decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Actor {
    /// `person`, `policy`, `timeout`, `message` or `agent`.
    pub kind: String,
    /// The person's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The surface that was used: `terminal`, `page`, `http` …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// The token that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_id: Option<String>,
    /// The rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// How long was waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl From<&CoreActor> for Actor {
    fn from(actor: &CoreActor) -> Self {
        let empty = |kind: &str| Self { kind: kind.to_owned(), name: None, via: None, token_id: None, rule: None, after: None };
        match actor {
            CoreActor::Person { name, via, token } => {
                Self { name: Some(name.clone()), via: Some(via.clone()), token_id: Some(token.to_string()), ..empty("person") }
            }
            CoreActor::Message { name, via, token, .. } => {
                Self { name: Some(name.clone()), via: Some(via.clone()), token_id: Some(token.to_string()), ..empty("message") }
            }
            CoreActor::Policy { rule } => Self { rule: Some(rule.clone()), ..empty("policy") },
            CoreActor::Timeout { after } => Self { after: Some(after.to_string()), ..empty("timeout") },
            CoreActor::Agent => empty("agent"),
        }
    }
}

/// One question's answer as it is shown: the entries, or that there is a secret one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum ShownAnswer {
    /// The entries.
    Entries(Vec<String>),
    /// A secret was given; it is not shown.
    Secret {
        /// Always true.
        secret: bool,
    },
}

/// How an ask ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// How.
    pub status: AskStatus,
    /// The answers, one per question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Vec<ShownAnswer>>,
    /// What the person added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The words that the agent got with a no; the reason of a withdrawal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The code of `message`, if Sayso wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_code: Option<TextCode>,
    /// Whether the agent was told to stop.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
    /// Which of the agent's own ways to say yes was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// The input that was approved instead of the agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub input: Option<serde_json::Value>,
    /// By whom.
    pub by: Actor,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    pub at: sayso_core::time::Time,
}

impl Outcome {
    /// The outcome of an ask with these questions.
    #[must_use]
    pub fn of(outcome: &core::Outcome, questions: &[core::Question]) -> Self {
        let mut shown = Self {
            status: outcome.decision.status().into(),
            answers: None,
            note: None,
            message: None,
            message_code: None,
            stop: false,
            choice: None,
            input: None,
            by: Actor::from(&outcome.by),
            at: outcome.at,
        };
        match &outcome.decision {
            core::Decision::Answered { answers, note } => {
                let secret = |index: usize| questions.get(index).is_some_and(core::Question::is_secret);
                shown.answers = Some(
                    answers
                        .iter()
                        .enumerate()
                        .map(|(index, entries)| {
                            if secret(index) && !entries.is_empty() {
                                ShownAnswer::Secret { secret: true }
                            } else {
                                ShownAnswer::Entries(entries.clone())
                            }
                        })
                        .collect(),
                );
                shown.note.clone_from(note);
            }
            core::Decision::Rejected { message, stop } | core::Decision::Denied { message, stop } => {
                shown.message = Some(message.clone());
                shown.stop = *stop;
            }
            core::Decision::Approved { choice, input } => {
                shown.choice.clone_from(choice);
                shown.input = input.as_ref().and_then(|input| serde_json::from_str(input.as_str()).ok());
            }
            core::Decision::Withdrawn { reason } => shown.message = Some(reason.clone()),
        }
        shown.message_code = shown.message.as_deref().and_then(TextCode::of);
        shown
    }
}

impl From<core::OutcomeStatus> for AskStatus {
    fn from(status: core::OutcomeStatus) -> Self {
        match status {
            core::OutcomeStatus::Answered => Self::Answered,
            core::OutcomeStatus::Rejected => Self::Rejected,
            core::OutcomeStatus::Approved => Self::Approved,
            core::OutcomeStatus::Denied => Self::Denied,
            core::OutcomeStatus::Withdrawn => Self::Withdrawn,
        }
    }
}
