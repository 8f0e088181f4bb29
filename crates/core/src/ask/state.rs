//! The state machine of an ask: pending, then one outcome, then the delivery of the outcome.
//!
//! An outcome is final: [`resolve`] accepts only a pending ask and otherwise returns the existing outcome. The store calls it
//! in the transaction that also writes the event and the outbox row, which makes it a compare-and-set.

use serde::{Deserialize, Serialize};

use super::{Answers, Approval, ApprovalDecision, Ask, AskBody, AskKind, Input, InvalidAnswers, Question, validate_answers};
use crate::actor::Actor;
use crate::digest::ShaDigest;
use crate::limits;
use crate::raw::Raw;
use crate::texts;
use crate::time::Time;

/// Whether the agent or caller still waits for the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reach {
    /// The agent or caller waits.
    Live,
    /// The agent or caller is gone, but an answer is still useful.
    Parked,
}

/// The progress of an outcome on its way to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Delivery {
    /// The outcome is committed but not sent.
    Queued,
    /// The agent received it.
    Delivered,
    /// The agent's messages show that it used the outcome.
    Confirmed,
    /// The approval was not sent, because a file that the command executes changed after the decision.
    Withheld,
    /// The outcome can no longer be sent.
    Undeliverable {
        /// The reason, for people.
        reason: String,
    },
}

impl Delivery {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Delivered => "delivered",
            Self::Confirmed => "confirmed",
            Self::Withheld => "withheld",
            Self::Undeliverable { .. } => "undeliverable",
        }
    }

    /// Returns the next state if this is progress. Late reports change nothing.
    #[must_use]
    pub fn advance(&self, to: Self) -> Option<Self> {
        match (self, &to) {
            (Self::Queued, Self::Delivered | Self::Confirmed | Self::Withheld | Self::Undeliverable { .. })
            | (Self::Delivered, Self::Confirmed | Self::Undeliverable { .. }) => Some(to),
            (Self::Queued | Self::Delivered | Self::Confirmed | Self::Withheld | Self::Undeliverable { .. }, _) => None,
        }
    }
}

/// A delivery was reported for an ask without an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the ask has no outcome to deliver")]
pub struct DeliveryError;

/// A decision about an ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Decision {
    Answered {
        /// One list of entries per question. Secret answers are masked, except in the copy for the agent.
        answers: Answers,
        /// A note of the person.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The questions are not answered.
    Rejected {
        /// The reason, as the agent reads it.
        message: String,
        /// Whether the agent must stop its turn.
        #[serde(default)]
        stop: bool,
    },
    /// The tool can run, or the link was opened.
    Approved {
        /// The id of one of the agent's own ways to approve.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choice: Option<String>,
        /// A changed input for the tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Raw>,
    },
    /// The tool must not run.
    Denied {
        /// The reason, as the agent reads it.
        message: String,
        /// Whether the agent must stop its turn.
        #[serde(default)]
        stop: bool,
    },
    /// The ask is no longer needed.
    Withdrawn { reason: String },
}

impl Decision {
    #[must_use]
    pub const fn status(&self) -> OutcomeStatus {
        match self {
            Self::Answered { .. } => OutcomeStatus::Answered,
            Self::Rejected { .. } => OutcomeStatus::Rejected,
            Self::Approved { .. } => OutcomeStatus::Approved,
            Self::Denied { .. } => OutcomeStatus::Denied,
            Self::Withdrawn { .. } => OutcomeStatus::Withdrawn,
        }
    }
}

/// The kinds of outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OutcomeStatus {
    Answered,
    /// The questions are not answered.
    Rejected,
    Approved,
    /// The tool must not run.
    Denied,
    /// The ask is no longer needed.
    Withdrawn,
}

impl OutcomeStatus {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Rejected => "rejected",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// The result of an ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// A decision about an ask.
    pub decision: Decision,
    /// Who decided.
    pub by: Actor,
    pub at: Time,
    /// The digest of the files that the approved command executes, from when the server compared them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<ShaDigest>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskState {
    Pending(Reach),
    /// Decided. The outcome never changes.
    Resolved {
        outcome: Outcome,
        delivery: Delivery,
    },
}

