//! What a scripted model says.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::request::ModelRequest;

/// One thing that a model says.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelBlock {
    /// A text.
    Text(String),
    /// A call of a tool.
    ToolCall {
        /// The call's id, which comes back with its result.
        id: String,
        /// The tool's name, as the agent knows it.
        name: String,
        /// What it is called with.
        input: Value,
    },
}

impl ModelBlock {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A call of a tool.
    pub fn call(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self::ToolCall { id: id.into(), name: name.into(), input }
    }
}

/// Everything that a model says to one request.
pub type ModelTurn = Vec<ModelBlock>;

/// How a model reacts to one request.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelReply {
    /// It says this.
    Say(ModelTurn),
    /// It says this and then nothing more, without an end, until the agent hangs up.
    Hang(ModelTurn),
    /// It refuses to work.
    Fail {
        /// The HTTP status.
        status: u16,
        /// The reason.
        message: String,
    },
}

impl ModelReply {
    /// It says one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Say(vec![ModelBlock::text(text)])
    }

    /// It calls one tool.
    pub fn call(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self::Say(vec![ModelBlock::call(id, name, input)])
    }
}

type Choose = dyn Fn(&ModelRequest) -> ModelReply + Send + Sync;

/// What is said, request by request. Only the turns of a conversation count, not an agent's errands.
#[derive(Clone)]
pub struct ModelScript(Arc<Choose>);

impl ModelScript {
    /// These turns, one for each request. After the last one the model says [`Self::OVER`].
    pub fn turns(turns: impl IntoIterator<Item = ModelTurn>) -> Self {
        let turns: Vec<ModelTurn> = turns.into_iter().collect();
        let next = AtomicUsize::new(0);
        Self::choose(move |_| said(turns.get(next.fetch_add(1, Ordering::Relaxed))))
    }

    /// These turns. Which one is next follows from the conversation: the one after the last turn of which a call has its
    /// result. An agent that gives up a request and makes another, as Codex does when a person's words arrive, gets the
    /// same turn again. The ids of the calls must differ.
    pub fn after_results(turns: impl IntoIterator<Item = ModelTurn>) -> Self {
        let turns: Vec<ModelTurn> = turns.into_iter().collect();
        Self::choose(move |request| {
            let has_result = |block: &ModelBlock| match block {
                ModelBlock::ToolCall { id, .. } => request.has_result(id),
                ModelBlock::Text(_) => false,
            };
            let last = turns.iter().rposition(|turn| turn.iter().any(has_result));
            said(turns.get(last.map_or(0, |last| last + 1)))
        })
    }

    /// What this function says, which sees the request: several sessions can share one mock.
    pub fn choose(choose: impl Fn(&ModelRequest) -> ModelReply + Send + Sync + 'static) -> Self {
        Self(Arc::new(choose))
    }

    /// For each word the turns of a prompt that has it, so that several sessions can share one mock.
    /// The first word that fits counts. Which turn it is follows from the conversation alone, so the
    /// same prompt may be given many times.
    pub fn by_word<W: Into<String>>(scripts: impl IntoIterator<Item = (W, Vec<ModelTurn>)>) -> Self {
        let scripts: Vec<(String, Vec<ModelTurn>)> = scripts.into_iter().map(|(word, turns)| (word.into(), turns)).collect();
        Self::choose(move |request| {
            let prompt = request.last_user_text().unwrap_or_default();
            let script = scripts.iter().find(|(word, _)| prompt.contains(word.as_str()));
            said(script.and_then(|(_, turns)| turns.get(request.step())))
        })
    }

    /// What the model says when nothing more is scripted.
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

fn said(turn: Option<&ModelTurn>) -> ModelReply {
    turn.map_or_else(|| ModelReply::text(ModelScript::OVER), |turn| ModelReply::Say(turn.clone()))
}

/// What every errand gets: a short text, or the smallest JSON that its schema allows.
pub(super) fn errand(request: &ModelRequest) -> ModelReply {
    ModelReply::text(request.schema.as_ref().map_or_else(|| FILLER.to_owned(), |schema| smallest(schema).to_string()))
}

const FILLER: &str = "Scripted";

fn smallest(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    // Gemini writes the types in capitals.
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
