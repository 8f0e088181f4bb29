//! Transcripts: the messages and tool calls of a session, with its asks in chronological order.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use sayso_api::ask::Ask as ApiAsk;
use sayso_api::error::Problem;
use sayso_api::session::{Transcript, TranscriptQuery};
use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, AskBody, AskState, Decision};
use sayso_store::read::{Page, TranscriptEntry};
use serde_json::{Value, json};

use super::{ApiError, Authorized, Params};
use crate::app::App;
use crate::service::transcript;

/// Read the transcript of a session.
#[utoipa::path(get, path = "/v1/sessions/{id}/transcript", operation_id = "transcript", tag = "sessions", params(("id" = String, Path), TranscriptQuery),
    responses((status = 200, body = Transcript), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
    Params(query): Params<TranscriptQuery>,
) -> Result<Json<Transcript>, ApiError> {
    let page = transcript::read_transcript(&app.services, &authorized.caller, &id, query).await?;
    Ok(Json(to_api(&page)))
}

/// Converts a page of the transcript.
pub(super) fn to_api(page: &Page<TranscriptEntry>) -> Transcript {
    let data = page
        .rows
        .iter()
        .map(|entry| match entry {
            TranscriptEntry::Block(block) => serde_json::from_str(block.as_str()).unwrap_or_default(),
            TranscriptEntry::Ask(ask) => block_of(ask),
        })
        .collect();
    Transcript { data, next_cursor: page.next.map(|next| next.to_string()), seq: page.seq, truncated: page.truncated }
}

/// Converts an ask to a block: `question_request` in the shape that chat clients expect, with the complete ask as an additional
/// field. Clients show a generic card for kinds that they do not know.
fn block_of(ask: &Ask) -> Value {
    let status = match &ask.state {
        AskState::Pending(_) => "pending",
        AskState::Resolved { outcome, .. } => match outcome.decision {
            Decision::Answered { .. } | Decision::Approved { .. } => "success",
            Decision::Rejected { .. } | Decision::Denied { .. } | Decision::Withdrawn { .. } => "denied",
        },
    };
    let (action, extra) = match &*ask.body {
        AskBody::Question { .. } => ("question_request", question_extra(ask)),
        AskBody::Approval(approval) => (
            "approval_request",
            json!({ "needsUserAction": status == "pending", "toolName": approval.tool, "title": approval.title }),
        ),
        AskBody::Link(link) => ("link_request", json!({ "needsUserAction": status == "pending", "url": link.url })),
    };
    json!({ "type": "action", "action_type": action, "id": ask.id, "at": ask.opened_at, "status": status, "extra": extra, "ask": ApiAsk::from(ask) })
}

fn question_extra(ask: &Ask) -> Value {
    let questions = ask.body.questions();
    let first = questions.first();
    let resolution = match ask.outcome().map(|outcome| &outcome.decision) {
        None => "asked",
        Some(Decision::Answered { .. }) => "replied",
        Some(_) => "rejected",
    };
    let options: Vec<Value> = first
        .map(|question| question.options().iter().map(|o| json!({ "label": o.label, "description": o.description })).collect())
        .unwrap_or_default();
    let mut extra = json!({
        "needsUserAction": resolution == "asked",
        "questionText": questions.iter().map(|question| question.text.as_str()).collect::<Vec<_>>().join("\n"),
        "questionOptions": options,
        "questionMultiple": first.is_some_and(sayso_core::ask::Question::multiple),
        "questionCustom": first.is_some_and(sayso_core::ask::Question::takes_text),
        "questionResolution": resolution,
    });
    if let Some(header) = first.and_then(|question| question.header.as_ref()) {
        extra["questionHeader"] = json!(header);
    }
    let Some(outcome) = ask.outcome() else { return extra };
    match &outcome.decision {
        Decision::Answered { answers, .. } => {
            let lines: Vec<&str> = answers.iter().flatten().map(String::as_str).collect();
            extra["answerText"] = json!(lines.join("\n"));
            if let Actor::Message { message, .. } = &outcome.by {
                extra["answerMessageId"] = json!(message);
            }
        }
        Decision::Rejected { message: reason, .. } | Decision::Withdrawn { reason } => extra["reason"] = json!(reason),
        Decision::Approved { .. } | Decision::Denied { .. } => {}
    }
    extra
}
