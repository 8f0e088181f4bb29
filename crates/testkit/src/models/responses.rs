//! OpenAI's Responses API, streamed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::request::{Api, MessagePart, ModelMessage, ModelRequest, ModelRole, ToolResult};
use super::script::{ModelBlock, ModelReply, ModelTurn};
use super::{MockModelShared, StreamEnd, event_stream, failure};

pub(super) fn routes() -> Router<Arc<MockModelShared>> {
    Router::new().route("/v1/responses", post(responses))
}

async fn responses(State(shared): State<Arc<MockModelShared>>, Json(body): Json<Value>) -> Response {
    let streamed = body["stream"] == true;
    match shared.reply(read(body)) {
        ModelReply::Say(turn) if streamed => event_stream(frames(&turn, StreamEnd::Close), StreamEnd::Close),
        ModelReply::Say(turn) => Json(envelope(turn.iter().map(item).collect())).into_response(),
        ModelReply::Hang(turn) => event_stream(frames(&turn, StreamEnd::Silence), StreamEnd::Silence),
        ModelReply::Fail { status, message } => failure(status, &json!({"error": {"type": "server_error", "message": message}})),
    }
}

fn read(body: Value) -> ModelRequest {
    let each = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let input = match &body["input"] {
        Value::String(text) => vec![json!({"type": "message", "role": "user", "content": text})],
        items => each(items),
    };
    // Some models receive their tools as items of the input.
    let among = input.iter().filter(|item| item["type"] == "additional_tools").flat_map(|item| each(&item["tools"]));
    let tools: Vec<Value> = each(&body["tools"]).into_iter().chain(among).collect();
    ModelRequest {
        api: Api::Responses,
        model: text_of(&body["model"]),
        system: text_of(&body["instructions"]),
        tools: tools.iter().flat_map(names).collect(),
        max_tokens: body["max_output_tokens"].as_u64(),
        schema: body["text"]["format"].get("schema").cloned(),
        messages: messages(&input),
        body,
    }
}

/// The names under which a tool is called. Tools of an MCP server share a namespace.
fn names(tool: &Value) -> Vec<String> {
    let name = text_of(if tool["name"].is_null() { &tool["type"] } else { &tool["name"] });
    match tool["tools"].as_array() {
        Some(inner) => inner.iter().flat_map(names).map(|inner| format!("{name}__{inner}")).collect(),
        None => vec![name],
    }
}

/// The conversation, item by item; consecutive items of the assistant form one message.
fn messages(input: &[Value]) -> Vec<ModelMessage> {
    let mut messages: Vec<ModelMessage> = Vec::new();
    for item in input {
        let (role, parts) = read_item(item);
        match messages.last_mut() {
            // A person's prompt stays separate from preceding tool results.
            Some(last) if last.role == role && role == ModelRole::Assistant => last.parts.extend(parts),
            Some(_) | None => messages.push(ModelMessage { role, parts }),
        }
    }
    messages
}

fn read_item(item: &Value) -> (ModelRole, Vec<MessagePart>) {
    let name = || match item["namespace"].as_str() {
        Some(namespace) => format!("{namespace}__{}", text_of(&item["name"])),
        None => text_of(&item["name"]),
    };
    let id = || text_of(&item["call_id"]);
    match item["type"].as_str() {
        Some("message") | None => {
            let role = match item["role"].as_str() {
                Some("assistant") => ModelRole::Assistant,
                Some("user") => ModelRole::User,
                _ => ModelRole::System,
            };
            let parts = match &item["content"] {
                Value::Array(blocks) => blocks.iter().map(|block| MessagePart::Text(text_of(&block["text"]))).collect(),
                content => vec![MessagePart::Text(text_of(content))],
            };
            (role, parts)
        }
        Some("function_call") => {
            let input = serde_json::from_str(&text_of(&item["arguments"])).unwrap_or_default();
            (ModelRole::Assistant, vec![MessagePart::ToolCall { id: id(), name: name(), input }])
        }
        Some("custom_tool_call") => {
            (ModelRole::Assistant, vec![MessagePart::ToolCall { id: id(), name: name(), input: item["input"].clone() }])
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            // This API does not distinguish failures from successes.
            let result = ToolResult { id: id(), text: text_of(&item["output"]), is_error: false };
            (ModelRole::User, vec![MessagePart::ToolResult(result)])
        }
        Some("reasoning") => (ModelRole::Assistant, vec![MessagePart::Other(item.clone())]),
        Some(_) => (ModelRole::System, vec![MessagePart::Other(item.clone())]),
    }
}

/// The text of a string or of a list of blocks; blocks without text are skipped.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// A unique id, because agents identify messages by their ids.
fn next_id(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{prefix}_scripted_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// One item of the output. A custom tool is called with text; a tool of an MCP server is named `mcp__server__tool` and
/// called in its namespace.
fn item(block: &ModelBlock) -> Value {
    match block {
        ModelBlock::Text(text) => {
            let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
            json!({"type": "message", "id": next_id("msg"), "role": "assistant", "status": "completed", "content": content})
        }
        ModelBlock::ToolCall { id, name, input: Value::String(input) } => {
            json!({"type": "custom_tool_call", "id": next_id("ctc"), "call_id": id, "name": name, "input": input})
        }
        ModelBlock::ToolCall { id, name, input } => {
            let mut call = json!({
                "type": "function_call", "id": next_id("fc"), "call_id": id, "name": name, "arguments": input.to_string(),
            });
            if let Some((namespace, name)) = name.starts_with("mcp__").then(|| name.rsplit_once("__")).flatten() {
                call["namespace"] = json!(namespace);
                call["name"] = json!(name);
            }
            call
        }
    }
}

fn envelope(output: Vec<Value>) -> Value {
    let details = json!({"cached_tokens": 0});
    json!({
        "id": next_id("resp"), "object": "response", "status": "completed", "output": output,
        "usage": {"input_tokens": 10, "input_tokens_details": details, "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15},
    })
}

fn frames(turn: &ModelTurn, end: StreamEnd) -> Vec<String> {
    let mut events = vec![json!({"type": "response.created", "response": {"id": next_id("resp"), "status": "in_progress"}})];
    let mut output = Vec::new();
    for (index, block) in turn.iter().enumerate() {
        let item = item(block);
        if let ModelBlock::Text(text) = block {
            let mut begun = item.clone();
            begun["content"] = json!([]);
            let delta = json!({
                "type": "response.output_text.delta", "item_id": item["id"], "output_index": index, "content_index": 0, "delta": text,
            });
            events.push(json!({"type": "response.output_item.added", "output_index": index, "item": begun}));
            events.push(delta);
        }
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
        output.push(item);
    }
    match end {
        StreamEnd::Close => events.push(json!({"type": "response.completed", "response": envelope(output)})),
        StreamEnd::Silence => {}
    }
    events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", text_of(&event["type"]))).collect()
}
