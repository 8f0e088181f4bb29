//! Argument values that several commands share.

use sayso_core::time::Span;

/// A label of an ask, a session or a run, written as `KEY=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) key: String,
    pub(crate) value: String,
}

impl std::str::FromStr for Label {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((key, value)) if !key.is_empty() => Ok(Self { key: key.to_owned(), value: value.to_owned() }),
            Some(_) | None => Err("expected KEY=VALUE, for example team=shop".to_owned()),
        }
    }
}

/// A duration, or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnOff {
    For(Span),
    Off,
}

impl std::str::FromStr for OnOff {
    type Err = sayso_core::time::ParseSpanError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "off" { Ok(Self::Off) } else { text.parse().map(Self::For) }
    }
}
