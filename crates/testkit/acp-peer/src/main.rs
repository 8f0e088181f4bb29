//! A test agent built with the official crate of the Agent Client Protocol: its messages follow the definition of the
//! protocol's authors, not Sayso's implementation.
//!
//! The prompt selects what it asks. Afterwards it reports the response as JSON.
//!
//! | word | behavior |
//! |---|---|
//! | `permission` | asks for permission to run a command: once, always, or not |
//! | `form` | asks for a choice, multiple choices, an integer, a number, a boolean and a text |
//! | `link` | asks to open a URL |
//! | `elsewhere` | asks to open a URL, and immediately reports that it was opened |
//! | `question` | asks with `_sandboxagent/session/request_question` |
//! | `race` | asks for a permission and with a question, and withdraws the one that is not decided first |
//! | anything else | reports the capabilities of the client |

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, BooleanPropertySchema, CancelNotification, ClientCapabilities, CloseSessionRequest, CloseSessionResponse,
    CompleteElicitationNotification, ContentBlock, ContentChunk, CreateElicitationRequest, ElicitationFormMode,
    ElicitationSchema, ElicitationSessionScope, ElicitationUrlMode, EnumOption, Implementation, InitializeRequest,
    InitializeResponse, IntegerPropertySchema, MultiSelectPropertySchema, NewSessionRequest, NewSessionResponse,
    NumberPropertySchema, PermissionOption, PermissionOptionKind, PromptRequest, PromptResponse, RequestPermissionRequest,
    SessionCapabilities, SessionCloseCapabilities, SessionId, SessionNotification, SessionUpdate, StopReason,
    StringPropertySchema, ToolCall, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use agent_client_protocol::{Agent, Client, Error, JsonRpcRequest, JsonRpcResponse, Stdio};
use futures_lite::future;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const CALL: &str = "call-1";
const LINK: &str = "link-1";

/// One question of the sandbox extension.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_sandboxagent/session/request_question", response = QuestionResponse)]
#[serde(rename_all = "camelCase")]
struct QuestionRequest {
    session_id: SessionId,
    question_id: String,
    prompt: String,
    options: Vec<(String, String)>,
    multiple: bool,
}

/// The response to a question.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
#[serde(tag = "status", rename_all = "snake_case")]
enum QuestionResponse {
    Answered { answers: Vec<Vec<String>> },
    Rejected,
}

#[derive(Default)]
struct Peer {
    client: Mutex<ClientCapabilities>,
    /// Whether the client cancelled the turn.
    cancelled: AtomicBool,
}

