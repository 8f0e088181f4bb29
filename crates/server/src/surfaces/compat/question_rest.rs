//! The question REST door: reply to or reject a question of a session. A plan exit is taken too:
//! a reply approves it, a reject denies it.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use sayso_api::ask::NoRequest;
use sayso_api::doors::QuestionReplyRequest;
use sayso_api::error::Problem;
use sayso_core::ask::{Action, Ask, AskBody, Decision};
use sayso_core::id::{AskId, SessionId};
use sayso_store::read::GetAsk;
use sayso_store::write::IdempotencyKey;

use crate::app::App;
use crate::auth::Permission;
use crate::surfaces::http::decide::{Decide, decide, denied, rejected};
use crate::surfaces::http::sessions::session_id;
use crate::surfaces::http::{ApiError, Authorized, LooseBody, OptionalJson};

const VIA: &str = "question-rest";

fn is_plan_exit(ask: &Ask) -> bool {
    matches!(&*ask.body, AskBody::Approval(approval) if approval.action == Action::Plan)
}

/// The question of that session, if this caller sees it. Other approvals are not questions.
async fn question(app: &App, authorized: &Authorized, session: &str, question: &str) -> Result<(SessionId, Ask), ApiError> {
    let caller = authorized.may(Permission::Answer)?;
    let session = session_id(session)?;
    let ask: AskId = question.parse().map_err(|_| ApiError::no_ask())?;
    let find = GetAsk { workspace: caller.workspace, ask, scope: caller.scope.clone() };
    let found = app.store.read(find).await?;
    let ask = found.filter(|ask| ask.origin.session == Some(session)).ok_or_else(ApiError::no_ask)?;
    Ok((session, ask))
}

async fn settle(
    app: &App,
    authorized: &Authorized,
    session: SessionId,
    ask: AskId,
    decision: Decision,
    key: Option<IdempotencyKey>,
) -> Result<StatusCode, ApiError> {
    let by = authorized.person_via(VIA);
    decide(app, authorized, Decide { ask, session: Some(session), decision, by, key }).await?;
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
    settled.await.map_err(ApiError::for_door)
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
    settled.await.map_err(ApiError::for_door)
}
