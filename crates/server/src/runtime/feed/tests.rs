//! Tests of the feed from the view of streams: no event is missing or repeated, and no stream is woken without reason.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use futures_core::future::BoxFuture;
use proptest::prelude::*;
use sayso_core::id::SessionId;
use sayso_core::scope::Scope;
use sayso_store::read::{EventPage, ReadEvents};
use sayso_store::{StoreError, StoredEvent, WorkspaceId};

use super::cursor::{Batch, Cursor, Selection};
use super::frame::{Frame, Item};
use super::history::EventHistory;
use super::publish::Feed;
use super::render::{Native, Render};
use super::ring::Bounds;
use super::{cursor, fixture};

/// A database that is a list. A page is read when its future is polled for the second time, so that a test can publish and
/// evict in between.
#[derive(Default)]
struct Database {
    rows: Mutex<Rows>,
    reads: AtomicUsize,
}

#[derive(Default)]
struct Rows {
    events: Vec<StoredEvent>,
    head: i64,
}

impl Database {
    fn commit(&self, session: Option<SessionId>) -> StoredEvent {
        let mut rows = self.rows.lock().unwrap();
        rows.head += 1;
        let event = fixture::noted(rows.head, session);
        rows.events.push(event.clone());
        event
    }

    fn trim(&self, keep: usize) {
        let mut rows = self.rows.lock().unwrap();
        let gone = rows.events.len().saturating_sub(keep);
        rows.events.drain(..gone);
    }

    fn head(&self) -> i64 {
        self.rows.lock().unwrap().head
    }

    fn page(&self, wanted: &ReadEvents) -> EventPage {
        let rows = self.rows.lock().unwrap();
        let looked: Vec<_> = rows.events.iter().filter(|event| event.seq > wanted.after).take(wanted.limit).collect();
        let scanned_to = if looked.len() < wanted.limit { rows.head } else { looked.last().map_or(rows.head, |last| last.seq) };
        EventPage {
            events: looked.into_iter().filter(|e| wanted.session.is_none() || e.session == wanted.session).cloned().collect(),
            scanned_to,
            oldest: rows.events.first().map_or(rows.head + 1, |first| first.seq),
            head: rows.head,
        }
    }
}

struct Shared(Arc<Database>);

impl EventHistory for Shared {
    fn read(&self, mut page: ReadEvents) -> BoxFuture<'static, Result<EventPage, StoreError>> {
        let database = Arc::clone(&self.0);
        database.reads.fetch_add(1, Ordering::Relaxed);
        page.limit = page.limit.min(7);
        Box::pin(async move {
            tokio::task::yield_now().await;
            Ok(database.page(&page))
        })
    }
}

/// Renders only the `seq`. The first eight frames are small; three of the next eight fill a batch.
struct Seqs;

impl Render for Seqs {
    type Output = Bytes;

    fn frame(&mut self, frame: &Frame) -> Bytes {
        Bytes::from(match frame.item() {
            Item::Stored(event) if event.seq / 8 % 2 == 0 => format!("{}\n", event.seq),
            Item::Stored(event) => format!("{} {:x>width$}\n", event.seq, "", width = cursor::BATCH / 3),
            Item::Live(_) => "live\n".to_owned(),
        })
    }

    fn reset(&mut self, _: i64) -> Bytes {
        Bytes::new()
    }
}

fn seqs(bytes: &Bytes) -> Vec<i64> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines().map(|line| line.split(' ').next().unwrap()).filter(|word| *word != "live").map(|n| n.parse().unwrap()).collect()
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Count {
    fn reset_count(&self) -> usize {
        self.0.swap(0, Ordering::SeqCst)
    }
}

fn selection(session: Option<SessionId>, since: Option<i64>) -> Selection {
    Selection { workspace: WorkspaceId::MAIN, session, scope: Scope::All, since }
}

fn poll<R: Render<Output = Bytes>>(cursor: &mut Cursor<R>, waker: &Waker) -> Poll<Batch> {
    cursor.poll_batch(&mut Context::from_waker(waker))
}

/// A small feed over an empty database.
fn small(frames: usize) -> (Arc<Feed>, Arc<Database>) {
    let feed = Feed::with_bounds(Bounds { frames, bytes: usize::MAX });
    feed.seed(WorkspaceId::MAIN, 0);
    (feed, Arc::default())
}

