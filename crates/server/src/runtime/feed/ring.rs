//! The ring: the latest frames of one workspace, and the streams that wait for more.
//!
//! Entries have an *index* that only increases, because live-only frames lie between the stored ones and have no `seq`. Each
//! entry links to the previous entry of the same session, so a stream of one session visits only its own frames, however busy
//! other sessions are.
//!
//! # Invariants
//! - The ring contains every stored frame with `floor < seq <= head`. A stream whose position is at `floor` or later can therefore
//!   continue in the ring; one before it reads from the database ([`RingRead::Behind`]).
//! - Dropping the oldest entry raises `floor` to its `seq`. Dropping never waits for a stream: a slow stream falls behind and reads
//!   from the database.
//! - If the writer publishes a `seq` other than `head + 1`, the ring is emptied and one index is skipped. All streams then notice
//!   that they are behind, and read the missing events from the database.
//!
//! # Locking
//! One mutex protects the ring. The writer's thread appends under it, so no caller renders, allocates frames, wakes tasks or drops
//! frames while holding it, and a stream of all sessions visits at most [`ENTRIES_AT_ONCE`] entries per call. A stream registers
//! its waker under the same lock under which it found nothing to read, so no wake-up is lost.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use sayso_core::id::SessionId;
use sayso_core::scope::Scope;

use super::frame::Frame;
use super::waiters::{Waiters, is_quiet};

/// How many frames a stream takes at once, which limits how long the lock is held. Small in tests, so that they reach the
/// bound.
const FRAMES_AT_ONCE: usize = if cfg!(test) { 4 } else { 128 };
/// How many entries are visited under one lock.
const ENTRIES_AT_ONCE: usize = if cfg!(test) { 6 } else { 1024 };

/// The capacity of a ring. The bound that is reached first applies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) frames: usize,
    /// The total of [`Frame::weight`].
    pub(super) bytes: usize,
}

/// The latest frames of one workspace.
#[derive(Debug)]
pub(super) struct Ring {
    state: Mutex<RingState>,
    bounds: Bounds,
}

#[derive(Debug)]
struct RingState {
    entries: VecDeque<Entry>,
    /// The index of the first entry. At least 1, because index 0 means none.
    first: u64,
    /// The last published `seq`.
    head: i64,
    /// The ring contains every stored frame after this `seq`, up to `head`.
    floor: i64,
    bytes: usize,
    /// Sessions with an entry or a stream. Bounded by both.
    sessions: HashMap<SessionId, RingSession>,
    /// Streams of all sessions.
    all: Waiters,
    /// The number of heartbeats so far.
    beat: u32,
    closed: bool,
}

#[derive(Debug)]
struct Entry {
    frame: Arc<Frame>,
    /// The `seq` of the frame, or for a live-only frame the last `seq` before it.
    seq: i64,
    /// No entry between this index and the entry's own index belongs to the same session.
    previous: u64,
    weight: usize,
}

#[derive(Debug, Default)]
struct RingSession {
    /// No entry after this index belongs to the session. Entries from before the session was known to the ring do not matter,
    /// because a later stream starts after them.
    last: u64,
    waiters: Waiters,
}

/// The position of a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct StreamPosition {
    /// Everything up to this `seq` was sent, or does not concern the stream.
    pub(super) seq: i64,
    /// The next index to visit. Absent while the stream reads from the database.
    pub(super) index: Option<u64>,
    /// Whether this `seq` is known to exist. A client may send one from the future.
    pub(super) known: bool,
    /// The heartbeat at which the stream last sent something.
    pub(super) quiet_since: u32,
}

/// A stream's slot among the waiters.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket {
    session: Option<SessionId>,
    place: usize,
}

/// The result of reading from the ring.
#[derive(Debug)]
pub(super) enum RingRead {
    /// Frames, each with its index, and the position of the stream after sending them.
    Frames { frames: Vec<(u64, Arc<Frame>)>, end: StreamPosition },
    /// The position is no longer in the ring, or not known to exist. Read from the database.
    Behind,
    /// Nothing to send for so long that the stream should send a heartbeat.
    Quiet,
    /// Nothing to send; the waker is registered.
    Waiting,
    /// Nothing to send, and the feed is closed.
    Closed,
}

impl Ring {
    pub(super) fn new(head: i64, bounds: Bounds) -> Self {
        let state = RingState {
            entries: VecDeque::new(),
            first: 1,
            head,
            floor: head,
            bytes: 0,
            sessions: HashMap::new(),
            all: Waiters::default(),
            beat: 0,
            closed: false,
        };
        Self { state: Mutex::new(state), bounds }
    }

    fn lock(&self) -> MutexGuard<'_, RingState> {
        // No code in this module panics in the middle of a change, so a poisoned state is still consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the last published `seq`.
    pub(super) fn head(&self) -> i64 {
        self.lock().head
    }