impl AskState {
    /// Returns the parked state, or `None` if the ask is not live.
    #[must_use]
    pub const fn park(&self) -> Option<Self> {
        match self {
            Self::Pending(Reach::Live) => Some(Self::Pending(Reach::Parked)),
            Self::Pending(Reach::Parked) | Self::Resolved { .. } => None,
        }
    }

    /// Returns the live state, or `None` if the ask is not parked.
    #[must_use]
    pub const fn revive(&self) -> Option<Self> {
        match self {
            Self::Pending(Reach::Parked) => Some(Self::Pending(Reach::Live)),
            Self::Pending(Reach::Live) | Self::Resolved { .. } => None,
        }
    }

    /// Returns the state after a delivery report, or `None` if the report changes nothing.
    ///
    /// # Errors
    /// When the ask has no outcome.
    pub fn apply_delivery(&self, report: Delivery) -> Result<Option<Self>, DeliveryError> {
        match self {
            Self::Pending(_) => Err(DeliveryError),
            Self::Resolved { outcome, delivery } => {
                Ok(delivery.advance(report).map(|delivery| Self::Resolved { outcome: outcome.clone(), delivery }))
            }
        }
    }
}

/// Why a decision was refused. The ask does not change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The ask has an outcome.
    #[error("the ask was already {}", .0.decision.status().as_str())]
    AlreadyResolved(Box<Outcome>),
    /// The decision does not apply to this kind of ask.
    #[error("a {} cannot be decided this way", .0.as_str())]
    WrongKind(AskKind),
    /// The answers are invalid.
    #[error(transparent)]
    InvalidAnswers(#[from] InvalidAnswers),
    #[error("the agent does not offer this choice")]
    UnknownChoice(String),
    /// The agent does not accept a changed input.
    #[error("the agent does not accept a changed input for this tool")]
    NotEditable,
    /// The caller that opened the approval does not permit this decision.
    #[error("this approval does not allow the decision `{}`; allowed: {}", decision.as_str(), list_decisions(allowed))]
    DecisionNotAllowed { decision: ApprovalDecision, allowed: Vec<ApprovalDecision> },
    /// The changed input does not fit the schema of the approval. Created by the service, which has the validator.
    #[error("the changed input does not fit: {0}; correct it and approve again")]
    InvalidInput(String),
    /// A text is too long.
    #[error(transparent)]
    Limit(#[from] limits::LimitExceeded),
}

fn list_decisions(decisions: &[ApprovalDecision]) -> String {
    decisions.iter().map(|decision| decision.as_str()).collect::<Vec<_>>().join(", ")
}

/// The result of deciding an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The outcome to store and show, with masked secrets.
    pub outcome: Outcome,
    /// The decision for the agent, with secret answers in clear.
    pub for_agent: Decision,
    /// Whether `for_agent` contains a secret.
    pub secret: bool,
}

/// The mask that replaces secret answers.
pub const MASK: &str = "•••";

/// Decides a pending ask.
///
/// # Errors
/// When the ask is resolved, or the decision does not apply to it. Nothing changes in these cases.
pub fn resolve(ask: &Ask, decision: Decision, by: Actor, now: Time) -> Result<Resolution, Refused> {
    if let AskState::Resolved { outcome, .. } = &ask.state {
        return Err(Refused::AlreadyResolved(Box::new(outcome.clone())));
    }
    let for_agent = fitting(&ask.body, decision, &by)?;
    let secret = ask.body.is_secret() && matches!(for_agent, Decision::Answered { .. });
    let shown = if secret { masked(&ask.body, for_agent.clone()) } else { for_agent.clone() };
    Ok(Resolution { outcome: Outcome { decision: shown, by, at: now, content: None }, for_agent, secret })
}

