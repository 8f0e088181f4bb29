//! The state machine of an ask: pending, then exactly one outcome, then its delivery.
//!
//! A terminal state cannot be left: [`resolve`] takes only what is pending and refuses the rest with
//! the outcome that stands. Whoever stores asks applies it inside the transaction that writes the
//! event and the way back to the agent, which makes it one compare-and-set.

use serde::{Deserialize, Serialize};

use super::{Answers, Ask, AskBody, AskKind, Input, InvalidAnswers, Question, validate};
use crate::actor::Actor;
use crate::digest::ShaDigest;
use crate::limits;
use crate::raw::Raw;
use crate::texts;
use crate::time::Time;

/// Whether the agent still waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reach {
    /// The agent waits.
    Live,
    /// The agent or caller is gone, but the answer can still be used.
    Parked,
}

/// How far an outcome has come on its way to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Delivery {
    /// Committed, not sent yet.
    Queued,
    /// The agent has it.
    Delivered,
    /// The agent's wire shows the effect.
    Confirmed,
    /// An approval that the agent did not get: a file that the command executes changed after the decision.
    Withheld,
    /// It cannot reach the agent any more.
    Undeliverable {
        /// Why, in words for a person.
        reason: String,
    },
}

impl Delivery {
    /// The word for it.
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

    /// The next state, if this is a step forward; a late report changes nothing.
    #[must_use]
    pub fn advance(&self, to: Self) -> Option<Self> {
        match (self, &to) {
            (Self::Queued, Self::Delivered | Self::Confirmed | Self::Withheld | Self::Undeliverable { .. })
            | (Self::Delivered, Self::Confirmed | Self::Undeliverable { .. }) => Some(to),
            (Self::Queued | Self::Delivered | Self::Confirmed | Self::Withheld | Self::Undeliverable { .. }, _) => None,
        }
    }
}

/// A delivery report for something that has no outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the ask has no outcome to deliver")]
pub struct DeliveryError;

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Decision {
    /// The questions have answers.
    Answered {
        /// One list of entries per question. Secret ones are masked everywhere but on the way to the agent.
        answers: Answers,
        /// What the person adds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// No answer will come.
    Rejected {
        /// Why, in the words that the agent gets.
        message: String,
        /// Whether the agent shall stop.
        #[serde(default)]
        stop: bool,
    },
    /// The tool may run; the link was opened.
    Approved {
        /// One of the agent's own ways to say yes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        choice: Option<String>,
        /// The input to use instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Raw>,
    },
    /// The tool may not run.
    Denied {
        /// Why, in the words that the agent gets.
        message: String,
        /// Whether the agent shall stop.
        #[serde(default)]
        stop: bool,
    },
    /// Nobody needs it any more.
    Withdrawn {
        /// Why.
        reason: String,
    },
}

impl Decision {
    /// Which of the five outcomes it is.
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

/// The five ways to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OutcomeStatus {
    /// The questions have answers.
    Answered,
    /// No answer will come.
    Rejected,
    /// The tool may run.
    Approved,
    /// The tool may not run.
    Denied,
    /// Nobody needs it any more.
    Withdrawn,
}

impl OutcomeStatus {
    /// The word for it.
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

/// How an ask ended: what, by whom, when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// What was decided.
    pub decision: Decision,
    /// By whom.
    pub by: Actor,
    /// When.
    pub at: Time,
    /// The digest of the files that the approved command executes, as they were when the server compared them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<ShaDigest>,
}

/// Where an ask stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskState {
    /// Not decided.
    Pending(Reach),
    /// Decided, once and for all.
    Resolved {
        /// How.
        outcome: Outcome,
        /// Whether the agent has it.
        delivery: Delivery,
    },
}

impl AskState {
    /// Parks what is live.
    #[must_use]
    pub const fn parked(&self) -> Option<Self> {
        match self {
            Self::Pending(Reach::Live) => Some(Self::Pending(Reach::Parked)),
            Self::Pending(Reach::Parked) | Self::Resolved { .. } => None,
        }
    }

    /// The agent waits again.
    #[must_use]
    pub const fn revived(&self) -> Option<Self> {
        match self {
            Self::Pending(Reach::Parked) => Some(Self::Pending(Reach::Live)),
            Self::Pending(Reach::Live) | Self::Resolved { .. } => None,
        }
    }

