//! The small process that owns one agent: its pipes, its process tree, and the journal of its output.
//!
//! The server starts `sayso supervise …` for each agent, and that process calls [`run`] before it does anything else.
//! From then on the server can be killed, restarted or upgraded: the agent continues and its output is kept in a
//! [`journal`]. The next server attaches over a Unix socket with the [`protocol`] and continues at the position that it
//! committed last.
//!
//! The supervisor has a single thread (`event_loop`), which waits with `poll` and never blocks on a pipe, a socket or a
//! full disk.
//!
//! - `output` reads the agent's pipes, `split` cuts the bytes into records at newlines, and the journal stores them.
//! - `servers` sends the records to the attached server, where [`LineAssembler`] turns them into lines. `peer` refuses
//!   connections from processes that an agent started.
//! - `input` writes the server's input to the agent.
//! - `lifecycle` decides when to stop the agent and when the supervisor exits. It is pure.
//!
//! The crate does not know the meaning of the lines, the agent, the server, the database, or an async runtime. It has
//! no dependencies, because it has to use little memory and has to work with newer servers. The agent's input and
//! environment are never stored; the journal only records that an input was accepted.

mod agent;
mod event_loop;
mod input;
pub mod journal;
mod lifecycle;
mod lines;
mod lock;
mod output;
mod peer;
pub mod protocol;
mod run;
mod servers;
mod spec;
mod split;
mod sys;

pub use lines::{Entry, Line, LineAssembler};
pub use peer::is_started_by_an_agent;
pub use run::{exit_code, run};
pub use spec::Spec;
pub use sys::unblock_signals;
