//! Types of two older client protocols that Sayso also serves: the question REST dialect and the gateway dialect.

use std::collections::BTreeMap;

use sayso_core::ask as core;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ask::Question;

/// The status of a question in the question REST dialect, which has only three values. A withdrawn question has the status
/// `rejected` and a `reason`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionStatus {
    /// The question is pending.
    Requested,
    /// A person or a rule answered it.
    Answered,
    /// The question was rejected or withdrawn, and will not be answered.
    Rejected,
}

/// The question REST dialect's view of an ask. `question.*` events carry it as `question`, next to the ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionEventData {
    /// The id of the ask.
    pub question_id: String,
    /// The text of every question, joined by newlines.
    pub prompt: String,
    /// The option labels of the first question.
    pub options: Vec<String>,
    /// The first entry of the first answer. `null` until there is an answer, and always for a secret.
    pub response: Option<String>,
    /// The status of the question.
    pub status: QuestionStatus,
    /// Why the question was rejected or withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// All questions of the ask.
    pub questions: Vec<Question>,
}

impl From<&core::Ask> for QuestionEventData {
    fn from(ask: &core::Ask) -> Self {
        let questions = ask.body.questions();
        let (prompt, options) = match &*ask.body {
            core::AskBody::Question { questions } => (
                questions.iter().map(|question| question.text.as_str()).collect::<Vec<_>>().join("\n"),
                questions.first().map(|q| q.options().iter().map(|o| o.label.clone()).collect()).unwrap_or_default(),
            ),
            core::AskBody::Approval(approval) => (approval.title.clone(), Vec::new()),
            core::AskBody::Link(link) => (link.url.clone(), Vec::new()),
        };
        let (status, response, reason) = match ask.outcome().map(|outcome| &outcome.decision) {
            None => (QuestionStatus::Requested, None, None),
            Some(core::Decision::Answered { answers, .. }) => {
                let secret = questions.first().is_some_and(core::Question::is_secret);
                let first = answers.first().and_then(|entries| entries.first()).filter(|_| !secret).cloned();
                (QuestionStatus::Answered, first, None)
            }
            Some(core::Decision::Approved { .. }) => (QuestionStatus::Answered, None, None),
            Some(core::Decision::Rejected { message, .. } | core::Decision::Denied { message, .. }) => {
                (QuestionStatus::Rejected, None, Some(message.clone()))
            }
            Some(core::Decision::Withdrawn { reason }) => (QuestionStatus::Rejected, None, Some(reason.clone())),
        };
        Self {
            question_id: ask.id.to_string(),
            prompt,
            options,
            response,
            status,
            reason,
            questions: questions.iter().map(Question::from).collect(),
        }
    }
}

/// The body of a reply in the question REST dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionReplyRequest {
    /// One list per question, in order. Each entry is an option label or free text.
    pub answers: Vec<Vec<String>>,
}

/// One question in the gateway dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionItem {
    /// A short label that clients show as a chip.
    pub header: String,
    /// The text of the question.
    pub question: String,
    /// The options to choose from. Empty for a free-text question.
    pub options: Vec<ItemOption>,
    /// Whether more than one option can be chosen.
    pub multi_select: bool,
}

/// An option in the gateway dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemOption {
    /// The text to display, and the value to send back.
    pub label: String,
    /// A longer explanation of the option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl From<&core::Question> for QuestionItem {
    fn from(question: &core::Question) -> Self {
        Self {
            header: question.header.clone().unwrap_or_default(),
            question: question.text.clone(),
            options: question
                .options()
                .iter()
                .map(|option| ItemOption { label: option.label.clone(), description: option.description.clone() })
                .collect(),
            multi_select: question.multiple(),
        }
    }
}

