//! Real agents for tests: installed in pinned versions, each with its own home directory, a mock model, and no network.
//!
//! The order is always the same: [`require_isolation`], then [`installed`], then a
//! [`MockModel`](crate::models::MockModel) and a [`Home`]. A test of the server passes the home's environment to the
//! server's agents; a test of the agent itself starts it with a [`Host`].

mod home;
mod host;
mod install;
mod isolation;
mod terminal;

pub use home::Home;
pub use host::Host;
pub use install::{Installed, installed};
pub use isolation::require_isolation;
pub use terminal::CodexTerminal;
