//! The definitions of the tools, as clients list them.

use std::sync::Arc;

use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// Asks questions and waits for the answers.
pub(super) const ASK_USER: &str = "ask_user";
/// Continues to wait for an ask.
pub(super) const GET_ANSWER: &str = "get_answer";
/// The permission prompt tool of Claude Code.
pub(super) const APPROVE: &str = "approve";
pub(super) const NOTIFY_USER: &str = "notify_user";

/// Instructions that clients pass to their model.
pub(super) const INSTRUCTIONS: &str = "Sayso reaches the person you work for, wherever they are. Use ask_user when you need a \
     decision, a preference or a fact that only they have, and wait for it: the call returns when they have answered. If a \
     call says that it is still waiting, or was moved to the background, do nothing else until there is an answer; \
     get_answer continues to wait. Use notify_user to tell them something that needs no answer.";

const ASK: &str = "Ask the person you work for one or more questions, and wait for the answers. Put everything that belongs \
     together into one call. Give options where you can; the person may always add words of their own unless custom is \
     false. The call takes as long as the person takes, which may be hours: do not go on without the answer. If it returns \
     with status pending, call get_answer with the id.";
const GET: &str = "Continue to wait for the answer to an earlier ask_user that returned with status pending. Returns the answer, or \
     status pending again when the time is over.";
const YES: &str = "For Claude Code's --permission-prompt-tool: asks the person whether a tool may be used. Not for you to call.";
const SAY: &str = "Tell the person something that needs no answer: a result, a milestone, a warning. Returns at once.";

fn schema(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}

/// Claude Code shows a tool to the model immediately only if the tool sets this metadata.
fn shown_at_once() -> MetaObject {
    MetaObject(JsonObject::from_iter([("anthropic/alwaysLoad".to_owned(), Value::Bool(true))]))
}

fn tool(name: &'static str, title: &str, description: &'static str, input: Value) -> Tool {
    let hints = ToolAnnotations::with_title(title).read_only(true).destructive(false).open_world(false);
    let mut tool = Tool::new(name, description, schema(input)).with_annotations(hints);
    tool.meta = Some(shown_at_once());
    tool
}

pub(super) fn all() -> Vec<Tool> {
    let option = json!({
        "type": "object",
        "properties": {
            "label": { "type": "string", "description": "Short label that the person sees" },
            "description": { "type": "string", "description": "What it means" },
        },
        "required": ["label"],
    });
    let question = json!({
        "type": "object",
        "properties": {
            "question": { "type": "string", "description": "The full text of the question" },
            "header": { "type": "string", "description": "One or two words that name it" },
            "options": { "type": "array", "items": option, "maxItems": 64, "description": "The options; omit for free text" },
            "multiple": { "type": "boolean", "default": false, "description": "Several options may be chosen" },
            "custom": { "type": "boolean", "default": true, "description": "Whether the person can answer with free text" },
        },
        "required": ["question"],
    });
    let ask = json!({
        "type": "object",
        "properties": {
            "questions": { "type": "array", "items": question, "minItems": 1, "maxItems": 16 },
            "context": { "type": "string", "description": "Background for the person, in a few sentences" },
        },
        "required": ["questions"],
    });
    let get = json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "description": "The id that ask_user returned" },
            "wait": { "type": "number", "minimum": 0, "description": "How many seconds to wait; 0 returns immediately" },
        },
        "required": ["id"],
    });
    let approve = json!({
        "type": "object",
        "properties": {
            "tool_name": { "type": "string" },
            "input": { "type": "object" },
            "tool_use_id": { "type": "string" },
        },
        "required": ["tool_name", "input"],
    });
    let say = json!({
        "type": "object",
        "properties": { "text": { "type": "string", "description": "The words, plain text" } },
        "required": ["text"],
    });
    vec![
        tool(ASK_USER, "Ask a person", ASK, ask),
        tool(GET_ANSWER, "Wait for an answer", GET, get),
        tool(NOTIFY_USER, "Tell a person", SAY, say),
        tool(APPROVE, "Ask for a permission", YES, approve),
    ]
}
