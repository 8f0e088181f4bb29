//! Gemini's `generateContent`, streamed and unstreamed.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::request::{Api, MessagePart, ModelMessage, ModelRequest, ModelRole, ToolResult};
use super::script::{ModelBlock, ModelReply, ModelTurn};
use super::{MockModelShared, StreamEnd, event_stream, failure};

pub(super) fn routes() -> Router<Arc<MockModelShared>> {
    Router::new().route("/v1beta/models/{call}", post(call))
}

/// The last segment of the path is `model:method`.
async fn call(State(shared): State<Arc<MockModelShared>>, Path(call): Path<String>, Json(body): Json<Value>) -> Response {
    let (model, streamed) = match call.rsplit_once(':') {
        Some((model, "streamGenerateContent")) => (model, true),
        Some((model, "generateContent")) => (model, false),
        Some((_, "countTokens")) => return Json(json!({"totalTokens": 100})).into_response(),
        Some(_) | None => return StatusCode::NOT_FOUND.into_response(),
    };
    match shared.reply(read(model, body)) {
        ModelReply::Say(turn) if streamed => event_stream(frames(model, &turn, StreamEnd::Close), StreamEnd::Close),
        ModelReply::Say(turn) => Json(candidate(model, turn.iter().map(part).collect(), StreamEnd::Close)).into_response(),
        ModelReply::Hang(turn) => event_stream(frames(model, &turn, StreamEnd::Silence), StreamEnd::Silence),
        ModelReply::Fail { status, message } => failure(status, &json!({"error": {"code": status, "message": message}})),
    }
}

fn read(model: &str, body: Value) -> ModelRequest {
    let each = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let tools = each(&body["tools"]).iter().flat_map(|tool| each(&tool["functionDeclarations"])).collect::<Vec<_>>();
    let config = &body["generationConfig"];
    ModelRequest {
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

fn read_message(content: &Value) -> ModelMessage {
    let role = if content["role"] == "model" { ModelRole::Assistant } else { ModelRole::User };
    let parts = content["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    ModelMessage { role, parts: parts.iter().map(read_part).collect() }
}

fn read_part(part: &Value) -> MessagePart {
    if let Some(text) = part["text"].as_str() {
        return MessagePart::Text(text.to_owned());
    }
    let call = &part["functionCall"];
    if call.is_object() {
        return MessagePart::ToolCall { id: string(&call["id"]), name: string(&call["name"]), input: call["args"].clone() };
    }
    let result = &part["functionResponse"];
    if result.is_object() {
        let error = &result["response"]["error"];
        let is_error = !error.is_null();
        let text = if is_error { error } else { &result["response"]["output"] };
        // A tool without plain output returns an object.
        let text = text.as_str().map_or_else(|| result["response"].to_string(), str::to_owned);
        return MessagePart::ToolResult(ToolResult { id: string(&result["id"]), text, is_error });
    }
    MessagePart::Other(part.clone())
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(parts: &[Value]) -> String {
    let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    texts.join("\n")
}

fn part(block: &ModelBlock) -> Value {
    match block {
        ModelBlock::Text(text) => json!({"text": text}),
        ModelBlock::ToolCall { id, name, input } => json!({"functionCall": {"id": id, "name": name, "args": input}}),
    }
}

fn candidate(model: &str, parts: Vec<Value>, end: StreamEnd) -> Value {
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    match end {
        StreamEnd::Close => candidate["finishReason"] = json!("STOP"),
        StreamEnd::Silence => {}
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        "modelVersion": model,
    })
}

/// One chunk per block; the last chunk is marked as final.
fn frames(model: &str, turn: &ModelTurn, end: StreamEnd) -> Vec<String> {
    let last = turn.len().saturating_sub(1);
    let chunks = turn.iter().enumerate().map(|(index, block)| {
        let end = if index == last { end } else { StreamEnd::Silence };
        candidate(model, vec![part(block)], end)
    });
    chunks.map(|chunk| format!("data: {chunk}\r\n\r\n")).collect()
}
