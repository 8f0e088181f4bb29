//! MCP: tools with which any agent that speaks MCP asks a person, at `/mcp` over HTTP and, with
//! `sayso mcp`, on standard input and output.
//!
//! The tools are written once, over [`Asks`]: in the server that is the service layer, on standard input and output it is
//! the HTTP API, called so that a restart of the server goes unnoticed. The route is `surfaces/http/mcp`. The `sayso`
//! program uses this module too, so it knows neither `App` nor any layer below.
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
