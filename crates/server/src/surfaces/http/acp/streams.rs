//! The outgoing messages of a client over HTTP: one queue for the connection and one for each session, each read by one stream
//! at a time. A queue outlives its stream, so no message is lost between two streams.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::surfaces::acp::{Frame, Outlet, To};
use crate::surfaces::http::sse::StillAllowed;

/// The capacity of a queue. Senders wait while it is full.
const QUEUE: usize = 16;
/// How long senders wait. A client that reads nothing for this long counts as disconnected.
const PATIENCE: Duration = Duration::from_secs(30);
/// The maximum number of sessions of one connection.
const SESSIONS: usize = 64;
/// The interval of keep-alive comments on a quiet stream.
const BEAT: Duration = Duration::from_secs(15);
/// How long a client may have no stream and send no message before its connection ends.
const AWAY: Duration = Duration::from_secs(600);

/// The queues of one client.
#[derive(Debug)]
pub(super) struct Streams {
    connection: Arc<OutgoingQueue>,
    sessions: Mutex<BTreeMap<String, Arc<OutgoingQueue>>>,
    presence: Mutex<Presence>,
    /// Cancelled when no more messages will be sent.
    over: CancellationToken,
    patience: Duration,
    beat: Duration,
}

#[derive(Debug)]
struct Presence {
    streams: usize,
    last: Instant,
}

#[derive(Debug)]
struct OutgoingQueue {
    write: mpsc::Sender<String>,
    /// The receiver, unless a stream is using it.
    read: Mutex<Option<mpsc::Receiver<String>>>,
}

/// Why a stream could not be opened.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoStream {
    /// Another stream reads this queue.
    Busy,
    /// The connection has too many streams.
    TooMany,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OutgoingQueue {
    fn new() -> Arc<Self> {
        let (write, read) = mpsc::channel(QUEUE);
        Arc::new(Self { write, read: Mutex::new(Some(read)) })
    }
}

impl Streams {
    pub(super) fn new() -> Arc<Self> {
        Self::with(PATIENCE, BEAT)
    }

    fn with(patience: Duration, beat: Duration) -> Arc<Self> {
        Arc::new(Self {
            patience,
            beat,
            connection: OutgoingQueue::new(),
            sessions: Mutex::default(),
            presence: Mutex::new(Presence { streams: 0, last: Instant::now() }),
            over: CancellationToken::new(),
        })
    }

    /// Records that the client is connected.
    pub(super) fn seen(&self) {
        lock(&self.presence).last = Instant::now();
    }

    /// Waits until the client has been away for [`AWAY`].
    pub(super) async fn abandoned(&self) {
        loop {
            let left = {
                let presence = lock(&self.presence);
                if presence.streams > 0 { AWAY } else { AWAY.saturating_sub(presence.last.elapsed()) }
            };
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left).await;
        }
    }

    /// Ends all streams after their queued messages have been read.
    pub(super) fn end(&self) {
        self.over.cancel();
    }

    fn session(&self, id: &str) -> Result<Arc<OutgoingQueue>, NoStream> {
        let mut sessions = lock(&self.sessions);
        if let Some(queue) = sessions.get(id) {
            return Ok(Arc::clone(queue));
        }
        if sessions.len() >= SESSIONS {
            return Err(NoStream::TooMany);
        }
        Ok(Arc::clone(sessions.entry(id.to_owned()).or_insert_with(OutgoingQueue::new)))
    }

    fn queue(&self, to: &To) -> Arc<OutgoingQueue> {
        let found = match to {
            To::Connection => None,
            To::Session(id) => self.session(id).ok(),
            To::Known(id) => lock(&self.sessions).get(id).cloned(),
        };
        found.unwrap_or_else(|| Arc::clone(&self.connection))
    }

    /// Opens a stream of server-sent events for a session or the connection.
    pub(super) fn open(self: &Arc<Self>, session: Option<&str>, allowed: StillAllowed) -> Result<Body, NoStream> {
        let queue = match session {
            Some(id) => self.session(id)?,
            None => Arc::clone(&self.connection),
        };
        let read = lock(&queue.read).take().ok_or(NoStream::Busy)?;
        lock(&self.presence).streams += 1;
        let stream = QueueReader { streams: Arc::clone(self), queue, read: Some(read), allowed, opened: false };
        Ok(Body::from_stream(futures_util::stream::unfold(stream, QueueReader::next)))
    }
}

impl Outlet for Arc<Streams> {
    async fn send(&self, frame: Frame) -> bool {
        let queue = self.queue(&frame.to);
        queue.write.send_timeout(frame.line, self.patience).await.is_ok()
    }
}

