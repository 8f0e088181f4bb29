//! MCP: tools with which any agent that speaks MCP can ask a person, at `/mcp` over HTTP and, with `sayso mcp`, on stdin and
//! stdout.
//!
//! The tools are implemented once, over [`Asks`]. In the server, `Asks` is the service layer; on stdin and stdout it is the
//! HTTP API, with retries that hide restarts of the server. The route is `surfaces/http/mcp`. The `sayso` program uses this
//! module as well, so it depends neither on `App` nor on any layer below.
//!
//! A tool call waits for the person. A client that disconnects finds the ask again when it repeats the call.

mod arguments;
mod asks;
mod client;
mod definitions;
mod tools;
mod waiting;
mod words;

pub use asks::{Asks, ToolFailure};
pub use client::CallOrigin;
pub use tools::Tools;
pub(crate) use waiting::CallerGone;
