//! OpenCode over its HTTP interface: `opencode serve`, one process per session; or a server that a person
//! started themselves, with all their sessions (`attached`).
//!
//! | it says | ask | said back |
//! |---|---|---|
//! | `question.asked` | question | `POST /question/{id}/reply` with the labels, or `/reject` |
//! | `question.asked` with yes or no and nothing else (`plan_exit`) | approval of a plan | the same |
//! | `permission.asked` | approval | `POST /permission/{id}/reply`: `once`, or `reject` with the words |
//!
//! A request is told on the stream of events and stands in a list until it is answered. Events are not
//! told again after the stream broke, so the lists are read at every opening of the stream and every few
//! seconds while something goes on (`look`). However often a request is seen, it is one ask by its id.
//!
//! Three things of OpenCode are dangerous, and are the reason for most of the care here:
//! it does not check answers; a turn that is aborted leaves its requests behind, and a late yes to one
//! still runs the command; "always" would hold for every session of the server. So what is pending is
//! rejected before and after an abort, a yes leaves only while its session works, and "always" is a rule
//! of ours and a `once`.

mod asks;
mod attached;
mod calls;
mod events;
mod launch;
mod look;
mod outcome;
mod permissions;
mod questions;
mod replies;
mod state;
mod translator;

pub use attached::{ATTACHED, AttachedOpenCode};
pub use translator::{CAPABILITIES, OpenCodeTranslator};
