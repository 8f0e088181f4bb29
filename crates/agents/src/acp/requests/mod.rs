//! The requests by which an agent asks. Each kind reads its request as an ask, and writes the outcome in the shape that
//! the agent expects.

mod cursor;
mod form;
mod grok;
mod permission;
mod question;
mod question_list;

use sayso_core::ask::{AskBody, Decision};
use serde::{Deserialize, Serialize};

use super::tool_call::ToolCalls;
use crate::json::{self, Object};
use crate::json_rpc::{self, CANCELLED, Id};
use crate::text::own_words;

/// The kind of a request. It is all that the translator remembers to take the request back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum RequestKind {
    /// A permission.
    Permission,
    /// A permission that carries questions and takes answers beside its outcome.
    PermissionWithAnswers,
    /// A permission whose options are those of one question.
    PermissionAsQuestion,
    /// A form.
    Form,
    /// An address.
    Link,
    /// A form or an address by the older method, whose answer is nested.
    OldForm,
    /// One question.
    Question,
    /// Cursor's questions.
    CursorQuestion,
    /// Cursor's plan.
    CursorPlan,
    /// Grok's questions.
    GrokQuestion,
    /// Grok's plan.
    GrokPlan,
}

/// A request of the agent, understood.
#[derive(Debug)]
pub(super) struct AcpAsk {
    pub(super) kind: RequestKind,
    pub(super) body: AskBody,
    pub(super) tool_call: Option<String>,
    /// The agent's name of a link, by which it says that the link was opened.
    pub(super) link: Option<String>,
}

/// A request that does not become an ask.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Nobody here knows the method.
    UnknownMethod,
    /// It only tells something.
    Acknowledged,
    /// It is not what the method takes; the agent is told why.
    Invalid(String),
}

/// What goes back to the agent.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) reply: Reply,
    /// Words for which the wire has no place. A person's are said later.
    pub(super) unsaid: Option<String>,
    /// Why the agent does not get what was decided.
    pub(super) lost: Option<&'static str>,
}

/// The result, as JSON text, or an error.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Result(String),
    Cancelled,
}

impl Reply {
    pub(super) fn of(value: &impl Serialize) -> Self {
        Self::Result(json::line(value))
    }

    /// The line that answers this request.
    pub(super) fn line(&self, id: &Id) -> String {
        match self {
            Self::Result(json) => format!(r#"{{"jsonrpc":"2.0","id":{},"result":{json}}}"#, id.as_str()),
            Self::Cancelled => json_rpc::error(id, CANCELLED, "The request was cancelled"),
        }
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self { reply, unsaid: None, lost: None }
    }
}

impl Answer {
    fn of(value: &impl Serialize) -> Self {
        Reply::of(value).into()
    }

    fn with_unsaid(self, unsaid: Option<String>) -> Self {
        Self { unsaid, ..self }
    }

    /// A no to questions, or to anything else that has no place for the reason.
    fn no(self, message: &str) -> Self {
        self.with_unsaid(own_words(message))
    }

    fn lost(reply: Reply, why: &'static str) -> Self {
        Self { reply, unsaid: None, lost: Some(why) }
    }
}

/// Reads a request.
pub(super) fn read(method: &str, params: &Object<'_>, calls: &ToolCalls) -> Result<AcpAsk, Refusal> {
    match method {
        "session/request_permission" => permission::read(params, calls),
        "elicitation/create" => form::read(params, false),
        "session/elicitation" | "_session/elicitation" => form::read(params, true),
        "_sandboxagent/session/request_question" => question::read(params),
        "cursor/ask_question" | "_cursor/ask_question" => cursor::read_questions(params),
        "cursor/create_plan" | "_cursor/create_plan" => cursor::read_plan(params),
        "_x.ai/ask_user_question" | "x.ai/ask_user_question" => grok::read_questions(params),
        "_x.ai/exit_plan_mode" | "x.ai/exit_plan_mode" => grok::read_plan(params),
        "cursor/update_todos" => Err(Refusal::Acknowledged),
        _ => Err(Refusal::UnknownMethod),
    }
}

impl RequestKind {
    /// What the agent gets for this decision about its request.
    pub(super) fn answer(self, params: &Object<'_>, decision: &Decision) -> Answer {
        match self {
            Self::Permission => permission::answer(params, decision),
            Self::PermissionWithAnswers => permission::answer_with_answers(params, decision),
            Self::PermissionAsQuestion => permission::answer_by_option(params, decision),
            Self::Form | Self::Link | Self::OldForm => form::answer(self, params, decision),
            Self::Question => question::answer(decision),
            Self::CursorQuestion => cursor::answer_questions(params, decision),
            Self::CursorPlan => cursor::answer_plan(decision),
            Self::GrokQuestion => grok::answer_questions(params, decision),
            Self::GrokPlan => grok::answer_plan(decision),
        }
    }

    /// What the agent gets when nobody will decide any more: the turn is over or the request was
    /// taken back.
    pub(super) fn cancelled(self) -> Reply {
        match self {
            Self::Permission | Self::PermissionWithAnswers | Self::PermissionAsQuestion => permission::cancelled(),
            Self::Form | Self::Link | Self::OldForm => form::cancelled(self),
            Self::Question => Reply::Cancelled,
            Self::CursorQuestion | Self::CursorPlan => cursor::cancelled(),
            Self::GrokQuestion => grok::cancelled_questions(),
            Self::GrokPlan => grok::cancelled_plan(),
        }
    }
}
