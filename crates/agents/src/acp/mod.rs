//! Any agent that speaks the Agent Client Protocol (ACP) on stdin and stdout.
//!
//! One process carries one session. Messages are parsed leniently from raw JSON, because typed parsers reject what real
//! agents send. Agents ask through several requests (`requests` has one file per kind). Each kind becomes the same sort
//! of ask but has its own response format:
//!
//! | kind | method |
//! |---|---|
//! | permission | `session/request_permission`, also where it carries questions (Qwen, Kimi) or a link (Codex) |
//! | form | `elicitation/create`, its older names `session/elicitation` and `_session/elicitation`, as form or link |
//! | question | `_sandboxagent/session/request_question` |
//! | cursor | `cursor/ask_question`, `cursor/create_plan` |
//! | grok | `_x.ai/ask_user_question`, `_x.ai/exit_plan_mode`, also without the underscore |
//!
//! Options are selected by kind, never by position: some agents list "allow always" first. The protocol has no field
//! for the reason of a rejection, so a person's own words follow as the next prompt. Reasons of a policy or a timeout
//! are not sent, because no person wrote them.

mod action;
mod asks;
mod diff;
mod handshake;
mod profile;
mod requests;
mod state;
mod tool_call;
mod translator;
mod updates;

pub use profile::{CAPABILITIES, Profile, capabilities};
pub use translator::AcpTranslator;
