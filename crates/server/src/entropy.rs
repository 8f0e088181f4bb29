//! Randomness for ids and secrets, from the system.

use sayso_core::id::Entropy;

/// Random bytes. The system's source does not fail once it is up; should it, we must not go on with
/// guessable secrets.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if getrandom::fill(&mut bytes).is_err() {
        tracing::error!("the system has no randomness; stopping");
        std::process::abort();
    }
    bytes
}

/// The random part of an id.
pub(crate) fn id() -> Entropy {
    bytes()
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
