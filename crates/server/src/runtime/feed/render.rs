//! Renderings of frames: bytes for streams, values for surfaces inside the server.

use bytes::{Bytes, BytesMut};
use sayso_api::event::{FeedEvent, ResetEvent};

use super::frame::Frame;

/// Renders frames for one stream. Each stream has its own renderer, so a renderer may keep state.
pub(crate) trait Render: Send + Unpin + 'static {
    /// What the stream yields.
    type Output: Rendered;

    /// A frame; empty if this rendering has nothing for it.
    fn frame(&mut self, frame: &Frame) -> Self::Output;

    /// A gap: stored events are missing, and the stream continues after `seq`.
    fn reset(&mut self, seq: i64) -> Self::Output;
}

/// Rendered frames that can be joined to a batch.
pub(crate) trait Rendered: Sized {
    /// About how many bytes this holds; zero if it is empty.
    fn size(&self) -> usize;

    /// One batch of these, in order.
    fn join(pieces: Vec<Self>) -> Self;
}

impl Rendered for Bytes {
    fn size(&self) -> usize {
        self.len()
    }

    fn join(pieces: Vec<Self>) -> Self {
        let mut whole = BytesMut::with_capacity(pieces.iter().map(Self::len).sum());
        pieces.iter().for_each(|piece| whole.extend_from_slice(piece));
        whole.freeze()
    }
}

/// What one event counts in a batch of values.
const EVENT_SIZE: usize = 1024;

impl Rendered for Vec<FeedEvent> {
    fn size(&self) -> usize {
        self.len() * EVENT_SIZE
    }

    fn join(pieces: Vec<Self>) -> Self {
        pieces.into_iter().flatten().collect()
    }
}

/// The native rendering. It is made once and shared by all streams.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Native;

impl Render for Native {
    type Output = Bytes;

    fn frame(&mut self, frame: &Frame) -> Bytes {
        frame.native().clone()
    }

    fn reset(&mut self, seq: i64) -> Bytes {
        // With an id, so that a client that breaks off here does not ask for the lost past again.
        let data = serde_json::to_string(&ResetEvent::at(seq)).unwrap_or_default();
        Bytes::from(format!("id: {seq}\nevent: {}\ndata: {data}\n\n", ResetEvent::NAME))
    }
}

/// Events as values, for surfaces that follow a session inside the server.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Values;

impl Render for Values {
    type Output = Vec<FeedEvent>;

    fn frame(&mut self, frame: &Frame) -> Vec<FeedEvent> {
        frame.event().into_iter().collect()
    }

    fn reset(&mut self, _: i64) -> Vec<FeedEvent> {
        Vec::new()
    }
}
