//! The event stream, which reconnects and resumes automatically.

use std::time::Duration;

use futures_core::Stream;
use reqwest::{Response, StatusCode, Url};
use sayso_api::event::{FeedEvent, ResetEvent};
use sayso_net::{SseFrame, SseReader};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::backoff::Backoff;
use crate::client::Client;
use crate::error::Error;

/// The server sends data at least every 15 s. After three times that without data, the connection is dead.
const SILENCE: Duration = Duration::from_secs(45);

/// Timeout for opening a stream.
const OPEN: Duration = Duration::from_secs(15);

/// Maximum size of one event in bytes. The server sends at most 64 KiB for an ask.
const FRAME_LIMIT: usize = 1024 * 1024;

/// An item of the stream.
#[derive(Debug, Clone)]
pub enum StreamItem {
    /// An event. Events of unknown types are skipped.
    Event(Box<FeedEvent>),
    /// The requested events are no longer stored: list the current state again. The stream continues after `seq`.
    Reset {
        /// The feed position after which the stream continues.
        seq: i64,
    },
    /// The connection was lost; the stream reconnects automatically.
    Reconnecting {
        /// The number of attempts since the last successful connection.
        attempt: u32,
        /// The pause before the next attempt.
        after: Duration,
    },
    /// The stream is connected again; all missed events follow.
    Reconnected,
}

impl StreamItem {
    /// The event, if the item is one.
    #[must_use]
    pub fn event(&self) -> Option<&FeedEvent> {
        match self {
            Self::Event(event) => Some(event),
            Self::Reset { .. } | Self::Reconnecting { .. } | Self::Reconnected => None,
        }
    }
}

/// A stream of events that resumes automatically.
#[derive(Debug)]
pub struct EventStream {
    client: Client,
    url: Url,
    /// The last received `seq`; `None` before the first event of a stream without `since`.
    last: Option<i64>,
    reader: SseReader,
    state: StreamState,
    backoff: Backoff,
}

#[derive(Debug)]
enum StreamState {
    /// Connect at this time.
    Waiting(Instant),
    /// Connected.
    Open(Response),
}

impl Client {
    /// Streams all events that this token may see, starting after `since` or now.
    #[must_use]
    pub fn events(&self, since: Option<i64>) -> EventStream {
        EventStream::new(self.clone(), self.address(&["events"]), since)
    }

    /// Streams the outcomes of the asks that this token opened, starting after `since` or now. Without `since`, the
    /// stream starts with a [`StreamItem::Reset`]: read the asks that you wait for once, then follow the stream. While
    /// the stream is open, asks with `keep` are not parked.
    #[must_use]
    pub fn outcomes(&self, since: Option<i64>) -> EventStream {
        EventStream::new(self.clone(), self.address(&["outcomes"]), since)
    }

    /// Streams the events of one session, starting after `since` or now.
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

    /// The feed position up to which all events were received.
    #[must_use]
    pub const fn position(&self) -> Option<i64> {
        self.last
    }

    /// Connects immediately, so that no live-only events from this time on are missed.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses the stream.
    pub async fn connect(&mut self) -> Result<(), Error> {
        if matches!(self.state, StreamState::Waiting(_)) {
            self.state = StreamState::Open(self.open().await?);
        }
        Ok(())
    }

    /// Returns the next item. The stream never ends on its own. This method is cancel safe: if the future is dropped,
    /// no item is lost.
    ///
    /// # Errors
    /// If the server refuses the stream (unknown session, missing permission) or sends data that is not an event
    /// stream. The stream has then ended.
    pub async fn next(&mut self) -> Result<StreamItem, Error> {
        loop {
            while let Some(frame) = self.reader.pop() {
                if let Some(item) = self.parse_frame(&frame)? {
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
                        Ok(Err(Error::Unreachable { .. })) | Err(_) => return Ok(self.schedule_reconnect()),
                        Ok(Err(refused)) => return Err(refused),
                    }
                }
                StreamState::Open(response) => match timeout_at(Instant::now() + SILENCE, response.chunk()).await {
                    Ok(Ok(Some(bytes))) => {
                        self.backoff.reset();
                        self.reader.push(&bytes).map_err(|error| self.client.protocol(error.to_string()))?;
                    }
                    Ok(Ok(None) | Err(_)) | Err(_) => return Ok(self.schedule_reconnect()),
                },
            }
        }
    }

    /// Converts into a [`Stream`], which ends after an error.
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
            // The server is stopping, or a proxy in front of it cannot reach it: retry later.
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::BAD_GATEWAY | StatusCode::TOO_MANY_REQUESTS => {
                match response.error_for_status() {
                    Ok(response) => Ok(response),
                    Err(source) => Err(self.client.unreachable(source)),
                }
            }
            _ => Err(self.client.problem(response).await),
        }
    }

    fn schedule_reconnect(&mut self) -> StreamItem {
        let after = self.backoff.next();
        self.reader = SseReader::new(FRAME_LIMIT);
        self.state = StreamState::Waiting(Instant::now() + after);
        StreamItem::Reconnecting { attempt: self.backoff.attempt(), after }
    }

    fn parse_frame(&mut self, frame: &SseFrame) -> Result<Option<StreamItem>, Error> {
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
        // An event that cannot be parsed is from a later version: skip it, but advance the position.
        Ok(event.map(|event| StreamItem::Event(Box::new(FeedEvent { seq, ..event }))))
    }
}
