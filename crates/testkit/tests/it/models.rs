//! The mock model, called like an agent calls it.

use anyhow::Result;
use sayso_testkit::models::{MockModel, ModelBlock, ModelReply, ModelScript, RequestPurpose, ToolResult};
use serde_json::{Value, json};

async fn post(model: &MockModel, path: &str, body: &Value) -> Result<String> {
    let url = format!("{}{path}", model.url());
    Ok(sayso_testkit::http().post(url).json(body).send().await?.error_for_status()?.text().await?)
}

/// The JSON after each `data:`.
fn events(stream: &str) -> Result<Vec<Value>> {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    data.map(|data| Ok(serde_json::from_str(data)?)).collect()
}

fn two_turns() -> ModelScript {
    ModelScript::turns([
        vec![ModelBlock::text("Let me ask."), ModelBlock::call("call_1", "ask", json!({"n": 1}))],
        vec![ModelBlock::text("Done.")],
    ])
}

fn ask_tool() -> Value {
    json!([{"name": "ask", "input_schema": {"type": "object"}}])
}

#[tokio::test]
async fn anthropic_streams_a_turn_in_order() -> Result<()> {
    let model = MockModel::start(two_turns()).await?;
    let prompt = json!([{"role": "user", "content": [
        {"type": "text", "text": "<system-reminder>be kind</system-reminder>"}, {"type": "text", "text": "Hello"},
    ]}]);
    let body = json!({"model": "m", "max_tokens": 9000, "stream": true, "tools": ask_tool(), "messages": prompt});
    let mut said = events(&post(&model, "/v1/messages?beta=true", &body).await?)?;
    said[0]["message"]["id"] = json!("msg");
    assert_eq!(
        said,
        [
            json!({"type": "message_start", "message": {
                "id": "msg", "type": "message", "role": "assistant", "model": "m", "content": [],
                "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 5},
            }}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Let me ask."}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "content_block_start", "index": 1, "content_block": {
                "type": "tool_use", "id": "call_1", "name": "ask", "input": {},
            }}),
            json!({"type": "content_block_delta", "index": 1, "delta": {
                "type": "input_json_delta", "partial_json": "{\"n\":1}",
            }}),
            json!({"type": "content_block_stop", "index": 1}),
            json!({
                "type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null},
                "usage": {"output_tokens": 5},
            }),
            json!({"type": "message_stop"}),
        ]
    );
    assert_eq!(model.last_user_text().as_deref(), Some("Hello"));
    Ok(())
}

#[tokio::test]
async fn side_requests_do_not_advance_the_script() -> Result<()> {
    let model = MockModel::start(two_turns()).await?;
    let said = async |body: Value| -> Result<Value> {
        let reply: Value = serde_json::from_str(&post(&model, "/v1/messages", &body).await?)?;
        Ok(reply["content"].clone())
    };
    let user = |text: &str| json!([{"role": "user", "content": text}]);
    let schema = json!({"type": "object", "properties": {"title": {"type": "string"}, "sure": {"type": "boolean"}}});
    let titled = json!({"model": "m", "output_config": {"format": {"schema": schema}}, "messages": user("A title")});
    assert_eq!(said(titled).await?, json!([{"type": "text", "text": "{\"sure\":false,\"title\":\"Scripted\"}"}]));
    let quota = json!({"model": "m", "max_tokens": 1, "tools": ask_tool(), "messages": user("quota")});
    assert_eq!(said(quota).await?, json!([{"type": "text", "text": "Scripted"}]));

    let results = json!([
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "call_1", "name": "ask", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text", "text": "no"}], "is_error": true},
        ]},
    ]);
    assert_eq!(said(json!({"model": "m", "tools": ask_tool(), "messages": user("Hello")})).await?[1]["id"], "call_1");
    assert_eq!(said(json!({"model": "m", "tools": ask_tool(), "messages": results})).await?[0]["text"], "Done.");
    assert_eq!(
        said(json!({"model": "m", "tools": ask_tool(), "messages": user("More")})).await?,
        json!([{"type": "text", "text": ModelScript::OVER}])
    );

    let purposes: Vec<RequestPurpose> = model.records().iter().map(|record| record.purpose).collect();
    assert_eq!(
        purposes,
        [RequestPurpose::Side, RequestPurpose::Side, RequestPurpose::Main, RequestPurpose::Main, RequestPurpose::Main]
    );
    let refused = ToolResult { id: "call_1".to_owned(), text: "no".to_owned(), is_error: true };
    assert_eq!(model.result_of("call_1").await?, refused);
    assert_eq!(model.tool_results(), [refused]);
    Ok(())
}

