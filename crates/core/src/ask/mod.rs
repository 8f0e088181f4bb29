//! Asks: requests of agents to people.

mod agent_gone;
mod answer;
mod approval;
mod digest;
mod executed_files;
mod link;
mod question;
mod size;
mod state;
mod typed_message;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use agent_gone::{AgentGoneEffect, agent_gone_effect};
pub use answer::{Answers, InvalidAnswers, QuestionProblem, first_options, validate_answers};
pub use approval::{Action, Approval, ApprovalDecision, Choice, FileDiff, Preview};
pub use digest::ask_digest;
pub use executed_files::{ExecutedFile, ExecutedFiles, content_digest};
pub use link::{Link, LinkSchemeRefused};
pub use question::{Input, Question, QuestionOption, strip_recommended};
pub use state::{AskState, Decision, Delivery, DeliveryError, MASK, Outcome, OutcomeStatus, Reach, Refused, Resolution, resolve};
pub use typed_message::{MessageTarget, PendingAsk, TextShape, TypedAnswers, find_message_target};

use crate::digest::ShaDigest;
use crate::id::{AskId, ConnectionId, RunId, SessionId, TokenId};
use crate::limits::{self, LimitExceeded};
use crate::policy::OnTimeout;
use crate::raw::Raw;
use crate::session::Labels;
use crate::time::{Span, Time};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AskKind {
    /// One or more questions, or a form.
    Question,
    /// The permission to use a tool with an input.
    Approval,
    /// A web address to open.
    Link,
}

impl AskKind {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Approval => "approval",
            Self::Link => "link",
        }
    }
}

/// The content of an ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AskBody {
    Question {
        /// In the agent's order.
        questions: Vec<Question>,
    },
    /// The permission to use a tool.
    Approval(Approval),
    /// A web address to open.
    Link(Link),
}

impl AskBody {
    #[must_use]
    pub const fn kind(&self) -> AskKind {
        match self {
            Self::Question { .. } => AskKind::Question,
            Self::Approval(_) => AskKind::Approval,
            Self::Link(_) => AskKind::Link,
        }
    }

    /// The questions, or an empty slice for other kinds.
    #[must_use]
    pub fn questions(&self) -> &[Question] {
        match self {
            Self::Question { questions } => questions,
            Self::Approval(_) | Self::Link(_) => &[],
        }
    }

    /// Whether an answer to it is secret.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.questions().iter().any(Question::is_secret)
    }

    /// Whether the decision contains a value that has to fit a JSON Schema of the ask.
    #[must_use]
    pub fn has_schema_for(&self, decision: &Decision) -> bool {
        match (self, decision) {
            (Self::Approval(approval), Decision::Approved { input, .. }) => input.is_some() && approval.input_schema.is_some(),
            (Self::Question { questions }, Decision::Answered { .. }) => {
                questions.iter().any(|question| question.response_schema.is_some())
            }
            (Self::Question { .. } | Self::Approval(_) | Self::Link(_), _) => false,
        }
    }

    /// Describes the request in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            Self::Question { questions } => match questions.as_slice() {
                [only] => only.text.clone(),
                several => several.iter().map(Question::name).collect::<Vec<_>>().join(", "),
            },
            Self::Approval(approval) => approval.title.clone(),
            Self::Link(link) => link.url.clone(),
        }
    }

    /// Checks the sizes of all parts.
    ///
    /// # Errors
    /// The first limit that is exceeded.
    pub fn check_limits(&self) -> Result<(), LimitExceeded> {
        match self {
            Self::Question { questions } => {
                limits::check("the number of questions", questions.len(), limits::QUESTIONS)?;
                questions.iter().try_for_each(Question::check_limits)
            }
            Self::Approval(approval) => approval.check_limits(),
            Self::Link(link) => link.check_limits(),
        }
    }
}

