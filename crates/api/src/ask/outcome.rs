//! Outcomes: how asks end, and who decided them.

use sayso_core::actor::Actor as CoreActor;
use sayso_core::ask as core;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::AskStatus;
use crate::text_code::TextCode;

/// The person or mechanism that decided an ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Actor {
    /// `person`, `policy`, `timeout`, `message` or `agent`.
    pub kind: String,
    /// The name of the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The surface that the person used, for example `terminal`, `page` or `http`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// The id of the token that the person used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_id: Option<String>,
    /// The policy rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// For timeouts: how long the ask was pending.
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

/// The answer to one question, as it may be displayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum ShownAnswer {
    /// The chosen option labels or the free text.
    Entries(Vec<String>),
    /// The answer is a secret and is never displayed.
    Secret {
        /// Always `true`.
        secret: bool,
    },
}

/// How an ask ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The final status of the ask.
    pub status: AskStatus,
    /// The answers, one per question, if the ask was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Vec<ShownAnswer>>,
    /// A note that the person added to the answers or the approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The message of a denial or rejection, which the agent received, or the reason of a withdrawal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The code of `message`, if Sayso wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_code: Option<TextCode>,
    /// Whether the agent was told to stop its turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
    /// The `id` of the agent's choice that the person selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// The input that was approved instead of the agent's input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub input: Option<serde_json::Value>,
    /// The person or mechanism that decided.
    pub by: Actor,
    /// The time of the decision.
    #[schema(value_type = String, format = DateTime)]
    pub at: sayso_core::time::Time,
}

impl Outcome {
    /// Converts an outcome of an ask with these questions. The questions are needed to hide secret answers.
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
