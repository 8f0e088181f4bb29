//! Connections to agents: the stored state from which a connection actor continues after a restart.

use serde::{Deserialize, Serialize};

use crate::id::ConnectionId;
use crate::raw::Raw;
use crate::time::Time;

/// How Sayso reaches an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionKind {
    /// The agent is a pure function inside the server. Only the mock agent works this way.
    InProcess,
    /// A process that Sayso started, owned by a supervisor.
    Supervised,
    /// A server that someone else started.
    Attached,
    /// A client that calls the API and waits for the outcome.
    Caller,
}

/// Counts the processes that one connection has started. A restarted agent is a new epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch(pub i64);

/// The number of inputs of a connection that have been committed. Inputs are applied only at their own position, so a repeated
/// input has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(pub i64);

/// The number of output bytes of the agent's process that have been read and committed. Always at the end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WirePosition(pub u64);

/// The stored part of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    pub id: ConnectionId,
    pub kind: ConnectionKind,
    /// The agent's name in the configuration.
    pub agent: String,
    /// The current process of the agent.
    pub epoch: Epoch,
    /// The number of committed inputs.
    pub position: Position,
    /// How far the process output has been committed. `None` if there is no process.
    pub process: Option<WirePosition>,
    /// The saved state of the translator: versioned, small, and opaque to everything but the translator.
    pub state: Option<Raw>,
    /// When to call the translator even if no input arrives.
    pub wake_at: Option<Time>,
}
