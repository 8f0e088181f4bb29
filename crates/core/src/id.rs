//! Identifiers: a prefix that names the kind, and a UUIDv7, so that ids sort by age.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::time::Time;

/// The random part of a new id. The caller supplies it, because this crate has no source of randomness.
pub type Entropy = [u8; 10];

/// The error for text that is not an id of the expected kind.
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
            /// The prefix of every id of this kind.
            pub const PREFIX: &'static str = $prefix;

            /// Creates an id that sorts after all ids created earlier.
            #[must_use]
            pub fn new(now: Time, entropy: Entropy) -> Self {
                let millis = u64::try_from(now.as_millis()).unwrap_or(0);
                Self(uuid::Builder::from_unix_timestamp_millis(millis, &entropy).into_uuid())
            }

            /// Returns the 16 bytes that the database stores.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// Restores an id from its 16 stored bytes.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            /// Returns the last four characters. They usually suffice for people to tell recent ids apart.
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
    /// Identifies an ask.
    AskId = "ask_";
    /// Identifies a conversation with an agent.
    SessionId = "ses_";
    /// Identifies a connection, which carries sessions.
    ConnectionId = "con_";
    /// Identifies one execution of a workflow.
    RunId = "run_";
    /// Identifies a bearer token. This is its public name, not its secret.
    TokenId = "tok_";
    /// Identifies a message or tool call in a transcript.
    BlockId = "blk_";
    /// The asks of one pause of a suspended run.
    GroupId = "grp_";
    /// Identifies a temporary rule that a person added.
    GrantId = "gra_";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_round_trips_and_refuses_other_prefixes() {
        let id = AskId::new(Time::from_millis(1_700_000_000_000), [7; 10]);
        assert_eq!(id.to_string().parse::<AskId>(), Ok(id));
        assert!(id.to_string().starts_with("ask_018bcfe568"));
        for wrong in ["", "ask_", "ses_018bcfe5680070077007070707070707", "ask_018BCFE5680070077007070707070707"] {
            assert!(wrong.parse::<AskId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn ids_sort_by_creation_time() {
        let early = SessionId::new(Time::from_millis(1), [255; 10]);
        let late = SessionId::new(Time::from_millis(2), [0; 10]);
        assert!(early < late);
    }
}