fn stream(feed: &Feed, database: &Arc<Database>, session: Option<SessionId>, since: Option<i64>) -> Cursor<Seqs> {
    feed.cursor(selection(session, since), Arc::new(Shared(Arc::clone(database))), Seqs)
}

#[tokio::test]
async fn hundred_streams_get_every_frame_in_order_from_a_small_ring() {
    let (feed, database) = small(64);
    let plan: Vec<u8> = (0..2_000_u32).map(|n| ((n * n / 7) % 5) as u8).collect();
    let mut readers = tokio::task::JoinSet::new();
    for n in 0..100_u8 {
        // Every fourth stream follows one of five sessions.
        let only = (n % 4 == 0).then_some(n % 5);
        let seqs = (1_i64..).zip(&plan).filter(|(_, session)| only.is_none_or(|only| only == **session)).map(|(seq, _)| seq);
        let expected: Vec<_> = seqs.collect();
        let past = Arc::new(Shared(Arc::clone(&database)));
        let mut cursor = feed.cursor(selection(only.map(fixture::session), Some(0)), past, Native);
        readers.spawn(async move {
            let mut seen = Vec::new();
            while seen.len() < expected.len() {
                let Batch::Frames(bytes) = cursor.next_batch().await else { panic!("only frames come") };
                let text = std::str::from_utf8(&bytes).unwrap();
                seen.extend(text.lines().filter_map(|line| line.strip_prefix("id: ")).map(|id| id.parse::<i64>().unwrap()));
            }
            assert_eq!(seen, expected);
        });
    }
    let mut events = plan.iter().map(|session| database.commit(Some(fixture::session(*session)))).peekable();
    for size in (1..8).cycle() {
        // Some streams fall behind a ring of this size and have to read the database.
        tokio::task::yield_now().await;
        feed.publish(events.by_ref().take(size * 3).collect());
        if events.peek().is_none() {
            break;
        }
    }
    while let Some(done) = readers.join_next().await {
        done.unwrap();
    }
    assert_eq!(feed.streams(), 0);
}

#[test]
fn session_stream_is_woken_once_per_batch_of_its_session() {
    let (feed, database) = small(64);
    let (mine, other) = (fixture::session(1), fixture::session(2));
    let (count, all) = (Arc::new(Count::default()), Arc::new(Count::default()));
    let (waker, waker_of_all) = (Waker::from(Arc::clone(&count)), Waker::from(Arc::clone(&all)));
    let mut cursor = stream(&feed, &database, Some(mine), None);
    let mut everything = stream(&feed, &database, None, None);
    assert!(poll(&mut cursor, &waker).is_pending() && poll(&mut everything, &waker_of_all).is_pending());

    feed.publish((0..10).map(|_| database.commit(Some(other))).collect());
    feed.publish_live(fixture::delta(other, "x"));
    assert_eq!((count.reset_count(), all.reset_count()), (0, 1), "a waker is used once");

    feed.publish((0..10).map(|_| database.commit(Some(mine))).collect());
    assert_eq!((count.reset_count(), all.reset_count()), (1, 0), "it has not waited again");
    let Poll::Ready(Batch::Frames(bytes)) = poll(&mut cursor, &waker) else { panic!() };
    assert_eq!(seqs(&bytes), [11, 12, 13], "a batch ends when it is full");
}

#[test]
fn idle_session_stream_needs_no_database_while_others_are_busy() {
    let (feed, database) = small(4);
    let (mine, other) = (fixture::session(1), fixture::session(2));
    let mut cursor = stream(&feed, &database, Some(mine), None);
    assert!(poll(&mut cursor, Waker::noop()).is_pending());
    for _ in 0..100 {
        feed.publish(vec![database.commit(Some(other))]);
    }
    feed.publish(vec![database.commit(Some(mine))]);
    let Poll::Ready(Batch::Frames(bytes)) = poll(&mut cursor, Waker::noop()) else { panic!() };
    assert_eq!((seqs(&bytes), database.reads.load(Ordering::Relaxed)), (vec![101], 0));
}

