//! The parts of one server, wired together.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::auth::RequestGuard;
use crate::runtime::Runtime;
use crate::service::Services;
use crate::surfaces::http::RateLimits;
use crate::surfaces::http::acp::AcpConnections;
use crate::surfaces::http::mcp::McpSessions;
use crate::surfaces::listeners::Listeners;
use crate::surfaces::tls::Tls;

/// The state that HTTP handlers share: the layers below, and the state of the HTTP surface itself.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) services: Arc<Services>,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) guard: RequestGuard,
    pub(crate) limits: RateLimits,
    pub(crate) mcp: McpSessions,
    pub(crate) acp: AcpConnections,
    /// The address that the server listens at.
    pub(crate) address: SocketAddr,
    /// Addresses that were opened while the server runs.
    pub(crate) listeners: Listeners,
    /// The person's own certificate.
    pub(crate) tls: Option<Arc<Tls>>,
}
