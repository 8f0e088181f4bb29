//! The memory of a connection actor: everything that [`plan`](super::plan) reads and changes.
//!
//! This module does no I/O. If a commit fails, the owner drops the state and loads the connection again.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use sayso_agents::translator::Translator;
use sayso_core::connection::{Connection, ConnectionKind, Epoch, Position, WirePosition};
use sayso_core::id::{AskId, BlockId, SessionId};
use sayso_core::policy::PolicySet;
use sayso_core::session::Session;
use sayso_core::time::Time;
use sayso_core::transcript::{Block, BlockBody};
use sayso_store::WorkspaceId;
use sayso_store::ops::ProcessChange;

use super::direct::Uncommitted;
use super::secrets::Secrets;
use crate::config::agents::OnStale;
use crate::entropy::IdSource;
use crate::service::policies::{Policies, SessionScope};
use crate::service::quota::ByteQuota;

/// The committed state of a connection, and what its actor remembers between two inputs.
pub(super) struct ConnectionState {
    pub(super) workspace: WorkspaceId,
    pub(super) connection: Connection,
    pub(super) translator: Box<dyn Translator>,
    pub(super) sessions: HashMap<SessionId, Box<CarriedSession>>,
    /// The number of pending asks of all sessions.
    pub(super) pending: usize,
    /// The number of bytes that each session may still use for asks.
    pub(super) quota: ByteQuota<SessionId>,
    /// The tool calls of this turn whose blocks were already written.
    pub(super) seen_tools: HashSet<BlockId>,
    /// The message that each session streams: the agent's id and the block id.
    pub(super) streaming: HashMap<SessionId, (String, BlockId)>,
    pub(super) secrets: Secrets,
    /// Asks whose answers were sent as messages since the agent's last output.
    pub(super) said: Vec<AskId>,
    /// Consequences of direct inputs that are not committed yet.
    pub(super) uncommitted: Uncommitted,
    /// Whether the process can get an input before it is committed: it is attached, its queue has room, and its supervisor
    /// records accepted inputs.
    pub(super) takes_direct_input: bool,
    /// The position up to which the output was read, if it is ahead of the committed one.
    pub(super) heard_to: Option<WirePosition>,
    /// When the agent last sent or received something.
    pub(super) heard_at: Time,
    /// Whether all agents are being stopped.
    pub(super) halted: bool,
    /// How long the agent may be silent during a turn, and what happens then.
    pub(super) stale_after: Duration,
    pub(super) on_stale: OnStale,
    /// The person's home directory, which the policy needs.
    pub(super) home: Option<String>,
    /// Allowed URL schemes of links in addition to `http` and `https`.
    pub(super) link_schemes: Vec<String>,
    pub(super) ids: IdSource,
}

/// A session of the connection, and the policy for its asks.
#[derive(Debug)]
pub(super) struct CarriedSession {
    pub(super) session: Session,
    pub(super) policy: PolicySet,
    /// The version of the policies from which `policy` was built.
    version: u64,
    /// The agent's last message, which becomes the context of its next ask.
    pub(super) last_said: String,
}

impl CarriedSession {
    pub(super) fn new(session: Session, policy: PolicySet, version: u64) -> Self {
        Self { session, policy, version, last_said: String::new() }
    }

    pub(super) fn under(policies: &Policies, session: Session) -> Self {
        let version = policies.in_force().version;
        let policy = policies.set(Some(&SessionScope::from(&session)), None);
        Self::new(session, policy, version)
    }
}

impl ConnectionState {
    /// Rebuilds the policies of sessions after the policy changed.
    pub(super) fn refresh_policies(&mut self, policies: &Policies) {
        let version = policies.in_force().version;
        for carried in self.sessions.values_mut().filter(|carried| carried.version != version) {
            carried.policy = policies.set(Some(&SessionScope::from(&carried.session)), None);
            carried.version = version;
        }
    }

    /// Creates a block with a new id.
    pub(super) fn new_block(&mut self, now: Time, body: BlockBody) -> Block {
        Block { id: BlockId::new(now, self.ids.next_id()), at: now, subagent: None, body }
    }

    /// Returns the position up to which the translator has read the output of the process.
    pub(super) fn read_position(&self) -> WirePosition {
        self.heard_to.or(self.connection.process).unwrap_or(WirePosition(0))
    }

    /// Returns how many bytes of output were read since the last commit.
    pub(super) fn uncommitted_bytes(&self, process: ProcessChange) -> u64 {
        match (process, self.connection.process) {
            (ProcessChange::Read(WirePosition(heard)), Some(WirePosition(committed))) => heard.saturating_sub(committed),
            (ProcessChange::Same, _) => 0,
            (ProcessChange::Read(_) | ProcessChange::Launched | ProcessChange::Gone, _) => u64::MAX,
        }
    }

    /// Returns whether a restarted server would call the translator in time without this deadline in the database. The server
    /// starts the actor of every connection with a process or an attached server anyway.
    pub(super) fn wakes_without(&self, deadline: Option<Time>) -> bool {
        let starts_anyway = self.connection.process.is_some() || self.connection.kind == ConnectionKind::Attached;
        starts_anyway || deadline == self.connection.wake_at
    }

    /// Applies a committed transition to the state in memory.
    pub(super) fn committed(&mut self, position: Position, process: ProcessChange, wake_at: Option<Time>) {
        self.connection.position = position;
        self.connection.wake_at = wake_at;
        self.heard_to = None;
        match process {
            ProcessChange::Same => {}
            ProcessChange::Read(position) => self.connection.process = Some(position),
            ProcessChange::Launched => {
                self.connection.epoch = Epoch(self.connection.epoch.0 + 1);
                self.connection.process = Some(WirePosition(0));
            }
            ProcessChange::Gone => self.connection.process = None,
        }
    }
}
