//! Asks: opening, reading, resolving, collecting the outcome, withdrawing, snoozing.

mod buttons;
mod collect;
mod file_snapshots;
mod files;
pub(crate) mod identity;
mod open;
mod read;
mod resolve;
mod schemas;

pub(crate) use buttons::{ButtonResult, DecisionChannel, press_button};
pub(crate) use collect::{Collected, collect_outcome, withdraw, withdraw_by_key};
pub(crate) use file_snapshots::SnapshotMemory;
pub(crate) use files::{ContentChanged, is_as_approved, note_files, read_files};
pub(crate) use open::{
    AskRefused, AskingAgent, LONGEST_KEEP, MAX_PENDING, decide_with_disk, open, open_for_agent, prepare, span,
};
pub(crate) use read::{AskList, ask_id, ask_in_channel, authorize_reading, find, list, of_tool_call};
pub(crate) use resolve::{ChannelDecider, ChannelRefusal, DecisionRequest, resolve, resolve_in_channel, snooze};
