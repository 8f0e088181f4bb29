//! Codex, hosted through `codex app-server`: JSON-RPC, one message a line; or the daemon that a person's own
//! terminals share (`attached`).
//!
//! One process carries one session, which is one thread; threads of sub-agents may come with it. Codex
//! asks by requests, and in one more way that is no request at all:
//!
//! | what | how |
//! |---|---|
//! | a command | `item/commandExecution/requestApproval` |
//! | a patch | `item/fileChange/requestApproval`; the diff came before, with the item |
//! | more access | `item/permissions/requestApproval` |
//! | a tool, a form or a link of an MCP server | `mcpServer/elicitation/request` |
//! | questions that it waits for | `item/tool/requestUserInput` |
//! | questions that it does not wait for | a message with `delivery: "async"`; the answer is a message |
//!
//! A no to a command or a patch is `decline`, after which Codex goes on. It has no place for a reason, so a
//! person's own words follow as `turn/steer` in the same batch. Only a person who says stop ends the turn.

mod approvals;
mod attached;
mod forms;
mod handshake;
mod hear;
mod items;
mod launch;
mod outcome;
mod patch;
mod questions;
mod requests;
mod state;
mod translator;

pub use attached::{ATTACHED, AttachedCodex};
pub use translator::{CAPABILITIES, CodexTranslator};
