//! Translators: the pure part of each adapter, one folder per agent.
//!
//! A translator turns what an agent says into domain events, and commands into what the agent
//! understands. It is sans-I/O: the caller feeds lines, replies, commands and the time, and carries
//! out what comes back. This crate deliberately has no async runtime, no sockets, no store and no clock.

pub mod acp;
mod attached;
pub mod chat;
pub mod claude;
pub mod codex;
pub mod codex_hook;
pub mod diff;
mod elicitation;
pub mod form;
pub mod json;
pub mod json_rpc;
pub mod known_tools;
mod mcp;
pub mod mock;
pub mod opencode;
mod out;
mod process;
mod text;
pub mod translator;
