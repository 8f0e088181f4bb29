//! The gateway dialect: answers, approvals and denials by tool call, and a stream of `{type, data}`.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use sayso_api::ask::NoRequest;
use sayso_api::compat::{GatewayEvent, Ok as Done, QuestionItem, SubmitAnswers, ToolCallRef};
use sayso_api::error::{ErrorCode, Problem};
use sayso_core::ask::{Ask, AskBody, AskKind, AskState, Decision, Question};
use sayso_core::id::SessionId;
use sayso_core::raw::Raw;
use sayso_core::snapshot::{StatusSnapshot, StatusWord};
use sayso_core::transcript::{BlockBody, ToolStatus};
use sayso_store::ops::IdempotencyKey;
use sayso_store::{EventPayload, StoredEvent};

use crate::app::App;
use crate::auth::Permission;
use crate::runtime::feed::{Frame, Item, Render};
use crate::service::asks::{self, DecisionRequest};
use crate::service::{ServiceError, sessions};
use crate::surfaces::http::sse::SseBody;
use crate::surfaces::http::{ApiError, Authorized, LooseBody, denied};

const VIA: &str = "gateway";

/// Finds the ask of a tool call: the pending one, or else the latest, so that a late answer gets the outcome.
async fn ask_of(app: &App, authorized: &Authorized, session: &str, call: &str, kind: AskKind) -> Result<Ask, ApiError> {
    let caller = authorized.may(Permission::Answer)?;
    let session = sessions::find(&app.services, caller, session).await?.session.id;
    let missing = match kind {
        AskKind::Question => "No pending question",
        AskKind::Approval | AskKind::Link => "No pending approval",
    };
    let found = asks::of_tool_call(&app.services, caller, session, call, kind).await?;
    found.ok_or_else(|| ApiError::from(ServiceError::AskNotFound).saying(missing))
}

async fn settle(
    app: &App,
    authorized: &Authorized,
    ask: &Ask,
    decision: Decision,
    key: Option<IdempotencyKey>,
) -> Result<Json<Done>, ApiError> {
    let resolution = DecisionRequest { ask: ask.id, session: ask.origin.session, decision, via: VIA, key, content: None };
    asks::resolve(&app.services, &authorized.caller, resolution).await?;
    Ok(Json(Done { ok: true }))
}

