//! Visibility: one predicate that lists, single reads, streams and answers share.

use serde::{Deserialize, Serialize};

use crate::id::{SessionId, TokenId};
use crate::session::Labels;

/// What a token can see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Scope {
    /// Everything in its workspace.
    All,
    /// One session and its asks.
    Session { session: SessionId },
    /// Resources that have all these labels.
    Labels { labels: Labels },
    /// The stored scope of an agent's token: what the agent may claim about itself. The server converts it to
    /// [`Scope::OpenedBy`].
    Asker { identity: AskerIdentity },
    /// Only what this token opened.
    OpenedBy { token: TokenId },
}

/// What an agent with this token may claim about itself. A field that is absent is not restricted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AskerIdentity {
    /// The only agent name that the token may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The directory that the agent works in, or one above it. Absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The labels that its asks get.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

/// The properties of a resource that decide whether a token can see it.
#[derive(Debug, Clone, Copy)]
pub struct Visible<'a> {
    /// The session that the resource belongs to, or is.
    pub session: Option<SessionId>,
    pub labels: &'a Labels,
    /// The token that opened the resource.
    pub opened_by: Option<TokenId>,
}

impl Scope {
    /// Returns whether a token with this scope can see the resource.
    #[must_use]
    pub fn sees(&self, thing: Visible<'_>) -> bool {
        match self {
            Self::All => true,
            Self::Session { session } => thing.session == Some(*session),
            Self::Labels { labels } => labels.iter().all(|(key, value)| thing.labels.get(key) == Some(value)),
            Self::Asker { .. } => false,
            Self::OpenedBy { token } => thing.opened_by == Some(*token),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Time;

    #[test]
    fn scope_sees_only_its_own_resources() {
        let session = SessionId::new(Time::from_millis(1), [1; 10]);
        let other = SessionId::new(Time::from_millis(1), [2; 10]);
        let labels = Labels::from([("team".to_owned(), "a".to_owned()), ("env".to_owned(), "dev".to_owned())]);
        let thing = Visible { session: Some(session), labels: &labels, opened_by: None };
        let team = |value: &str| Scope::Labels { labels: Labels::from([("team".to_owned(), value.to_owned())]) };
        assert!(Scope::All.sees(thing));
        assert!(Scope::Session { session }.sees(thing));
        assert!(!Scope::Session { session: other }.sees(thing));
        assert!(team("a").sees(thing));
        assert!(!team("b").sees(thing));
        assert!(!Scope::OpenedBy { token: TokenId::new(Time::from_millis(1), [3; 10]) }.sees(thing));
    }
}
