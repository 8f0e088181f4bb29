//! Randomness for ids and secrets, from the system.

use sayso_core::id::Entropy;
use sha2::{Digest, Sha256};

/// Random bytes. The system's source does not fail once it is up; should it, we must not go on with
/// guessable secrets.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if getrandom::fill(&mut bytes).is_err() {
        tracing::error!("cannot read random bytes from the system; stopping");
        std::process::abort();
    }
    bytes
}

/// The random part of an id.
pub(crate) fn id() -> Entropy {
    bytes()
}

/// Makes the random parts of ids from a seed: the same seed gives the same sequence. Code that has to be a pure function of
/// its state keeps one of these instead of calling [`id`].
#[derive(Debug)]
pub(crate) struct IdSource {
    seed: [u8; 32],
    made: u64,
}

impl IdSource {
    pub(crate) const fn new(seed: [u8; 32]) -> Self {
        Self { seed, made: 0 }
    }

    /// The next random part.
    pub(crate) fn next_id(&mut self) -> Entropy {
        self.made += 1;
        let digest = Sha256::new().chain_update(self.seed).chain_update(self.made.to_be_bytes()).finalize();
        let mut id = Entropy::default();
        id.copy_from_slice(&digest[..size_of::<Entropy>()]);
        id
    }
}

/// A secret as text: 32 random bytes in hex.
pub(crate) fn secret(prefix: &str) -> String {
    let mut text = String::with_capacity(prefix.len() + 64);
    text.push_str(prefix);
    text.push_str(&hex(&bytes::<32>()));
    text
}

/// Bytes in hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)] as char, DIGITS[usize::from(byte & 15)] as char]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_yields_a_repeatable_sequence_of_distinct_ids() {
        let take = |seed| {
            let mut ids = IdSource::new([seed; 32]);
            [ids.next_id(), ids.next_id()]
        };
        let [first, second] = take(1);
        assert_ne!(first, second);
        assert_eq!(take(1), [first, second]);
        assert_ne!(take(2), [first, second]);
    }
}
