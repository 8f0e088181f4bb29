//! The policy: reading, changing and explaining it.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use sayso_api::ask::Ask;
use sayso_api::error::Problem;
use sayso_api::policy::{
    ActiveProfile, ExplainRequest, Explained, Explanation, Grant, NewGrant, PolicyView, SetPolicy, SetProfile, TrustRequest,
    Trusted,
};
use sayso_core::ask::Decision;
use sayso_core::policy::{self as core, Verdict, project_hash};
use sayso_core::scope::Scope;

use super::{ApiError, Authorized, JsonBody};
use crate::app::App;
use crate::service::explain::{self, ExplainedAsk};
use crate::service::policy::{self, CurrentPolicy};

fn view(current: &CurrentPolicy) -> PolicyView {
    let in_force = &current.in_force;
    PolicyView {
        path: current.path.display().to_string(),
        text: in_force.text.clone(),
        error: in_force.error.as_ref().map(ToString::to_string),
        fingerprint: current.fingerprint.clone(),
        text_fingerprint: project_hash(&in_force.text),
        profile: current.active_profile().map(|profile| ActiveProfile { name: profile.name.clone(), until: profile.until }),
        grants: current.active_grants().cloned().map(shown_grant).collect(),
    }
}

fn shown_grant(grant: core::Grant) -> Grant {
    let core::Grant { id, run, edit, read, fetch, mcp, tool, agent: _, project, until } = grant;
    Grant { id: id.to_string(), run, edit, read, fetch, mcp, tool, project, until }
}

/// Read the policy file and the rules in force.
#[utoipa::path(get, path = "/v1/policy", tag = "policy",
    responses((status = 200, body = PolicyView), (status = "4XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn get(State(app): State<Arc<App>>, authorized: Authorized) -> Result<Json<PolicyView>, ApiError> {
    Ok(Json(view(&policy::get(&app.services, &authorized.caller)?)))
}

/// Replace the text of the policy file. It takes effect at once.
///
/// An invalid text is refused with the position of the mistake, and the file stays unchanged. If the file has changed since you
/// read it, the request is refused as well: read the file again and repeat the change.
#[utoipa::path(put, path = "/v1/policy", tag = "policy", request_body = SetPolicy,
    responses((status = 200, body = PolicyView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn set(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<SetPolicy>,
) -> Result<Json<PolicyView>, ApiError> {
    Ok(Json(view(&policy::set(&app.services, &authorized.caller, body.value).await?)))
}

/// Create a grant, which allows actions for a limited time.
#[utoipa::path(post, path = "/v1/policy/grants", tag = "policy", request_body = NewGrant,
    responses((status = 201, body = Grant), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn grant(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewGrant>,
) -> Result<(StatusCode, Json<Grant>), ApiError> {
    let key = body.key(&authorized.caller);
    let grant = policy::grant(&app.services, &authorized.caller, body.value, key).await?;
    Ok((StatusCode::CREATED, Json(shown_grant(grant))))
}

/// Revoke a grant. It ends at once.
#[utoipa::path(delete, path = "/v1/policy/grants/{id}", tag = "policy", params(("id" = String, Path)),
    responses((status = 204), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    policy::revoke_grant(&app.services, &authorized.caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Switch a profile on or off.
#[utoipa::path(put, path = "/v1/policy/profile", tag = "policy", request_body = SetProfile,
    responses((status = 200, body = PolicyView), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn profile(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<SetProfile>,
) -> Result<Json<PolicyView>, ApiError> {
    Ok(Json(view(&policy::set_profile(&app.services, &authorized.caller, body.value).await?)))
}

/// Trust a project's `.sayso.toml` in its current state.
#[utoipa::path(post, path = "/v1/policy/trust", tag = "policy", request_body = TrustRequest,
    responses((status = 200, body = Trusted), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn trust(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<TrustRequest>,
) -> Result<Json<Trusted>, ApiError> {
    let trusted = policy::trust_project(&app.services, &authorized.caller, body.value.directory).await?;
    Ok(Json(Trusted { path: trusted.path, hash: trusted.hash }))
}

/// Explain how a policy decides: about one ask, pending asks or past asks.
#[utoipa::path(post, path = "/v1/policy/explain", tag = "policy", request_body = ExplainRequest,
    responses((status = 200, body = Explanation), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn explain(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<ExplainRequest>,
) -> Result<Json<Explanation>, ApiError> {
    // The list of evaluated rules reveals the whole policy.
    let whole = body.value.ask_id.is_some() && authorized.caller.scope == Scope::All;
    let explained = explain::explain(&app.services, &authorized.caller, body.value).await?;
    let data = explained.asks.iter().map(|explained| shown_explanation(explained, whole)).collect();
    Ok(Json(Explanation { data, truncated: explained.truncated }))
}

fn shown_explanation(explained: &ExplainedAsk, whole: bool) -> Explained {
    let ExplainedAsk { ask, explanation } = explained;
    let (verdict, because) = match &explanation.verdict {
        Verdict::Person(note) => ("ask", note.why.clone().unwrap_or_else(|| "no rule decides it".to_owned())),
        Verdict::Decided { decision, rule, hits: _ } => (
            match decision {
                Decision::Answered { .. } => "answer",
                Decision::Rejected { .. } => "reject",
                Decision::Approved { .. } => "approve",
                Decision::Denied { .. } | Decision::Withdrawn { .. } => "deny",
            },
            rule.clone(),
        ),
    };
    Explained {
        ask_id: ask.id.to_string(),
        summary: ask.body.summary(),
        status: Ask::from(ask).status,
        verdict: verdict.to_owned(),
        because,
        considered: if whole { serde_json::to_value(&explanation.considered).ok() } else { None },
    }
}
