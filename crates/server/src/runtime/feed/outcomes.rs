//! Renders a stream of outcomes: only the resolved asks of one caller.

use bytes::Bytes;
use sayso_store::EventPayload;

use super::frame::{Frame, Item};
use super::render::{Native, Render};
use crate::runtime::keeper::Following;

/// Renders outcomes for the caller that opened the asks. While this value exists, the keeper counts the caller as waiting for
/// them.
#[derive(Debug)]
pub(crate) struct OutcomeFrames {
    _following: Following,
}

impl OutcomeFrames {
    pub(crate) const fn new(following: Following) -> Self {
        Self { _following: following }
    }
}

impl Render for OutcomeFrames {
    type Output = Bytes;

    fn frame(&mut self, frame: &Frame) -> Bytes {
        match frame.item() {
            // For asks of a session, the caller is the agent, and its outcome goes to the agent's connection.
            Item::Stored(event) => match &event.payload {
                EventPayload::AskResolved(ask) if ask.origin.connection.is_none() => Native.frame(frame),
                _ => Bytes::new(),
            },
            Item::Live(_) => Bytes::new(),
        }
    }

    fn reset(&mut self, seq: i64) -> Bytes {
        Native.reset(seq)
    }
}
