//! The Chat Completions API, streamed and unstreamed.

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
    Router::new().route("/v1/chat/completions", post(completions))
}

async fn completions(State(shared): State<Arc<MockModelShared>>, Json(body): Json<Value>) -> Response {
    let streamed = body["stream"] == true;
    let request = read(body);
    let model = request.model.clone();
    match shared.reply(request) {
        ModelReply::Say(turn) if streamed => event_stream(frames(&model, &turn, StreamEnd::Close), StreamEnd::Close),
        ModelReply::Say(turn) => Json(whole(&model, &turn)).into_response(),
        ModelReply::Hang(turn) => event_stream(frames(&model, &turn, StreamEnd::Silence), StreamEnd::Silence),
        ModelReply::Fail { status, message } => failure(status, &json!({"error": {"type": "api_error", "message": message}})),
    }
}

fn read(body: Value) -> ModelRequest {
    let each = |key: &str| body[key].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_system = |message: &&Value| message["role"] == "system" || message["role"] == "developer";
    // Only system messages before the conversation are the system prompt.
    let system: Vec<String> = each("messages").iter().take_while(is_system).map(|message| text_of(&message["content"])).collect();
    ModelRequest {
        api: Api::Chat,
        model: text_of(&body["model"]),
        tools: each("tools").iter().map(|tool| text_of(&tool["function"]["name"])).collect(),
        max_tokens: body["max_tokens"].as_u64().or_else(|| body["max_completion_tokens"].as_u64()),
        schema: body["response_format"]["json_schema"].get("schema").cloned(),
        messages: each("messages").iter().skip(system.len()).map(read_message).collect(),
        system: system.join("\n"),
        body,
    }
}

fn read_message(message: &Value) -> ModelMessage {
    let content = || match &message["content"] {
        Value::Null => Vec::new(),
        Value::Array(parts) => parts.iter().map(read_part).collect(),
        text => vec![MessagePart::Text(text_of(text))],
    };
    match message["role"].as_str() {
        Some("assistant") => {
            let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
            let parts = content().into_iter().chain(calls.iter().map(read_call)).collect();
            ModelMessage { role: ModelRole::Assistant, parts }
        }
        // This API does not report whether a tool failed.
        Some("tool") => {
            let (id, text) = (text_of(&message["tool_call_id"]), text_of(&message["content"]));
            ModelMessage { role: ModelRole::User, parts: vec![MessagePart::ToolResult(ToolResult { id, text, is_error: false })] }
        }
        Some("system" | "developer") => ModelMessage { role: ModelRole::System, parts: content() },
        _ => ModelMessage { role: ModelRole::User, parts: content() },
    }
}

fn read_part(part: &Value) -> MessagePart {
    match part["type"].as_str() {
        Some("text") => MessagePart::Text(text_of(&part["text"])),
        _ => MessagePart::Other(part.clone()),
    }
}

fn read_call(call: &Value) -> MessagePart {
    let arguments = text_of(&call["function"]["arguments"]);
    MessagePart::ToolCall {
        id: text_of(&call["id"]),
        name: text_of(&call["function"]["name"]),
        input: serde_json::from_str(&arguments).unwrap_or(Value::String(arguments)),
    }
}

/// The text of a string or of a list of parts; parts without text are skipped.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            texts.join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

/// A unique id, because agents identify replies by their ids.
fn reply_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("chatcmpl-scripted-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn finish_reason(turn: &ModelTurn) -> &'static str {
    let calls = turn.iter().any(|block| matches!(block, ModelBlock::ToolCall { .. }));
    if calls { "tool_calls" } else { "stop" }
}

/// The joined text of a turn, and its calls.
fn text_and_calls(turn: &ModelTurn) -> (String, Vec<Value>) {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for block in turn {
        match block {
            ModelBlock::Text(piece) => text.push_str(piece),
            ModelBlock::ToolCall { id, name, input } => {
                let function = json!({"name": name, "arguments": input.to_string()});
                calls.push(json!({"index": calls.len(), "id": id, "type": "function", "function": function}));
            }
        }
    }
    (text, calls)
}

fn usage() -> Value {
    json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
}

fn whole(model: &str, turn: &ModelTurn) -> Value {
    let (text, calls) = text_and_calls(turn);
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason(turn)});
    json!({"id": reply_id(), "object": "chat.completion", "created": 1, "model": model, "choices": [choice], "usage": usage()})
}

fn frames(model: &str, turn: &ModelTurn, end: StreamEnd) -> Vec<String> {
    let id = reply_id();
    let chunk = |choices: Value, usage: Value| json!({"id": id, "object": "chat.completion.chunk", "created": 1, "model": model, "choices": choices, "usage": usage});
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]), Value::Null);
    let mut chunks = vec![delta(json!({"role": "assistant", "content": ""}))];
    for (index, block) in turn.iter().enumerate() {
        let (text, calls) = text_and_calls(&vec![block.clone()]);
        let before = turn.iter().take(index).filter(|block| matches!(block, ModelBlock::ToolCall { .. })).count();
        chunks.extend((!text.is_empty()).then(|| delta(json!({"content": text}))));
        for mut call in calls {
            call["index"] = json!(before);
            chunks.push(delta(json!({"tool_calls": [call]})));
        }
    }
    let done = match end {
        StreamEnd::Close => {
            chunks.push(chunk(json!([{"index": 0, "delta": {}, "finish_reason": finish_reason(turn)}]), Value::Null));
            chunks.push(chunk(json!([]), usage()));
            Some("data: [DONE]\n\n".to_owned())
        }
        StreamEnd::Silence => None,
    };
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).chain(done).collect()
}
