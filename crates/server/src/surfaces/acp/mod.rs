//! ACP: Sayso as an agent for editors and other programs that speak the Agent Client Protocol, at `/acp` over HTTP and, with
//! `sayso acp`, on stdin and stdout.
//!
//! [`Conversation`] implements the protocol as a pure state machine. Its inputs are lines of the client, events and results of
//! calls; its outputs are lines for the client and calls. [`serve`] runs it for one client over [`Sessions`]. In the server,
//! `Sessions` is the service layer; on stdin and stdout it is the HTTP API. The HTTP transport is `surfaces/http/acp`. The
//! `sayso` program uses this module as well, so it depends neither on `App` nor on any layer below.
//!
//! When a client disconnects, its sessions continue and its asks stay pending. `session/load` restores both.

mod ask_methods;
mod call;
mod client;
mod consequence;
mod conversation;
mod serve;
mod session_state;
#[cfg(test)]
mod tests;
mod updates;

pub use call::{Refusal, Reply, SessionCall, Verdict};
pub(crate) use conversation::no_message;
pub use conversation::{Conversation, Frame, Heard, Input, Output, Setting, To};
pub use serve::{Line, Outlet, Sessions, serve};
