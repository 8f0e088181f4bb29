//! The agents and what they can do.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sayso_api::error::Problem;
use sayso_api::session::{Agent, AgentList, Capabilities};

use super::{ApiError, Authorized};
use crate::app::App;
use crate::auth::Permission;

/// List the agents that can be started, with what they really can do.
#[utoipa::path(get, path = "/v1/agents", tag = "agents",
    responses((status = 200, body = AgentList), (status = "4XX", body = Problem)), security(("token" = [])))]
pub(crate) async fn list(State(app): State<Arc<App>>, authorized: Authorized) -> Result<Json<AgentList>, ApiError> {
    authorized.may(Permission::Read)?;
    let data = app
        .agents
        .all()
        .iter()
        .map(|agent| {
            let can = agent.capabilities;
            Agent {
                name: agent.name.clone(),
                protocol: agent.protocol.to_owned(),
                capabilities: Capabilities {
                    questions: can.questions,
                    approvals: can.approvals,
                    plans: can.plans,
                    elicitation: can.elicitation,
                    resume: can.resume,
                    survives_restart: can.survives_restart,
                    message_answers_sets: can.message_answers_sets,
                },
            }
        })
        .collect();
    Ok(Json(AgentList { data }))
}
