//! Connections to agents. One task, the connection actor, owns each connection with its translator and its position in the
//! agent's output.
//!
//! `actor` is the loop of the task. It passes everything that arrives to its `owner`, which carries out one transition at a
//! time: `plan` (a pure function over `state` and `work`), commit, effects.

mod actor;
mod attach;
mod calls;
mod consequence;
mod direct;
mod outbox;
mod owner;
mod plan;
mod process;
mod registry;
mod secrets;
mod stale;
mod state;
#[cfg(test)]
mod tests;
mod work;

pub(crate) use registry::Registry;
