//! The question REST dialect: reply to or reject a question of a session. It also covers leaving plan mode: a reply approves, a
//! rejection denies.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use sayso_api::ask::NoRequest;
use sayso_api::compat::QuestionReplyRequest;
use sayso_api::error::Problem;
use sayso_core::ask::{Action, Ask, AskBody, Decision};
use sayso_core::id::{AskId, SessionId};
use sayso_store::ops::IdempotencyKey;

use crate::app::App;
use crate::auth::Permission;
use crate::service::ServiceError;
use crate::service::asks::{self, DecisionRequest};
use crate::service::sessions::session_id;
use crate::surfaces::http::{ApiError, Authorized, LooseBody, OptionalJson, denied, rejected};

const VIA: &str = "question-rest";

fn is_plan_exit(ask: &Ask) -> bool {
    matches!(&*ask.body, AskBody::Approval(approval) if approval.action == Action::Plan)
}

/// Finds a question of the session that the caller can see. Approvals other than plans are not questions in this dialect.
async fn question(app: &App, authorized: &Authorized, session: &str, question: &str) -> Result<(SessionId, Ask), ApiError> {
    let caller = authorized.may(Permission::Answer)?;
    let session = session_id(session)?;
    let ask = asks::find(&app.services, caller, asks::ask_id(question)?).await?;
    if ask.origin.session == Some(session) { Ok((session, ask)) } else { Err(ServiceError::AskNotFound.into()) }
}

async fn settle(
    app: &App,
    authorized: &Authorized,
    session: SessionId,
    ask: AskId,
    decision: Decision,
    key: Option<IdempotencyKey>,
) -> Result<StatusCode, ApiError> {
    let resolution = DecisionRequest { ask, session: Some(session), decision, via: VIA, key, content: None };
    asks::resolve(&app.services, &authorized.caller, resolution).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Reply to a question of a session.
#[utoipa::path(post, path = "/v1/sessions/{sid}/questions/{qid}/reply", tag = "doors",
    params(("sid" = String, Path), ("qid" = String, Path)), request_body = QuestionReplyRequest,
    responses((status = 204), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn reply(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path((sid, qid)): Path<(String, String)>,
    LooseBody(body): LooseBody<QuestionReplyRequest>,
) -> Result<StatusCode, ApiError> {
    let key = body.key(&authorized.caller);
    let settled = async {
        let (session, ask) = question(&app, &authorized, &sid, &qid).await?;
        let decision = if is_plan_exit(&ask) {
            Decision::Approved { choice: None, input: None }
        } else {
            Decision::Answered { answers: body.value.answers, note: None }
        };
        settle(&app, &authorized, session, ask.id, decision, key).await
    };
    settled.await.map_err(ApiError::with_error_text)
}

/// Reject a question of a session. The body may be empty.
#[utoipa::path(post, path = "/v1/sessions/{sid}/questions/{qid}/reject", tag = "doors",
    params(("sid" = String, Path), ("qid" = String, Path)),
    responses((status = 204), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn reject(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path((sid, qid)): Path<(String, String)>,
    OptionalJson(body): OptionalJson<NoRequest>,
) -> Result<StatusCode, ApiError> {
    let key = body.key(&authorized.caller);
    let settled = async {
        let (session, ask) = question(&app, &authorized, &sid, &qid).await?;
        let decision = if is_plan_exit(&ask) { denied(body.value) } else { rejected(body.value) };
        settle(&app, &authorized, session, ask.id, decision, key).await
    };
    settled.await.map_err(ApiError::with_error_text)
}
