//! Random bytes of the system, for ids and secrets.

use sayso_core::id::Entropy;
use sha2::{Digest, Sha256};

/// Returns random bytes. Ends the process if the system has none, because secrets must not be guessable. The source does not
/// fail once the system has started.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if getrandom::fill(&mut bytes).is_err() {
        tracing::error!("cannot read random bytes from the system; stopping");
        std::process::abort();
    }
    bytes
}

/// Returns the random part of an id.
pub(crate) fn id() -> Entropy {
    bytes()
}

/// Derives the random parts of ids from a seed. The same seed yields the same sequence, so code that must be a pure function of
/// its state uses this instead of [`id`].
#[derive(Debug)]
pub(crate) struct IdSource {
    seed: [u8; 32],
    made: u64,
}

impl IdSource {
    pub(crate) const fn new(seed: [u8; 32]) -> Self {
        Self { seed, made: 0 }
    }

    /// Returns the random part of the next id.
    pub(crate) fn next_id(&mut self) -> Entropy {
        self.made += 1;
        let digest = Sha256::new().chain_update(self.seed).chain_update(self.made.to_be_bytes()).finalize();
        let mut id = Entropy::default();
        id.copy_from_slice(&digest[..size_of::<Entropy>()]);
        id
    }
}

/// Creates a secret: 32 random bytes as hexadecimal digits.
pub(crate) fn secret(prefix: &str) -> String {
    let mut text = String::with_capacity(prefix.len() + 64);
    text.push_str(prefix);
    text.push_str(&hex(&bytes::<32>()));
    text
}

/// Formats bytes as lower-case hexadecimal digits.
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
