//! Connections: one task owns each, with its translator and its place in the agent's stream.

mod actor;
mod calls;
mod consequence;
mod owner;
mod process;
mod registry;
mod secrets;

pub(crate) use registry::Registry;
