//! The broker: asks come in from agents and callers, the policy looks first, and outcomes go back.

mod deadlines;
mod keeper;
mod open;
mod waiters;

pub(crate) use deadlines::{Deadlines, run as run_deadlines};
pub(crate) use keeper::{Keeper, run as run_keeper};
pub(crate) use open::{FromCaller, OpenError, open_for_agent, open_for_caller};
pub(crate) use waiters::Waiters;
