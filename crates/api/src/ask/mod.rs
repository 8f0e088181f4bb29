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

pub use approval::{ActionKind, Approval, Choice, FileDiff, Link, Preview};
pub use calls::{
    AnswerRequest, ApproveRequest, AskPage, AskQuery, GetAskQuery, NewAsk, NoRequest, ReceiptQuery, SnoozeRequest,
    WithdrawByKeyQuery, WithdrawQuery,
};
pub use external::{ExternalEvent, ExternalNews, ExternalNewsTaken, ExternalSession};
pub use files::{AskFile, AskFiles, ExecutedCode};
pub use outcome::{Actor, Outcome, ShownAnswer};
pub use question::{InputKind, Question, QuestionOption};

/// `question`, `approval` or `link`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum AskKind {
    /// One or more questions.
    Question,
    /// May I use this tool.
    Approval,
    /// Please open this address.
    Link,
}

/// Where an ask stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum AskStatus {
    /// Not decided.
    Pending,
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

/// Whether the agent still waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Reach {
    /// The agent waits.
    Live,
    /// The agent or caller is gone; the answer can still be used.
    Parked,
}

/// Whether the outcome has reached the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Delivery {
    /// Committed, not sent yet.
    Queued,
    /// The agent has it.
    Delivered,
    /// The agent's wire shows the effect.
    Confirmed,
    /// An approval that the agent did not get: a file that the command executes changed after the decision. The agent was
    /// denied; see `deliveryReason`.
    Withheld,
    /// It cannot reach the agent any more; see `deliveryReason`.
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
    /// How far an outcome has come, and why it cannot reach the agent.
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

/// What happens when nobody answers in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnTimeout {
    /// The question is rejected.
    Reject,
    /// The first option of every question is taken.
    AcceptFirst,
    /// The tool is denied.
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

/// One ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ask {
    /// Its id.
    pub id: String,
    /// The session, if it belongs to one.
    pub session_id: Option<String>,
    /// The agent's name.
    pub agent: String,
    /// The actor of the token that opened it, if a caller did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
    /// Whether `agent` is only what the caller says: its token is not made for that agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agent_reported: bool,
    /// `question`, `approval` or `link`.
    pub kind: AskKind,
    /// Where it stands.
    pub status: AskStatus,
    /// Whether the agent still waits; absent when it is decided.
    #[serde(default)]
    pub reach: Option<Reach>,
    /// The agent's id of the tool call, else the ask's own id.
    pub tool_call_id: String,
    /// The session's title.
    pub title: String,
    /// The project directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The git branch.
    #[serde(default)]
    pub branch: Option<String>,
    /// The sub-agent that asks.
    #[serde(default)]
    pub subagent: Option<String>,
    /// What the agent said before.
    #[serde(default)]
    pub context: Option<String>,
    /// Whether the agent waits for it.
    pub blocking: bool,
    /// When it was opened.
    #[schema(value_type = String, format = DateTime)]
    pub opened_at: sayso_core::time::Time,
    /// When it decides itself.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub deadline_at: Option<sayso_core::time::Time>,
    /// What happens then.
    #[serde(default)]
    pub on_timeout: Option<OnTimeout>,
    /// Hidden from the inbox until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub snoozed_until: Option<sayso_core::time::Time>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// The workflow run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The step of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_id: Option<String>,
    /// Why a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The code of `why`, if Sayso wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_code: Option<TextCode>,
    /// The questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// The approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// The link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// SHA-256 of what is asked, as 64 hexadecimal digits: for an approval the tool, the command or arguments, the directory,
    /// the agent and the project. Cards show its first 12 digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The code of the project that the command executes. `GET /v1/asks/{id}/files` reads the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executes: Option<ExecutedCode>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Whether the outcome has reached the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// Why it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_reason: Option<String>,
    /// The code of `deliveryReason`, if Sayso wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_code: Option<TextCode>,
    /// Set when a frame of the event stream left something out; the whole is at `GET /v1/asks/{id}`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The agent's request as it arrived (only when asked for with `raw=true`).
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
