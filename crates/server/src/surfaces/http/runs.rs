//! Runs of workflows: starting, reading, answering, cancelling.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use sayso_api::error::{ErrorCode, Problem};
use sayso_api::run::{NewRun, Run as ApiRun, RunAnswerRequest, RunAnswered, RunPage, RunQuery};
use sayso_core::ask::Decision;
use sayso_core::id::{AskId, RunId};
use sayso_core::limits;
use sayso_core::run::{NewRun as CoreRun, Run};
use sayso_core::workflow::{Source, Surroundings, Workflow};
use sayso_store::read::{GetAsk, GetRun, ListRuns, RunDetail};
use sayso_store::write::{CreateRun, Once};
use serde_json::Value;

use super::asks::{page_size, place};
use super::decide::{Decide, decide};
use super::sessions::{directory, environment, scoped_labels};
use super::{ApiError, Authorized, JsonBody, LooseBody, Params};
use crate::app::App;
use crate::auth::{Caller, Permission};
use crate::entropy;
use crate::runtime::runs;

/// Bytes of one input of a run.
const INPUT: usize = 64 * 1024;
/// Inputs of a run.
const INPUTS: usize = 64;
/// Said when a body has both, or neither.
const ONE_OF_TWO: &str = "must provide answers or reject";

/// The run, if this caller sees it.
async fn find(app: &App, caller: &Caller, id: &str) -> Result<RunDetail, ApiError> {
    let run: RunId = id.parse().map_err(|_| ApiError::no_run())?;
    let query = GetRun { workspace: caller.workspace, run, scope: caller.scope.clone() };
    app.store.read(query).await?.ok_or_else(ApiError::no_run)
}

fn detail(found: &RunDetail) -> ApiRun {
    let mut shown = ApiRun::with_pending(&found.run, &found.pending);
    shown.seq = Some(found.seq);
    shown
}

/// Start a run of a workflow.
#[utoipa::path(post, path = "/v1/runs", tag = "runs", request_body = NewRun,
    responses((status = 201, body = ApiRun), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    body: JsonBody<NewRun>,
) -> Result<Response, ApiError> {
    let caller = authorized.may(Permission::Answer)?;
    let key = body.key(caller);
    let new = body.value;
    let (mut workflow, source) = read(&app, &new.workflow).await?;
    let given = texts(new.input)?;
    let agents: Vec<String> = app.agents.all().iter().map(|agent| agent.name.clone()).collect();
    let errors = workflow.check(&source, Surroundings { agents: Some(&agents), input: Some(&given) });
    if !errors.is_empty() {
        return Err(ApiError::workflow(&errors));
    }
    let labels = scoped_labels(caller, new.labels)?;
    let variables = environment(caller, new.environment.unwrap_or_default())?;
    installed(&app, &workflow, &variables)?;
    // The caller's rights decide about directories now; later only the run is there.
    let resolved = |wanted: Option<&str>| -> Result<String, ApiError> {
        Ok(directory(&app, caller, wanted)?.to_string_lossy().into_owned())
    };
    let of_run = resolved(new.directory.as_deref().or(workflow.directory.as_deref()))?;
    for step in workflow.leaves_mut() {
        if let Some(wanted) = &step.directory {
            step.directory = Some(resolved(Some(wanted))?);
        }
    }
    let now = app.clock.now();
    let id = RunId::new(now, entropy::id());
    let input = workflow.complete_input(&given);
    let run = Run::new(CoreRun { id, workflow, input, directory: of_run, labels, opened_by: caller.token }, now);
    app.runs.keep_variables(id, variables);
    let first = runs::begin(&app, &run).await;
    let created = app.store.write(CreateRun { first, key }).await;
    if !matches!(created, Ok(Once::Done(_))) {
        app.runs.forget(id);
    }
    match created? {
        Once::Done(run) | Once::Before(run) => {
            let location = format!("/v1/runs/{}", run.id);
            Ok((StatusCode::CREATED, [(header::LOCATION, location)], Json(ApiRun::of(&run, 0))).into_response())
        }
        Once::Reused => Err(ApiError::key_reused()),
    }
}

/// The workflow of a call: the file as JSON, or the name of a file that is kept beside the policy.
async fn read(app: &App, given: &Value) -> Result<(Workflow, Source), ApiError> {
    let Value::String(name) = given else {
        return Workflow::parse_json(&given.to_string()).map_err(|mut error| {
            // The lines are those of the text that was made of it, not of the caller's.
            (error.line, error.column) = (None, None);
            ApiError::workflow(&[error])
        });
    };
    let good =
        !name.is_empty() && name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    let path = app.policies.path().with_file_name("workflows").join(format!("{name}.toml"));
    let text = if good { tokio::fs::read_to_string(&path).await.ok() } else { None };
    let Some(text) = text else {
        let detail =
            format!("there is no workflow `{}` in the directory `workflows` of the configuration", limits::head(name, 80));
        return Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::InvalidWorkflow, detail));
    };
    Workflow::parse_toml(&text).map_err(|error| ApiError::workflow(&[error]))
}

