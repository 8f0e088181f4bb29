//! Renderers of frames: bytes for network streams, values for surfaces inside the server.

use bytes::{Bytes, BytesMut};
use sayso_api::event::{FeedEvent, ResetEvent};

use super::frame::Frame;

/// Renders frames for one stream. Each stream has its own renderer, so a renderer may keep state.
pub(crate) trait Render: Send + Unpin + 'static {
    /// The type that the stream yields.
    type Output: Rendered;

    /// Renders a frame. Returns an empty value to skip it.
    fn frame(&mut self, frame: &Frame) -> Self::Output;

    /// Renders a gap: stored events are missing, and the stream continues after `seq`.
    fn reset(&mut self, seq: i64) -> Self::Output;
}

/// Rendered frames that can be joined to a batch.
pub(crate) trait Rendered: Sized {
    /// Returns the approximate size in bytes; zero if the value is empty.
    fn size(&self) -> usize;

    /// Joins rendered frames to one batch, in order.
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

/// The size that one event counts in a batch of values.
const EVENT_SIZE: usize = 1024;

impl Rendered for Vec<FeedEvent> {
    fn size(&self) -> usize {
        self.len() * EVENT_SIZE
    }

    fn join(pieces: Vec<Self>) -> Self {
        pieces.into_iter().flatten().collect()
    }
}

/// The native rendering. Each frame is rendered once and shared by all streams.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Native;

impl Render for Native {
    type Output = Bytes;

    fn frame(&mut self, frame: &Frame) -> Bytes {
        frame.native().clone()
    }

    fn reset(&mut self, seq: i64) -> Bytes {
        // The id prevents a client that disconnects here from requesting the missing events again.
        let data = serde_json::to_string(&ResetEvent::at(seq)).unwrap_or_default();
        Bytes::from(format!("id: {seq}\nevent: {}\ndata: {data}\n\n", ResetEvent::NAME))
    }
}

/// Renders events as values, for surfaces that follow a session inside the server.
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