#[tokio::test]
async fn gemini_streams_a_turn_and_returns_tool_results() -> Result<()> {
    let script = ModelScript::by_word([("file", vec![vec![ModelBlock::call("call_1", "run", json!({"command": "ls"}))]])]);
    let model = MockModel::start(script).await?;
    let prompt = json!({"role": "user", "parts": [{"text": "<session_context>…</session_context>"}, {"text": "Make a file"}]});
    let call = json!({"role": "model", "parts": [{"functionCall": {"id": "call_1", "name": "run", "args": {}}}]});
    let result = json!({"role": "user", "parts": [
        {"functionResponse": {"id": "call_1", "name": "run", "response": {"output": "made"}}},
    ]});
    let tools = json!([{"functionDeclarations": [{"name": "run"}]}]);
    let path = "/v1beta/models/gemini-pro:streamGenerateContent?alt=sse";
    let first = events(&post(&model, path, &json!({"contents": [prompt], "tools": tools})).await?)?;
    let part = json!({"functionCall": {"id": "call_1", "name": "run", "args": {"command": "ls"}}});
    let usage = json!({"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15});
    let candidate = json!({"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"});
    assert_eq!(first, [json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-pro"})]);

    let path = "/v1beta/models/gemini-pro:generateContent";
    let second = post(&model, path, &json!({"contents": [prompt, call, result], "tools": tools})).await?;
    let second: Value = serde_json::from_str(&second)?;
    assert_eq!(second["candidates"][0]["content"]["parts"], json!([{"text": ModelScript::OVER}]));
    assert_eq!(model.last_user_text().as_deref(), Some("Make a file"));
    let made = ToolResult { id: "call_1".to_owned(), text: "made".to_owned(), is_error: false };
    assert_eq!(model.tool_results(), [made]);
    Ok(())
}

#[tokio::test]
async fn chat_completions_stream_a_turn_and_return_tool_results() -> Result<()> {
    let model = MockModel::start(two_turns()).await?;
    let tools = json!([{"type": "function", "function": {"name": "ask"}}]);
    let mut messages = vec![json!({"role": "system", "content": "Be kind."}), json!({"role": "user", "content": "Hello"})];
    let body = |messages: &[Value], stream: bool| json!({"model": "m", "stream": stream, "tools": tools, "messages": messages});
    let stream = post(&model, "/v1/chat/completions", &body(&messages, true)).await?;
    assert!(stream.ends_with("data: [DONE]\n\n"));
    let said = events(&stream)?;
    let deltas: Vec<&Value> = said.iter().map(|chunk| &chunk["choices"][0]["delta"]).collect();
    let call = json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": "ask", "arguments": "{\"n\":1}"}});
    assert_eq!(*deltas[1], json!({"content": "Let me ask."}));
    assert_eq!(*deltas[2], json!({"tool_calls": [call]}));
    assert_eq!(said[3]["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(said[4]["usage"]["total_tokens"], 15);

    messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    messages.push(json!({"role": "tool", "tool_call_id": "call_1", "content": "yes"}));
    let whole: Value = serde_json::from_str(&post(&model, "/v1/chat/completions", &body(&messages, false)).await?)?;
    assert_eq!(whole["choices"][0]["message"], json!({"role": "assistant", "content": "Done."}));
    assert_eq!(model.records()[0].request.system, "Be kind.");
    assert_eq!(model.last_user_text().as_deref(), Some("Hello"));
    let told = ToolResult { id: "call_1".to_owned(), text: "yes".to_owned(), is_error: false };
    assert_eq!(model.tool_results(), [told]);
    Ok(())
}

#[tokio::test]
async fn model_errors_and_unknown_calls_are_handled() -> Result<()> {
    let overloaded = || ModelReply::Fail { status: 529, message: "overloaded".to_owned() };
    let model = MockModel::start(ModelScript::choose(move |_| overloaded())).await?;
    let client = sayso_testkit::http();
    let body = json!({"model": "m", "tools": ask_tool(), "messages": [{"role": "user", "content": "Hello"}]});
    let refused = client.post(format!("{}/v1/messages", model.url())).json(&body).send().await?;
    assert_eq!((refused.status().as_u16(), refused.text().await?.contains("overloaded")), (529, true));

    assert_eq!(client.head(model.url()).send().await?.status(), 200);
    assert_eq!(client.post(format!("{}/api/event_logging/batch", model.url())).send().await?.status(), 404);
    assert_eq!(model.other_calls(), ["HEAD /", "POST /api/event_logging/batch"]);
    Ok(())
}

#[tokio::test]
async fn responses_api_streams_a_turn_and_reads_tool_results() -> Result<()> {
    let turns = [
        vec![ModelBlock::text("Let me ask."), ModelBlock::call("call_1", "mcp__demo__ask", json!({"n": 1}))],
        vec![ModelBlock::call("call_2", "apply_patch", json!("*** Begin Patch"))],
    ];
    let model = MockModel::start(ModelScript::turns(turns)).await?;
    let tools =
        json!([{"type": "function", "name": "exec"}, {"type": "namespace", "name": "mcp__demo", "tools": [{"name": "ask"}]}]);
    let user = |text: &str| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
    let first = json!([user("<environment_context>"), user("Hello")]);
    let body = json!({"model": "m", "stream": true, "tools": tools, "input": first});
    let said = events(&post(&model, "/v1/responses", &body).await?)?;
    let kinds: Vec<&str> = said.iter().filter_map(|event| event["type"].as_str()).collect();
    let done = "response.output_item.done";
    let text = ["response.output_item.added", "response.output_text.delta", done];
    assert_eq!(kinds, [&["response.created"][..], &text, &[done, "response.completed"]].concat());
    assert_eq!(said[2]["delta"], "Let me ask.");
    let call = &said[4]["item"];
    assert_eq!(
        (&call["namespace"], &call["name"], &call["arguments"]),
        (&json!("mcp__demo"), &json!("ask"), &json!("{\"n\":1}"))
    );
    assert_eq!(model.records()[0].request.tools, ["exec", "mcp__demo__ask"]);
    assert_eq!(model.last_user_text().as_deref(), Some("Hello"));

    let output = json!({"type": "function_call_output", "call_id": "call_1", "output": "yes"});
    let second = json!([user("Hello"), said[3]["item"], call, output]);
    let body = json!({"model": "m", "stream": false, "tools": tools, "input": second});
    let reply: Value = serde_json::from_str(&post(&model, "/v1/responses", &body).await?)?;
    assert_eq!(
        (&reply["output"][0]["type"], &reply["output"][0]["input"]),
        (&json!("custom_tool_call"), &json!("*** Begin Patch"))
    );
    assert_eq!(model.records()[1].request.step(), 1);
    assert_eq!(model.tool_results(), [ToolResult { id: "call_1".to_owned(), text: "yes".to_owned(), is_error: false }]);
    Ok(())
}
