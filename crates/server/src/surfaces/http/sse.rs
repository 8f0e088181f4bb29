//! Server-sent events: a feed cursor as a response body.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use tokio_util::sync::WaitForCancellationFutureOwned;

use crate::runtime::feed::{Batch, Cursor, Render};

/// Clients reconnect after one second. The empty comment tells them that the stream is open.
const OPENING: Bytes = Bytes::from_static(b"retry: 1000\n\n: \n\n");
const HEARTBEAT: Bytes = Bytes::from_static(b": \n\n");

/// Checks whether the token that opened a stream is still valid.
pub(crate) struct StillAllowed {
    valid: Box<dyn Fn() -> bool + Send>,
    revoked: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl StillAllowed {
    pub(crate) fn new(valid: impl Fn() -> bool + Send + 'static, revoked: WaitForCancellationFutureOwned) -> Self {
        Self { valid: Box::new(valid), revoked: Box::pin(revoked) }
    }

    /// Returns whether the token is valid now.
    pub(crate) fn is_valid(&self) -> bool {
        (self.valid)()
    }

    /// Ready when the stream has to end. A revocation wakes the task. An expired token is noticed at the next event or
    /// heartbeat.
    pub(crate) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.is_valid() { self.revoked.as_mut().poll(cx) } else { Poll::Ready(()) }
    }

    /// Creates a check for tests, with a token that is never revoked.
    #[cfg(test)]
    pub(crate) fn fixed(valid: bool) -> Self {
        Self::new(move || valid, tokio_util::sync::CancellationToken::new().cancelled_owned())
    }
}

/// The body of a stream. It ends when the server stops, and clients reconnect and resume. It also ends when its token becomes
/// invalid, before anything more is sent.
pub(crate) struct SseBody<R> {
    /// `None` after the stream has ended.
    cursor: Option<Cursor<R>>,
    opening: [Bytes; 2],
    allowed: StillAllowed,
}

impl<R: Render<Output = Bytes>> SseBody<R> {
    /// Creates a body with everything that the cursor returns.
    pub(crate) const fn new(cursor: Cursor<R>, allowed: StillAllowed) -> Self {
        Self::after(Bytes::new(), cursor, allowed)
    }

    /// Creates a body that starts with `first`, which was built for this client: the state at the `seq` after which the cursor
    /// starts.
    pub(crate) const fn after(first: Bytes, cursor: Cursor<R>, allowed: StillAllowed) -> Self {
        Self { cursor: Some(cursor), opening: [OPENING, first], allowed }
    }
}

impl<R: Render<Output = Bytes>> http_body::Body for SseBody<R> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let data = |bytes| Poll::Ready(Some(Ok(http_body::Frame::data(bytes))));
        if let Some(opening) = this.opening.iter_mut().find(|bytes| !bytes.is_empty()) {
            return data(std::mem::take(opening));
        }
        if this.cursor.is_some() && this.allowed.poll_end(cx).is_ready() {
            this.cursor = None;
        }
        let Some(cursor) = &mut this.cursor else { return Poll::Ready(None) };
        match ready!(cursor.poll_batch(cx)) {
            Batch::Frames(bytes) | Batch::Reset { rendered: bytes, .. } => data(bytes),
            Batch::Quiet => data(HEARTBEAT),
            Batch::Closed => {
                this.cursor = None;
                Poll::Ready(None)
            }
        }
    }
}

impl<R: Render<Output = Bytes>> IntoResponse for SseBody<R> {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::new(self));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // Some proxies buffer responses until they are complete.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Wake, Waker};

    use futures_core::future::BoxFuture;
    use http_body::Body as _;
    use sayso_core::scope::Scope;
    use sayso_store::read::{EventPage, ReadEvents};
    use sayso_store::{StoreError, WorkspaceId};

    use super::*;
    use crate::runtime::feed::{EventHistory, Feed, Native, Selection, fixture};

    /// A database without events.
    struct Empty;

    impl EventHistory for Empty {
        fn read(&self, _: ReadEvents) -> BoxFuture<'static, Result<EventPage, StoreError>> {
            Box::pin(async { Ok(EventPage { events: Vec::new(), scanned_to: 0, oldest: 1, head: 0 }) })
        }
    }

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Wakes {
        fn reset_count(&self) -> usize {
            self.0.swap(0, Ordering::Relaxed)
        }
    }

    #[test]
    fn body_opens_sends_heartbeats_and_ends_with_the_feed() {
        let feed = Feed::new();
        feed.seed(WorkspaceId::MAIN, 0);
        let cursor = |since| {
            feed.cursor(
                Selection { workspace: WorkspaceId::MAIN, session: None, scope: Scope::All, since },
                Arc::new(Empty),
                Native,
            )
        };
        let next = |body: &mut SseBody<Native>, waker: &Waker| match Pin::new(body).poll_frame(&mut Context::from_waker(waker)) {
            Poll::Pending => "(waits)".to_owned(),
            Poll::Ready(None) => "(end)".to_owned(),
            Poll::Ready(Some(Ok(frame))) => String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap(),
        };
        let count = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut body = SseBody::after(Bytes::from_static(b"data: pending\n\n"), cursor(None), StillAllowed::fixed(true));
        let opened: Vec<_> = (0..3).map(|_| next(&mut body, &waker)).collect();
        assert_eq!(opened, ["retry: 1000\n\n: \n\n", "data: pending\n\n", "(waits)"]);

        feed.beat();
        feed.beat();
        assert_eq!(count.reset_count(), 0);
        feed.beat();
        assert_eq!(count.reset_count(), 1);
        assert_eq!([next(&mut body, &waker), next(&mut body, &waker)], [": \n\n", "(waits)"]);
        feed.beat();
        assert_eq!(count.reset_count(), 0, "a heartbeat breaks the silence");

        feed.publish(vec![fixture::noted(1, None)]);
        feed.close();
        assert_eq!(
            [next(&mut body, &waker), next(&mut body, &waker), next(&mut body, &waker)],
            [
                "id: 1\nevent: notice\ndata: {\"seq\":1,\"at\":\"1970-01-01T00:00:00.001Z\",\"type\":\"notice\",\"sessionId\":null,\"data\":{\"agent\":\"script\",\"text\":\"1\"}}\n\n",
                "(end)",
                "(end)"
            ]
        );
        let mut late = SseBody::new(cursor(None), StillAllowed::fixed(true));
        assert_eq!([next(&mut late, &waker), next(&mut late, &waker)], ["retry: 1000\n\n: \n\n", "(end)"]);
    }
}
