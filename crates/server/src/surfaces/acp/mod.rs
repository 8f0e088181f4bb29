//! ACP: Sayso as an agent for editors and for programs that speak the Agent Client Protocol, at `/acp` over HTTP and, with
//! `sayso acp`, on standard input and output.
//!
//! [`Conversation`] is the protocol, and pure: lines of the client, events and the outcomes of calls in; lines for the
//! client and calls out. [`serve`] carries that out for one client, over [`Sessions`]: in the server that is the service
//! layer, on standard input and output it is the HTTP API. The transport over HTTP is `surfaces/http/acp`. The `sayso`
//! program uses this module too, so it knows neither `App` nor any layer below.
//!
//! A client that leaves takes nothing with it: sessions go on, asks stay pending, and `session/load` brings both back.

mod asking;
mod call;
mod client;
mod consequence;
mod conversation;
mod serve;
mod talk;
mod telling;
#[cfg(test)]
mod tests;

pub use call::{Refusal, Reply, SessionCall, Verdict};
pub(crate) use conversation::no_message;
pub use conversation::{Conversation, Frame, Heard, Input, Output, Setting, To};
pub use serve::{Line, Outlet, Sessions, serve};
