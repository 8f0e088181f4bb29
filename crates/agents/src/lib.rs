//! Translators: the pure part of each adapter, one module per agent.
//!
//! A translator converts an agent's output into domain events, and commands into the agent's protocol. It is sans-I/O:
//! the caller passes in lines, replies, commands and the time, and carries out the returned outputs. This crate
//! deliberately has no async runtime, sockets, store or clock. Start with [`translator::Translator`].

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
