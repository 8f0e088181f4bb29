//! Frames as bytes.

use bytes::Bytes;
use sayso_api::event::names;

use super::frame::Frame;

/// Renders frames for one stream. Each stream has its own renderer, so a renderer may keep state.
pub(crate) trait Render: Send + Unpin + 'static {
    /// The bytes of a frame; empty if this rendering has none for it.
    fn frame(&mut self, frame: &Frame) -> Bytes;

    /// The bytes for a gap: stored events are missing, and the stream continues after `seq`.
    fn reset(&mut self, seq: i64) -> Bytes;
}

/// The native rendering. It is made once and shared by all streams.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Native;

impl Render for Native {
    fn frame(&mut self, frame: &Frame) -> Bytes {
        frame.native().clone()
    }

    fn reset(&mut self, seq: i64) -> Bytes {
        // With an id, so that a client that breaks off here does not ask for the lost past again.
        let name = names::RESET;
        Bytes::from(format!("id: {seq}\nevent: {name}\ndata: {{\"seq\":{seq},\"type\":\"{name}\",\"data\":{{}}}}\n\n"))
    }
}
