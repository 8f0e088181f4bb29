//! OpenCode over its HTTP API: either `opencode serve` with one process per session, or a server that the user started,
//! with all its sessions (`attached`).
//!
//! | event | ask | response |
//! |---|---|---|
//! | `question.asked` | question | `POST /question/{id}/reply` with the labels, or `/reject` |
//! | `question.asked` with only yes and no (`plan_exit`) | approval of a plan | the same |
//! | `permission.asked` | approval | `POST /permission/{id}/reply`: `once`, or `reject` with a message |
//!
//! A request arrives on the event stream and is listed until it is answered. Events are not repeated after a reconnect,
//! so the lists are polled whenever the stream opens and every few seconds during a turn (`poll`). The id of a request
//! identifies its ask, however often the request is reported.
//!
//! Three properties of OpenCode are dangerous and require care: it does not validate answers; an aborted turn leaves
//! its requests pending, and a late approval of one still runs the command; `always` applies to every session of the
//! server. Therefore pending requests are rejected before and after an abort, approvals are only sent while their
//! session is busy, and the choice "always" becomes a Sayso rule plus `once`.

mod asks;
mod attached;
mod calls;
mod events;
mod launch;
mod outcome;
mod permissions;
mod poll;
mod questions;
mod replies;
mod state;
mod translator;

pub use attached::{ATTACHED, AttachedOpenCode};
pub use translator::{CAPABILITIES, OpenCodeTranslator};
