//! A test client built with the official crates of the Agent Client Protocol: it parses Sayso's messages with the
//! official types, and answers requests.
//!
//! `acp-client DIRECTORY AGENT PROMPT…` starts a session with the agent and sends the prompts one after another. For
//! each turn it writes a line of JSON to stderr with the requests, the agent's message, and the stop reason. If a
//! prompt contains `elsewhere`, it answers nothing and waits until the server reports that the request was answered
//! elsewhere. It uses stdin and stdout, or HTTP with the URL in `ACP_URL` and the token in `ACP_TOKEN`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, CreateElicitationRequest, CreateElicitationResponse, ElicitationAcceptAction, ElicitationAction,
    ElicitationContentValue, ElicitationMode, ElicitationPropertySchema, InitializeRequest, NewSessionRequest,
    PermissionOptionKind, PromptRequest, RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome, SessionNotification, SessionUpdate,
};
use agent_client_protocol::{Agent, Client, ConnectTo, Error, JsonRpcRequest, JsonRpcResponse, Stdio};
use agent_client_protocol_http::HttpClient;
use futures_lite::future;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One question of the sandbox extension.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_sandboxagent/session/request_question", response = QuestionResponse)]
#[serde(rename_all = "camelCase")]
struct QuestionRequest {
    session_id: String,
    question_id: String,
    prompt: String,
    options: Vec<(String, String)>,
}

/// The response to a question.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
#[serde(tag = "status", rename_all = "snake_case")]
enum QuestionResponse {
    Answered { answers: Vec<Vec<String>> },
    Rejected,
}

/// The messages of one turn.
#[derive(Debug, Default)]
struct Turn {
    /// Whether the turn waits for answers from elsewhere.
    elsewhere: bool,
    asked: Vec<Value>,
    said: String,
}

#[derive(Debug, Clone, Default)]
struct Shared(Arc<Mutex<Turn>>);