#[test]
fn live_events_reach_open_streams_only_and_keep_positions() {
    let (feed, database) = small(64);
    let mine = fixture::session(1);
    feed.publish_live(fixture::delta(mine, "no stream is open"));
    let mut now = stream(&feed, &database, Some(mine), None);
    feed.publish(vec![database.commit(Some(mine))]);
    feed.publish_live(fixture::delta(mine, "a"));
    feed.publish_live(fixture::delta(fixture::session(2), "not for this one"));
    let mut later = stream(&feed, &database, Some(mine), Some(1));
    feed.publish(vec![database.commit(Some(mine))]);
    let text = |cursor: &mut Cursor<Seqs>| match poll(cursor, Waker::noop()) {
        Poll::Ready(Batch::Frames(bytes)) => std::str::from_utf8(&bytes)
            .unwrap()
            .lines()
            .map(|line| line.split(' ').next().unwrap().to_owned())
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(text(&mut now), ["1", "live", "2"]);
    assert_eq!(text(&mut later), ["2"]);
}

#[test]
fn deleted_and_future_positions_are_reset() {
    let (feed, database) = small(2);
    for _ in 0..10 {
        feed.publish(vec![database.commit(None)]);
    }
    database.trim(5);
    let first = |since| {
        let mut cursor = stream(&feed, &database, None, Some(since));
        std::iter::from_fn(|| match poll(&mut cursor, Waker::noop()) {
            Poll::Pending => Some(None),
            Poll::Ready(batch) => Some(Some(batch)),
        })
        .take(10)
        .flatten()
        .next()
    };
    assert!(matches!(first(4), Some(Batch::Reset { seq: 10, .. })));
    assert!(matches!(first(11), Some(Batch::Reset { seq: 10, .. })));
    assert!(matches!(first(i64::MAX), Some(Batch::Reset { seq: 10, .. })));
    assert!(matches!(first(i64::MIN), Some(Batch::Reset { seq: 10, .. })));
    assert!(matches!(first(5), Some(Batch::Frames(bytes)) if seqs(&bytes) == [6, 7, 8, 9, 10]));
    assert!(matches!(first(8), Some(Batch::Frames(bytes)) if seqs(&bytes) == [9, 10]));
    assert!(first(10).is_none());
}

#[test]
fn unseeded_feed_misses_nothing_after_its_first_event() {
    let feed = Feed::with_bounds(Bounds { frames: 8, bytes: usize::MAX });
    let database = Arc::new(Database::default());
    for _ in 0..20 {
        database.commit(None);
    }
    feed.publish(vec![database.commit(None)]);
    let mut cursor = stream(&feed, &database, None, Some(19));
    assert!(poll(&mut cursor, Waker::noop()).is_pending(), "the page is being read");
    let Poll::Ready(Batch::Frames(bytes)) = poll(&mut cursor, Waker::noop()) else { panic!() };
    assert_eq!(seqs(&bytes), [20, 21]);
}

#[test]
fn ring_is_bounded_by_the_size_of_its_events() {
    let feed = Feed::with_bounds(Bounds { frames: 1_000, bytes: 1024 * 1024 });
    let database = Arc::new(Database::default());
    let weak: Vec<_> = (1..=20)
        .map(|seq| {
            let mut event = fixture::make_ask_event(seq, None, fixture::question(&"x".repeat(100_000)));
            event.session = Some(fixture::session(1));
            let ask = Arc::downgrade(event.payload.ask().unwrap());
            feed.publish(vec![event]);
            ask
        })
        .collect();
    let kept = weak.iter().filter(|ask| ask.strong_count() > 0).count();
    assert!((1..=10).contains(&kept), "{kept}");
    assert_eq!(feed.head(WorkspaceId::MAIN), 20);
    drop(database);
}

/// The steps that the property test applies in random order.
#[derive(Debug, Clone)]
enum Step {
    /// Commits to the database; publishing to the ring is a separate step.
    Commit(Option<u8>),
    /// Publishes all or a part of the committed events to the ring.
    Publish(usize),
    Live(u8),
    Trim(usize),
    Open {
        session: Option<u8>,
        back: Option<i64>,
    },
    Drop(usize),
    /// Polls a stream, if it has been woken.
    Poll(usize),
    Beat,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let session = prop_oneof![Just(None), (0..3_u8).prop_map(Some)];
    let step = prop_oneof![
        6 => session.clone().prop_map(Step::Commit),
        4 => (1..6_usize).prop_map(Step::Publish),
        1 => (0..3_u8).prop_map(Step::Live),
        1 => (0..12_usize).prop_map(Step::Trim),
        2 => (session, prop_oneof![Just(None), (-2..12_i64).prop_map(Some)]).prop_map(|(session, back)| Step::Open { session, back }),
        1 => (0..8_usize).prop_map(Step::Drop),
        8 => (0..8_usize).prop_map(Step::Poll),
        1 => Just(Step::Beat),
    ];
    proptest::collection::vec(step, 1..200)
}

struct Reader {
    cursor: Cursor<Seqs>,
    session: Option<SessionId>,
    /// The position up to which the stream has seen everything.
    seen: i64,
    woken: Arc<Count>,
    waker: Waker,
}

impl Reader {
    /// Polls once and checks the batch against everything that was ever committed.
    fn poll(&mut self, history: &[Option<SessionId>], database: &Database) -> bool {
        if self.woken.reset_count() == 0 {
            return false;
        }
        let Poll::Ready(batch) = poll(&mut self.cursor, &self.waker) else { return true };
        // A stream that got a batch polls again, as a connection does.
        self.woken.0.store(1, Ordering::SeqCst);
        match batch {
            Batch::Frames(bytes) => {
                for seq in seqs(&bytes) {
                    assert_eq!(Some(seq), self.next(history), "after {}", self.seen);
                    self.seen = seq;
                }
            }
            Batch::Reset { seq, .. } => {
                let rows = database.rows.lock().unwrap();
                let gone = rows.events.first().map_or(rows.head + 1, |first| first.seq) > self.seen + 1;
                assert!(gone || self.seen > rows.head, "not reset without a reason");
                assert_eq!(seq, rows.head);
                self.seen = seq;
            }
            Batch::Quiet => {}
            Batch::Closed => panic!("the feed is closed"),
        }
        true
    }

    fn next(&self, history: &[Option<SessionId>]) -> Option<i64> {
        (self.seen.max(0) + 1..=history.len() as i64)
            .find(|seq| self.session.is_none() || history[usize::try_from(seq - 1).unwrap()] == self.session)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_stream_misses_or_repeats_an_event_in_any_interleaving(frames in 1..24_usize, steps in steps()) {
        let (feed, database) = small(frames);
        let mut history = Vec::new();
        let mut unpublished = std::collections::VecDeque::new();
        let mut readers: Vec<Reader> = Vec::new();
        let named = |number: Option<u8>| number.map(fixture::session);
        for step in steps {
            match step {
                Step::Commit(session) => {
                    history.push(named(session));
                    unpublished.push_back(database.commit(named(session)));
                }
                Step::Publish(many) => {
                    let many = many.min(unpublished.len());
                    feed.publish(unpublished.drain(..many).collect());
                }
                Step::Live(session) => feed.publish_live(fixture::delta(fixture::session(session), "x")),
                Step::Trim(keep) => database.trim(keep),
                Step::Open { session, back } => {
                    let since = back.map(|back| database.head() - back);
                    let cursor = stream(&feed, &database, named(session), since);
                    let woken = Arc::new(Count::default());
                    woken.0.store(1, Ordering::SeqCst);
                    let seen = since.unwrap_or_else(|| feed.head(WorkspaceId::MAIN));
                    readers.push(Reader { cursor, session: named(session), seen, waker: Waker::from(Arc::clone(&woken)), woken });
                }
                Step::Drop(which) if which < readers.len() => drop(readers.remove(which)),
                Step::Poll(which) if which < readers.len() => { readers[which].poll(&history, &database); }
                Step::Drop(_) | Step::Poll(_) => {}
                Step::Beat => feed.beat(),
            }
        }
        feed.publish(unpublished.into());
        // Streams that were not woken are not polled, so a lost wake-up would make events missing.
        for reader in &mut readers {
            while reader.poll(&history, &database) {}
            assert_eq!(reader.next(&history), None, "all of it arrived");
        }
        drop(readers);
        assert_eq!(feed.streams(), 0);
    }
}
