//! The service layer: one plain async function per use case,
//! `(&Services, &Caller, request) -> Result<domain value, ServiceError>`.
//!
//! Every surface calls these functions: HTTP, MCP, ACP, the compatibility dialects, answer links and notification
//! buttons; so do runs and connections. A function checks the caller's permission and scope itself, so a surface cannot
//! forget to. Requests are the request types of `sayso-api`, because all surfaces share them; results are domain values,
//! and surfaces render them.
//!
//! A service function reaches tasks only through commits. It knows no surface, no connection and no stream.

pub(crate) mod agents;
pub(crate) mod answer_links;
pub(crate) mod asks;
mod config_snapshot;
pub(crate) mod disk_facts;
mod environment;
mod error;
pub(crate) mod explain;
mod followed_links;
pub(crate) mod groups;
pub(crate) mod json_schema;
mod listing;
pub(crate) mod notes;
pub(crate) mod notices;
pub(crate) mod policies;
pub(crate) mod policy;
pub(crate) mod policy_form;
pub(crate) mod policy_worker;
pub(crate) mod project;
pub(crate) mod push;
pub(crate) mod quota;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod tokens;
pub(crate) mod transcript;

pub(crate) use environment::ProcessEnvironment;
pub(crate) use error::ServiceError;

use sayso_store::{Store, WorkspaceId};

use crate::auth::{Caller, Permission, Tokens};
use crate::clock::Clock;
use crate::config::Config;
use crate::config::agents::{Agent, Agents};
use answer_links::AnswerLinks;
use asks::SnapshotMemory;
use groups::StateCipher;
use policies::Policies;
use policy_worker::PolicyWorker;
use quota::ByteQuotas;

/// The dependencies of all use cases.
#[derive(Debug)]
pub(crate) struct Services {
    pub(crate) store: Store,
    /// The workspace of agents, runs, channels and the policy. Callers bring their own.
    pub(crate) workspace: WorkspaceId,
    pub(crate) clock: Clock,
    pub(crate) policies: Policies,
    pub(crate) agents: Agents,
    pub(crate) tokens: Tokens,
    pub(crate) config: Config,
    pub(crate) environment: ProcessEnvironment,
    pub(crate) answer_links: AnswerLinks,
    /// The files that commands of pending asks execute, in the versions that people saw.
    pub(crate) snapshots: SnapshotMemory,
    pub(crate) quotas: ByteQuotas,
    /// Runs expensive policy work outside the async runtime.
    pub(crate) policy_worker: PolicyWorker,
    /// The person's home directory.
    pub(crate) home: Option<String>,
    /// Keys the digests of request bodies and the secrets of agents. Survives a restart.
    pub(crate) server_key: [u8; 32],
    /// Encrypts the states of suspended runs. Its key is in a file next to the database.
    pub(crate) state_cipher: StateCipher,
    /// The URL for programs on this machine.
    pub(crate) url: String,
    /// The URL for other devices, if one is configured.
    pub(crate) public_url: Option<String>,
}

impl Services {
    /// Returns the agent for sessions that name none: the configured one, otherwise the first installed one, otherwise the mock.
    pub(crate) fn default_agent(&self) -> Option<String> {
        let path = self.environment.server_variable("PATH");
        let is_installed = |agent: &&Agent| agent.program.as_ref().is_some_and(|program| program.find(path).is_some());
        let all = self.agents.all();
        let first = || all.iter().find(is_installed).or_else(|| all.first()).map(|agent| agent.name.clone());
        self.config.default_agent.clone().or_else(first)
    }
}

/// Refuses a caller whose role lacks the permission.
pub(crate) fn authorize(caller: &Caller, permission: Permission) -> Result<(), ServiceError> {
    if permission.granted_to(caller.role) { Ok(()) } else { Err(ServiceError::Forbidden) }
}
