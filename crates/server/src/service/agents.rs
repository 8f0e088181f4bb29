//! The configured agents.

use super::{ServiceError, Services, authorize};
use crate::auth::{Caller, Permission};
use crate::config::agents::Agent;

pub(crate) struct ListedAgent<'a> {
    pub(crate) agent: &'a Agent,
    /// True if the program is in the server's `PATH`, or the agent needs none.
    pub(crate) installed: bool,
}

/// Lists the agents that can be started.
pub(crate) fn list<'a>(services: &'a Services, caller: &Caller) -> Result<Vec<ListedAgent<'a>>, ServiceError> {
    authorize(caller, Permission::Read)?;
    let path = services.environment.server_variable("PATH");
    let installed = |agent: &Agent| agent.program.as_ref().is_none_or(|program| program.find(path).is_some());
    Ok(services.agents.all().iter().map(|agent| ListedAgent { agent, installed: installed(agent) }).collect())
}