/// Answer the questions of a tool call, by position.
#[utoipa::path(post, path = "/v1/sessions/{sid}/submit-answers", tag = "doors", params(("sid" = String, Path)), request_body = SubmitAnswers,
    responses((status = 200, body = Done), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn submit_answers(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(sid): Path<String>,
    LooseBody(body): LooseBody<SubmitAnswers>,
) -> Result<Json<Done>, ApiError> {
    let key = body.key(&authorized.caller);
    let settled = async {
        let (Some(call), Some(answers)) = (body.value.tool_call_id.filter(|call| !call.is_empty()), body.value.answers) else {
            return Err(ApiError::malformed("toolCallId and answers are required"));
        };
        let ask = ask_of(&app, &authorized, &sid, &call, AskKind::Question).await?;
        let answers = match &ask.state {
            AskState::Pending(_) => by_position(ask.body.questions(), &answers)?,
            // The ask is decided. The response names the winner regardless of the answers.
            AskState::Resolved { .. } => Vec::new(),
        };
        settle(&app, &authorized, &ask, Decision::Answered { answers, note: None }, key).await
    };
    settled.await.map_err(ApiError::with_error_text)
}

/// Parses `{"0": "A", "1": "[\"x\",\"y\"]"}`. A value is a JSON array only for a question with multiple choices.
fn by_position(questions: &[Question], answers: &BTreeMap<String, String>) -> Result<Vec<Vec<String>>, ApiError> {
    questions
        .iter()
        .enumerate()
        .map(|(index, question)| match answers.get(&index.to_string()) {
            None if question.required => Err(ApiError::new(
                axum::http::StatusCode::UNPROCESSABLE_ENTITY,
                ErrorCode::InvalidAnswers,
                format!("question {index} has no answer: the key \"{index}\" is missing"),
            )),
            None => Ok(Vec::new()),
            Some(text) if question.multiple() => Ok(serde_json::from_str(text).unwrap_or_else(|_| vec![text.clone()])),
            Some(text) => Ok(vec![text.clone()]),
        })
        .collect()
}

fn call_of(body: ToolCallRef) -> Result<String, ApiError> {
    body.tool_call_id.filter(|call| !call.is_empty()).ok_or_else(|| ApiError::malformed("toolCallId is required"))
}

/// Approve a tool call.
#[utoipa::path(post, path = "/v1/sessions/{sid}/approve", tag = "doors", params(("sid" = String, Path)), request_body = ToolCallRef,
    responses((status = 200, body = Done), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn approve(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(sid): Path<String>,
    LooseBody(body): LooseBody<ToolCallRef>,
) -> Result<Json<Done>, ApiError> {
    let key = body.key(&authorized.caller);
    let settled = async {
        let ask = ask_of(&app, &authorized, &sid, &call_of(body.value)?, AskKind::Approval).await?;
        settle(&app, &authorized, &ask, Decision::Approved { choice: None, input: None }, key).await
    };
    settled.await.map_err(ApiError::with_error_text)
}

/// Deny a tool call.
#[utoipa::path(post, path = "/v1/sessions/{sid}/deny", tag = "doors", params(("sid" = String, Path)), request_body = ToolCallRef,
    responses((status = 200, body = Done), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn deny(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(sid): Path<String>,
    LooseBody(body): LooseBody<ToolCallRef>,
) -> Result<Json<Done>, ApiError> {
    let key = body.key(&authorized.caller);
    let settled = async {
        let ask = ask_of(&app, &authorized, &sid, &call_of(body.value)?, AskKind::Approval).await?;
        settle(&app, &authorized, &ask, denied(NoRequest::default()), key).await
    };
    settled.await.map_err(ApiError::with_error_text)
}

/// Stream a session as `{type, data}`. A new stream starts with the pending asks.
#[utoipa::path(get, path = "/v1/sessions/{sid}/stream", tag = "doors", params(("sid" = String, Path)),
    responses((status = 200, description = "A stream of `GatewayEvent`", content_type = "text/event-stream", body = GatewayEvent),
              (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn stream(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(sid): Path<String>,
) -> Result<Response, ApiError> {
    let caller = &authorized.caller;
    let found = sessions::get(&app.services, caller, &sid).await?;
    let status = sayso_api::session::Session::of(&found.session, found.pending.count).status;
    let status = serde_json::to_value(status).ok().and_then(|status| status.as_str().map(str::to_owned)).unwrap_or_default();
    let mut first = vec![GatewayEvent::SessionStatus { session_id: found.session.id.to_string(), status }];
    first.extend(found.pending.asks.iter().filter_map(prompt));
    let first: Vec<u8> = first.iter().flat_map(bytes).collect();
    let cursor = app.runtime.stream_session(caller, &found, Some(found.seq), Gateway { started: HashSet::new() });
    Ok(SseBody::after(Bytes::from(first), cursor, authorized.still_allowed(&app)).into_response())
}

/// Converts an ask to an event of this dialect.
fn prompt(ask: &Ask) -> Option<GatewayEvent> {
    match &*ask.body {
        AskBody::Question { questions } => Some(GatewayEvent::QuestionPrompt {
            tool_call_id: ask.tool_call_id(),
            questions: questions.iter().map(QuestionItem::from).collect(),
        }),
        AskBody::Approval(approval) => Some(GatewayEvent::ApprovalRequired {
            tool_call_id: ask.tool_call_id(),
            tool_name: approval.tool.clone(),
            input: approval.input.as_str().to_owned(),
        }),
        AskBody::Link(_) => None,
    }
}

fn bytes(event: &GatewayEvent) -> Vec<u8> {
    let mut bytes = b"data: ".to_vec();
    // Serializing one of our own types cannot fail.
    let _ = serde_json::to_writer(&mut bytes, event);
    bytes.extend_from_slice(b"\n\n");
    bytes
}

/// Renders events for this dialect. It remembers which tool calls it has announced.
#[derive(Debug)]
struct Gateway {
    started: HashSet<String>,
}

impl Render for Gateway {
    type Output = Bytes;

    fn frame(&mut self, frame: &Frame) -> Bytes {
        let events = match frame.item() {
            Item::Live(live) => vec![GatewayEvent::TextDelta { text: live.text.clone() }],
            Item::Stored(event) => self.stored(event),
        };
        events.iter().flat_map(bytes).collect::<Vec<u8>>().into()
    }

    fn reset(&mut self, _: i64) -> Bytes {
        let message = "Some events are no longer stored; read the session again.".to_owned();
        bytes(&GatewayEvent::Error { message }).into()
    }
}

impl Gateway {
    fn stored(&mut self, event: &StoredEvent) -> Vec<GatewayEvent> {
        match &event.payload {
            EventPayload::AskRequested(ask) => prompt(ask).into_iter().collect(),
            EventPayload::Block { block, .. } => match &block.body {
                BlockBody::Tool { tool_call_id, name, input, output, status } => {
                    self.tool(tool_call_id, name, input.as_ref(), output.as_deref(), *status)
                }
                BlockBody::Error { text } => vec![GatewayEvent::Error { message: text.clone() }],
                BlockBody::Message { .. } | BlockBody::Notice { .. } => Vec::new(),
            },
            // This dialect has no settings, and a second `done` would end the turn of another message.
            EventPayload::SessionStatus(change) if change.is_settings_change() => Vec::new(),
            EventPayload::SessionStatus(change) => event.session.map(|id| status_events(id, &change.status)).unwrap_or_default(),
            EventPayload::AskResolved(_)
            | EventPayload::AskParked { .. }
            | EventPayload::AskSnoozed { .. }
            | EventPayload::AskDelivery { .. }
            | EventPayload::AgentQuestionAsked(_)
            | EventPayload::AgentQuestionAnswered(_)
            | EventPayload::SessionCreated(_)
            | EventPayload::Notice { .. }
            | EventPayload::PolicyChanged { .. }
            | EventPayload::Run(_)
            | EventPayload::Step(_) => Vec::new(),
        }
    }

    fn tool(&mut self, id: &str, name: &str, input: Option<&Raw>, output: Option<&str>, status: ToolStatus) -> Vec<GatewayEvent> {
        let mut events = Vec::new();
        let (tool_call_id, tool_name) = (id.to_owned(), name.to_owned());
        if self.started.insert(tool_call_id.clone()) {
            events.push(GatewayEvent::ToolCallStart { tool_call_id: tool_call_id.clone(), tool_name: tool_name.clone() });
            if let Some(input) = input {
                events.push(GatewayEvent::ToolCallDelta { tool_call_id: tool_call_id.clone(), input: input.as_str().to_owned() });
            }
            events.push(GatewayEvent::ToolCallEnd { tool_call_id: tool_call_id.clone() });
        }
        let status = match status {
            ToolStatus::Running => return events,
            ToolStatus::Complete => "complete",
            ToolStatus::Error => "error",
        };
        self.started.remove(id);
        let result = output.unwrap_or_default().to_owned();
        events.push(GatewayEvent::ToolResult { tool_call_id, tool_name, result, status: status.to_owned() });
        events
    }
}

fn status_events(session: SessionId, changed: &StatusSnapshot) -> Vec<GatewayEvent> {
    let session_id = session.to_string();
    let (status, over) = match changed.status {
        StatusWord::Running => ("running", false),
        StatusWord::Idle => ("idle", true),
        StatusWord::Stalled => ("stalled", false),
        StatusWord::Ended => ("ended", true),
        StatusWord::Failed => ("failed", true),
    };
    let mut events = vec![GatewayEvent::SessionStatus { session_id: session_id.clone(), status: status.to_owned() }];
    if over {
        events.push(GatewayEvent::Done { session_id });
    }
    events
}