/// What a run is given, as texts.
fn texts(input: BTreeMap<String, Value>) -> Result<BTreeMap<String, String>, ApiError> {
    limits::check("the number of inputs", input.len(), INPUTS)?;
    let mut texts = BTreeMap::new();
    for (name, value) in input {
        let text = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Bool(yes) => yes.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                let shown = limits::head(&name, 80);
                return Err(ApiError::invalid(format!("the input `{shown}` is a text, a number or yes or no")));
            }
        };
        limits::check("an input", text.len(), INPUT)?;
        texts.insert(name, text);
    }
    Ok(texts)
}

/// Refuses a workflow whose agents cannot be started: nothing of it begins.
fn installed(app: &App, workflow: &Workflow, variables: &BTreeMap<String, String>) -> Result<(), ApiError> {
    let path = variables.get("PATH").map(String::as_str).or_else(|| app.processes.variable("PATH"));
    for agent in workflow.leaves().filter_map(|step| app.agents.get(step.agent.as_deref()?)) {
        if let Some(program) = agent.program.as_ref().filter(|program| program.find(path).is_none()) {
            let detail = program.missing(&agent.name);
            return Err(ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::AgentNotInstalled, detail));
        }
    }
    Ok(())
}

/// List runs, newest first.
#[utoipa::path(get, path = "/v1/runs", tag = "runs", params(RunQuery),
    responses((status = 200, body = RunPage), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Params(query): Params<RunQuery>,
) -> Result<Json<RunPage>, ApiError> {
    let caller = authorized.may(Permission::Read)?;
    let wanted = ListRuns {
        workspace: caller.workspace,
        scope: caller.scope.clone(),
        open_only: query.open == Some(true),
        id_ends_with: query.id_ends_with.map(|suffix| suffix.to_ascii_lowercase()),
        limit: page_size(query.limit)?,
        after: place(query.cursor.as_deref())?,
    };
    let page = app.store.read(wanted).await?;
    Ok(Json(RunPage {
        data: page.rows.iter().map(|(run, pending)| ApiRun::of(run, *pending)).collect(),
        next_cursor: page.next.map(|next| next.to_string()),
        seq: page.seq,
    }))
}

/// Read one run: its steps, their outputs, and what it waits for in full.
#[utoipa::path(get, path = "/v1/runs/{id}", tag = "runs", params(("id" = String, Path)),
    responses((status = 200, body = ApiRun), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<ApiRun>, ApiError> {
    let caller = authorized.may(Permission::Read)?;
    Ok(Json(detail(&find(&app, caller, &id).await?)))
}

/// End a run: its agents are stopped, and what it asked is withdrawn.
#[utoipa::path(post, path = "/v1/runs/{id}/cancel", tag = "runs", params(("id" = String, Path)),
    responses((status = 200, body = ApiRun), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path(id): Path<String>,
) -> Result<Json<ApiRun>, ApiError> {
    let caller = authorized.may(Permission::Answer)?;
    let found = find(&app, caller, &id).await?;
    let reason = format!("{} cancelled it", caller.name);
    let run = app.runs.cancel(found.run.id, reason).await.ok_or_else(ApiError::run_ended)?;
    Ok(Json(ApiRun::of(&run, 0)))
}

/// Answer or reject what a run waits for: a question of its agents, or a checkpoint.
#[utoipa::path(post, path = "/v1/runs/{id}/questions/{qid}", tag = "runs",
    params(("id" = String, Path), ("qid" = String, Path)), request_body = RunAnswerRequest,
    responses((status = 200, body = RunAnswered), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn answer(
    State(app): State<Arc<App>>,
    authorized: Authorized,
    Path((id, qid)): Path<(String, String)>,
    LooseBody(body): LooseBody<RunAnswerRequest>,
) -> Result<Json<RunAnswered>, ApiError> {
    let caller = authorized.may(Permission::Answer)?;
    let key = body.key(caller);
    let RunAnswerRequest { answers, reject, message } = body.value;
    let decision = match (answers, reject.unwrap_or(false)) {
        (Some(answers), false) => Decision::Answered { answers, note: None },
        (None, true) => Decision::Rejected { message: message.unwrap_or_default(), stop: false },
        (Some(_), true) | (None, false) => return Err(ApiError::malformed(ONE_OF_TWO).for_door()),
    };
    let status = decision.status().as_str().to_owned();
    let run = find(&app, caller, &id).await?.run.id;
    let ask: AskId = qid.parse().map_err(|_| ApiError::no_question())?;
    let wanted = GetAsk { workspace: caller.workspace, ask, scope: caller.scope.clone() };
    let found = app.store.read(wanted).await?.filter(|ask| ask.context.run == Some(run) && !ask.body.questions().is_empty());
    let ask = found.ok_or_else(ApiError::no_question)?;
    let wanted = Decide { ask: ask.id, session: None, decision, by: authorized.person(), key };
    decide(&app, &authorized, wanted).await.map_err(ApiError::for_door)?;
    Ok(Json(RunAnswered { status }))
}
