//! The Sayso server: connections to agents, the broker between them and people, the feed of events,
//! and the HTTP interface with its doors.
//!
//! It keeps no truth in memory: asks, outcomes and what has to be sent are rows before anybody hears
//! of them, so that a server that dies at any moment goes on where it was. This crate deliberately
//! knows nothing of terminals, and the agents' protocols live in `sayso-agents`.

mod agents;
mod app;
mod attachments;
mod auth;
mod broker;
mod clock;
mod config;
mod connection;
mod doors;
mod entropy;
mod feed;
mod http;
mod link;
mod listener;
mod listeners;
mod metrics;
mod notify;
mod policies;
mod rate;
mod reach;
mod runs;
mod server;
mod tls;

pub use agents::{Embedded, MakeTranslator};
pub use clock::{Clock, FakeClock};
pub use config::{ConfigError, Options, TerminalSettings, agent_names};
pub use doors::{acp, mcp};
pub use http::openapi;
pub use reach::{ReachError, ReachOptions};
pub use server::{Server, StartError, run};
pub use tls::{TlsError, TlsFiles};
