//! Digests that people compare and clients send back.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

/// The number of digits that [`ShaDigest::short`] returns.
const SHORT: usize = 12;

/// A SHA-256 digest. Written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ShaDigest([u8; 32]);

/// The BLAKE3 hash of a file. Written as 64 hexadecimal digits.
///
/// A file is hashed before its ask is opened, so the agent waits for it. BLAKE3 is about five times as fast as SHA-256 with the
/// processor's own instructions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileHash([u8; 32]);

impl FileHash {
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes).into())
    }
}

impl ShaDigest {
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    #[must_use]
    pub const fn to_bytes(self) -> [u8; 32] {
        self.0
    }

    /// Returns the first 16 bytes, for ids that are derived from content.
    pub(crate) fn first_half(&self) -> [u8; 16] {
        let mut half = [0; 16];
        half.copy_from_slice(&self.0[..16]);
        half
    }

    /// Returns the first 12 digits, for people to compare.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string().chars().take(SHORT).collect()
    }
}

/// Computes a digest over a list of fields. Each field is preceded by its length, so different lists never produce the same
/// bytes.
pub(crate) struct DigestFields(Sha256);

impl DigestFields {
    /// `layout` names the kind of value and the order of its fields. It is part of the digest.
    pub(crate) fn new(layout: &str) -> Self {
        let mut fields = Self(Sha256::new());
        fields.text(layout);
        fields
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
    }

    /// Adds an optional field. An absent field differs from an empty one.
    pub(crate) fn maybe(&mut self, text: Option<&str>) {
        self.0.update([u8::from(text.is_some())]);
        self.text(text.unwrap_or_default());
    }

    pub(crate) fn list<'a>(&mut self, texts: impl ExactSizeIterator<Item = &'a str>) {
        self.0.update((texts.len() as u64).to_le_bytes());
        texts.for_each(|text| self.text(text));
    }

    pub(crate) fn finish(self) -> ShaDigest {
        ShaDigest(self.0.finalize().into())
    }
}

/// The error for text that is not 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 hexadecimal digits")]
pub struct InvalidDigest;

/// Reads 64 hexadecimal digits.
fn parse(text: &str) -> Result<[u8; 32], InvalidDigest> {
    let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len() == 64).ok_or(InvalidDigest)?;
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::try_from(pair[0] * 16 + pair[1]).map_err(|_| InvalidDigest)?;
    }
    Ok(bytes)
}

/// Writes a digest as text, and reads it.
macro_rules! written_in_hexadecimal {
    ($digest:ident) => {
        impl fmt::Display for $digest {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $digest {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($digest))
            }
        }

        impl FromStr for $digest {
            type Err = InvalidDigest;

            fn from_str(text: &str) -> Result<Self, InvalidDigest> {
                parse(text).map(Self)
            }
        }

        impl Serialize for $digest {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $digest {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    };
}

written_in_hexadecimal!(ShaDigest);
written_in_hexadecimal!(FileHash);
