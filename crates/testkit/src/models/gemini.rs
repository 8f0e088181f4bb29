//! Gemini's `generateContent`, streamed and whole.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::request::{Api, Message, Part, Request, Role, ToolResult};
use super::script::{Block, Reply, Turn};
use super::{End, Shared, event_stream, failure};

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new().route("/v1beta/models/{call}", post(call))
}

/// The path's last part is `model:method`.
async fn call(State(shared): State<Arc<Shared>>, Path(call): Path<String>, Json(body): Json<Value>) -> Response {
    let (model, streamed) = match call.rsplit_once(':') {
        Some((model, "streamGenerateContent")) => (model, true),
        Some((model, "generateContent")) => (model, false),
        Some((_, "countTokens")) => return Json(json!({"totalTokens": 100})).into_response(),
        Some(_) | None => return StatusCode::NOT_FOUND.into_response(),
    };
    match shared.reply(read(model, body)) {
        Reply::Say(turn) if streamed => event_stream(frames(model, &turn, End::Close), End::Close),
        Reply::Say(turn) => Json(candidate(model, turn.iter().map(part).collect(), End::Close)).into_response(),
        Reply::Hang(turn) => event_stream(frames(model, &turn, End::Silence), End::Silence),
        Reply::Fail { status, message } => failure(status, &json!({"error": {"code": status, "message": message}})),
    }
}

fn read(model: &str, body: Value) -> Request {
    let each = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let tools = each(&body["tools"]).iter().flat_map(|tool| each(&tool["functionDeclarations"])).collect::<Vec<_>>();
    let config = &body["generationConfig"];
    Request {
        api: Api::Gemini,
        model: model.to_owned(),
        system: texts(&each(&body["systemInstruction"]["parts"])),
        tools: tools.iter().map(|tool| string(&tool["name"])).collect(),
        max_tokens: config["maxOutputTokens"].as_u64(),
        schema: config.get("responseJsonSchema").or_else(|| config.get("responseSchema")).cloned(),
        messages: each(&body["contents"]).iter().map(read_message).collect(),
        body,
    }
}

fn read_message(content: &Value) -> Message {
    let role = if content["role"] == "model" { Role::Assistant } else { Role::User };
    let parts = content["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    Message { role, parts: parts.iter().map(read_part).collect() }
}

fn read_part(part: &Value) -> Part {
    if let Some(text) = part["text"].as_str() {
        return Part::Text(text.to_owned());
    }
    let call = &part["functionCall"];
    if call.is_object() {
        return Part::ToolCall { id: string(&call["id"]), name: string(&call["name"]), input: call["args"].clone() };
    }
    let result = &part["functionResponse"];
    if result.is_object() {
        let error = &result["response"]["error"];
        let is_error = !error.is_null();
        let text = if is_error { error } else { &result["response"]["output"] };
        // A tool that returns no plain output returns an object.
        let text = text.as_str().map_or_else(|| result["response"].to_string(), str::to_owned);
        return Part::ToolResult(ToolResult { id: string(&result["id"]), text, is_error });
    }
    Part::Other(part.clone())
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(parts: &[Value]) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    texts.join("\n")
}

fn part(block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({"text": text}),
        Block::ToolCall { id, name, input } => json!({"functionCall": {"id": id, "name": name, "args": input}}),
    }
}

fn candidate(model: &str, parts: Vec<Value>, end: End) -> Value {
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    match end {
        End::Close => candidate["finishReason"] = json!("STOP"),
        End::Silence => {}
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        "modelVersion": model,
    })
}

/// A chunk for each block; the last one says that it is the last.
fn frames(model: &str, turn: &Turn, end: End) -> Vec<String> {
    let last = turn.len().saturating_sub(1);
    let chunks = turn.iter().enumerate().map(|(index, block)| {
        let end = if index == last { end } else { End::Silence };
        candidate(model, vec![part(block)], end)
    });
    chunks.map(|chunk| format!("data: {chunk}\r\n\r\n")).collect()
}
