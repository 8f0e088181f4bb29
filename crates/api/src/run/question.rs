//! Questions of the agents of a run, in the shape of the runs API.

use sayso_core::ask as core;
use sayso_core::limits;
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ask::OnTimeout;

/// The maximum length of a header, in characters.
const HEADER: usize = 30;

/// The questions of one ask of a step's agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunQuestion {
    /// The id of the ask.
    pub id: String,
    /// The id of the step.
    pub step_id: String,
    /// The id of the session.
    pub session_id: String,
    /// The questions to answer.
    pub questions: Vec<RunQuestionItem>,
    /// When the agent asked.
    #[schema(value_type = String, format = DateTime)]
    pub asked_at: Time,
    /// When the question is decided automatically. Absent if it has no deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deadline_at: Option<Time>,
    /// What happens at the deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
}

/// One question of the ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunQuestionItem {
    /// The text of the question.
    pub question: String,
    /// A short label, at most 30 characters.
    pub header: String,
    /// The options to choose from.
    pub options: Vec<RunQuestionOption>,
    /// Whether more than one option can be chosen.
    pub multiple: bool,
    /// Whether free text is accepted in addition to the options.
    #[serde(default = "yes")]
    pub custom: bool,
}

const fn yes() -> bool {
    true
}

/// An option of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunQuestionOption {
    /// The text to display, and the value to answer with.
    pub label: String,
    /// A longer explanation of the option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl From<&core::Question> for RunQuestionItem {
    fn from(question: &core::Question) -> Self {
        Self {
            question: question.text.clone(),
            header: question.name().chars().take(HEADER).collect(),
            options: question
                .options()
                .iter()
                .map(|option| RunQuestionOption { label: option.label.clone(), description: option.description.clone() })
                .collect(),
            multiple: question.multiple(),
            custom: question.takes_text(),
        }
    }
}

impl From<&core::Ask> for RunQuestion {
    fn from(ask: &core::Ask) -> Self {
        let deadline = ask.policy.deadline;
        Self {
            id: ask.id.to_string(),
            step_id: ask.context.step.clone().unwrap_or_default(),
            session_id: ask.origin.session.map(|session| session.to_string()).unwrap_or_default(),
            questions: ask.body.questions().iter().map(RunQuestionItem::from).collect(),
            asked_at: ask.opened_at,
            deadline_at: deadline.map(|deadline| deadline.at),
            on_timeout: deadline.map(|deadline| deadline.then.into()),
        }
    }
}

impl RunQuestion {
    /// Removes the large parts for use in an event. `GET /v1/asks/{id}` returns the complete question.
    pub fn shorten(&mut self) {
        for item in &mut self.questions {
            item.options.clear();
            item.question = limits::head(&item.question, 1024).to_owned();
        }
    }
}
