//! The ask: one thing an agent wants from a person.

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

pub use agent_gone::{AgentGone, agent_gone};
pub use answer::{Answers, InvalidAnswers, QuestionProblem, first_options, validate};
pub use approval::{Action, Approval, Choice, FileDiff, Preview};
pub use digest::ask_digest;
pub use executed_files::{ExecutedFile, ExecutedFiles, content_digest};
pub use link::{Link, LinkSchemeRefused};
pub use question::{Input, Question, QuestionOption, strip_recommended};
pub use state::{AskState, Decision, Delivery, DeliveryError, MASK, Outcome, OutcomeStatus, Reach, Refused, Resolution, resolve};
pub use typed_message::{MessageTarget, PendingAsk, TextShape, TypedAnswers, target_of};

use crate::digest::ShaDigest;
use crate::id::{AskId, ConnectionId, RunId, SessionId, TokenId};
use crate::limits::{self, LimitExceeded};
use crate::policy::OnTimeout;
use crate::raw::Raw;
use crate::session::Labels;
use crate::time::{Span, Time};

/// The three kinds of ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AskKind {
    /// One or more questions, also a typed form.
    Question,
    /// May I use this tool with this input.
    Approval,
    /// Please open this address.
    Link,
}

impl AskKind {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Approval => "approval",
            Self::Link => "link",
        }
    }
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AskBody {
    /// One or more questions.
    Question {
        /// The questions, in the agent's order.
        questions: Vec<Question>,
    },
    /// May I use this tool.
    Approval(Approval),
    /// Please open this address.
    Link(Link),
}

impl AskBody {
    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> AskKind {
        match self {
            Self::Question { .. } => AskKind::Question,
            Self::Approval(_) => AskKind::Approval,
            Self::Link(_) => AskKind::Link,
        }
    }

    /// The questions, none for the other kinds.
    #[must_use]
    pub fn questions(&self) -> &[Question] {
        match self {
            Self::Question { questions } => questions,
            Self::Approval(_) | Self::Link(_) => &[],
        }
    }

    /// Whether any answer to it is secret.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.questions().iter().any(Question::is_secret)
    }

    /// One line that says what is wanted.
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

    /// Checks every size.
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

/// What travels with an ask so that a person can decide away from the terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AskContext {
    /// The agent's configured name.
    pub agent: String,
    /// The session's title.
    pub title: String,
    /// The project directory.
    pub project: Option<String>,
    /// The git branch.
    pub branch: Option<String>,
    /// The sub-agent that asks, if it is not the main thread.
    pub subagent: Option<String>,
    /// The last words of the agent before it asked.
    pub context: Option<String>,
    /// The agent's own id of the tool call.
    pub tool_call_id: Option<String>,
    /// Whether the agent waits for it.
    pub blocking: bool,
    /// The workflow run it belongs to.
    pub run: Option<RunId>,
    /// The step of that run.
    pub step: Option<String>,
    /// Labels of the session and of the ask.
    pub labels: Labels,
    /// How long it is kept when the caller that opened it no longer waits; for ever if nothing stands here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<Span>,
    /// The token that opened it, if a caller did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asker: Option<Asker>,
    /// The digest of what is asked. Asks that an earlier version opened have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<ShaDigest>,
    /// The files that the command of an approval executes, as they were when the ask was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executes: Option<ExecutedFiles>,
}

/// Who opened an ask over the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asker {
    /// The actor of the token.
    pub name: String,
    /// What the caller only reports about itself.
    #[serde(default, skip_serializing_if = "Claims::is_none")]
    pub claims: Claims,
}

/// What an asker only reports about itself. A rule that protects believes it, a rule that allows does not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Claims {
    /// The name of the agent.
    pub agent: bool,
    /// The directory.
    pub project: bool,
}

impl Claims {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// When nobody answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deadline {
    /// The moment.
    pub at: Time,
    /// The length that was given, for the words to the agent.
    pub after: Span,
    /// What happens then.
    pub then: OnTimeout,
}

/// What the policy said when the ask was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicyNote {
    /// Why a person is asked.
    pub why: Option<String>,
    /// Per question, what a rule preselects.
    pub preselected: Vec<Option<Vec<String>>>,
    /// The fingerprint of the rules that were in force.
    pub rules: Option<String>,
    /// The duration given to people.
    pub deadline: Option<Deadline>,
    /// The keys of the rules that decided, or that left the ask to a person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hits: Vec<String>,
}

/// Where an ask came from: the agent's request and the way back to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The session, if it belongs to one.
    pub session: Option<SessionId>,
    /// The connection that delivers the outcome.
    pub connection: Option<ConnectionId>,
    /// The agent's own id of its request.
    pub native_id: Option<String>,
    /// The token that opened it, for callers.
    pub opened_by: Option<TokenId>,
}

/// One ask, whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// Its id.
    pub id: AskId,
    /// Where it came from.
    pub origin: Origin,
    /// What is asked. It never changes, so all copies of the ask share it.
    pub body: Arc<AskBody>,
    /// What travels with it.
    pub context: Arc<AskContext>,
    /// What the policy noted.
    pub policy: PolicyNote,
    /// When it was opened.
    pub opened_at: Time,
    /// Hidden from the inbox until then; never a denial.
    pub snoozed_until: Option<Time>,
    /// Where it stands.
    pub state: AskState,
    /// The agent's request as it arrived.
    pub raw: Option<Raw>,
}

impl Ask {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> AskKind {
        self.body.kind()
    }

    /// How it ended, if it did.
    #[must_use]
    pub const fn outcome(&self) -> Option<&Outcome> {
        match &self.state {
            AskState::Pending(_) => None,
            AskState::Resolved { outcome, .. } => Some(outcome),
        }
    }

    /// Whether two asks ask for the same thing. Without both digests, everything that was asked has to be equal.
    #[must_use]
    pub fn asks_the_same(&self, other: &Self) -> bool {
        match (self.context.digest, other.context.digest) {
            (Some(digest), Some(other)) => digest == other,
            (None, _) | (_, None) => {
                let facts = |ask: &Self| (ask.context.agent.clone(), ask.context.project.clone());
                self.body == other.body && facts(self) == facts(other)
            }
        }
    }

    /// Whether this is a yes to a tool that the agent or caller has already. Such a yes is never handed out again.
    #[must_use]
    pub fn is_delivered_approval(&self) -> bool {
        match &self.state {
            AskState::Pending(_) => false,
            AskState::Resolved { outcome, delivery } => {
                matches!(outcome.decision, Decision::Approved { .. }) && *delivery != Delivery::Queued
            }
        }
    }

    /// Whether it can wait for an answer without an agent. The answer to a parked question becomes a message, so a question
    /// with a secret answer is never parked.
    #[must_use]
    pub fn can_be_parked(&self) -> bool {
        self.kind() == AskKind::Question && !self.body.is_secret()
    }

    /// The agent's own id of the tool call, else our id: every ask can be named by one.
    #[must_use]
    pub fn tool_call_id(&self) -> String {
        self.context.tool_call_id.clone().unwrap_or_else(|| self.id.to_string())
    }
}
