//! Claude Code over its JSON lines protocol: `claude -p` with both formats set to `stream-json`, one process per
//! session.
//!
//! All asks use one mechanism: Claude writes a `control_request` and waits without a timeout for the `control_response`
//! with the same id.
//!
//! | request | ask | response |
//! |---|---|---|
//! | `can_use_tool` for `AskUserQuestion` | question | allow, with the answers keyed by the exact text of each question
//! |
//! | `can_use_tool` for `ExitPlanMode` | approval of a plan | allow, with the edited plan if the person changed it |
//! | `can_use_tool` for any other tool | approval | allow, always with the whole input; at most one of Claude's own
//! suggestions |
//! | `elicitation` with a form | question | accept, with content of the types that the schema requires |
//! | `elicitation` with a URL | link | accept |
//!
//! A rejection is a deny with a message, or decline. A stop is a deny that interrupts the turn. All other requests of
//! Claude are refused immediately, so that Claude never waits without a response.
//!
//! Claude exits on a line that is not JSON, so every outgoing line goes through `wire`.

mod approvals;
mod diff;
mod exit;
mod forms;
mod hooks;
mod launch;
mod messages;
mod outcome;
mod output;
mod plan;
mod prompt_tool;
mod questions;
mod requests;
mod state;
mod suggestions;
mod translator;
mod wire;

pub use hooks::{Happening, Hook, HookAsk, ToolCall};
pub use prompt_tool::PromptCall;
pub use translator::{CAPABILITIES, ClaudeTranslator};
