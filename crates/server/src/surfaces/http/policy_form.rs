//! The policy as a form: edits of its text, matches of its rules, and precedents of an approval.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use sayso_api::error::Problem;
use sayso_api::policy_form::{EditPolicy, PolicyForm, Precedents, RuleHits, RuleHitsList, RuleHitsQuery};
use sayso_store::read;

use super::{ApiError, Authorized, JsonBody, Params};
use crate::app::App;
use crate::service::policy_form;

/// Edit the text of a policy without saving it, and read the result as a form.
///
/// Comments and everything that an edit does not concern stay unchanged. Save the text with `PUT /v1/policy`.
#[utoipa::path(post, path = "/v1/policy/edit", tag = "policy", request_body = EditPolicy,
    responses((status = 200, body = PolicyForm), (status = "4XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn edit(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<EditPolicy>,
) -> Result<Json<PolicyForm>, ApiError> {
    let edited = policy_form::edit(&app.services, &authorized.caller, body.value).await?;
    Ok(Json(PolicyForm::of(edited.text, &edited.policy)))
}

/// Count how often each rule decided an ask or left it to a person.
#[utoipa::path(get, path = "/v1/policy/hits", tag = "policy", params(RuleHitsQuery),
    responses((status = 200, body = RuleHitsList), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn hits(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Params(query): Params<RuleHitsQuery>,
) -> Result<Json<RuleHitsList>, ApiError> {
    let counted = policy_form::hits(&app.services, &authorized.caller, query).await?;
    let shown = |read::RuleHits { rule, hits, last_at }| RuleHits { rule, hits, last_at };
    Ok(Json(RuleHitsList { since: counted.since, data: counted.rules.into_iter().map(shown).collect() }))
}

/// Count earlier decisions of people about the same action as in this approval.
#[utoipa::path(get, path = "/v1/asks/{id}/precedents", tag = "policy", params(("id" = String, Path)),
    responses((status = 200, body = Precedents), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn precedents(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<Precedents>, ApiError> {
    let read::Precedents { approved, denied, last_at } = policy_form::precedents(&app.services, &authorized.caller, &id).await?;
    Ok(Json(Precedents { approved, denied, last_at }))
}
