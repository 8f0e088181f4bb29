//! The small process that owns one agent: its pipes, its process tree, and the journal of its output.
//!
//! The server starts `sayso supervise …` for each agent, and that process calls [`run`] before it does anything else. From
//! then on the server may be killed, restarted or upgraded. The agent continues, its output is kept in a [`journal`], and
//! the next server attaches over a Unix socket with the [`protocol`] and continues at the position that it committed last.
//!
//! One thread does everything (`event_loop`): it waits with `poll` and never blocks on a pipe, a socket or a full disk.
//! - `output` reads the agent's pipes, `split` cuts the bytes into records at newlines, and the journal keeps them.
//! - `servers` sends the records to the attached server, where [`LineAssembler`] turns them into lines. `peer` refuses
//!   connections from processes that an agent started.
//! - `input` writes the server's input to the agent.
//! - `life` decides when to stop the agent and when the supervisor ends. It is pure.
//!
//! The crate does not know what the lines mean, which agent it runs, the server, the database, or an async runtime. It has no
//! dependencies, because it has to stay small in memory and has to work with newer servers. Input for the agent is never
//! stored, and neither is the environment; the journal records only that an input was accepted.

mod agent;
mod event_loop;
mod input;
pub mod journal;
mod life;
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
