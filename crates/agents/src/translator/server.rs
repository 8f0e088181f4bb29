//! Agents that are HTTP servers: calls, replies, and servers that somebody else started.

use sayso_core::raw::Raw;
use serde::{Deserialize, Serialize};

/// An agent that is an HTTP server: a process of ours that listens, or an endpoint without a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpServer {
    /// Where it is: scheme, host and port, and what every path begins with.
    pub url: String,
    /// How we prove who we are.
    pub login: Login,
    /// The path of its events, if it has a stream of them. The stream is kept open.
    pub events: Option<String>,
}

/// How a call proves who makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Login {
    /// Not at all.
    Open,
    /// By this name and the password that the process got at its start ([`Launch::password`](super::Launch::password)), or that the
    /// person gave with the address of a server of their own.
    Basic(String),
    /// By a bearer token that stands in this variable of the agent's environment.
    Bearer(String),
}

/// How something is asked of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Method {
    /// Reads and changes nothing, so it is not stored. It can get lost without a reply when the server of Sayso restarts or
    /// many calls are under way; repeat it when the stream opens again.
    Get,
    /// Changes something. It is stored first and sent at most once, in the order of the calls. A reply without a status means
    /// that nobody knows whether it arrived.
    Post,
}

/// A request to an agent that is a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpCall {
    /// Given back with the reply. Not 0.
    pub id: u64,
    /// The method.
    pub method: Method,
    /// Path and query.
    pub path: String,
    /// A JSON body.
    pub body: Option<Raw>,
    /// What must hold when it is sent. If it does not, nothing is sent and the status is
    /// [`HttpReply::NOT_SENT`].
    pub guard: Option<Guard>,
    /// Whether the reply is a stream of events: each is told as it comes, and the reply when it is over.
    pub streamed: bool,
}

/// Holds if a GET of this path gives an object with this key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Guard {
    /// Path and query.
    pub path: String,
    /// The key.
    pub key: String,
}

/// The reply to an [`HttpCall`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpReply {
    /// The id of the call; [`HttpReply::EVENTS`] if the stream of events could not be opened.
    pub id: u64,
    /// The status; nothing if no reply came. Then nobody knows whether the call arrived.
    pub status: Option<u16>,
    /// The body, or why there is none.
    pub body: String,
}

impl HttpReply {
    /// The id of the opening of the server's events.
    pub const EVENTS: u64 = 0;
    /// The status of a call whose guard did not hold.
    pub const NOT_SENT: u16 = 412;
}

/// A server that somebody else started, and how it stands with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedAgent {
    /// Where it is: an address, or the path of a socket.
    pub place: String,
    /// How it stands.
    pub standing: Standing,
}

/// How it stands with a server that somebody else started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "camelCase")]
pub enum Standing {
    /// It was not reached yet.
    #[default]
    Connecting,
    /// What it asks is heard.
    Connected {
        /// What it says that it is.
        version: Option<String>,
    },
    /// It is not there, or it is something else. It is tried again and again.
    Unreachable {
        /// Why, in words for a person.
        why: String,
    },
}
