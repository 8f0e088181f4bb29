//! What an agent sent to the model, in the words of no API.

use serde_json::Value;

/// Whose wire a request came by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Anthropic's Messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
    /// OpenAI's Responses.
    Responses,
    /// Chat Completions, as OpenAI and many others have them.
    Chat,
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelRole {
    /// The person, and tools.
    User,
    /// The model.
    Assistant,
    /// The agent itself, in the midst of the conversation.
    System,
}

/// What a tool returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call's id.
    pub id: String,
    /// Its text.
    pub text: String,
    /// Whether the model is told that it failed.
    pub is_error: bool,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum MessagePart {
    /// A text.
    Text(String),
    /// A call of a tool that the model made before.
    ToolCall {
        /// Its id.
        id: String,
        /// The tool's name.
        name: String,
        /// What it was called with.
        input: Value,
    },
    /// What a tool returned.
    ToolResult(ToolResult),
    /// Anything else, such as an image.
    Other(Value),
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelMessage {
    /// Who speaks.
    pub role: ModelRole,
    /// What is said.
    pub parts: Vec<MessagePart>,
}

/// What an agent sent to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// Whose wire it came by.
    pub api: Api,
    /// The model that was asked.
    pub model: String,
    /// The system prompt.
    pub system: String,
    /// The names of the tools that the model may call.
    pub tools: Vec<String>,
    /// How long the reply may be.
    pub max_tokens: Option<u64>,
    /// The JSON schema that the reply has to have.
    pub schema: Option<Value>,
    /// The conversation so far.
    pub messages: Vec<ModelMessage>,
    /// All of it, as it came.
    pub body: Value,
}

/// Agents put notes of their own into what the person says; these are how they begin.
const NOTES: [&str; 4] = ["<system-reminder>", "<session_context>", "<environment_context>", "<turn_aborted>"];

/// Errands that have all tools and the whole conversation, known by how their prompts begin: what the
/// person might type next, a shorter conversation, what happened meanwhile, what to remember.
const ERRANDS: [&str; 4] = [
    "[SUGGESTION MODE",
    "CRITICAL: Respond with TEXT ONLY",
    "The user stepped away and is coming back",
    "You are now acting as the memory extraction subagent",
];

/// Errands want a word or a line; a turn may always be longer.
const SHORT: u64 = 512;

impl ModelRequest {
    /// What the person said last, without the notes that agents add.
    #[must_use]
    pub fn last_user_text(&self) -> Option<&str> {
        self.messages.iter().rev().find_map(ModelMessage::user_text)
    }

    /// What tools returned since the model spoke last.
    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        let after = self.messages.iter().rposition(|message| message.role == ModelRole::Assistant).map_or(0, |last| last + 1);
        self.messages.iter().skip(after).flat_map(|message| &message.parts).filter_map(|part| match part {
            MessagePart::ToolResult(result) => Some(result),
            MessagePart::Text(_) | MessagePart::ToolCall { .. } | MessagePart::Other(_) => None,
        })
    }

    /// Whether a call has its result anywhere in the conversation.
    pub(super) fn has_result(&self, id: &str) -> bool {
        let parts = self.messages.iter().flat_map(|message| &message.parts);
        parts.into_iter().any(|part| matches!(part, MessagePart::ToolResult(result) if result.id == id))
    }

    /// How often the model spoke since the person did: 0 right after a prompt, 1 after the results of
    /// the first round of tools, and so on.
    #[must_use]
    pub fn step(&self) -> usize {
        let after = self.messages.iter().rposition(|message| message.user_text().is_some()).unwrap_or(0);
        self.messages.iter().skip(after).filter(|message| message.role == ModelRole::Assistant).count()
    }

    /// Whether it is one of an agent's own errands: titles, summaries, suggestions, checks.
    pub(super) fn is_errand(&self) -> bool {
        self.tools.is_empty()
            || self.max_tokens.is_some_and(|most| most <= SHORT)
            || self.last_user_text().is_some_and(|text| ERRANDS.iter().any(|errand| text.starts_with(errand)))
    }
}

impl ModelMessage {
    /// What the person says in it, if anything.
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
