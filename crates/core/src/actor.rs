//! Who decided. Every outcome names its actor.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::id::{BlockId, TokenId};
use crate::time::Span;

/// Who or what brought an ask to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Actor {
    /// A person, through some surface.
    Person {
        /// The name that belongs to the token.
        name: String,
        /// The surface: `terminal`, `page`, `http`, `gateway` …
        via: String,
        /// The token that was used.
        token: TokenId,
    },
    /// The person's policy.
    Policy {
        /// The rule, or the setting, that decided.
        rule: String,
    },
    /// Nobody came within the time that the policy gave.
    Timeout {
        /// How long was waited.
        after: Span,
    },
    /// A message that the person typed to the session answered it.
    Message {
        /// The name that belongs to the token.
        name: String,
        /// The surface.
        via: String,
        /// The token that was used.
        token: TokenId,
        /// The message in the transcript.
        message: BlockId,
    },
    /// The agent itself took it back, or is gone.
    Agent,
}

impl Actor {
    /// Whether a person stands behind it.
    #[must_use]
    pub const fn is_person(&self) -> bool {
        matches!(self, Self::Person { .. } | Self::Message { .. })
    }

    /// The token that acted, if one did.
    #[must_use]
    pub const fn token(&self) -> Option<TokenId> {
        match self {
            Self::Person { token, .. } | Self::Message { token, .. } => Some(*token),
            Self::Policy { .. } | Self::Timeout { .. } | Self::Agent => None,
        }
    }

    /// An actor for a wait that ran out.
    #[must_use]
    pub const fn timeout(after: Duration) -> Self {
        Self::Timeout { after: Span(after) }
    }
}