    /// Returns the number of open streams.
    pub(super) fn streams(&self) -> usize {
        let state = self.lock();
        state.all.len() + state.sessions.values().map(|session| session.waiters.len()).sum::<usize>()
    }

    /// Appends frames and wakes the streams that they concern, each once.
    pub(super) fn publish(&self, frames: impl Iterator<Item = Frame>) {
        // Memory is allocated before the lock is taken, and freed after it is released.
        let frames: Vec<_> = frames.map(|frame| (frame.weight(), Arc::new(frame))).collect();
        let (mut wake, mut gone) = (Vec::new(), Vec::new());
        {
            let mut state = self.lock();
            for (weight, frame) in frames {
                state.push(frame, weight, &mut wake, &mut gone);
                state.evict(self.bounds, &mut gone);
            }
            state.all.take_all(&mut wake);
        }
        wake.into_iter().for_each(Waker::wake);
        drop(gone);
    }

    /// Publishes a live-only frame to the open streams, if there are any.
    pub(super) fn publish_live(&self, session: SessionId, frame: impl FnOnce() -> Frame) {
        let heard = {
            let state = self.lock();
            !state.all.is_empty() || state.sessions.get(&session).is_some_and(|session| !session.waiters.is_empty())
        };
        if heard {
            self.publish(std::iter::once(frame()));
        }
    }

    /// Advances the heartbeat and wakes streams that have been quiet for too long.
    pub(super) fn beat(&self) {
        let mut wake = Vec::new();
        {
            let mut state = self.lock();
            state.beat = state.beat.wrapping_add(1);
            let beat = state.beat;
            state.all.take_quiet(beat, &mut wake);
            state.sessions.values_mut().for_each(|session| session.waiters.take_quiet(beat, &mut wake));
        }
        wake.into_iter().for_each(Waker::wake);
    }

    /// Closes every stream after it has sent the frames in the ring.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.wake();
    }

    /// Wakes every stream. Streams with nothing to send wait again.
    pub(super) fn wake(&self) {
        let mut wake = Vec::new();
        {
            let mut state = self.lock();
            state.all.take_all(&mut wake);
            state.sessions.values_mut().for_each(|session| session.waiters.take_all(&mut wake));
        }
        wake.into_iter().for_each(Waker::wake);
    }

    /// Registers a stream that starts after `since`, or with the next new event.
    pub(super) fn join(&self, session: Option<SessionId>, since: Option<i64>) -> (Ticket, StreamPosition) {
        let mut state = self.lock();
        let place = match session {
            None => state.all.join(),
            Some(id) => state.sessions.entry(id).or_default().waiters.join(),
        };
        let position = StreamPosition {
            seq: since.unwrap_or(state.head),
            index: since.is_none().then(|| state.end()),
            known: since.is_none(),
            quiet_since: state.beat,
        };
        (Ticket { session, place }, position)
    }

    pub(super) fn leave(&self, ticket: Ticket) {
        let mut state = self.lock();
        let Some(id) = ticket.session else {
            state.all.leave(ticket.place);
            return;
        };
        let first = state.first;
        if let Some(session) = state.sessions.get_mut(&id) {
            session.waiters.leave(ticket.place);
            if session.waiters.is_empty() && session.last < first {
                state.sessions.remove(&id);
            }
        }
    }

    /// Reads the next frames for a stream. Updates `position` if there are none. Returned frames count as sent only when the
    /// stream adopts `end`.
    pub(super) fn read_frames(&self, ticket: Ticket, scope: &Scope, position: &mut StreamPosition, waker: &Waker) -> RingRead {
        let mut state = self.lock();
        let Some(index) = position.index.or_else(|| state.index_after(position)) else {
            return if state.closed { RingRead::Closed } else { RingRead::Behind };
        };
        position.known = true;
        let found = match ticket.session {
            None => state.gather(index, position.seq, scope),
            Some(id) => state.gather_session(id, index, position.seq, scope),
        };
        let Some((frames, (next, seq))) = found else {
            position.index = None;
            return if state.closed { RingRead::Closed } else { RingRead::Behind };
        };
        let end =
            StreamPosition { seq: seq.max(position.seq), index: Some(next), known: true, quiet_since: position.quiet_since };
        if !frames.is_empty() {
            return RingRead::Frames { frames, end: StreamPosition { quiet_since: state.beat, ..end } };
        }
        *position = end;
        if next < state.end() {
            // Many entries were visited and none matched the scope. Release the lock, then continue.
            return RingRead::Frames { frames, end };
        }
        if state.closed {
            return RingRead::Closed;
        }
        if is_quiet(state.beat, position.quiet_since) {
            position.quiet_since = state.beat;
            return RingRead::Quiet;
        }
        match ticket.session {
            None => state.all.wait(ticket.place, waker, position.quiet_since),
            Some(id) => state.sessions.entry(id).or_default().waiters.wait(ticket.place, waker, position.quiet_since),
        }
        RingRead::Waiting
    }
}

