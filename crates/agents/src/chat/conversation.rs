//! The conversation, in the message format of the endpoint.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Endpoint;
use super::question;

/// One entry of the conversation. People and the model read the same text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum ChatMessage {
    /// A message of the person.
    User { content: String },
    /// A turn of the model.
    Assistant {
        /// The text; `None` if the model only called tools.
        content: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
    },
    /// The result of a tool call. Endpoints require one for each call before the next user message.
    Tool { tool_call_id: String, content: String },
}

/// A tool call, in the format in which the endpoint expects it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ToolCall {
    pub(super) id: String,
    #[serde(rename = "type")]
    kind: Function,
    pub(super) function: FunctionCall,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Function {
    Function,
}

/// The function of a tool call and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FunctionCall {
    pub(super) name: String,
    /// JSON text, unless the model wrote invalid JSON.
    pub(super) arguments: String,
}

impl ToolCall {
    pub(super) fn new(id: String, name: String, arguments: String) -> Self {
        Self { id, kind: Function::Function, function: FunctionCall { name, arguments } }
    }
}

impl ChatMessage {
    /// The size of the entry in bytes.
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

/// The request body that starts the model's next turn.
pub(super) fn request(endpoint: &Endpoint, model: Option<&str>, said: &[ChatMessage], may_ask: bool) -> Value {
    let system = endpoint.system.iter().map(|system| json!({ "role": "system", "content": system }));
    let messages: Vec<Value> = system.chain(said.iter().map(|said| json!(said))).collect();
    let mut body = json!({ "model": model.unwrap_or(&endpoint.model), "stream": true, "messages": messages });
    if may_ask {
        body["tools"] = json!([question::definition()]);
    }
    body
}
