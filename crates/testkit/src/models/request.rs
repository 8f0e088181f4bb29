//! A request of an agent to the model, independent of the API.

use serde_json::Value;

/// The API of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    Anthropic,
    Gemini,
    Responses,
    /// The Chat Completions API of OpenAI and many others.
    Chat,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelRole {
    /// The person or a tool.
    User,
    Assistant,
    /// The agent itself, in the middle of the conversation.
    System,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    pub text: String,
    /// Whether the tool failed.
    pub is_error: bool,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum MessagePart {
    Text(String),
    /// An earlier tool call of the model.
    ToolCall {
        /// The id of the call.
        id: String,
        name: String,
        /// The arguments of the call.
        input: Value,
    },
    ToolResult(ToolResult),
    /// Any other content, such as an image.
    Other(Value),
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelMessage {
    pub role: ModelRole,
    pub parts: Vec<MessagePart>,
}

/// A request of an agent to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    pub api: Api,
    /// The name of the requested model.
    pub model: String,
    pub system: String,
    /// The names of the tools that the model may call.
    pub tools: Vec<String>,
    /// Maximum length of the reply in tokens.
    pub max_tokens: Option<u64>,
    /// The JSON schema that the reply must match.
    pub schema: Option<Value>,
    /// The conversation so far.
    pub messages: Vec<ModelMessage>,
    /// The complete body of the request.
    pub body: Value,
}

/// Prefixes of the notes that agents add to the person's messages.
const NOTES: [&str; 4] = ["<system-reminder>", "<session_context>", "<environment_context>", "<turn_aborted>"];

/// Prefixes of the prompts of side requests that have all tools and the whole conversation: prompt suggestions,
/// compaction, summaries for a returning user, and memory extraction.
const SIDE_PROMPTS: [&str; 4] = [
    "[SUGGESTION MODE",
    "CRITICAL: Respond with TEXT ONLY",
    "The user stepped away and is coming back",
    "You are now acting as the memory extraction subagent",
];

/// Side requests have a small limit of output tokens; turns of the conversation have a larger one.
const SHORT: u64 = 512;

impl ModelRequest {
    /// The person's last message, without the notes that agents add.
    #[must_use]
    pub fn last_user_text(&self) -> Option<&str> {
        self.messages.iter().rev().find_map(ModelMessage::user_text)
    }

    /// The tool results since the model's last turn.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        let after = self.messages.iter().rposition(|message| message.role == ModelRole::Assistant).map_or(0, |last| last + 1);
        self.messages.iter().skip(after).flat_map(|message| &message.parts).filter_map(|part| match part {
            MessagePart::ToolResult(result) => Some(result),
            MessagePart::Text(_) | MessagePart::ToolCall { .. } | MessagePart::Other(_) => None,
        })
    }

    /// Whether the conversation contains the result of a call.
    pub(super) fn has_result(&self, id: &str) -> bool {
        let parts = self.messages.iter().flat_map(|message| &message.parts);
        parts.into_iter().any(|part| matches!(part, MessagePart::ToolResult(result) if result.id == id))
    }

    /// How many turns the model had since the person's last message: 0 right after a prompt, 1 after the first round of
    /// tool results, and so on.
    #[must_use]
    pub fn step(&self) -> usize {
        let after = self.messages.iter().rposition(|message| message.user_text().is_some()).unwrap_or(0);
        self.messages.iter().skip(after).filter(|message| message.role == ModelRole::Assistant).count()
    }

    /// Whether this is a side request of the agent: a title, summary, suggestion or check.
    pub(super) fn is_side_request(&self) -> bool {
        self.tools.is_empty()
            || self.max_tokens.is_some_and(|most| most <= SHORT)
            || self.last_user_text().is_some_and(|text| SIDE_PROMPTS.iter().any(|prompt| text.starts_with(prompt)))
    }
}

impl ModelMessage {
    /// The person's text in the message, if any.
    fn user_text(&self) -> Option<&str> {
        if self.role != ModelRole::User {
            return None;
        }
        self.parts.iter().rev().find_map(|part| match part {
            MessagePart::Text(text) if !NOTES.iter().any(|note| text.trim_start().starts_with(note)) => Some(text.as_str()),
            MessagePart::Text(_) | MessagePart::ToolCall { .. } | MessagePart::ToolResult(_) | MessagePart::Other(_) => None,
        })
    }
}
