//! Asks as clients see them, and the calls that decide them.

mod approval;
mod calls;
mod external;
mod files;
mod outcome;
mod question;

use std::collections::BTreeMap;

use sayso_core::ask as core;
use sayso_core::policy::OnTimeout as CoreOnTimeout;
use sayso_core::texts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::text_code::TextCode;

pub use approval::{ActionKind, Approval, ApprovalDecision, Choice, FileDiff, Link, Preview};
pub use calls::{
    AnswerRequest, ApproveRequest, AskPage, AskQuery, GetAskQuery, NewAsk, NoRequest, ReceiptQuery, SnoozeRequest,
    WithdrawByKeyQuery, WithdrawQuery,
};
pub use external::{ExternalEvent, ExternalNews, ExternalNewsTaken, ExternalSession};
pub use files::{AskFile, AskFiles, ExecutedCode};
pub use outcome::{Actor, Outcome, ShownAnswer};
pub use question::{InputKind, Question, QuestionOption};

/// The kind of an ask, which determines how it can be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum AskKind {
    /// One or more questions, decided with an answer or a rejection.
    Question,
    /// A tool call, decided with an approval or a denial.
    Approval,
    /// A URL to open, decided with an approval or a denial.
    Link,
}

/// The status of an ask: pending, or the kind of its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum AskStatus {
    /// The ask has no outcome yet.
    Pending,
    /// All required questions have answers.
    Answered,
    /// The questions will not be answered.
    Rejected,
    /// The tool may run, or the link was accepted.
    Approved,
    /// The tool may not run, or the link was declined.
    Denied,
    /// The agent no longer needs an outcome.
    Withdrawn,
}

/// Whether the agent can still receive an outcome directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Reach {
    /// The agent waits for the outcome.
    Live,
    /// The agent or the caller is gone. An answer is kept and used when the session or the caller returns.
    Parked,
}

/// The progress of the delivery of an outcome to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Delivery {
    /// The outcome is committed but not yet sent.
    Queued,
    /// The agent received the outcome.
    Delivered,
    /// The agent's own messages show that it used the outcome.
    Confirmed,
    /// The agent did not get an approval, because a file that the command executes changed after the decision. It was told that
    /// the approval is denied; see `deliveryReason`.
    Withheld,
    /// The outcome can no longer reach the agent; see `deliveryReason`.
    Undeliverable,
}

impl From<core::Reach> for Reach {
    fn from(reach: core::Reach) -> Self {
        match reach {
            core::Reach::Live => Self::Live,
            core::Reach::Parked => Self::Parked,
        }
    }
}

impl Delivery {
    /// Splits a delivery of the core into its state and the reason for a failure.
    pub(crate) fn of(delivery: &core::Delivery) -> (Self, Option<String>) {
        match delivery {
            core::Delivery::Queued => (Self::Queued, None),
            core::Delivery::Delivered => (Self::Delivered, None),
            core::Delivery::Confirmed => (Self::Confirmed, None),
            core::Delivery::Withheld => (Self::Withheld, Some(texts::WITHHELD.to_owned())),
            core::Delivery::Undeliverable { reason } => (Self::Undeliverable, Some(reason.clone())),
        }
    }
}

/// What happens at the deadline of an ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnTimeout {
    /// Sayso rejects the question.
    Reject,
    /// Sayso chooses the first option of every question.
    AcceptFirst,
    /// Sayso denies the approval or link.
    Deny,
}

impl From<CoreOnTimeout> for OnTimeout {
    fn from(then: CoreOnTimeout) -> Self {
        match then {
            CoreOnTimeout::Reject => Self::Reject,
            CoreOnTimeout::AcceptFirst => Self::AcceptFirst,
            CoreOnTimeout::Deny => Self::Deny,
        }
    }
}

