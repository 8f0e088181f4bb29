//! Identifiers: a prefix that says what it names, and a UUIDv7, so that ids sort by age.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::time::Time;

/// The random part of a new id. The caller brings it, because this crate has no entropy of its own.
pub type Entropy = [u8; 10];

/// Text that is not an id of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an id that starts with `{prefix}`")]
pub struct ParseIdError {
    prefix: &'static str,
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// What every id of this kind starts with.
            pub const PREFIX: &'static str = $prefix;

            /// A new id that sorts after those made earlier.
            #[must_use]
            pub fn new(now: Time, entropy: Entropy) -> Self {
                let millis = u64::try_from(now.as_millis()).unwrap_or(0);
                Self(uuid::Builder::from_unix_timestamp_millis(millis, &entropy).into_uuid())
            }

            /// The sixteen bytes that are stored.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// The id whose stored bytes these are.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            /// The last four characters: enough for a person to tell two recent ids apart.
            #[must_use]
            pub fn short(&self) -> String {
                let text = self.to_string();
                text[text.len() - 4..].to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0.simple())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;
            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                text.strip_prefix($prefix)
                    .filter(|hex| hex.len() == 32 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
                    .and_then(|hex| Uuid::try_parse(hex).ok())
                    .map(Self)
                    .ok_or(ParseIdError { prefix: $prefix })
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

ids! {
    /// One thing an agent wants from a person.
    AskId = "ask_";
    /// One conversation with one agent.
    SessionId = "ses_";
    /// What carries sessions.
    ConnectionId = "con_";
    /// One execution of a workflow.
    RunId = "run_";
    /// A bearer token (its name, not its secret).
    TokenId = "tok_";
    /// One message or tool call in a transcript.
    BlockId = "blk_";
    /// The asks of one pause of a suspended run.
    GroupId = "grp_";
    /// A time-limited rule that a person gave by hand.
    GrantId = "gra_";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_and_refuses_strangers() {
        let id = AskId::new(Time::from_millis(1_700_000_000_000), [7; 10]);
        assert_eq!(id.to_string().parse::<AskId>(), Ok(id));
        assert!(id.to_string().starts_with("ask_018bcfe568"));
        for wrong in ["", "ask_", "ses_018bcfe5680070077007070707070707", "ask_018BCFE5680070077007070707070707"] {
            assert!(wrong.parse::<AskId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn ids_sort_by_the_time_they_were_made() {
        let early = SessionId::new(Time::from_millis(1), [255; 10]);
        let late = SessionId::new(Time::from_millis(2), [0; 10]);
        assert!(early < late);
    }
}
