//! The Sayso server. Its folders are its layers, from top to bottom: `surfaces` (HTTP, MCP, ACP and others), `runtime`
//! (tasks: connections to agents, runs, the feed, notifications), `service` (the use cases), `auth` and `config`. A module
//! uses its own layer and the layers below; the test `layers` checks that. `app` wires the layers, `server` starts and
//! stops them.
//!
//! No state lives only in memory: asks, outcomes and messages to agents are rows before anyone sees them, so a server that
//! is killed at any moment continues where it was. This crate deliberately contains no terminal UI and no agent protocols;
//! those are in `sayso-agents`.

mod app;
mod auth;
mod clock;
mod config;
mod entropy;
mod runtime;
mod server;
mod service;
mod small_file;
mod surfaces;

pub use clock::{Clock, FakeClock};
pub use config::agents::{Embedded, MakeTranslator};
pub use config::reach::{ReachOptions, TlsFiles};
pub use config::{ConfigError, Options, TerminalSettings, agent_names};
pub use runtime::link::{agent_sockets, agent_warnings};
pub use server::{Server, StartError, run};
pub use small_file::read_small_file;
pub use surfaces::http::openapi;
pub use surfaces::reach::ReachError;
pub use surfaces::tls::TlsError;
pub use surfaces::{acp, mcp};
