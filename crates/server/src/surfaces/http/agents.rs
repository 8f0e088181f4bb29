//! The configured agents and their capabilities.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sayso_api::error::Problem;
use sayso_api::session::{Agent, AgentList, AgentsStopped, Capabilities};
use sayso_core::ask::TypedAnswers;

use super::attachments::to_api as attachment_to_api;
use super::{ApiError, Authorized};
use crate::app::App;
use crate::config::agents::AgentProgram;
use crate::runtime::attachments;
use crate::service::agents::{self, ListedAgent};

/// List the agents that can be started, with their capabilities.
#[utoipa::path(get, path = "/v1/agents", tag = "agents",
    responses((status = 200, body = AgentList), (status = "4XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn list(State(app): State<Arc<App>>, authorized: Authorized) -> Result<Json<AgentList>, ApiError> {
    let mut attached = attachments::list(&app.runtime, &authorized.caller).await?;
    let data = agents::list(&app.services, &authorized.caller)?
        .into_iter()
        .map(|ListedAgent { agent, installed }| Agent {
            name: agent.name.clone(),
            protocol: agent.protocol.as_str().to_owned(),
            installed,
            command: agent.program.as_ref().map(AgentProgram::line),
            install: agent.program.as_ref().and_then(|program| program.install).map(str::to_owned),
            capabilities: capabilities(agent.capabilities),
            attached: attached.extract_if(.., |attached| attached.agent == agent.name).map(attachment_to_api).collect(),
        })
        .collect();
    Ok(Json(AgentList { data }))
}

/// Converts the capabilities of an agent.
pub(super) fn capabilities(can: sayso_agents::translator::Capabilities) -> Capabilities {
    Capabilities {
        questions: can.questions,
        approvals: can.approvals,
        plans: can.plans,
        elicitation: can.elicitation,
        resume: can.resume,
        survives_restart: can.survives_restart,
        message_answers_sets: can.typed == TypedAnswers::Sets,
        change_settings: can.configure,
    }
}

/// Stop the processes of all agents. Their sessions can be resumed later. No agent starts until the server has been restarted.
#[utoipa::path(post, path = "/v1/agents/stop", tag = "agents",
    responses((status = 200, body = AgentsStopped), (status = "4XX", body = Problem), (status = "5XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn stop(State(app): State<Arc<App>>, authorized: Authorized) -> Result<Json<AgentsStopped>, ApiError> {
    let stopped = app.runtime.stop_agents(&authorized.caller).await?;
    Ok(Json(AgentsStopped { stopped }))
}
