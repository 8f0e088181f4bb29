//! The MCP door: tools with which any agent that speaks MCP asks a person, at `/mcp` over HTTP and, with
//! `sayso mcp`, on standard input and output.
//!
//! The tools are written once, over [`Asks`]: in the server they are the broker, on standard input and output
//! they are the HTTP API, called so that a restart of the server goes unnoticed. Whoever calls a tool waits;
//! whoever is gone finds the ask again by calling the same tool with the same content.

mod arguments;
mod asks;
mod client;
mod definitions;
mod here;
mod route;
mod tools;
mod waiting;
mod words;

pub use asks::{Asks, Failure};
pub use client::Place;
pub(crate) use route::{McpDoor, route};
pub use tools::Tools;