fn fitting(body: &AskBody, decision: Decision, by: &Actor) -> Result<Decision, Refused> {
    match (body, decision) {
        (AskBody::Question { questions }, Decision::Answered { answers, note }) => {
            limits::check("the note", note.as_ref().map_or(0, String::len), limits::ANSWER)?;
            // `find_message_target` decided that the message answers the question, so its text counts as own text.
            let answers = match by {
                Actor::Message { .. } => validate_answers(&allow_own_text(questions), &answers)?,
                Actor::Person { .. } | Actor::Policy { .. } | Actor::Timeout { .. } | Actor::Agent => {
                    validate_answers(questions, &answers)?
                }
            };
            Ok(Decision::Answered { answers, note })
        }
        (AskBody::Approval(approval), Decision::Approved { choice, input }) => {
            if let Some(id) = choice.as_ref().filter(|id| !approval.choices.iter().any(|choice| choice.id == **id)) {
                return Err(Refused::UnknownChoice(limits::head(id, 80).to_owned()));
            }
            let decision = if input.is_some() { ApprovalDecision::Edit } else { ApprovalDecision::Approve };
            if let Some(input) = &input {
                if !approval.editable {
                    return Err(Refused::NotEditable);
                }
                limits::check("the input", input.as_str().len(), limits::RAW)?;
            }
            check_allowed(approval, decision)?;
            Ok(Decision::Approved { choice, input })
        }
        (AskBody::Link(_), Decision::Approved { choice, input }) => match (choice, input) {
            (None, None) => Ok(Decision::Approved { choice: None, input: None }),
            (Some(id), _) => Err(Refused::UnknownChoice(limits::head(&id, 80).to_owned())),
            (None, Some(_)) => Err(Refused::NotEditable),
        },
        (AskBody::Question { .. }, Decision::Rejected { message, stop }) => {
            Ok(Decision::Rejected { message: own_message_or(message, texts::REJECTED)?, stop })
        }
        (AskBody::Approval(approval), Decision::Denied { message, stop }) => {
            if matches!(by, Actor::Person { .. } | Actor::Message { .. }) {
                check_allowed(approval, ApprovalDecision::Deny)?;
            }
            Ok(Decision::Denied { message: own_message_or(message, texts::DENIED)?, stop })
        }
        (AskBody::Link(_), Decision::Denied { message, stop }) => {
            Ok(Decision::Denied { message: own_message_or(message, texts::LINK_DENIED)?, stop })
        }
        (_, withdrawn @ Decision::Withdrawn { .. }) => Ok(withdrawn),
        (body, Decision::Answered { .. } | Decision::Rejected { .. } | Decision::Approved { .. } | Decision::Denied { .. }) => {
            Err(Refused::WrongKind(body.kind()))
        }
    }
}

fn check_allowed(approval: &Approval, decision: ApprovalDecision) -> Result<(), Refused> {
    match &approval.allowed_decisions {
        Some(allowed) if !approval.allows(decision) => Err(Refused::DecisionNotAllowed { decision, allowed: allowed.to_vec() }),
        Some(_) | None => Ok(()),
    }
}

/// Returns the questions with own text permitted for every choice.
fn allow_own_text(questions: &[Question]) -> Vec<Question> {
    let mut questions = questions.to_vec();
    for question in &mut questions {
        if let Input::Choice { custom, .. } = &mut question.input {
            *custom = true;
        }
    }
    questions
}

/// Returns the person's own message, or the default if it is empty.
fn own_message_or(own: String, default: &str) -> Result<String, limits::LimitExceeded> {
    limits::check("the message", own.len(), limits::ANSWER)?;
    Ok(if own.trim().is_empty() { default.to_owned() } else { own })
}

fn masked(body: &AskBody, decision: Decision) -> Decision {
    match decision {
        Decision::Answered { answers, note } => {
            let masked = body
                .questions()
                .iter()
                .zip(answers)
                .map(|(question, answer)| if question.is_secret() && !answer.is_empty() { vec![MASK.to_owned()] } else { answer })
                .collect();
            Decision::Answered { answers: masked, note }
        }
        other
        @ (Decision::Rejected { .. } | Decision::Approved { .. } | Decision::Denied { .. } | Decision::Withdrawn { .. }) => other,
    }
}
