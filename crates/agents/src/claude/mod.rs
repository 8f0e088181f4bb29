//! Claude Code over its stream of JSON lines: `claude -p` with both formats `stream-json`, one process per session.
//!
//! One mechanism carries every ask: Claude writes a `control_request` and waits for the
//! `control_response` with the same id, for as long as it takes.
//!
//! | request | ask | said back |
//! |---|---|---|
//! | `can_use_tool` for `AskUserQuestion` | question | allow, with the answers keyed by the exact text of each question |
//! | `can_use_tool` for `ExitPlanMode` | approval of a plan | allow, with the plan as it was changed |
//! | `can_use_tool` for any other tool | approval | allow, always with the whole input; at most one of Claude's own suggestions |
//! | `elicitation` with a form | question | accept, with content of the types that the schema wants |
//! | `elicitation` with an address | link | accept |
//!
//! A no is a deny with words, or decline. To stop is a deny that interrupts the turn. Anything else that
//! Claude asks of its host is refused at once, so that it never waits for nobody.
//!
//! A line that is not JSON ends Claude, so every line that leaves goes through `wire`.

mod approvals;
mod diff;
mod exit;
mod forms;
mod hear;
mod hooks;
mod launch;
mod outcome;
mod plan;
mod prompt_tool;
mod questions;
mod requests;
mod speech;
mod state;
mod suggestions;
mod translator;
mod wire;

pub use hooks::{Happening, Hook, HookAsk, ToolCall};
pub use prompt_tool::PromptCall;
pub use translator::{CAPABILITIES, ClaudeTranslator};
