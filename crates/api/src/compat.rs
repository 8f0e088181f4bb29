//! The dialects of existing clients: question REST and gateway.

use std::collections::BTreeMap;

use sayso_core::ask as core;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ask::Question;

/// The status of a question in the question REST dialect. It has three values; a withdrawn question
/// shows as rejected with a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionStatus {
    /// It waits.
    Requested,
    /// It has an answer.
    Answered,
    /// No answer will come.
    Rejected,
}

/// The object `question` that `question.*` events carry beside the ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionEventData {
    /// The ask's id.
    pub question_id: String,
    /// The texts, joined by newline.
    pub prompt: String,
    /// The labels of the first question.
    pub options: Vec<String>,
    /// The first string of the first answer; `null` if it is secret.
    pub response: Option<String>,
    /// Where it stands.
    pub status: QuestionStatus,
    /// Why it was rejected or withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The questions.
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

/// Replies to a question of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionReplyRequest {
    /// One list of entries per question.
    pub answers: Vec<Vec<String>>,
}

/// One question in the gateway dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionItem {
    /// A short name, shown as a chip.
    pub header: String,
    /// What is asked.
    pub question: String,
    /// What may be chosen.
    pub options: Vec<ItemOption>,
    /// Whether several may be chosen.
    pub multi_select: bool,
}

/// An option in the gateway dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemOption {
    /// What a person reads, and what is sent back.
    pub label: String,
    /// What it means.
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

/// What the gateway's stream sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum GatewayEvent {
    /// The next piece of a message.
    #[serde(rename_all = "camelCase")]
    TextDelta {
        /// The piece.
        text: String,
    },
    /// A tool call began.
    #[serde(rename_all = "camelCase")]
    ToolCallStart {
        /// The agent's id of the call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
    },
    /// What the tool is called with.
    #[serde(rename_all = "camelCase")]
    ToolCallDelta {
        /// The agent's id of the call.
        tool_call_id: String,
        /// JSON as text.
        input: String,
    },
    /// The call is complete.
    #[serde(rename_all = "camelCase")]
    ToolCallEnd {
        /// The agent's id of the call.
        tool_call_id: String,
    },
    /// What the tool gave.
    #[serde(rename_all = "camelCase")]
    ToolResult {
        /// The agent's id of the call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
        /// Its output.
        result: String,
        /// `complete` or `error`.
        status: String,
    },
    /// A tool wants to be approved.
    #[serde(rename_all = "camelCase")]
    ApprovalRequired {
        /// The agent's id of the call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
        /// The input, JSON as text.
        input: String,
    },
    /// Questions wait.
    #[serde(rename_all = "camelCase")]
    QuestionPrompt {
        /// The agent's id of the call.
        tool_call_id: String,
        /// The questions.
        questions: Vec<QuestionItem>,
    },
    /// Something went wrong.
    #[serde(rename_all = "camelCase")]
    Error {
        /// What.
        message: String,
    },
    /// The turn is over.
    #[serde(rename_all = "camelCase")]
    Done {
        /// The session.
        session_id: String,
    },
    /// The session changed what it is doing.
    #[serde(rename_all = "camelCase")]
    SessionStatus {
        /// The session.
        session_id: String,
        /// `running`, `waiting`, `idle`, `stalled`, `ended` or `failed`.
        status: String,
    },
}

/// Submits answers by tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SubmitAnswers {
    /// The agent's id of the call.
    #[schema(required)]
    pub tool_call_id: Option<String>,
    /// By position: `"0"`, `"1"`; a JSON array as text for a question that takes several.
    #[schema(required)]
    pub answers: Option<BTreeMap<String, String>>,
}

/// Names a tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolCallRef {
    /// The agent's id of the call.
    #[schema(required)]
    pub tool_call_id: Option<String>,
}

/// It is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Ok {
    /// Always true.
    pub ok: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use utoipa::PartialSchema as _;

    use super::*;

    /// What the document says about the gateway's events is what the stream sends.
    #[test]
    fn the_schema_names_the_fields_as_the_wire_does() {
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