    /// The state after a report about the delivery; nothing if it brings no news.
    ///
    /// # Errors
    /// When there is no outcome yet.
    pub fn delivered(&self, report: Delivery) -> Result<Option<Self>, DeliveryError> {
        match self {
            Self::Pending(_) => Err(DeliveryError),
            Self::Resolved { outcome, delivery } => {
                Ok(delivery.advance(report).map(|delivery| Self::Resolved { outcome: outcome.clone(), delivery }))
            }
        }
    }
}

/// Why a decision was not taken. The ask is untouched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It has its one outcome already.
    #[error("the ask was already {}", .0.decision.status().as_str())]
    AlreadyResolved(Box<Outcome>),
    /// This kind of ask is not decided in this way.
    #[error("a {} is not decided this way", .0.as_str())]
    WrongKind(AskKind),
    /// The answers do not fit the questions.
    #[error(transparent)]
    InvalidAnswers(#[from] InvalidAnswers),
    /// The agent does not offer this choice.
    #[error("the agent does not offer this choice")]
    UnknownChoice(String),
    /// The agent does not take another input.
    #[error("the agent takes this tool's input only as it is")]
    NotEditable,
    /// Something is too long.
    #[error(transparent)]
    Limit(#[from] limits::LimitExceeded),
}

/// A decision that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The outcome to store and show. Secret answers are masked in it.
    pub outcome: Outcome,
    /// What the agent gets: the same, with secret answers in clear.
    pub for_agent: Decision,
    /// Whether `for_agent` holds a secret.
    pub secret: bool,
}

/// What stands in the place of a secret answer.
pub const MASK: &str = "•••";

/// Decides a pending ask.
///
/// # Errors
/// When it is resolved already, or the decision does not fit; then nothing changes.
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
            // Whether a typed message answers at all was decided before; then its words are its own.
            let answers = match by {
                Actor::Message { .. } => validate(&with_own_text(questions), &answers)?,
                Actor::Person { .. } | Actor::Policy { .. } | Actor::Timeout { .. } | Actor::Agent => {
                    validate(questions, &answers)?
                }
            };
            Ok(Decision::Answered { answers, note })
        }
        (AskBody::Approval(approval), Decision::Approved { choice, input }) => {
            if let Some(id) = choice.as_ref().filter(|id| !approval.choices.iter().any(|choice| choice.id == **id)) {
                return Err(Refused::UnknownChoice(limits::head(id, 80).to_owned()));
            }
            if let Some(input) = &input {
                if !approval.editable {
                    return Err(Refused::NotEditable);
                }
                limits::check("the input", input.as_str().len(), limits::RAW)?;
            }
            Ok(Decision::Approved { choice, input })
        }
        (AskBody::Link(_), Decision::Approved { choice, input }) => match (choice, input) {
            (None, None) => Ok(Decision::Approved { choice: None, input: None }),
            (Some(id), _) => Err(Refused::UnknownChoice(limits::head(&id, 80).to_owned())),
            (None, Some(_)) => Err(Refused::NotEditable),
        },
        (AskBody::Question { .. }, Decision::Rejected { message, stop }) => {
            Ok(Decision::Rejected { message: words(message, texts::REJECTED)?, stop })
        }
        (AskBody::Approval(_), Decision::Denied { message, stop }) => {
            Ok(Decision::Denied { message: words(message, texts::DENIED)?, stop })
        }
        (AskBody::Link(_), Decision::Denied { message, stop }) => {
            Ok(Decision::Denied { message: words(message, texts::LINK_DENIED)?, stop })
        }
        (_, withdrawn @ Decision::Withdrawn { .. }) => Ok(withdrawn),
        (body, Decision::Answered { .. } | Decision::Rejected { .. } | Decision::Approved { .. } | Decision::Denied { .. }) => {
            Err(Refused::WrongKind(body.kind()))
        }
    }
}

/// The questions, with own text taken for every choice.
fn with_own_text(questions: &[Question]) -> Vec<Question> {
    let mut questions = questions.to_vec();
    for question in &mut questions {
        if let Input::Choice { custom, .. } = &mut question.input {
            *custom = true;
        }
    }
    questions
}

/// A person's own words replace the default ones.
fn words(own: String, default: &str) -> Result<String, limits::LimitExceeded> {
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
