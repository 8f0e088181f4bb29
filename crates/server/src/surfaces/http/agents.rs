//! The agents and what they can do.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use sayso_api::error::{ErrorCode, Problem};
use sayso_api::session::{Agent, AgentList, AgentsStopped, Capabilities};

use super::{ApiError, Authorized};
use crate::app::App;
use crate::auth::Permission;
use crate::config::agents::Program;
use sayso_core::ask::TypedAnswers;

/// List the agents that can be started, with what they really can do.
#[utoipa::path(get, path = "/v1/agents", tag = "agents",
    responses((status = 200, body = AgentList), (status = "4XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn list(State(app): State<Arc<App>>, authorized: Authorized) -> Result<Json<AgentList>, ApiError> {
    let workspace = authorized.may(Permission::Read)?.workspace;
    let mut attached = super::attachments::all(&app, workspace).await?;
    let data = app
        .agents
        .all()
        .iter()
        .map(|agent| Agent {
            name: agent.name.clone(),
            protocol: agent.protocol.as_str().to_owned(),
            installed: agent.program.as_ref().is_none_or(|program| program.find(app.processes.variable("PATH")).is_some()),
            command: agent.program.as_ref().map(Program::line),
            install: agent.program.as_ref().and_then(|program| program.install).map(str::to_owned),
            capabilities: capabilities(agent.capabilities),
            attached: attached.extract_if(.., |attached| attached.agent == agent.name).collect(),
        })
        .collect();
    Ok(Json(AgentList { data }))
}

/// What an agent can do, as clients see it.
pub(super) fn capabilities(can: sayso_agents::translator::Capabilities) -> Capabilities {
    Capabilities {
        questions: can.questions,
        approvals: can.approvals,
        plans: can.plans,
        elicitation: can.elicitation,
        resume: can.resume,
        survives_restart: can.survives_restart,
        message_answers_sets: can.typed == TypedAnswers::Sets,
    }
}

/// How long agents may take to end; the supervisor kills them before.
const STOP: Duration = Duration::from_secs(20);

/// End the processes of all agents. Their sessions can be resumed; no other agent starts until the
/// server has been started again.
#[utoipa::path(post, path = "/v1/agents/stop", tag = "agents",
    responses((status = 200, body = AgentsStopped), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn stop(State(app): State<Arc<App>>, authorized: Authorized) -> Result<Json<AgentsStopped>, ApiError> {
    authorized.may(Permission::Administer)?;
    let mut running = app.processes.running();
    let stopped = *running.borrow();
    app.halt.send_replace(true);
    let ended = tokio::time::timeout(STOP, running.wait_for(|running| *running == 0)).await;
    if ended.is_err() {
        tracing::error!("some agents did not end");
        return Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal, "some agents did not end in time"));
    }
    Ok(Json(AgentsStopped { stopped }))
}
