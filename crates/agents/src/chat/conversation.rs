//! What was said, in the words of the endpoint's protocol.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Endpoint;
use super::question;

/// One entry of the conversation. What a person reads and what the model reads is the same text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum ChatMessage {
    /// By the person.
    User {
        /// The words.
        content: String,
    },
    /// By the model.
    Assistant {
        /// The words; none if it only called a tool.
        content: Option<String>,
        /// The tools it called.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
    },
    /// What a tool call gave. Each call has one before the person speaks again; endpoints insist on it.
    Tool {
        /// The call.
        tool_call_id: String,
        /// What it gave.
        content: String,
    },
}

/// A tool call, as the endpoint wants it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ToolCall {
    pub(super) id: String,
    #[serde(rename = "type")]
    kind: Function,
    pub(super) function: Called,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Function {
    Function,
}

/// Which function, and with what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Called {
    pub(super) name: String,
    /// JSON, if the model got it right.
    pub(super) arguments: String,
}

impl ToolCall {
    pub(super) fn new(id: String, name: String, arguments: String) -> Self {
        Self { id, kind: Function::Function, function: Called { name, arguments } }
    }
}

impl ChatMessage {
    /// How much it is, in bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::User { content } => content.len(),
            Self::Assistant { content, tool_calls } => {
                let calls =
                    tool_calls.iter().map(|call| call.id.len() + call.function.name.len() + call.function.arguments.len());
                content.as_ref().map_or(0, String::len) + calls.sum::<usize>()
            }
            Self::Tool { tool_call_id, content } => tool_call_id.len() + content.len(),
        }
    }
}

/// The body of a call that lets the model speak next.
pub(super) fn request(endpoint: &Endpoint, model: Option<&str>, said: &[ChatMessage], may_ask: bool) -> Value {
    let system = endpoint.system.iter().map(|system| json!({ "role": "system", "content": system }));
    let messages: Vec<Value> = system.chain(said.iter().map(|said| json!(said))).collect();
    let mut body = json!({ "model": model.unwrap_or(&endpoint.model), "stream": true, "messages": messages });
    if may_ask {
        body["tools"] = json!([question::definition()]);
    }
    body
}
