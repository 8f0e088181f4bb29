//! Asks: opening, reading, resolving, collecting the outcome, withdrawing, snoozing.

mod buttons;
mod collect;
mod open;
mod read;
mod resolve;

pub(crate) use buttons::{DecisionChannel, Pressed, press_button};
pub(crate) use collect::{Collected, collect_outcome, withdraw};
pub(crate) use open::{AskRefused, AskingAgent, open, open_for_agent};
pub(crate) use read::{AskList, ask_id, ask_in_channel, authorize_reading, find, list, of_tool_call};
pub(crate) use resolve::{ChannelRefusal, DecisionRequest, resolve, resolve_in_channel, snooze};
