//! Two hashes: a short one that identifies a set of rules, and a strong one for trusted policy files.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// Computes the 64-bit FNV-1a hash, which is stable across versions and machines, unlike the hasher of `std`.
pub(super) fn fingerprint(parts: &[&[u8]]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for part in parts {
        // The length comes first, so that different lists of parts cannot have the same bytes.
        for byte in (part.len() as u64).to_le_bytes().iter().chain(*part) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash
}

/// Computes the hash that `sayso policy trust` stores: SHA-256 of the text of the file, in hexadecimal.
#[must_use]
pub fn project_hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_equal_published_test_vectors() {
        assert_eq!(project_hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_ne!(fingerprint(&[b"ab", b"c"]), fingerprint(&[b"a", b"bc"]));
        assert_eq!(fingerprint(&[]), 0xcbf2_9ce4_8422_2325);
    }
}
