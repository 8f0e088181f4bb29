//! Agents that are HTTP servers: calls, replies, and servers that the user started.

use sayso_core::raw::Raw;
use serde::{Deserialize, Serialize};

/// An agent that is an HTTP server: either a process that Sayso started, or an endpoint without a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpServer {
    /// The base URL: scheme, host, port and path prefix.
    pub url: String,
    /// The authentication of calls.
    pub login: Login,
    /// The path of the event stream, if the server has one. The stream is kept open.
    pub events: Option<String>,
}

/// How calls authenticate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Login {
    /// Without authentication.
    Open,
    /// With basic authentication: this user name, and the password that the process received at its start
    /// ([`Launch::password`](super::Launch::password)) or that the user configured for their own server.
    Basic(String),
    /// With a bearer token from this variable of the agent's environment.
    Bearer(String),
}

/// The method of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Method {
    /// A read-only call, which is not stored. It can be dropped without a reply when Sayso's server restarts or many
    /// calls are in flight; repeat it when the stream opens again.
    Get,
    /// A call with side effects. It is stored first and sent at most once, in the order of the calls. A reply without a
    /// status means that its delivery is unknown.
    Post,
}

/// A request to an agent's server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HttpCall {
    /// Repeated in the reply. Must not be 0.
    pub id: u64,
    pub method: Method,
    /// Path and query string.
    pub path: String,
    /// A JSON body.
    pub body: Option<Raw>,
    /// A condition for sending the call. If it does not hold, nothing is sent and the status is
    /// [`HttpReply::NOT_SENT`].
    pub guard: Option<Guard>,
    /// Whether the reply is an event stream: each event arrives as an input, followed by the reply at the end.
    pub streamed: bool,
}

/// Holds if a GET of this path returns an object with this key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Guard {
    /// Path and query string.
    pub path: String,
    pub key: String,
}

/// The reply to an [`HttpCall`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpReply {
    /// The id of the call; [`HttpReply::EVENTS`] if the event stream could not be opened.
    pub id: u64,
    /// The status; `None` if no reply arrived. Then the delivery of the call is unknown.
    pub status: Option<u16>,
    /// The body, or the reason why there is none.
    pub body: String,
}

impl HttpReply {
    /// The id that identifies the event stream.
    pub const EVENTS: u64 = 0;
    /// The status of a call whose guard did not hold.
    pub const NOT_SENT: u16 = 412;
}

/// A server that the user started, and its connection state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedAgent {
    /// A URL or the path of a socket.
    pub place: String,
    pub standing: Standing,
}

/// The connection state of a server that the user started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "camelCase")]
pub enum Standing {
    /// The server was not reached yet.
    #[default]
    Connecting,
    /// The server is reachable and its requests become asks.
    Connected {
        /// The version that the server reported.
        version: Option<String>,
    },
    /// The server is unreachable or not the expected product. The connection is retried.
    Unreachable {
        /// The reason, in words for a person.
        why: String,
    },
}
