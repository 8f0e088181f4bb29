//! Real agents for tests: installed at the pinned versions, with a home directory of their own, a
//! mock model behind them, and no network.
//!
//! The order is always the same: [`require_isolation`], then [`installed`], then a
//! [`MockModel`](crate::models::MockModel) and a [`Home`]. A test of the server gives the home's
//! environment to the server's agents; a test of the agent itself starts it with a [`Host`].

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