/// Frames with their index, and the index and `seq` of the stream after sending them.
type Gathered = (Vec<(u64, Arc<Frame>)>, (u64, i64));

impl RingState {
    /// Returns the index that the next entry will get.
    fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    fn entry(&self, index: u64) -> Option<&Entry> {
        self.entries.get(usize::try_from(index.checked_sub(self.first)?).ok()?)
    }

    fn push(&mut self, frame: Arc<Frame>, weight: usize, wake: &mut Vec<Waker>, gone: &mut Vec<Entry>) {
        if let Some(seq) = frame.seq() {
            if seq <= self.head {
                tracing::error!(seq, head = self.head, "an event was published twice");
                return;
            }
            if seq != self.head + 1 {
                self.tear(seq - 1, wake, gone);
            }
            self.head = seq;
        }
        let index = self.end();
        let previous = frame.session().map_or(0, |id| {
            let session = self.sessions.entry(id).or_default();
            session.waiters.take_all(wake);
            std::mem::replace(&mut session.last, index)
        });
        self.bytes += weight;
        self.entries.push_back(Entry { frame, seq: self.head, previous, weight });
    }

    /// Drops the oldest entries until the rest is within bounds. The newest entry always stays.
    fn evict(&mut self, bounds: Bounds, gone: &mut Vec<Entry>) {
        while self.entries.len() > 1 && (self.entries.len() > bounds.frames || self.bytes > bounds.bytes) {
            let Some(entry) = self.entries.pop_front() else { return };
            if let Some(id) = entry.frame.session()
                && let Some(session) = self.sessions.get(&id)
                && session.last == self.first
                && session.waiters.is_empty()
            {
                self.sessions.remove(&id);
            }
            self.first += 1;
            self.floor = entry.seq;
            self.bytes -= entry.weight;
            gone.push(entry);
        }
    }

    /// Restarts the ring after `floor`, because events in between were never published. One index is skipped, so that every
    /// stream notices that it is behind.
    fn tear(&mut self, floor: i64, wake: &mut Vec<Waker>, gone: &mut Vec<Entry>) {
        if !self.entries.is_empty() {
            tracing::error!(head = self.head, floor, "events were not published; streams read them from the database");
        }
        self.first = self.end() + 1;
        gone.extend(self.entries.drain(..));
        self.bytes = 0;
        self.floor = floor;
        let hole = self.first - 1;
        self.sessions.retain(|_, session| {
            session.last = hole;
            session.waiters.take_all(wake);
            !session.waiters.is_empty()
        });
    }

    /// Returns the index at which to continue after a `seq`, if the ring has everything after it.
    fn index_after(&self, position: &StreamPosition) -> Option<u64> {
        let here = position.seq >= self.floor && (position.known || position.seq <= self.head);
        here.then(|| self.first + self.entries.partition_point(|entry| entry.seq <= position.seq) as u64)
    }

    /// Collects frames for a stream of all sessions. `None` if some are no longer in the ring.
    fn gather(&self, index: u64, sent: i64, scope: &Scope) -> Option<Gathered> {
        let start = usize::try_from(index.checked_sub(self.first)?).ok()?;
        let mut frames = Vec::new();
        let (mut next, mut seq) = (index, sent);
        for entry in self.entries.range(start.min(self.entries.len())..).take(ENTRIES_AT_ONCE) {
            if frames.len() == FRAMES_AT_ONCE {
                break;
            }
            if entry.frame.seq().is_none_or(|seq| seq > sent) && entry.frame.visible_to(scope) {
                frames.push((next, Arc::clone(&entry.frame)));
            }
            next += 1;
            seq = entry.seq;
        }
        Some((frames, (next, seq)))
    }

    /// Collects frames for a stream of one session. `None` if some are no longer in the ring.
    fn gather_session(&self, id: SessionId, index: u64, sent: i64, scope: &Scope) -> Option<Gathered> {
        let mut frames = Vec::new();
        let mut at = self.sessions.get(&id).map_or(0, |session| session.last);
        while at >= index {
            let entry = self.entry(at)?;
            if entry.frame.seq().is_none_or(|seq| seq > sent) && entry.frame.visible_to(scope) {
                frames.push((at, Arc::clone(&entry.frame)));
            }
            at = entry.previous;
        }
        frames.reverse();
        let mut end = (self.end(), self.head);
        if let Some((next, _)) = frames.get(FRAMES_AT_ONCE) {
            end = (*next, self.entry(*next - 1).map_or(sent, |entry| entry.seq));
            frames.truncate(FRAMES_AT_ONCE);
        }
        Some((frames, end))
    }
}
