//! The ways to an agent that is not inside the server.

mod http;
mod processes;
mod supervised;

pub(crate) use http::{Http, HttpSaid};
pub(crate) use processes::Processes;
pub(crate) use supervised::{LinkError, ProcessMessage, Supervised};
