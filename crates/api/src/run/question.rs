//! What the agents of a run ask.

use sayso_core::ask as core;
use sayso_core::limits;
use sayso_core::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ask::OnTimeout;

/// Characters of a header that are shown.
const HEADER: usize = 30;

/// What the agent of a step asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunQuestion {
    /// The ask's id.
    pub id: String,
    /// The step.
    pub step_id: String,
    /// The session.
    pub session_id: String,
    /// The questions.
    pub questions: Vec<RunQuestionItem>,
    /// When it was asked.
    #[schema(value_type = String, format = DateTime)]
    pub asked_at: Time,
    /// When it is decided without a person, if it has a deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deadline_at: Option<Time>,
    /// What happens at the deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
}

/// One question of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunQuestionItem {
    /// What is asked.
    pub question: String,
    /// A short name, at most 30 characters.
    pub header: String,
    /// What may be chosen.
    pub options: Vec<RunQuestionOption>,
    /// Whether several may be chosen.
    pub multiple: bool,
    /// Whether text of one's own is taken.
    #[serde(default = "yes")]
    pub custom: bool,
}

const fn yes() -> bool {
    true
}

/// An option of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunQuestionOption {
    /// What a person reads, and what is answered.
    pub label: String,
    /// What it means.
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
    /// The same in fewer words, for an event: the whole is at `GET /v1/asks/{id}`.
    pub fn shorten(&mut self) {
        for item in &mut self.questions {
            item.options.clear();
            item.question = limits::head(&item.question, 1024).to_owned();
        }
    }
}