/// The reader of a queue. Returns the receiver when it is dropped.
struct QueueReader {
    streams: Arc<Streams>,
    queue: Arc<OutgoingQueue>,
    read: Option<mpsc::Receiver<String>>,
    allowed: StillAllowed,
    opened: bool,
}

impl QueueReader {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        let comment = Bytes::from_static(b": \n\n");
        if !self.opened {
            self.opened = true;
            return Some((Ok(comment), self));
        }
        let read = self.read.as_mut()?;
        let line = tokio::select! {
            biased;
            () = poll_fn(|cx| self.allowed.poll_end(cx)) => return None,
            line = read.recv() => Some(line?),
            () = self.streams.over.cancelled() => return None,
            () = tokio::time::sleep(self.streams.beat) => None,
        };
        if !self.allowed.is_valid() {
            return None;
        }
        let bytes = line.map_or(comment, |line| Bytes::from(format!("data: {line}\n\n")));
        Some((Ok(bytes), self))
    }
}

impl Drop for QueueReader {
    fn drop(&mut self) {
        *lock(&self.queue.read) = self.read.take();
        let mut presence = lock(&self.streams.presence);
        presence.streams = presence.streams.saturating_sub(1);
        presence.last = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    fn frame(to: To, line: &str) -> Frame {
        Frame { to, line: line.to_owned() }
    }

    async fn piece(body: &mut Body) -> Option<String> {
        let bytes = body.frame().await?.unwrap().into_data().unwrap();
        Some(String::from_utf8(bytes.to_vec()).unwrap())
    }

    fn open(streams: &Arc<Streams>, session: Option<&str>) -> Result<Body, NoStream> {
        streams.open(session, StillAllowed::fixed(true))
    }

    #[tokio::test]
    async fn unread_messages_wait_for_the_next_stream() {
        let streams = Streams::new();
        let session = || To::Session("s".to_owned());
        assert!(streams.send(frame(To::Known("s".to_owned()), "1")).await);
        assert!(streams.send(frame(session(), "2")).await);
        assert!(streams.send(frame(To::Known("s".to_owned()), "3")).await);
        let mut body = open(&streams, Some("s")).unwrap();
        assert_eq!(open(&streams, Some("s")).unwrap_err(), NoStream::Busy);
        assert_eq!(piece(&mut body).await.unwrap(), ": \n\n");
        assert_eq!(piece(&mut body).await.unwrap(), "data: 2\n\n");
        drop(body);
        let mut body = open(&streams, Some("s")).unwrap();
        piece(&mut body).await.unwrap();
        assert_eq!(piece(&mut body).await.unwrap(), "data: 3\n\n");
        let mut connection = open(&streams, None).unwrap();
        piece(&mut connection).await.unwrap();
        streams.send(frame(To::Connection, "4")).await;
        streams.end();
        assert_eq!(piece(&mut connection).await.unwrap(), "data: 1\n\n");
        assert_eq!(piece(&mut connection).await.unwrap(), "data: 4\n\n");
        assert_eq!(piece(&mut connection).await, None);
        assert_eq!(piece(&mut body).await, None);
    }

    #[tokio::test]
    async fn quiet_stream_sends_keep_alives() {
        let streams = Streams::with(PATIENCE, Duration::from_millis(1));
        let mut body = open(&streams, None).unwrap();
        for _ in 0..3 {
            assert_eq!(piece(&mut body).await.unwrap(), ": \n\n");
        }
    }

    #[tokio::test]
    async fn client_that_reads_nothing_is_disconnected() {
        let streams = Streams::with(Duration::from_millis(50), BEAT);
        for _ in 0..QUEUE {
            assert!(streams.send(frame(To::Connection, "x")).await);
        }
        assert!(!streams.send(frame(To::Connection, "x")).await);
    }

    #[test]
    fn sessions_of_a_client_are_limited() {
        let streams = Streams::new();
        let bodies: Vec<_> = (0..SESSIONS).map(|n| open(&streams, Some(&n.to_string())).unwrap()).collect();
        assert_eq!(open(&streams, Some("one more")).unwrap_err(), NoStream::TooMany);
        assert_eq!(lock(&streams.presence).streams, SESSIONS);
        drop(bodies);
        assert_eq!(lock(&streams.presence).streams, 0);
    }

    #[tokio::test]
    async fn stream_ends_when_its_token_ends() {
        let streams = Streams::new();
        let mut body = streams.open(None, StillAllowed::fixed(false)).unwrap();
        piece(&mut body).await.unwrap();
        streams.send(frame(To::Connection, "secret")).await;
        assert_eq!(piece(&mut body).await, None);
    }
}
