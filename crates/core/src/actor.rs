//! Actors: the people and mechanisms that decide asks. Every outcome names its actor.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::id::{BlockId, TokenId};
use crate::time::Span;

/// The person or mechanism that decided an ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Actor {
    /// A person, through one of the surfaces.
    Person {
        /// The name in the person's token.
        name: String,
        /// The surface, for example `terminal`, `page`, `http` or `gateway`.
        via: String,
        token: TokenId,
    },
    /// A rule or default of the policy.
    Policy {
        /// The name of the rule or setting that decided.
        rule: String,
    },
    /// The deadline passed without an answer.
    Timeout {
        /// How long the ask was pending.
        after: Span,
    },
    /// A message that a person typed into the session answered the question.
    Message {
        /// The name in the person's token.
        name: String,
        via: String,
        token: TokenId,
        /// The block of the message in the transcript.
        message: BlockId,
    },
    /// The agent withdrew the ask, or exited.
    Agent,
}

impl Actor {
    /// Returns whether a person decided, directly or with a typed message.
    #[must_use]
    pub const fn is_person(&self) -> bool {
        matches!(self, Self::Person { .. } | Self::Message { .. })
    }

    /// Returns the token of the person. Other actors have none.
    #[must_use]
    pub const fn token(&self) -> Option<TokenId> {
        match self {
            Self::Person { token, .. } | Self::Message { token, .. } => Some(*token),
            Self::Policy { .. } | Self::Timeout { .. } | Self::Agent => None,
        }
    }

    #[must_use]
    pub const fn timeout(after: Duration) -> Self {
        Self::Timeout { after: Span(after) }
    }
}
