//! Pauses between retries.

use std::time::Duration;

/// Exponential backoff from `first` to `longest`. Half of each pause is random, so that many clients do not reconnect
/// at the same moment.
#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
    attempt: u32,
}

impl Backoff {
    pub(crate) const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, attempt: 0 }
    }

    /// The number of pauses since the last success.
    pub(crate) const fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Resets to the shortest pause after a success.
    pub(crate) const fn reset(&mut self) {
        self.attempt = 0;
    }

    /// The pause before the next attempt.
    pub(crate) fn next(&mut self) -> Duration {
        let mut byte = [0u8; 1];
        // Without random bytes, the pauses are only less spread out.
        let _ = getrandom::fill(&mut byte);
        self.next_with(byte[0])
    }

    fn next_with(&mut self, random: u8) -> Duration {
        let whole = self.first.saturating_mul(1 << self.attempt.min(16)).min(self.longest);
        self.attempt = self.attempt.saturating_add(1);
        whole / 2 + (whole / 2).mul_f64(f64::from(random) / 255.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_the_maximum_and_reset() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));
        let waits: Vec<u128> = (0..6).map(|_| backoff.next_with(255).as_millis()).collect();
        assert_eq!(waits, [100, 200, 400, 800, 1000, 1000]);
        assert_eq!(backoff.next_with(0).as_millis(), 500);
        backoff.reset();
        assert_eq!(backoff.next_with(255).as_millis(), 100);
        assert_eq!(backoff.attempt(), 1);
    }
}
