//! Anthropic's Messages API, streamed and unstreamed.

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
    Router::new().route("/v1/messages", post(messages)).route("/v1/messages/count_tokens", post(count_tokens))
}

async fn messages(State(shared): State<Arc<MockModelShared>>, Json(body): Json<Value>) -> Response {
    let streamed = body["stream"] == true;
    let request = read(body);
    let model = request.model.clone();
    match shared.reply(request) {
        ModelReply::Say(turn) if streamed => event_stream(frames(&model, &turn, StreamEnd::Close), StreamEnd::Close),
        ModelReply::Say(turn) => Json(whole(&model, &turn)).into_response(),
        ModelReply::Hang(turn) => event_stream(frames(&model, &turn, StreamEnd::Silence), StreamEnd::Silence),
        ModelReply::Fail { status, message } => {
            failure(status, &json!({"type": "error", "error": {"type": "api_error", "message": message}}))
        }
    }
}

async fn count_tokens() -> Response {
    Json(json!({"input_tokens": 100})).into_response()
}

fn read(body: Value) -> ModelRequest {
    let each = |key: &str| body[key].as_array().map(Vec::as_slice).unwrap_or_default();
    ModelRequest {
        api: Api::Anthropic,
        model: text_of(&body["model"]),
        system: text_of(&body["system"]),
        tools: each("tools").iter().map(|tool| text_of(&tool["name"])).collect(),
        max_tokens: body["max_tokens"].as_u64(),
        schema: body["output_config"]["format"].get("schema").cloned(),
        messages: each("messages").iter().map(read_message).collect(),
        body,
    }
}

fn read_message(message: &Value) -> ModelMessage {
    let role = match message["role"].as_str() {
        Some("assistant") => ModelRole::Assistant,
        Some("system") => ModelRole::System,
        _ => ModelRole::User,
    };
    let parts = match &message["content"] {
        Value::Array(blocks) => blocks.iter().map(read_block).collect(),
        content => vec![MessagePart::Text(text_of(content))],
    };
    ModelMessage { role, parts }
}

fn read_block(block: &Value) -> MessagePart {
    match block["type"].as_str() {
        Some("text") => MessagePart::Text(text_of(&block["text"])),
        Some("tool_use") => {
            MessagePart::ToolCall { id: text_of(&block["id"]), name: text_of(&block["name"]), input: block["input"].clone() }
        }
        Some("tool_result") => MessagePart::ToolResult(ToolResult {
            id: text_of(&block["tool_use_id"]),
            text: text_of(&block["content"]),
            is_error: block["is_error"] == true,
        }),
        _ => MessagePart::Other(block.clone()),
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
fn message_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("msg_scripted_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn stop_reason(turn: &ModelTurn) -> &'static str {
    let calls = turn.iter().any(|block| matches!(block, ModelBlock::ToolCall { .. }));
    if calls { "tool_use" } else { "end_turn" }
}

fn whole(model: &str, turn: &ModelTurn) -> Value {
    let content: Vec<Value> = turn
        .iter()
        .map(|block| match block {
            ModelBlock::Text(text) => json!({"type": "text", "text": text}),
            ModelBlock::ToolCall { id, name, input } => json!({"type": "tool_use", "id": id, "name": name, "input": input}),
        })
        .collect();
    let mut message = envelope(model);
    message["content"] = Value::Array(content);
    message["stop_reason"] = json!(stop_reason(turn));
    message
}

fn envelope(model: &str) -> Value {
    json!({
        "id": message_id(), "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 5},
    })
}

fn frames(model: &str, turn: &ModelTurn, end: StreamEnd) -> Vec<String> {
    let mut events = vec![json!({"type": "message_start", "message": envelope(model)})];
    for (index, block) in turn.iter().enumerate() {
        let (start, delta) = match block {
            ModelBlock::Text(text) => (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text})),
            ModelBlock::ToolCall { id, name, input } => (
                json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                json!({"type": "input_json_delta", "partial_json": input.to_string()}),
            ),
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    match end {
        StreamEnd::Close => {
            let delta = json!({"stop_reason": stop_reason(turn), "stop_sequence": null});
            events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 5}}));
            events.push(json!({"type": "message_stop"}));
        }
        StreamEnd::Silence => {}
    }
    events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", text_of(&event["type"]))).collect()
}