/// An event of the gateway's stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum GatewayEvent {
    /// A fragment of assistant text.
    #[serde(rename_all = "camelCase")]
    TextDelta {
        /// The text to append to the message.
        text: String,
    },
    /// The agent started a tool call.
    #[serde(rename_all = "camelCase")]
    ToolCallStart {
        /// The id that the agent gave the tool call.
        tool_call_id: String,
        /// The name of the tool.
        tool_name: String,
    },
    /// The arguments of a tool call.
    #[serde(rename_all = "camelCase")]
    ToolCallDelta {
        /// The id that the agent gave the tool call.
        tool_call_id: String,
        /// The arguments as JSON text.
        input: String,
    },
    /// The arguments of the tool call are complete.
    #[serde(rename_all = "camelCase")]
    ToolCallEnd {
        /// The id that the agent gave the tool call.
        tool_call_id: String,
    },
    /// The tool call finished.
    #[serde(rename_all = "camelCase")]
    ToolResult {
        /// The id that the agent gave the tool call.
        tool_call_id: String,
        /// The name of the tool.
        tool_name: String,
        /// The output of the tool.
        result: String,
        /// `complete` or `error`.
        status: String,
    },
    /// The agent needs approval before it runs a tool.
    #[serde(rename_all = "camelCase")]
    ApprovalRequired {
        /// The id that the agent gave the tool call.
        tool_call_id: String,
        /// The name of the tool.
        tool_name: String,
        /// The tool's arguments as JSON text.
        input: String,
    },
    /// The agent asked questions and waits for the answers.
    #[serde(rename_all = "camelCase")]
    QuestionPrompt {
        /// The id that the agent gave the tool call.
        tool_call_id: String,
        /// The questions to answer.
        questions: Vec<QuestionItem>,
    },
    /// An error in the session.
    #[serde(rename_all = "camelCase")]
    Error {
        /// A description of the error for people.
        message: String,
    },
    /// The agent finished its turn.
    #[serde(rename_all = "camelCase")]
    Done {
        /// The id of the session.
        session_id: String,
    },
    /// The status of the session changed.
    #[serde(rename_all = "camelCase")]
    SessionStatus {
        /// The id of the session.
        session_id: String,
        /// `running`, `waiting`, `idle`, `stalled`, `ended` or `failed`.
        status: String,
    },
}

/// Answers the questions of one tool call in the gateway dialect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SubmitAnswers {
    /// The id that the agent gave the tool call. Required.
    #[schema(required)]
    pub tool_call_id: Option<String>,
    /// Answers by question position: `"0"`, `"1"` and so on. A question with `multiSelect` takes a JSON array as text.
    /// Required.
    #[schema(required)]
    pub answers: Option<BTreeMap<String, String>>,
}

/// Refers to a tool call in the gateway dialect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolCallRef {
    /// The id that the agent gave the tool call. Required.
    #[schema(required)]
    pub tool_call_id: Option<String>,
}

/// The response of gateway calls that succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ok {
    /// Always `true`.
    pub ok: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use utoipa::PartialSchema as _;

    use super::*;

    /// Compares the field names in the OpenAPI schema with the field names in serialized events.
    #[test]
    fn gateway_event_schema_matches_serialized_field_names() {
        let (id, text) = (|| "call-1".to_owned(), || "text".to_owned());
        let events = [
            GatewayEvent::TextDelta { text: text() },
            GatewayEvent::ToolCallStart { tool_call_id: id(), tool_name: text() },
            GatewayEvent::ToolCallDelta { tool_call_id: id(), input: text() },
            GatewayEvent::ToolCallEnd { tool_call_id: id() },
            GatewayEvent::ToolResult { tool_call_id: id(), tool_name: text(), result: text(), status: text() },
            GatewayEvent::ApprovalRequired { tool_call_id: id(), tool_name: text(), input: text() },
            GatewayEvent::QuestionPrompt { tool_call_id: id(), questions: Vec::new() },
            GatewayEvent::Error { message: text() },
            GatewayEvent::Done { session_id: id() },
            GatewayEvent::SessionStatus { session_id: id(), status: text() },
        ];
        let schema = serde_json::to_value(GatewayEvent::schema()).unwrap();
        let described = schema["oneOf"].as_array().unwrap();
        assert_eq!(described.len(), events.len());
        let fields = |object: &Value| {
            let mut names: Vec<String> = object.as_object().unwrap().keys().cloned().collect();
            names.sort();
            names
        };
        for event in events {
            let wire = serde_json::to_value(&event).unwrap();
            let one = described.iter().find(|one| one["properties"]["type"]["enum"][0] == wire["type"]).unwrap();
            assert_eq!(fields(&one["properties"]["data"]["properties"]), fields(&wire["data"]), "{wire}");
            assert!(wire["data"].get("tool_call_id").is_none(), "{wire}");
        }
    }
}
