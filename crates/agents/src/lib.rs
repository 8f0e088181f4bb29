//! Translators: the pure part of each adapter, one folder per agent.
//!
//! A translator turns what an agent says into domain events, and commands into what the agent
//! understands. It is sans-I/O: the caller feeds lines, replies, commands and the time, and carries
//! out what comes back. This crate deliberately has no async runtime, no sockets, no store and no clock.

pub mod acp;
pub mod chat;
pub mod claude;
pub mod codex;
pub mod codex_hook;
mod complaints;
mod diff;
mod elicitation;
mod exit;
pub mod form;
pub mod json;
pub mod json_rpc;
mod mcp;
pub mod mock;
pub mod opencode;
mod out;
mod text;
pub mod translator;
mod wanted;