impl Shared {
    fn with<T>(&self, change: impl FnOnce(&mut Turn) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records a request and returns whether to answer it.
    fn record_request(&self, what: Value) -> bool {
        self.with(|turn| {
            turn.asked.push(what);
            !turn.elsewhere
        })
    }
}

fn main() -> Result<(), Error> {
    let mut given = std::env::args().skip(1);
    let (Some(directory), Some(agent)) = (given.next(), given.next()) else {
        return Err(Error::invalid_params().data("acp-client DIRECTORY AGENT PROMPT…"));
    };
    let prompts: Vec<String> = given.collect();
    match std::env::var("ACP_URL") {
        Err(_) => future::block_on(talk(Stdio::new(), directory, agent, prompts)),
        Ok(url) => {
            let token = std::env::var("ACP_TOKEN").unwrap_or_default();
            let bearer = HeaderValue::from_str(&format!("Bearer {token}")).map_err(Error::into_internal_error)?;
            let headers = HeaderMap::from_iter([(AUTHORIZATION, bearer)]);
            let http = HttpClient::builder(url).configure_http(|http| http.no_proxy().default_headers(headers)).build();
            let http = http.map_err(Error::into_internal_error)?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map_err(Error::into_internal_error)?.block_on(talk(http, directory, agent, prompts))
        }
    }
}

/// Sends the prompts and reports the results.
async fn talk(
    transport: impl ConnectTo<Client> + 'static,
    directory: String,
    agent: String,
    prompts: Vec<String>,
) -> Result<(), Error> {
    let shared = Shared::default();
    let (told, permitted, elicited, questioned) = (shared.clone(), shared.clone(), shared.clone(), shared.clone());
    let client = Client
        .v1()
        .name("acp-client")
        .on_receive_notification(
            async move |update: SessionNotification, _cx| {
                if let SessionUpdate::AgentMessageChunk(chunk) = update.update
                    && let ContentBlock::Text(text) = chunk.content
                {
                    told.with(|turn| turn.said.push_str(&text.text));
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, cx: ConnectionTo<Agent>| {
                let once = request.options.iter().find(|option| option.kind == PermissionOptionKind::AllowOnce);
                let once = once.map(|option| option.option_id.clone());
                let answers = permitted.record_request(json!({ "permission": request }));
                let shared = permitted.clone();
                cx.spawn(async move {
                    let outcome = match once.filter(|_| answers) {
                        Some(id) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id)),
                        None => {
                            responder.cancellation().cancelled().await;
                            shared.record_request(json!("cancelled"));
                            RequestPermissionOutcome::Cancelled
                        }
                    };
                    responder.respond(RequestPermissionResponse::new(outcome))
                })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CreateElicitationRequest, responder, _cx: ConnectionTo<Agent>| {
                elicited.record_request(json!({ "elicitation": request }));
                responder.respond(CreateElicitationResponse::new(accept(&request)?))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: QuestionRequest, responder, cx: ConnectionTo<Agent>| {
                let first = request.options.first().map(|(id, _)| vec![vec![id.clone()]]);
                let answers = questioned.record_request(json!({ "question": request }));
                let shared = questioned.clone();
                cx.spawn(async move {
                    match first.filter(|_| answers) {
                        Some(answers) => responder.respond(QuestionResponse::Answered { answers }),
                        None => {
                            responder.cancellation().cancelled().await;
                            shared.record_request(json!("cancelled"));
                            responder.respond(QuestionResponse::Rejected)
                        }
                    }
                })
            },
            agent_client_protocol::on_receive_request!(),
        );
    let talk = client.connect_with(transport, async move |cx: ConnectionTo<Agent>| {
        let elicitation = json!({ "form": {}, "url": {} });
        let meta = json!({ "extensions": { "sessionRequestQuestion": true } });
        let hello: InitializeRequest = read(json!({
            "protocolVersion": 1, "clientCapabilities": { "elicitation": elicitation, "_meta": meta },
        }))?;
        let met = cx.send_request(hello).block_task().await?;
        tell(&json!({ "met": met }));
        let new: NewSessionRequest =
            read(json!({ "cwd": directory, "mcpServers": [], "_meta": { "sayso": { "agent": agent } } }))?;
        let session = cx.send_request(new).block_task().await?.session_id;
        tell(&json!({ "session": session }));
        for prompt in prompts {
            shared.with(|turn| *turn = Turn { elsewhere: prompt.contains("elsewhere"), ..Turn::default() });
            let ended = cx.send_request(PromptRequest::new(session.clone(), vec![prompt.clone().into()])).block_task().await?;
            let turn = shared.with(std::mem::take);
            tell(&json!({ "prompt": prompt, "asked": turn.asked, "said": turn.said, "stopReason": ended.stop_reason }));
        }
        Ok(())
    });
    talk.await
}

fn read<T: for<'de> Deserialize<'de>>(value: Value) -> Result<T, Error> {
    serde_json::from_value(value).map_err(Error::into_internal_error)
}

fn tell(what: &Value) {
    // The error is ignored: the reader may be gone.
    let _ = writeln!(std::io::stderr(), "{what}");
}

/// Accepts the first option of everything.
fn accept(request: &CreateElicitationRequest) -> Result<ElicitationAction, Error> {
    let mut content = BTreeMap::new();
    if let ElicitationMode::Form(form) = &request.mode {
        for (name, field) in &form.requested_schema.properties {
            let value = match field {
                ElicitationPropertySchema::String(text) => {
                    let first = text.one_of.as_ref().and_then(|options| options.first()).map(|option| option.value.clone());
                    match first {
                        Some(first) => ElicitationContentValue::from(first),
                        // The free-text twin of a choice.
                        None if name.ends_with("_custom") => continue,
                        None => ElicitationContentValue::from("text".to_owned()),
                    }
                }
                ElicitationPropertySchema::Integer(number) => ElicitationContentValue::from(number.minimum.unwrap_or(1)),
                ElicitationPropertySchema::Number(number) => ElicitationContentValue::from(number.minimum.unwrap_or(1.0)),
                ElicitationPropertySchema::Boolean(_) => ElicitationContentValue::from(true),
                other => match &json!(other)["items"]["anyOf"][0]["const"] {
                    Value::Null => continue,
                    first => read(json!([first]))?,
                },
            };
            content.insert(name.clone(), value);
        }
    }
    let accept = ElicitationAcceptAction::new();
    Ok(ElicitationAction::Accept(if content.is_empty() { accept } else { accept.content(content) }))
}
