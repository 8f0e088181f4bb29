//! A stream's position in the feed. A cursor reads from the ring if the ring still has the position, and from the database
//! otherwise.
//!
//! Switching between the two never skips or repeats an event, because both are addressed by `seq`: everything up to
//! [`StreamPosition::seq`] was sent or does not concern the stream. [`RingRead::Behind`] starts a read of at most [`PAGE`] stored
//! events after that `seq`. When the page has been sent, the cursor asks the ring again, and continues there if the ring has
//! everything after the new `seq`. Otherwise it reads the next page.
//!
//! A cursor is polled by the connection that sends its bytes, so a slow client slows only its own cursor. Frames that do not fit
//! into a batch are not kept: the position stays before them, and they are read again.
//!
//! Two situations end the sequence. If the requested events were deleted, or the `seq` never existed, the cursor returns
//! [`Batch::Reset`] and continues at the end of the feed. If the database has a gap, the cursor returns [`Batch::Closed`] instead
//! of sending an incomplete sequence.

use std::fmt;
#[cfg(test)]
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::future::BoxFuture;
use sayso_core::id::SessionId;
use sayso_core::scope::Scope;
use sayso_store::read::{EventPage, ReadEvents};
use sayso_store::{StoreError, WorkspaceId};

use super::frame::Frame;
use super::history::EventHistory;
use super::render::{Render, Rendered};
use super::ring::{Ring, RingRead, StreamPosition, Ticket};

/// The size at which a batch ends, in bytes. The last frame may exceed it.
pub(super) const BATCH: usize = 64 * 1024;
/// The number of stored events per database read.
const PAGE: usize = 64;

/// The events that a stream wants.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    pub(crate) workspace: WorkspaceId,
    /// Only events of this session. The caller has checked that the token can see the session, so `scope` may be
    /// [`Scope::All`]: everything in a visible session is visible.
    pub(crate) session: Option<SessionId>,
    /// The scope of the token.
    pub(crate) scope: Scope,
    /// Start after this `seq`, or with the next new event if absent.
    pub(crate) since: Option<i64>,
}

/// The next item of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Batch<T = Bytes> {
    /// One or more rendered frames.
    Frames(T),
    /// The requested events are gone, or the position never existed. The stream continues after `seq`.
    Reset {
        /// The position at which the stream continues.
        seq: i64,
        /// The rendered notification for the client.
        rendered: T,
    },
    /// Nothing was sent for a while, so the stream should send a heartbeat.
    Quiet,
    /// The server is stopping, or stored events could not be read. The client has to reconnect.
    Closed,
}

type Page = Result<EventPage, StoreError>;

/// A position in the feed, with a filter. This is the only state of a stream.
pub(crate) struct Cursor<R> {
    ring: Arc<Ring>,
    ticket: Ticket,
    workspace: WorkspaceId,
    session: Option<SessionId>,
    scope: Scope,
    position: StreamPosition,
    past: Arc<dyn EventHistory>,
    /// The database read in progress.
    reading: Option<BoxFuture<'static, Page>>,
    render: R,
}

impl<R> fmt::Debug for Cursor<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor").field("session", &self.session).field("position", &self.position).finish_non_exhaustive()
    }
}

impl<R> Drop for Cursor<R> {
    fn drop(&mut self) {
        self.ring.leave(self.ticket);
    }
}

impl<R: Render> Cursor<R> {
    pub(super) fn new(ring: Arc<Ring>, selection: Selection, past: Arc<dyn EventHistory>, render: R) -> Self {
        let Selection { workspace, session, scope, since } = selection;
        let (ticket, position) = ring.join(session, since);
        Self { ring, ticket, workspace, session, scope, position, past, reading: None, render }
    }

    /// Waits for the next batch.
    #[cfg(test)]
    pub(crate) async fn next_batch(&mut self) -> Batch<R::Output> {
        poll_fn(|cx| self.poll_batch(cx)).await
    }

