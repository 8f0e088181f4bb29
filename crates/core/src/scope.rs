//! Who sees what: one predicate for lists, single reads, streams and answers.

use serde::{Deserialize, Serialize};

use crate::id::{SessionId, TokenId};
use crate::session::Labels;

/// What a token sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Scope {
    /// Everything of its workspace.
    All,
    /// One session and its asks.
    Session {
        /// That session.
        session: SessionId,
    },
    /// What has all these labels.
    Labels {
        /// The labels.
        labels: Labels,
    },
    /// The token of an agent, as it is stored: what it may say of itself. The server turns it into [`Scope::OpenedBy`].
    Asker {
        /// What the agent may say.
        identity: AskerIdentity,
    },
    /// What this token opened itself.
    OpenedBy {
        /// The token.
        token: TokenId,
    },
}

/// What the token of an agent says about the agent. Whatever is absent, the agent reports itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AskerIdentity {
    /// The name of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The directory that the agent works in, or one above it. Absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The labels of its asks.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

/// What the predicate looks at.
#[derive(Debug, Clone, Copy)]
pub struct Visible<'a> {
    /// The session it belongs to, or is.
    pub session: Option<SessionId>,
    /// Its labels.
    pub labels: &'a Labels,
    /// Who opened it.
    pub opened_by: Option<TokenId>,
}

impl Scope {
    /// Whether it is visible.
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
    fn a_scope_sees_only_its_own() {
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
