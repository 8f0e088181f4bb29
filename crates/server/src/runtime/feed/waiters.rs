//! The streams that wait for the next frame.

use std::task::Waker;

/// The number of quiet heartbeats after which a stream sends a keep-alive. With a heartbeat every five seconds, no stream is
/// quiet for longer than 15 seconds.
pub(super) const QUIET_BEATS: u32 = 3;

/// A set of streams that wait for the same frames. A stream keeps its slot for its lifetime, so waiting again allocates
/// nothing.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    places: Vec<Place>,
    free: Vec<usize>,
}

#[derive(Debug, Default)]
struct Place {
    waker: Option<Waker>,
    quiet_since: u32,
}

impl Waiters {
    pub(super) fn join(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            self.places.len() - 1
        })
    }

    pub(super) fn leave(&mut self, place: usize) {
        self.places[place] = Place::default();
        self.free.push(place);
    }

    /// Returns whether there are no streams.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of streams.
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Registers the waker of a stream that has been quiet since this heartbeat.
    pub(super) fn wait(&mut self, place: usize, waker: &Waker, quiet_since: u32) {
        let place = &mut self.places[place];
        place.quiet_since = quiet_since;
        match &mut place.waker {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// Moves all wakers to `wake`. The caller wakes them after it has released the lock.
    pub(super) fn take_all(&mut self, wake: &mut Vec<Waker>) {
        wake.extend(self.places.iter_mut().filter_map(|place| place.waker.take()));
    }

    /// Moves the wakers of streams that have been quiet for too long to `wake`.
    pub(super) fn take_quiet(&mut self, beat: u32, wake: &mut Vec<Waker>) {
        let quiet = self.places.iter_mut().filter(|place| is_quiet(beat, place.quiet_since));
        wake.extend(quiet.filter_map(|place| place.waker.take()));
    }
}

/// Returns whether a stream has been quiet for too long.
pub(super) const fn is_quiet(beat: u32, quiet_since: u32) -> bool {
    beat.wrapping_sub(quiet_since) >= QUIET_BEATS
}
