//! Server-sent events: a cursor as the body of a response.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use sayso_api::event::names;

use super::cursor::{Batch, Cursor};
use super::frame::Frame;

/// How a door puts frames into bytes. One per stream, so it may remember what it has said.
pub(crate) trait Render: Send + Unpin + 'static {
    /// The bytes of a frame; none if the door has nothing to say about it.
    fn frame(&mut self, frame: &Frame) -> Bytes;

    /// What to say when the past is gone and the stream goes on after `seq`.
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

/// Reconnect after a second. The empty comment lets a client see that the stream is open.
const OPENING: Bytes = Bytes::from_static(b"retry: 1000\n\n: \n\n");
const HEARTBEAT: Bytes = Bytes::from_static(b": \n\n");

/// Tells whether whoever opened a stream may go on reading.
pub(crate) type StillAllowed = Box<dyn Fn() -> bool + Send>;

/// The body of a stream. It ends when the server stops; clients come back and resume. It ends too
/// when its token does, before anything more is sent.
pub(crate) struct SseBody<R> {
    /// Absent once the stream is over.
    cursor: Option<Cursor<R>>,
    opening: [Bytes; 2],
    allowed: StillAllowed,
}

impl<R: Render> SseBody<R> {
    /// Everything the cursor finds.
    pub(crate) const fn new(cursor: Cursor<R>, allowed: StillAllowed) -> Self {
        Self::after(Bytes::new(), cursor, allowed)
    }

    /// Everything the cursor finds, after something that was made for this client: what was pending
    /// at the `seq` that the cursor begins after.
    pub(crate) const fn after(first: Bytes, cursor: Cursor<R>, allowed: StillAllowed) -> Self {
        Self { cursor: Some(cursor), opening: [OPENING, first], allowed }
    }
}

impl<R: Render> http_body::Body for SseBody<R> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let data = |bytes| Poll::Ready(Some(Ok(http_body::Frame::data(bytes))));
        if let Some(opening) = this.opening.iter_mut().find(|bytes| !bytes.is_empty()) {
            return data(std::mem::take(opening));
        }
        if !(this.allowed)() {
            this.cursor = None;
        }
        let Some(cursor) = &mut this.cursor else { return Poll::Ready(None) };
        match ready!(cursor.poll_batch(cx)) {
            Batch::Frames(bytes) | Batch::Reset { bytes, .. } => data(bytes),
            Batch::Quiet => data(HEARTBEAT),
            Batch::Closed => {
                this.cursor = None;
                Poll::Ready(None)
            }
        }
    }
}

impl<R: Render> IntoResponse for SseBody<R> {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::new(self));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // Some proxies hold answers back until they are whole.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }
}
