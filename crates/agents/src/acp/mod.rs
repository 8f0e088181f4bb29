//! Any agent that speaks the Agent Client Protocol on its standard input and output.
//!
//! One process carries one session. Everything is read from raw JSON, leniently, because typed
//! readers refuse what real agents send. An agent asks by one of several requests (`requests`, one
//! file per kind). Each kind becomes the same ask and has its own answers on the wire:
//!
//! | kind | method |
//! |---|---|
//! | permission | `session/request_permission`, also where it carries questions (Qwen, Kimi) or a link (Codex) |
//! | form | `elicitation/create`, its older names `session/elicitation` and `_session/elicitation`, as form or link |
//! | question | `_sandboxagent/session/request_question` |
//! | cursor | `cursor/ask_question`, `cursor/create_plan` |
//! | grok | `_x.ai/ask_user_question`, `_x.ai/exit_plan_mode`, also without the underscore |
//!
//! Options are chosen by their kind, never by their place: some agents put "allow always" first. The
//! protocol has no field for the reason of a no, so a person's own words follow as the next prompt; those
//! of a policy or a timeout do not, because nobody said them.

mod action;
mod asking;
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
