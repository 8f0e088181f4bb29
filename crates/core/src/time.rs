//! Points in time in milliseconds, and durations in the form that people read and write.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A point in time: milliseconds since 1970, UTC. Displayed and serialized as RFC 3339.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Returns the duration since `earlier`, or zero if `earlier` is in the future.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => write!(f, "{at:.3}"),
            Err(_) => write!(f, "{}", self.0),
        }
    }
}

impl FromStr for Time {
    type Err = ParseTimeError;
    fn from_str(text: &str) -> Result<Self, ParseTimeError> {
        text.parse::<jiff::Timestamp>().map(|at| Self(at.as_millisecond())).map_err(|_| ParseTimeError)
    }
}

impl Serialize for Time {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The error for text that is not an RFC 3339 time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a time such as 2026-11-15T14:03:00Z")]
pub struct ParseTimeError;

/// The error for text that is not a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a duration such as 30s, 10m, 2h or 1h30m")]
pub struct ParseSpanError;

/// A duration as it is written in files and commands: `45s`, `10m`, `2h`, `1d`, `1h30m`, `500ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub Duration);

impl FromStr for Span {
    type Err = ParseSpanError;
    fn from_str(text: &str) -> Result<Self, ParseSpanError> {
        let mut rest = text.trim();
        let mut millis: u64 = 0;
        if rest.is_empty() {
            return Err(ParseSpanError);
        }
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let number: u64 = rest[..digits].parse().map_err(|_| ParseSpanError)?;
            rest = &rest[digits..];
            let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
            let unit = match &rest[..letters] {
                "ms" => 1,
                "s" => 1_000,
                "m" | "min" => 60_000,
                "h" => 3_600_000,
                "d" => 86_400_000,
                _ => return Err(ParseSpanError),
            };
            rest = &rest[letters..];
            millis = number.checked_mul(unit).and_then(|more| millis.checked_add(more)).ok_or(ParseSpanError)?;
        }
        Ok(Self(Duration::from_millis(millis)))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut millis = self.0.as_millis();
        if millis == 0 {
            return f.write_str("0s");
        }
        for (unit, size) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)] {
            if millis >= size {
                write!(f, "{}{unit}", millis / size)?;
                millis %= size;
            }
        }
        Ok(())
    }
}

impl Serialize for Span {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Formats a duration in words: `10 minutes`, `1 hour 30 minutes`, `45 seconds`.
#[must_use]
pub fn in_words(span: Duration) -> String {
    let seconds = span.as_secs();
    if seconds == 0 {
        return format!("{} milliseconds", span.as_millis());
    }
    let mut parts = Vec::new();
    let mut left = seconds;
    for (word, size) in [("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)] {
        let n = left / size;
        left %= size;
        if n > 0 {
            parts.push(format!("{n} {word}{}", if n == 1 { "" } else { "s" }));
        }
    }
    parts.join(" ")
}

/// Formats a duration for narrow columns: `now`, `45s`, `7m`, `2h`, `3d`.
#[must_use]
pub fn in_short(span: Duration) -> String {
    match span.as_secs() {
        0 => "now".to_owned(),
        s @ 1..60 => format!("{s}s"),
        s @ 60..3_600 => format!("{}m", s / 60),
        s @ 3_600..172_800 => format!("{}h", s / 3_600),
        s => format!("{}d", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_and_print() {
        for (text, secs, back) in [("10m", 600, "10m"), ("1h30m", 5_400, "1h30m"), ("90s", 90, "1m30s"), ("2d", 172_800, "2d")] {
            let span: Span = text.parse().unwrap();
            assert_eq!((span.0.as_secs(), span.to_string().as_str()), (secs, back));
        }
        for wrong in ["", "10", "m", "10 m", "-1s", "1y", "99999999999999999999s", "18446744073709551615d"] {
            assert!(wrong.parse::<Span>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_are_formatted_in_words() {
        assert_eq!(in_words(Duration::from_secs(600)), "10 minutes");
        assert_eq!(in_words(Duration::from_secs(60)), "1 minute");
        assert_eq!(in_words(Duration::from_secs(3_661)), "1 hour 1 minute 1 second");
        assert_eq!(in_words(Duration::from_millis(20)), "20 milliseconds");
        assert_eq!(in_short(Duration::from_secs(425)), "7m");
    }

    #[test]
    fn times_are_formatted_as_rfc_3339() {
        let at = Time::from_millis(1_700_000_000_123);
        assert_eq!(at.to_string(), "2023-11-14T22:13:20.123Z");
        assert_eq!(at.to_string().parse::<Time>(), Ok(at));
    }
}
