//! JSON that is carried and shown but never interpreted here.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A piece of JSON kept exactly as it arrived: field order, spacing and numbers untouched. Copies share it.
///
/// It cannot be read back from inside a `flatten` or an internally tagged enum, because serde keeps
/// those parts in a form of its own first. Types that hold one are therefore tagged externally.
#[derive(Clone)]
pub struct Raw(Arc<RawValue>);

impl Raw {
    /// Keeps this text if it is JSON.
    ///
    /// # Errors
    /// When the text is not one JSON value.
    pub fn parse(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(Self::from)
    }

    /// The JSON of a value; `null` should it have none.
    #[must_use]
    pub fn of<T: Serialize>(value: &T) -> Self {
        serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned()).into()
    }

    /// The text as it arrived.
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
