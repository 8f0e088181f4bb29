//! The tiny process that owns one agent: its pipes, its process tree, and the journal of what it said.
//!
//! The server starts `sayso supervise …` for each agent, and that process calls [`run`] before
//! anything else exists in it. From then on the server may be killed, restarted or upgraded: the
//! agent goes on, its output is kept in a [`journal`], and the next server attaches over a Unix socket
//! with the [`protocol`] and goes on at the position that it committed last.
//!
//! Data goes one way: `pump` reads the agent's pipes, `split` cuts them into records at newlines, the
//! journal keeps them, and `attach` streams them to the server, where [`LineAssembler`] makes lines of
//! them. Back, `attach` reads input and `input` writes it to the agent. `life` decides when to stop and
//! when to end; it is pure, and `run` carries out what it says.
//!
//! What the crate deliberately does not know: what the lines mean, which agent it is, the server, the
//! database, any async runtime. It has no dependencies, because it has to stay small in memory and
//! must go on working beside newer servers. What is written to the agent is never kept anywhere, and
//! neither is the environment.

mod agent;
mod attach;
mod hub;
mod input;
pub mod journal;
mod life;
mod lines;
mod lock;
pub mod protocol;
mod pump;
mod run;
mod spec;
mod split;
mod sys;

pub use lines::{Entry, Line, LineAssembler};
pub use run::{exit_code, run};
pub use spec::Spec;
pub use sys::unblock_signals;
