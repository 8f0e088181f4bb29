//! The event stream: resumes where it was, and says when it has to.

use std::time::Duration;

use futures_core::Stream;
use reqwest::{Response, StatusCode, Url};
use sayso_api::event::{FeedEvent, ResetEvent};
use sayso_net::{SseFrame, SseReader};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::backoff::Backoff;
use crate::client::Client;
use crate::error::Error;

/// The server sends something every 15 s. After three times that the connection is dead.
const SILENCE: Duration = Duration::from_secs(45);

/// How long the server may take to begin a stream.
const OPEN: Duration = Duration::from_secs(15);

/// The most bytes that one event may hold. The server sends at most 64 KiB for an ask.
const FRAME_LIMIT: usize = 1024 * 1024;

/// What a stream yields.
#[derive(Debug, Clone)]
pub enum StreamItem {
    /// Something happened. Events of a type that this version does not know are skipped.
    Event(Box<FeedEvent>),
    /// The past that was asked for is gone: list again. The stream goes on after `seq`.
    Reset {
        /// The feed position that the stream goes on from.
        seq: i64,
    },
    /// The connection was lost; the stream comes back by itself.
    Reconnecting {
        /// How often it was tried since it last worked.
        attempt: u32,
        /// When it is tried next.
        after: Duration,
    },
    /// The connection is there again; everything that was missed follows.
    Reconnected,
}

impl StreamItem {
    /// The event, if it is one.
    #[must_use]
    pub fn event(&self) -> Option<&FeedEvent> {
        match self {
            Self::Event(event) => Some(event),
            Self::Reset { .. } | Self::Reconnecting { .. } | Self::Reconnected => None,
        }
    }
}

/// A stream of events that resumes by itself.
#[derive(Debug)]
pub struct EventStream {
    client: Client,
    url: Url,
    /// The last `seq` that was seen; nothing before the first event of a stream that begins now.
    last: Option<i64>,
    reader: SseReader,
    state: StreamState,
    backoff: Backoff,
}

#[derive(Debug)]
enum StreamState {
    /// To be opened at this time.
    Waiting(Instant),
    /// Open.
    Open(Response),
}

impl Client {
    /// Everything that this token may see. Begins after `since`, or now.
    #[must_use]
    pub fn events(&self, since: Option<i64>) -> EventStream {
        EventStream::new(self.clone(), self.address(&["events"]), since)
    }

    /// The outcomes of the asks that this token opened. Begins after `since`, or now; then with a [`StreamItem::Reset`]: read
    /// the asks that you wait for once, and follow the stream. While the stream is open, asks with `keep` are not parked.
    #[must_use]
    pub fn outcomes(&self, since: Option<i64>) -> EventStream {
        EventStream::new(self.clone(), self.address(&["outcomes"]), since)
    }

    /// What happens in one session. Begins after `since`, or now.
    #[must_use]
    pub fn session_events(&self, id: &str, since: Option<i64>) -> EventStream {
        EventStream::new(self.clone(), self.address(&["sessions", id, "events"]), since)
    }
}

impl EventStream {
    fn new(client: Client, url: Url, since: Option<i64>) -> Self {
        let backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(10));
        Self {
            client,
            url,
            last: since,
            reader: SseReader::new(FRAME_LIMIT),
            state: StreamState::Waiting(Instant::now()),
            backoff,
        }
    }

    /// The feed position up to which everything was seen.
    #[must_use]
    pub const fn position(&self) -> Option<i64> {
        self.last
    }

    /// Opens the connection now, so that live-only events from here on are not missed.
    ///
    /// # Errors
    /// When no server answers, or when it refuses the stream.
    pub async fn connect(&mut self) -> Result<(), Error> {
        if matches!(self.state, StreamState::Waiting(_)) {
            self.state = StreamState::Open(self.open().await?);
        }
        Ok(())
    }

    /// The next item. Never ends by itself; may be dropped and called again at any point without
    /// losing anything.
    ///
    /// # Errors
    /// When the server refuses the stream (no such session, no right to see it) or sends what is not
    /// an event stream. Then the stream is over.
    pub async fn next(&mut self) -> Result<StreamItem, Error> {
        loop {
            while let Some(frame) = self.reader.pop() {
                if let Some(item) = self.take(&frame)? {
                    return Ok(item);
                }
            }
            match &mut self.state {
                StreamState::Waiting(at) => {
                    sleep_until(*at).await;
                    match timeout_at(Instant::now() + OPEN, self.open()).await {
                        Ok(Ok(response)) => {
                            self.state = StreamState::Open(response);
                            if self.backoff.attempt() > 0 {
                                return Ok(StreamItem::Reconnected);
                            }
                        }
                        Ok(Err(Error::Unreachable { .. })) | Err(_) => return Ok(self.lost()),
                        Ok(Err(refused)) => return Err(refused),
                    }
                }
                StreamState::Open(response) => match timeout_at(Instant::now() + SILENCE, response.chunk()).await {
                    Ok(Ok(Some(bytes))) => {
                        self.backoff.reset();
                        self.reader.push(&bytes).map_err(|error| self.client.protocol(error.to_string()))?;
                    }
                    Ok(Ok(None) | Err(_)) | Err(_) => return Ok(self.lost()),
                },
            }
        }
    }

    /// The same as a [`Stream`], which ends after an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<StreamItem, Error>> {
        futures_util::stream::unfold(Some(self), |stream| async move {
            let mut stream = stream?;
            match stream.next().await {
                Ok(item) => Some((Ok(item), Some(stream))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    async fn open(&self) -> Result<Response, Error> {
        let mut url = self.url.clone();
        let mut request = self.client.http.get(url.clone());
        if let Some(last) = self.last {
            url.query_pairs_mut().append_pair("since", &last.to_string());
            request = self.client.http.get(url).header("last-event-id", last.to_string());
        }
        let response = request.header("accept", "text/event-stream").send().await;
        let response = response.map_err(|source| self.client.unreachable(source))?;
        match response.status() {
            status if status.is_success() => Ok(response),
            // The server is stopping, or something before it has no server: come back later.
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::BAD_GATEWAY | StatusCode::TOO_MANY_REQUESTS => {
                match response.error_for_status() {
                    Ok(response) => Ok(response),
                    Err(source) => Err(self.client.unreachable(source)),
                }
            }
            _ => Err(self.client.problem(response).await),
        }
    }

    fn lost(&mut self) -> StreamItem {
        let after = self.backoff.next();
        self.reader = SseReader::new(FRAME_LIMIT);
        self.state = StreamState::Waiting(Instant::now() + after);
        StreamItem::Reconnecting { attempt: self.backoff.attempt(), after }
    }

    fn take(&mut self, frame: &SseFrame) -> Result<Option<StreamItem>, Error> {
        if frame.event == ResetEvent::NAME {
            let ResetEvent { seq, .. } =
                serde_json::from_str(&frame.data).map_err(|error| self.client.protocol(error.to_string()))?;
            self.last = Some(seq);
            return Ok(Some(StreamItem::Reset { seq }));
        }
        let event = serde_json::from_str::<FeedEvent>(&frame.data).ok();
        let seq = event.as_ref().and_then(|event| event.seq).or_else(|| frame.id.as_deref().and_then(|id| id.parse().ok()));
        if let Some(seq) = seq {
            if self.last.is_some_and(|last| seq <= last) {
                return Ok(None);
            }
            self.last = Some(seq);
        }
        // An event that cannot be read is of a later version: it counts, and is skipped.
        Ok(event.map(|event| StreamItem::Event(Box::new(FeedEvent { seq, ..event }))))
    }
}
