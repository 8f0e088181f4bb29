//! Connections: one task owns each, with its translator and its place in the agent's stream.

mod actor;
mod registry;
mod secrets;

pub(crate) use actor::resume;
pub(crate) use registry::Registry;
