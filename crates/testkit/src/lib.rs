//! Shared parts of the tests, `chaos` and `bench`: real servers, in this process and as the real binary; scripted
//! agents and people; waiting for events; and real agents with a scripted model.
//!
//! The kit does not sleep: it waits until a server reports that it listens, and follows the event stream for everything
//! else. This crate deliberately does not know the server's internals: it uses the public API like any client.

mod acp;
mod agent;
mod agent_script;
pub mod agents;
mod answerer;
mod certificate;
mod fake_codex;
mod fake_opencode;
pub mod mcp;
pub mod models;
mod process;
pub mod pty;
pub mod receivers;
mod server;
mod signals;
mod tls;
mod watch;

pub use acp::AcpClient;
pub use agent::ScriptedAgent;
pub use agent_script::{AgentScript, ScriptedAsk};
pub use answerer::{Answerer, Decided, Pattern, RunningAnswerer};
pub use certificate::SelfSignedCertificate;
pub use fake_codex::FakeCodex;
pub use fake_opencode::{FakeOpenCode, ReplyMode};
pub use process::{PROGRAM, ServerProcess, acp_peer_bin, inherited, sayso_bin, write_config};
pub use server::{Setup, TestServer};
pub use tls::TlsFront;
pub use watch::{PATIENCE, Watch, reaches, within};

/// A plain HTTP client for a server on this machine.
///
/// # Panics
/// If the client cannot be created.
#[must_use]
pub fn http() -> reqwest::Client {
    match sayso_net::client("http:").build() {
        Ok(client) => client,
        Err(error) => panic!("cannot create an HTTP client: {error}"),
    }
}
