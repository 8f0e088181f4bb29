//! What carries sessions, and where in its stream we are.

use serde::{Deserialize, Serialize};

use crate::id::ConnectionId;
use crate::raw::Raw;
use crate::time::Time;

/// How the agent is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionKind {
    /// The agent is a pure function inside the server (the mock).
    InProcess,
    /// A process of ours, behind a supervisor.
    Supervised,
    /// A server that somebody else started.
    Attached,
    /// A client that calls us and waits.
    Caller,
}

/// One process life of an agent. A restarted agent is a new epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch(pub i64);

/// How many inputs of a connection have been committed. Taking something twice changes nothing twice,
/// because a position is taken once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Position(pub i64);

/// How many bytes of the output of the agent's process have been read and committed. It stands between
/// two lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WirePosition(pub u64);

/// The stored part of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// Its id.
    pub id: ConnectionId,
    /// How the agent is reached.
    pub kind: ConnectionKind,
    /// The agent's configured name.
    pub agent: String,
    /// The current process life.
    pub epoch: Epoch,
    /// How many inputs have been committed.
    pub position: Position,
    /// How far the output of the agent's process was read. Nothing: there is no process.
    pub process: Option<WirePosition>,
    /// The translator's state: versioned, small, opaque to everybody but the translator.
    pub state: Option<Raw>,
    /// When the translator wants to be called although nothing arrives.
    pub wake_at: Option<Time>,
}
