//! Links to agents outside of the server process.

mod accepted;
mod http;
mod ledger;
mod processes;
mod supervised;

pub(crate) use accepted::{AcceptedInput, AcceptedInputs, InputKey};
pub(crate) use http::{Http, HttpSaid};
pub(crate) use ledger::InputFate;
pub use ledger::agent_warnings;
pub(crate) use processes::Processes;
pub use processes::agent_sockets;
pub(crate) use supervised::{LinkError, ProcessMessage, Supervised};
