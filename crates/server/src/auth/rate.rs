//! Rate limits for bad tokens, login codes and the calls of `agent` tokens.
//!
//! The code is pure: the time is an argument, and nothing waits.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use sayso_core::time::Time;

/// The maximum number of keys in memory.
const KEYS: usize = 4096;

/// A token bucket per key, refilled over time.
#[derive(Debug)]
pub(crate) struct RateLimit<K> {
    buckets: HashMap<K, Bucket>,
    burst: u32,
    /// How long it takes until one more attempt is allowed.
    every: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    /// The used attempts, as the time until they are refilled.
    debt: Duration,
    at: Time,
}

impl<K: Eq + Hash> RateLimit<K> {
    /// Allows `burst` attempts at once, and then one attempt per `every`.
    pub(crate) fn new(burst: u32, every: Duration) -> Self {
        Self { buckets: HashMap::new(), burst, every }
    }

    /// Counts an attempt if it is allowed now, and returns whether it is.
    pub(crate) fn allow(&mut self, key: K, now: Time) -> bool {
        self.allow_many(key, 1, now)
    }

    /// Counts several attempts if they are all allowed now, and returns whether they are.
    pub(crate) fn allow_many(&mut self, key: K, count: u32, now: Time) -> bool {
        if self.buckets.len() >= KEYS && !self.buckets.contains_key(&key) {
            self.forget(now);
        }
        let bucket = self.buckets.entry(key).or_insert(Bucket { debt: Duration::ZERO, at: now });
        // If the clock was set back, nothing is refilled until it advances again.
        let cost = self.every.saturating_mul(count);
        let debt = bucket.debt.saturating_sub(now.since(bucket.at)).saturating_add(cost);
        bucket.at = now;
        let allowed = debt <= self.every * self.burst;
        bucket.debt = if allowed { debt } else { debt - cost };
        allowed
    }

    /// Undoes attempts that were counted but did not happen.
    pub(crate) fn refund(&mut self, key: &K, count: u32) {
        if let Some(bucket) = self.buckets.get_mut(key) {
            bucket.debt = bucket.debt.saturating_sub(self.every.saturating_mul(count));
        }
    }

    /// Removes full buckets. If that is not enough, removes the quarter of buckets that was unused for longest. Memory stays
    /// bounded under an attack from many addresses, and removing a quarter at once keeps this cheap.
    fn forget(&mut self, now: Time) {
        self.buckets.retain(|_, bucket| bucket.debt > now.since(bucket.at));
        if self.buckets.len() >= KEYS {
            let mut seen: Vec<Time> = self.buckets.values().map(|bucket| bucket.at).collect();
            let (_, cut, _) = seen.select_nth_unstable(KEYS / 4);
            let cut = *cut;
            let mut surplus = KEYS / 4;
            self.buckets.retain(|_, bucket| {
                let old = bucket.at <= cut && surplus > 0;
                surplus -= usize::from(old);
                !old
            });
        }
    }
}

/// Returns the address that identifies a client. An IPv6 client can use a whole /64.
pub(crate) fn client_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Time {
        Time::from_millis(millis)
    }

    #[test]
    fn rate_limit_allows_a_burst_then_refills() {
        let mut limit = RateLimit::new(3, Duration::from_secs(10));
        let tries = |limit: &mut RateLimit<&str>, key, now| (0..5).filter(|_| limit.allow(key, at(now))).count();
        assert_eq!(tries(&mut limit, "a", 0), 3);
        assert_eq!(tries(&mut limit, "b", 0), 3, "each key has its own");
        assert_eq!(tries(&mut limit, "a", 9_999), 0);
        assert_eq!(tries(&mut limit, "a", 10_000), 1, "refused attempts cost nothing");
        assert_eq!(tries(&mut limit, "a", 10_000_000), 3, "no more than the burst is saved up");
    }

    #[test]
    fn many_attempts_are_allowed_together_or_not_at_all() {
        let mut limit = RateLimit::new(10, Duration::from_secs(1));
        assert!(limit.allow_many("a", 8, at(0)));
        assert!(!limit.allow_many("a", 3, at(0)), "a refused attempt costs nothing");
        assert!(limit.allow_many("a", 2, at(0)));
        assert!(!limit.allow_many("a", 1, at(0)));
        limit.refund(&"a", 8);
        assert!(limit.allow_many("a", 8, at(0)) && !limit.allow_many("a", 1, at(0)));
        assert!(!limit.allow_many("b", u32::MAX, at(0)));
    }

    #[test]
    fn rate_limit_survives_a_clock_that_jumps_back() {
        let mut limit = RateLimit::new(1, Duration::from_secs(1));
        assert!(limit.allow("a", at(1_000_000)));
        assert!(!limit.allow("a", at(0)));
        assert!(limit.allow("a", at(1_000)));
    }

    #[test]
    fn memory_is_bounded_and_the_latest_are_remembered() {
        let mut limit = RateLimit::new(1, Duration::from_secs(1_000_000));
        for key in 0..100_000_i64 {
            assert!(limit.allow(key, at(key)));
            assert!(limit.buckets.len() <= KEYS);
        }
        assert!(!limit.allow(99_999, at(100_000)));
        assert!(!limit.allow(100_000 - 1_000, at(100_000)));
        // All keys have the same age.
        let mut limit = RateLimit::new(1, Duration::from_secs(1_000_000));
        for key in 0..10_000 {
            limit.allow(key, at(0));
            assert!(limit.buckets.len() <= KEYS);
        }
    }

    #[test]
    fn ipv6_clients_are_limited_by_their_64_bit_prefix() {
        let who = |text: &str| client_address(text.parse().unwrap()).to_string();
        assert_eq!(who("192.0.2.7"), "192.0.2.7");
        assert_eq!(who("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(who("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    }
}
