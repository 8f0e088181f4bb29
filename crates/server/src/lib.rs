//! The Sayso server: connections to agents, the broker between them and people, the feed of events,
//! and the HTTP interface with its doors.
//!
//! It keeps no truth in memory: asks, outcomes and what has to be sent are rows before anybody hears
//! of them, so that a server that dies at any moment goes on where it was. This crate deliberately
//! knows nothing of terminals, and the agents' protocols live in `sayso-agents`.

mod app;
mod auth;
mod clock;
mod config;
mod entropy;
mod runtime;
mod server;
mod service;
mod surfaces;

pub use clock::{Clock, FakeClock};
pub use config::agents::{Embedded, MakeTranslator};
pub use config::{ConfigError, Options, TerminalSettings, agent_names};
pub use server::{Server, StartError, run};
pub use surfaces::http::openapi;
pub use surfaces::reach::{ReachError, ReachOptions};
pub use surfaces::tls::{TlsError, TlsFiles};
pub use surfaces::{acp, mcp};
