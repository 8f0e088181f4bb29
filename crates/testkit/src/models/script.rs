//! The script of a model.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::request::ModelRequest;

/// One block of a model's turn.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelBlock {
    Text(String),
    ToolCall {
        /// The id of the call, which its result repeats.
        id: String,
        /// The agent's name of the tool.
        name: String,
        /// The arguments of the call.
        input: Value,
    },
}

impl ModelBlock {
    /// Creates a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Creates a tool call.
    pub fn call(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self::ToolCall { id: id.into(), name: name.into(), input }
    }
}

/// The model's complete reply to one request.
pub type ModelTurn = Vec<ModelBlock>;

/// The reaction of a model to one request.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelReply {
    /// Replies with this turn.
    Say(ModelTurn),
    /// Sends this turn and then no more data, without an end, until the agent disconnects.
    Hang(ModelTurn),
    /// Replies with an error.
    Fail { status: u16, message: String },
}

impl ModelReply {
    /// Replies with one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Say(vec![ModelBlock::text(text)])
    }

    /// Replies with one tool call.
    pub fn call(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self::Say(vec![ModelBlock::call(id, name, input)])
    }
}

type Choose = dyn Fn(&ModelRequest) -> ModelReply + Send + Sync;

/// Selects the reply to each request. Side requests of an agent do not count.
#[derive(Clone)]
pub struct ModelScript(Arc<Choose>);

impl ModelScript {
    /// Replies with these turns, one per request. After the last one, the model replies with [`Self::OVER`].
    pub fn turns(turns: impl IntoIterator<Item = ModelTurn>) -> Self {
        let turns: Vec<ModelTurn> = turns.into_iter().collect();
        let next = AtomicUsize::new(0);
        Self::choose(move |_| reply_of(turns.get(next.fetch_add(1, Ordering::Relaxed))))
    }

    /// Replies with these turns. The conversation determines the next turn: it follows the last turn with a call that
    /// has a result. An agent that abandons a request and sends another one, like Codex when a person's message
    /// arrives, gets the same turn again. The ids of the calls must be unique.
    pub fn after_results(turns: impl IntoIterator<Item = ModelTurn>) -> Self {
        let turns: Vec<ModelTurn> = turns.into_iter().collect();
        Self::choose(move |request| {
            let has_result = |block: &ModelBlock| match block {
                ModelBlock::ToolCall { id, .. } => request.has_result(id),
                ModelBlock::Text(_) => false,
            };
            let last = turns.iter().rposition(|turn| turn.iter().any(has_result));
            reply_of(turns.get(last.map_or(0, |last| last + 1)))
        })
    }

    /// Replies with the result of this function. Several sessions can share one mock.
    pub fn choose(choose: impl Fn(&ModelRequest) -> ModelReply + Send + Sync + 'static) -> Self {
        Self(Arc::new(choose))
    }

    /// Maps words in the prompt to turns, so that several sessions can share one mock. The first matching word counts.
    /// The turn depends only on the conversation, so the same prompt can be used many times.
    pub fn by_word<W: Into<String>>(scripts: impl IntoIterator<Item = (W, Vec<ModelTurn>)>) -> Self {
        let scripts: Vec<(String, Vec<ModelTurn>)> = scripts.into_iter().map(|(word, turns)| (word.into(), turns)).collect();
        Self::choose(move |request| {
            let prompt = request.last_user_text().unwrap_or_default();
            let script = scripts.iter().find(|(word, _)| prompt.contains(word.as_str()));
            reply_of(script.and_then(|(_, turns)| turns.get(request.step())))
        })
    }

    /// The reply after the end of the script.
    pub const OVER: &str = "Nothing more is scripted.";

    pub(super) fn reply(&self, request: &ModelRequest) -> ModelReply {
        (self.0)(request)
    }
}

impl fmt::Debug for ModelScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Script")
    }
}

fn reply_of(turn: Option<&ModelTurn>) -> ModelReply {
    turn.map_or_else(|| ModelReply::text(ModelScript::OVER), |turn| ModelReply::Say(turn.clone()))
}

/// The reply to a side request: a short text, or the smallest JSON that its schema allows.
pub(super) fn side_reply(request: &ModelRequest) -> ModelReply {
    ModelReply::text(request.schema.as_ref().map_or_else(|| FILLER.to_owned(), |schema| smallest(schema).to_string()))
}

const FILLER: &str = "Scripted";

fn smallest(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    // Gemini writes types in upper case.
    match schema["type"].as_str().map(str::to_lowercase).as_deref() {
        Some("object") => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            properties.map(|(name, schema)| (name.clone(), smallest(schema))).collect()
        }
        Some("array") => json!([]),
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(false),
        Some(_) | None => json!(FILLER),
    }
}
