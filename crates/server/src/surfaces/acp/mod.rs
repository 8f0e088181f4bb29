//! The ACP door: Sayso as an agent for editors and for programs that speak the Agent Client Protocol, at `/acp` over HTTP
//! and, with `sayso acp`, on standard input and output.
//!
//! [`Conversation`] is the protocol, and pure: lines of the client, events and the outcomes of calls in; lines for the
//! client and calls out. [`serve`] carries that out for one client, over [`Sessions`]: in the server they are the store, on
//! standard input and output they are the HTTP API. `route` and `streams` are the transport over HTTP.
//!
//! A client that leaves takes nothing with it: sessions go on, asks stay pending, and `session/load` brings both back.

mod asking;
mod call;
mod client;
mod consequence;
mod conversation;
mod here;
mod route;
mod serve;
mod streams;
mod talk;
mod telling;
#[cfg(test)]
mod tests;

pub use call::{Call, Refusal, Reply, Verdict};
pub use conversation::{Conversation, Frame, Heard, Input, Output, Setting, To};
pub(crate) use route::{AcpDoor, route};
pub use serve::{Line, Outlet, Sessions, serve};