fn main() -> Result<(), Error> {
    let peer = Arc::new(Peer::default());
    let (initialized, prompted, cancelled) = (peer.clone(), peer.clone(), peer);
    let agent = Agent
        .v1()
        .name("peer")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _cx| {
                initialized.learn(request.client_capabilities);
                let session = SessionCapabilities::new().close(SessionCloseCapabilities::new());
                responder.respond(
                    InitializeResponse::new(ProtocolVersion::V1)
                        .agent_capabilities(AgentCapabilities::new().session_capabilities(session))
                        .agent_info(Implementation::new("peer", env!("CARGO_PKG_VERSION"))),
                )
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |_: NewSessionRequest, responder, _cx| responder.respond(NewSessionResponse::new("session-1")),
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |_: CloseSessionRequest, responder, _cx| responder.respond(CloseSessionResponse::new()),
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, cx: ConnectionTo<Client>| {
                let peer = prompted.clone();
                peer.cancelled.store(false, Ordering::SeqCst);
                // No message is read while a handler waits, so the work runs in a separate task.
                cx.clone().spawn(async move {
                    let received = peer.work(&cx, &request).await?;
                    say(&cx, &request.session_id, &received.to_string())?;
                    let cancelled = peer.cancelled.load(Ordering::SeqCst);
                    responder.respond(PromptResponse::new(if cancelled { StopReason::Cancelled } else { StopReason::EndTurn }))
                })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_notification(
            async move |_: CancelNotification, _cx| {
                cancelled.cancelled.store(true, Ordering::SeqCst);
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        );
    future::block_on(agent.connect_to(Stdio::new()))
}

impl Peer {
    fn learn(&self, client: ClientCapabilities) {
        if let Ok(mut known) = self.client.lock() {
            *known = client;
        }
    }

    /// Runs the prompt and returns the response.
    async fn work(&self, cx: &ConnectionTo<Client>, request: &PromptRequest) -> Result<Value, Error> {
        let session = &request.session_id;
        let prompt: String = request.prompt.iter().filter_map(text).collect();
        Ok(match prompt.as_str() {
            "permission" => {
                announce(cx, session)?;
                let received = received(cx.send_request(permission(session)).block_task().await);
                let done = ToolCallUpdateFields::new().status(ToolCallStatus::Completed);
                update(cx, session, SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(CALL, done)))?;
                received
            }
            "form" => received(cx.send_request(form(session)).block_task().await),
            "link" => {
                let received = received(cx.send_request(link(session)).block_task().await);
                cx.send_notification(CompleteElicitationNotification::new(LINK))?;
                received
            }
            "elsewhere" => {
                let opened = cx.send_request(link(session));
                cx.send_notification(CompleteElicitationNotification::new(LINK))?;
                received(opened.block_task().await)
            }
            "question" => received(cx.send_request(question(session)).block_task().await),
            "race" => {
                announce(cx, session)?;
                let permission = cx.send_request(permission(session)).block_task();
                let question = cx.send_request(question(session)).block_task();
                // The other request is dropped, which cancels it at the client.
                future::or(async { received(permission.await) }, async { received(question.await) }).await
            }
            _ => {
                let client = self.client.lock().map(|client| client.clone()).unwrap_or_default();
                json!({ "prompt": prompt, "client": client })
            }
        })
    }
}

fn text(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text(text) => Some(&text.text),
        _ => None,
    }
}

fn received(outcome: Result<impl Serialize, Error>) -> Value {
    match outcome {
        Ok(response) => json!(response),
        Err(error) => json!({ "error": { "code": i32::from(error.code), "message": error.message } }),
    }
}

fn update(cx: &ConnectionTo<Client>, session: &SessionId, update: SessionUpdate) -> Result<(), Error> {
    cx.send_notification(SessionNotification::new(session.clone(), update))
}

fn say(cx: &ConnectionTo<Client>, session: &SessionId, text: &str) -> Result<(), Error> {
    update(cx, session, SessionUpdate::AgentMessageChunk(ContentChunk::new(text.into())))
}

/// Reports the tool call that needs permission.
fn announce(cx: &ConnectionTo<Client>, session: &SessionId) -> Result<(), Error> {
    let call = ToolCall::new(CALL, "Remove the build").name("Bash".to_owned()).kind(ToolKind::Execute);
    update(cx, session, SessionUpdate::ToolCall(call.raw_input(json!({ "command": "rm -r build" }))))
}

fn permission(session: &SessionId) -> RequestPermissionRequest {
    // In an order in which selecting the first option would be wrong.
    let options = vec![
        PermissionOption::new("always", "Always", PermissionOptionKind::AllowAlways),
        PermissionOption::new("no", "No", PermissionOptionKind::RejectOnce),
        PermissionOption::new("once", "Once", PermissionOptionKind::AllowOnce),
    ];
    RequestPermissionRequest::new(session.clone(), ToolCallUpdate::new(CALL, ToolCallUpdateFields::new()), options)
}

fn form(session: &SessionId) -> CreateElicitationRequest {
    let options = |names: [&str; 2]| names.map(|name| EnumOption::new(name.to_lowercase(), name)).to_vec();
    let schema = ElicitationSchema::new()
        .property(
            "database",
            StringPropertySchema::new().title("Database".to_owned()).one_of(options(["SQLite", "Postgres"])),
            true,
        )
        .property("areas", MultiSelectPropertySchema::titled(options(["Login", "Export"])).title("Areas".to_owned()), true)
        .property("replicas", IntegerPropertySchema::new().title("Replicas".to_owned()).minimum(1).maximum(5), true)
        .property("share", NumberPropertySchema::new().title("Share".to_owned()).maximum(1.0), false)
        .property("public", BooleanPropertySchema::new().title("Public".to_owned()), true)
        .property("name", StringPropertySchema::new().title("Name".to_owned()), false);
    CreateElicitationRequest::new(ElicitationFormMode::new(ElicitationSessionScope::new(session.clone()), schema), "How?")
}

fn link(session: &SessionId) -> CreateElicitationRequest {
    let url = "https://example.com/device?code=1234";
    let scope = ElicitationSessionScope::new(session.clone());
    CreateElicitationRequest::new(ElicitationUrlMode::new(scope, LINK, url), "Sign in")
}

fn question(session: &SessionId) -> QuestionRequest {
    let options = [("a", "Option A"), ("b", "Option B")].map(|(id, label)| (id.to_owned(), label.to_owned()));
    QuestionRequest {
        session_id: session.clone(),
        question_id: "question-1".to_owned(),
        prompt: "Which?".to_owned(),
        options: options.to_vec(),
        multiple: false,
    }
}
