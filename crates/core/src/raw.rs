//! JSON that is carried and displayed but never interpreted by this crate.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A JSON value kept exactly as it arrived, including field order, spacing and number formats. Clones share the text.
///
/// serde cannot deserialize it from inside a `flatten` or an internally tagged enum, because serde buffers those parts in its
/// own representation. Types that contain a `Raw` are therefore tagged externally.
#[derive(Clone)]
pub struct Raw(Arc<RawValue>);

impl Raw {
    /// Wraps a text if it is valid JSON.
    ///
    /// # Errors
    /// If the text is not exactly one JSON value.
    pub fn parse(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(Self::from)
    }

    /// Serializes a value. Returns `null` if it cannot be serialized.
    #[must_use]
    pub fn of<T: Serialize>(value: &T) -> Self {
        serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned()).into()
    }

    /// Returns the original text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl From<Box<RawValue>> for Raw {
    fn from(value: Box<RawValue>) -> Self {
        Self(value.into())
    }
}

impl Serialize for Raw {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(s)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(d).map(Self::from)
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Raw {}

impl std::fmt::Debug for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
