//! The ways to an agent that is not inside the server.

mod processes;
mod supervised;

pub(crate) use processes::Processes;
pub(crate) use supervised::{LinkError, Said, Supervised};
