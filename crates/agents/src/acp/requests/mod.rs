//! The requests through which an ACP agent asks. Each kind parses its request into an ask and writes the outcome in the
//! format that the agent expects.

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

/// The kind of a request. The translator needs nothing else to cancel the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum RequestKind {
    /// A plain permission request.
    Permission,
    /// A permission request that carries questions and accepts answers in extra fields of its response.
    PermissionWithAnswers,
    /// A permission request whose options are the options of one question.
    PermissionAsQuestion,
    /// A form to fill in.
    Form,
    /// A URL to open.
    Link,
    /// A form or URL of the older method, whose response is nested.
    OldForm,
    Question,
    CursorQuestion,
    CursorPlan,
    GrokQuestion,
    GrokPlan,
}

/// A parsed request of the agent.
#[derive(Debug)]
pub(super) struct AcpAsk {
    pub(super) kind: RequestKind,
    pub(super) body: AskBody,
    pub(super) tool_call: Option<String>,
    /// The agent's id of a link, used in its notification that the link was opened.
    pub(super) link: Option<String>,
}

/// Why a request does not become an ask.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// No kind handles this method.
    UnknownMethod,
    /// The request is informational: it is acknowledged without an ask.
    Acknowledged,
    /// The parameters are invalid; the agent receives the reason.
    Invalid(String),
}

/// The response to a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) reply: Reply,
    /// Words that the response has no field for. If a person wrote them, they are sent after the turn.
    pub(super) unsaid: Option<String>,
    /// Why the decision cannot be delivered to the agent.
    pub(super) lost: Option<&'static str>,
}

/// A JSON-RPC result as JSON text, or an error.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Result(String),
    Cancelled,
}

impl Reply {
    pub(super) fn of(value: &impl Serialize) -> Self {
        Self::Result(json::line(value))
    }

    /// The response line for the request `id`.
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

    /// A rejection whose response has no field for the reason.
    fn with_unsaid_reason(self, message: &str) -> Self {
        self.with_unsaid(own_words(message))
    }

    fn lost(reply: Reply, why: &'static str) -> Self {
        Self { reply, unsaid: None, lost: Some(why) }
    }
}

/// Parses a request into an ask.
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
    /// The response for a decision about this request.
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

    /// The response when no decision will come: the turn ended or the request was withdrawn.
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