/// Information about an ask that a person needs to decide away from the terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AskContext {
    pub agent: String,
    /// The title of the session.
    pub title: String,
    /// The directory of the project.
    pub project: Option<String>,
    pub branch: Option<String>,
    /// The sub-agent that asks. `None` for the main thread.
    pub subagent: Option<String>,
    /// The end of the agent's last message before it asked.
    pub context: Option<String>,
    /// The agent's id of the tool call.
    pub tool_call_id: Option<String>,
    /// Whether the agent waits for the outcome.
    pub blocking: bool,
    pub run: Option<RunId>,
    pub step: Option<String>,
    /// The labels of the session and of the ask.
    pub labels: Labels,
    /// How long the ask stays pending after its caller stopped waiting. `None` means without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<Span>,
    /// The caller that opened it. `None` for asks of agents that Sayso runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asker: Option<Asker>,
    /// The digest of the request. `None` for asks that an earlier version opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<ShaDigest>,
    /// The files that the command of an approval executes, as they were when the ask was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executes: Option<ExecutedFiles>,
}

/// The caller that opened an ask over the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asker {
    /// The actor of the token.
    pub name: String,
    /// Properties that the caller only reports about itself.
    #[serde(default, skip_serializing_if = "Claims::is_none")]
    pub claims: Claims,
}

/// Properties that a caller reports about itself. Rules that protect rely on them, rules that allow do not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Claims {
    /// Whether the name of the agent is only reported.
    pub agent: bool,
    /// Whether the project is only reported.
    pub project: bool,
}

impl Claims {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// The time after which an ask is decided without a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deadline {
    pub at: Time,
    /// The configured duration, for the message to the agent.
    pub after: Span,
    /// What happens at the deadline.
    pub then: OnTimeout,
}

/// The result of the policy for an ask that a person decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicyNote {
    /// Why a person decides.
    pub why: Option<String>,
    /// The answers that rules preselect, one entry per question.
    pub preselected: Vec<Option<Vec<String>>>,
    /// The fingerprint of the rules at that time.
    pub rules: Option<String>,
    pub deadline: Option<Deadline>,
    /// The keys of the rules that decided the ask or left it to a person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hits: Vec<String>,
}

/// The source of an ask, and how its outcome is returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub session: Option<SessionId>,
    pub connection: Option<ConnectionId>,
    /// The agent's id of the request.
    pub native_id: Option<String>,
    /// The token of the caller, for asks over the API.
    pub opened_by: Option<TokenId>,
}

/// A request of an agent to a person, with its state.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    pub id: AskId,
    pub origin: Origin,
    /// The content. It never changes, so all copies of the ask share it.
    pub body: Arc<AskBody>,
    pub context: Arc<AskContext>,
    /// The result of the policy.
    pub policy: PolicyNote,
    pub opened_at: Time,
    /// Hidden from the inbox until this time. Snoozing does not decide the ask.
    pub snoozed_until: Option<Time>,
    pub state: AskState,
    /// The original request of the agent.
    pub raw: Option<Raw>,
}

impl Ask {
    #[must_use]
    pub fn kind(&self) -> AskKind {
        self.body.kind()
    }

    /// Returns the outcome if the ask is resolved.
    #[must_use]
    pub const fn outcome(&self) -> Option<&Outcome> {
        match &self.state {
            AskState::Pending(_) => None,
            AskState::Resolved { outcome, .. } => Some(outcome),
        }
    }

    /// Whether two asks request the same thing. If a digest is missing, their whole content is compared.
    #[must_use]
    pub fn requests_the_same(&self, other: &Self) -> bool {
        match (self.context.digest, other.context.digest) {
            (Some(digest), Some(other)) => digest == other,
            (None, _) | (_, None) => {
                let facts = |ask: &Self| (ask.context.agent.clone(), ask.context.project.clone());
                self.body == other.body && facts(self) == facts(other)
            }
        }
    }

    /// Whether this is an approval that the agent or caller has received. Such an approval is never handed out again.
    #[must_use]
    pub fn is_delivered_approval(&self) -> bool {
        match &self.state {
            AskState::Pending(_) => false,
            AskState::Resolved { outcome, delivery } => {
                matches!(outcome.decision, Decision::Approved { .. }) && *delivery != Delivery::Queued
            }
        }
    }

    /// Whether it can stay pending without an agent. The answer to a parked question becomes a message to the agent, so a
    /// question with a secret answer is never parked.
    #[must_use]
    pub fn can_be_parked(&self) -> bool {
        self.kind() == AskKind::Question && !self.body.is_secret()
    }

    /// Returns the agent's id of the tool call, or the id of the ask if there is none. Gateway clients name asks by it.
    #[must_use]
    pub fn tool_call_id(&self) -> String {
        self.context.tool_call_id.clone().unwrap_or_else(|| self.id.to_string())
    }
}
