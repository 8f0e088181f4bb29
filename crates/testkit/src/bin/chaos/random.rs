//! A reproducible random generator: xorshift64*, which is sufficient for times and answers.

use std::ops::Range;

use anyhow::{Context as _, Result};

#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        // The state must not be zero, and similar seeds should not produce similar sequences.
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            random.next();
        }
        random
    }

    pub(crate) fn fresh_seed() -> Result<u64> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).context("no entropy")?;
        // Short enough to type.
        Ok(u64::from_le_bytes(bytes) % 1_000_000_000)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number in this range.
    pub(crate) fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.next() % (range.end - range.start).max(1)
    }

    /// True with probability 1 in `times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.within(0..times) == 0
    }

    pub(crate) fn of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        let at = self.within(0..u64::try_from(all.len()).unwrap_or(1));
        all.get(usize::try_from(at).unwrap_or(0))
    }
}
