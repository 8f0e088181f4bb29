//! Who waits for the next frame.

use std::task::Waker;

/// How many beats of silence there are before a stream says that it is still there. With a beat
/// every five seconds no stream is silent for longer than fifteen.
pub(super) const QUIET_BEATS: u32 = 3;

/// A set of streams that wait for the same frames. A place is kept for as long as the stream
/// lives, so that waiting again allocates nothing.
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
    /// Takes a place.
    pub(super) fn join(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            self.places.len() - 1
        })
    }

    /// Gives a place back.
    pub(super) fn leave(&mut self, place: usize) {
        self.places[place] = Place::default();
        self.free.push(place);
    }

    /// Whether nobody listens.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many listen.
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Waits at this place; the stream has said nothing since that beat.
    pub(super) fn wait(&mut self, place: usize, waker: &Waker, quiet_since: u32) {
        let place = &mut self.places[place];
        place.quiet_since = quiet_since;
        match &mut place.waker {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// Everybody who waits. They are woken by the caller, after the lock is released.
    pub(super) fn take_all(&mut self, wake: &mut Vec<Waker>) {
        wake.extend(self.places.iter_mut().filter_map(|place| place.waker.take()));
    }

    /// Those who have been silent for too long.
    pub(super) fn take_quiet(&mut self, beat: u32, wake: &mut Vec<Waker>) {
        let quiet = self.places.iter_mut().filter(|place| is_quiet(beat, place.quiet_since));
        wake.extend(quiet.filter_map(|place| place.waker.take()));
    }
}

/// Whether a stream that said nothing since that beat has been silent for too long.
pub(super) const fn is_quiet(beat: u32, quiet_since: u32) -> bool {
    beat.wrapping_sub(quiet_since) >= QUIET_BEATS
}
