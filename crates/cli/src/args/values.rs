//! Values that several commands take.

use sayso_core::time::Span;

/// A label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    /// Before the `=`.
    pub(crate) key: String,
    /// After it.
    pub(crate) value: String,
}

impl std::str::FromStr for Label {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((key, value)) if !key.is_empty() => Ok(Self { key: key.to_owned(), value: value.to_owned() }),
            Some(_) | None => Err("a label looks like team=shop".to_owned()),
        }
    }
}

/// A length of time, or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnOff {
    /// For this long.
    For(Span),
    /// No longer.
    Off,
}

impl std::str::FromStr for OnOff {
    type Err = sayso_core::time::ParseSpanError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "off" { Ok(Self::Off) } else { text.parse().map(Self::For) }
    }
}
