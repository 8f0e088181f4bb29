//! The feed: every event in the order of commits, and the streams that read it.
//!
//! The writer's commits are appended to a bounded [`Ring`](ring) of frames, one per workspace. A
//! stream is a [`Cursor`]: a position and a filter, nothing else. It reads from the ring while the
//! ring reaches back to its position, and short pages of the database otherwise, so there is
//! deliberately no queue per client and a slow client costs nobody anything.
//!
//! Bytes are made when the first stream wants them, on that stream's task: the writer's thread only
//! appends and wakes. A stream of one session is woken by that session's frames only.

mod cursor;
mod frame;
mod outcomes;
mod past;
mod publish;
mod render;
mod ring;
mod shorten;
mod waiters;
mod wire;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod old_rows;
#[cfg(test)]
mod tests;

pub(crate) use cursor::{Batch, Cursor, Selection};
pub(crate) use frame::{Frame, Item, LiveEvent};
pub(crate) use outcomes::OutcomeFrames;
#[cfg(test)]
pub(crate) use past::Past;
pub(crate) use past::StoredPast;
pub(crate) use publish::Feed;
pub(crate) use render::{Native, Render, Values};