    /// Polls for the next batch.
    pub(crate) fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Batch<R::Output>> {
        loop {
            if let Some(reading) = &mut self.reading {
                let page = ready!(reading.as_mut().poll(cx));
                self.reading = None;
                if let Some(batch) = self.take_page(page) {
                    return Poll::Ready(batch);
                }
            }
            match self.ring.read_frames(self.ticket, &self.scope, &mut self.position, cx.waker()) {
                RingRead::Frames { frames, end } => {
                    if let Some(rendered) = self.take_frames(&frames, end) {
                        return Poll::Ready(Batch::Frames(rendered));
                    }
                }
                RingRead::Behind => {
                    let (workspace, session) = (self.workspace, self.session);
                    self.reading = Some(self.past.read(ReadEvents { workspace, after: self.position.seq, session, limit: PAGE }));
                }
                RingRead::Quiet => return Poll::Ready(Batch::Quiet),
                RingRead::Closed => return Poll::Ready(Batch::Closed),
                RingRead::Waiting => return Poll::Pending,
            }
        }
    }

    fn take_frames(&mut self, frames: &[(u64, Arc<Frame>)], end: StreamPosition) -> Option<R::Output> {
        let mut batch = Pieces::new();
        for (taken, (index, frame)) in frames.iter().enumerate() {
            batch.push(self.render.frame(frame));
            if batch.is_full() && taken + 1 < frames.len() {
                // The remaining frames stay in the ring until the client has taken these.
                let seq = frame.seq().map_or(self.position.seq, |seq| seq.max(self.position.seq));
                self.position = StreamPosition { seq, index: Some(index + 1), ..end };
                return batch.join();
            }
        }
        // A renderer may skip all frames of a batch; then the stream stays quiet.
        let quiet_since = if batch.is_empty() { self.position.quiet_since } else { end.quiet_since };
        self.position = StreamPosition { quiet_since, ..end };
        batch.join()
    }

    fn take_page(&mut self, page: Page) -> Option<Batch<R::Output>> {
        let page = match page {
            Ok(page) => page,
            Err(error) => {
                tracing::warn!(%error, "closing event stream: cannot read stored events");
                return Some(Batch::Closed);
            }
        };
        let before = self.position.seq;
        self.position.known = true;
        if before > page.head || page.oldest > before.saturating_add(1) {
            self.position.seq = page.head;
            return Some(Batch::Reset { seq: page.head, rendered: self.render.reset(page.head) });
        }
        let mut batch = Pieces::new();
        let mut whole = true;
        for event in page.events {
            if batch.is_full() {
                // The rest is read again after the client has taken this batch, so pages are not held in memory.
                whole = false;
                break;
            }
            if event.seq <= self.position.seq {
                continue;
            }
            self.position.seq = event.seq;
            let ours = self.session.is_none_or(|session| event.session == Some(session));
            let frame = Frame::stored(event);
            if ours && frame.visible_to(&self.scope) {
                batch.push(self.render.frame(&frame));
            }
        }
        if whole {
            self.position.seq = self.position.seq.max(page.scanned_to);
        }
        if self.position.seq == before && before < page.head {
            tracing::error!(seq = before, head = page.head, "closing event stream: gap in stored events");
            return Some(Batch::Closed);
        }
        batch.join().map(Batch::Frames)
    }
}

/// The pieces of a batch. A single piece is passed on unchanged; several are joined.
struct Pieces<T> {
    pieces: Vec<T>,
    size: usize,
}

impl<T: Rendered> Pieces<T> {
    const fn new() -> Self {
        Self { pieces: Vec::new(), size: 0 }
    }

    fn push(&mut self, piece: T) {
        let size = piece.size();
        if size > 0 {
            self.size += size;
            self.pieces.push(piece);
        }
    }

    const fn is_full(&self) -> bool {
        self.size >= BATCH
    }

    const fn is_empty(&self) -> bool {
        self.size == 0
    }

    fn join(mut self) -> Option<T> {
        if self.pieces.len() <= 1 {
            return self.pieces.pop();
        }
        Some(T::join(self.pieces))
    }
}
