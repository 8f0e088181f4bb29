//! Codex, either hosted as `codex app-server` (JSON-RPC, one message per line) or attached to the daemon that the
//! user's terminals share (`attached`).
//!
//! One process carries one session, which is one thread; sub-agents have additional threads. Codex asks through
//! requests, and in one case through a plain message:
//!
//! | ask | message |
//! |---|---|
//! | a command | `item/commandExecution/requestApproval` |
//! | a patch | `item/fileChange/requestApproval`; the diff arrived earlier, with the item |
//! | extra access | `item/permissions/requestApproval` |
//! | a tool, a form or a link of an MCP server | `mcpServer/elicitation/request` |
//! | questions that block Codex | `item/tool/requestUserInput` |
//! | questions that do not block Codex | a message with `delivery: "async"`; the answer is a message |
//!
//! A rejected command or patch is `decline`, after which Codex continues. The response has no field for a reason, so
//! the person's words follow as `turn/steer` in the same batch. Only a person's stop ends the turn.

mod approvals;
mod attached;
mod forms;
mod handshake;
mod items;
mod launch;
mod notifications;
mod outcome;
mod patch;
mod questions;
mod requests;
mod state;
mod translator;

pub use attached::{ATTACHED, AttachedCodex};
pub use translator::{CAPABILITIES, CodexTranslator};