/// Something that an agent needs a person to decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ask {
    /// The unique id of the ask.
    pub id: String,
    /// The id of the session. Absent for asks that programs open without one.
    pub session_id: Option<String>,
    /// The name of the agent.
    pub agent: String,
    /// The name of the token that opened the ask. Absent if an agent of a session asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
    /// Whether `agent` is only claimed by the caller, because its token is not limited to that agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agent_reported: bool,
    /// The kind of the ask.
    pub kind: AskKind,
    /// The status of the ask.
    pub status: AskStatus,
    /// Whether the agent still waits. Absent after the ask is decided.
    #[serde(default)]
    pub reach: Option<Reach>,
    /// The id that the agent gave the tool call, or the id of the ask if there is none.
    pub tool_call_id: String,
    /// The title of the session.
    pub title: String,
    /// The project directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The git branch of the project.
    #[serde(default)]
    pub branch: Option<String>,
    /// The name of the sub-agent that asks.
    #[serde(default)]
    pub subagent: Option<String>,
    /// What the agent said before it asked.
    #[serde(default)]
    pub context: Option<String>,
    /// Whether the agent waits for the outcome.
    pub blocking: bool,
    /// When the ask was opened.
    #[schema(value_type = String, format = DateTime)]
    pub opened_at: sayso_core::time::Time,
    /// When the ask is decided automatically. Absent if it has no deadline.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deadline_at: Option<sayso_core::time::Time>,
    /// What happens at the deadline.
    #[serde(default)]
    pub on_timeout: Option<OnTimeout>,
    /// When the ask returns to the inbox, if it is snoozed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub snoozed_until: Option<sayso_core::time::Time>,
    /// The labels of the ask.
    pub labels: BTreeMap<String, String>,
    /// The id of the workflow run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The id of the workflow step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_id: Option<String>,
    /// Why the policy left the ask to a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The code of `why`, if Sayso wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_code: Option<TextCode>,
    /// The questions of an ask of kind `question`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// The action of an ask of kind `approval`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The URL of an ask of kind `link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// SHA-256 of the request, as 64 hexadecimal digits. For an approval it covers the tool, the command or arguments, the
    /// directory, the agent and the project. Cards show its first 12 digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The project files that the command executes. `GET /v1/asks/{id}/files` returns their content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executes: Option<ExecutedCode>,
    /// The outcome. Absent while the ask is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// How far the outcome has travelled to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// Why the outcome was withheld or is undeliverable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_reason: Option<String>,
    /// The code of `deliveryReason`, if Sayso wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_code: Option<TextCode>,
    /// Whether an event left out a part of the ask because of its size. `GET /v1/asks/{id}` returns the complete ask.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The agent's original request. Present only with `raw=true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub raw: Option<serde_json::Value>,
}

impl From<&core::Ask> for Ask {
    fn from(ask: &core::Ask) -> Self {
        let deadline = ask.policy.deadline;
        let mut shown = Self {
            id: ask.id.to_string(),
            session_id: ask.origin.session.map(|id| id.to_string()),
            agent: ask.context.agent.clone(),
            asked_by: ask.context.asker.as_ref().map(|asker| asker.name.clone()),
            agent_reported: ask.context.asker.as_ref().is_some_and(|asker| asker.claims.agent),
            kind: match ask.kind() {
                core::AskKind::Question => AskKind::Question,
                core::AskKind::Approval => AskKind::Approval,
                core::AskKind::Link => AskKind::Link,
            },
            status: AskStatus::Pending,
            reach: None,
            tool_call_id: ask.tool_call_id(),
            title: ask.context.title.clone(),
            project: ask.context.project.clone(),
            branch: ask.context.branch.clone(),
            subagent: ask.context.subagent.clone(),
            context: ask.context.context.clone(),
            blocking: ask.context.blocking,
            opened_at: ask.opened_at,
            deadline_at: deadline.map(|deadline| deadline.at),
            on_timeout: deadline.map(|deadline| deadline.then.into()),
            snoozed_until: ask.snoozed_until,
            labels: ask.context.labels.clone(),
            run_id: ask.context.run.map(|id| id.to_string()),
            step_id: ask.context.step.clone(),
            why: ask.policy.why.clone(),
            why_code: ask.policy.why.as_deref().and_then(TextCode::of),
            questions: ask.body.questions().iter().map(Question::from).collect(),
            approval: None,
            link: None,
            digest: ask.context.digest.map(|digest| digest.to_string()),
            executes: ask.context.executes.as_ref().map(ExecutedCode::from),
            outcome: None,
            delivery: None,
            delivery_reason: None,
            delivery_code: None,
            truncated: false,
            raw: None,
        };
        for (question, preselected) in shown.questions.iter_mut().zip(&ask.policy.preselected) {
            question.preselected.clone_from(preselected);
        }
        match &*ask.body {
            core::AskBody::Question { .. } => {}
            core::AskBody::Approval(approval) => shown.approval = Some(Approval::from(approval)),
            core::AskBody::Link(link) => shown.link = Some(Link { url: link.url.clone(), message: link.message.clone() }),
        }
        match &ask.state {
            core::AskState::Pending(reach) => {
                shown.reach = Some(Reach::from(*reach));
            }
            core::AskState::Resolved { outcome, delivery } => {
                let outcome = Outcome::of(outcome, ask.body.questions());
                shown.status = outcome.status;
                shown.outcome = Some(outcome);
                let (delivery, reason) = Delivery::of(delivery);
                shown.delivery_code = reason.as_deref().and_then(TextCode::of);
                (shown.delivery, shown.delivery_reason) = (Some(delivery), reason);
            }
        }
        shown
    }
}
