//! Connections: one task owns each, with its translator and its place in the agent's stream.

mod actor;
mod registry;

pub(crate) use actor::resume;
pub(crate) use registry::Registry;
