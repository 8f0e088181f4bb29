//! The feed: every event in commit order, and the streams that read it.
//!
//! The writer appends committed events to a bounded [`Ring`](ring) of frames, one ring per workspace. A stream is a [`Cursor`]:
//! only a position and a filter. It reads from the ring while the ring still has its position, and short pages of the database
//! otherwise. There is no queue per client, so a slow client uses no memory.
//!
//! The first stream that sends a frame renders its bytes, on the task of that stream. The writer's thread only appends frames
//! and wakes streams. A stream of one session is woken only by the frames of that session.

mod cursor;
mod frame;
mod history;
mod outcomes;
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
#[cfg(test)]
pub(crate) use history::EventHistory;
pub(crate) use history::StoredHistory;
pub(crate) use outcomes::OutcomeFrames;
pub(crate) use publish::Feed;
pub(crate) use render::{Native, Render, Values};
