//! Constructs all sessions and their connections.

use sayso_agents::translator::Command;
use sayso_core::connection::{Connection, ConnectionKind, Epoch, Position};
use sayso_core::id::{BlockId, ConnectionId, SessionId, TokenId};
use sayso_core::policy::SessionPolicy;
use sayso_core::raw::Raw;
use sayso_core::session::{External, Labels, Session, SessionStatus, StepOf, title_of};
use sayso_core::time::Time;
use sayso_core::transcript::{Block, BlockBody, Role};
use sayso_store::WorkspaceId;
use sayso_store::ops::{CreateSession, IdempotencyKey};

use crate::config::agents::Agent;
use crate::entropy;
use crate::service::project::Project;

/// The fields of a new session. Optional ones are empty by default.
#[derive(Debug)]
pub(crate) struct SessionDraft {
    pub(crate) agent: String,
    pub(crate) project: Project,
    /// The first prompt, or the title that the agent reports.
    pub(crate) title: Option<String>,
    /// `default` if the caller chose none.
    pub(crate) permission_mode: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) policy: SessionPolicy,
    /// The agent's own id of the session, for a session that a person runs.
    pub(crate) native_id: Option<String>,
    pub(crate) step: Option<StepOf>,
    pub(crate) labels: Labels,
    pub(crate) opened_by: Option<TokenId>,
}

impl SessionDraft {
    pub(crate) fn new(agent: impl Into<String>, project: Project) -> Self {
        Self {
            agent: agent.into(),
            project,
            title: None,
            permission_mode: None,
            model: None,
            policy: SessionPolicy::default(),
            native_id: None,
            step: None,
            labels: Labels::new(),
            opened_by: None,
        }
    }

    /// Returns the size of the texts that an agent reports, in bytes.
    pub(crate) fn text_size(&self) -> usize {
        let Project { path, policy, branch, config } = &self.project;
        let optional = [policy, branch, &self.title].into_iter().flatten();
        let hashes = config.iter().flat_map(|config| &config.0).map(|(path, hash)| path.len() + hash.len());
        path.len() + optional.map(String::len).sum::<usize>() + hashes.sum::<usize>()
    }

    /// Builds the session with this start time.
    pub(crate) fn into_session(self, id: SessionId, connection: ConnectionId, now: Time) -> Session {
        Session {
            id,
            connection,
            agent: self.agent,
            title: self.title.as_deref().map(title_of).unwrap_or_default(),
            project: self.project.path,
            branch: self.project.branch,
            status: SessionStatus::Running,
            permission_mode: self.permission_mode.unwrap_or_else(|| "default".to_owned()),
            model: self.model,
            policy: self.policy,
            project_policy: self.project.policy,
            config: self.project.config,
            external: self.native_id.map(|native_id| External { native_id }),
            step: self.step,
            labels: self.labels,
            opened_by: self.opened_by,
            created_at: now,
            updated_at: now,
        }
    }
}

/// A session whose agent Sayso starts.
pub(crate) struct SessionStart<'a> {
    pub(crate) workspace: WorkspaceId,
    pub(crate) id: SessionId,
    pub(crate) connection: ConnectionId,
    pub(crate) agent: &'a Agent,
    pub(crate) draft: SessionDraft,
    pub(crate) prompt: Option<String>,
    /// False tells the agent not to ask questions, if it supports that.
    pub(crate) questions: bool,
    pub(crate) key: Option<IdempotencyKey>,
}

impl SessionStart<'_> {
    /// Builds the commit that creates the session and queues the start command of its agent.
    pub(crate) fn into_commit(self, now: Time) -> CreateSession {
        let Self { workspace, id, connection, agent, draft, prompt, questions, key } = self;
        let session = draft.into_session(id, connection, now);
        let block = prompt.clone().map(|text| Block {
            id: BlockId::new(now, entropy::id()),
            at: now,
            subagent: None,
            body: BlockBody::Message { role: Role::User, text },
        });
        let command = Command::Start {
            session: id,
            project: session.project.clone(),
            prompt,
            permission_mode: session.permission_mode.clone(),
            model: session.model.clone(),
            questions,
        };
        CreateSession {
            workspace,
            connection: new_connection(connection, agent.kind(), &agent.name, None),
            session,
            command: Raw::of(&command),
            prompt: block,
            key,
        }
    }
}

/// Builds a connection that has not received a message.
pub(super) fn new_connection(id: ConnectionId, kind: ConnectionKind, agent: &str, state: Option<Raw>) -> Connection {
    Connection { id, kind, agent: agent.to_owned(), epoch: Epoch(1), position: Position(0), process: None, state, wake_at: None }
}

/// Builds a connection to an agent server that a person started. `state` is the saved translator state.
pub(crate) fn attached_connection(agent: &str, state: Raw, now: Time) -> Connection {
    new_connection(ConnectionId::new(now, entropy::id()), ConnectionKind::Attached, agent, Some(state))
}
