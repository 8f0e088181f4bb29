//! The format of policies in `policy.toml`, in policy files of projects, and in the JSON of sessions.

use std::fmt;

use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::time::{Span, Time};

/// What happens to an ask at its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnTimeout {
    /// Rejects the question.
    Reject,
    /// Answers every question with its first option.
    AcceptFirst,
    /// Denies the tool. For approvals only.
    Deny,
}

/// How to decide a question that no rule answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionPolicy {
    /// Rejects the question. The agent reads that no one answers.
    Reject,
    /// Answers every question with its first option.
    AcceptFirst,
    /// Leaves the question to a person.
    Forward,
    /// Answers by rules, and with the first option where no rule matches.
    Auto,
}

impl QuestionPolicy {
    /// The name in a policy.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reject => "reject",
            Self::AcceptFirst => "accept-first",
            Self::Forward => "forward",
            Self::Auto => "auto",
        }
    }
}

/// How to decide an approval that no rule decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalPolicy {
    Allow,
    /// Leaves the approval to a person.
    Ask,
    Deny,
}

impl ApprovalPolicy {
    /// The name in a policy.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// The effect of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    Allow,
    Deny,
    /// Leaves the ask to a person.
    Ask,
    Answer,
    Reject,
}

impl Effect {
    /// The name in a policy.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Answer => "answer",
            Self::Reject => "reject",
        }
    }
}

/// One or several texts, written as `"a"` or `["a", "b"]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Texts(pub Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Texts;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Texts, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = seq.next_element()? {
                    texts.push(text);
                }
                Ok(Texts(texts))
            }
        }
        d.deserialize_any(OneOrMany)
    }
}

/// Implements the two spellings of a settings type: only the policy, or a table.
macro_rules! bare_or_table {
    ($settings:ident, $table:ident, $what:literal) => {
        impl<'de> Deserialize<'de> for $settings {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct BareOrTable;
                impl<'de> Visitor<'de> for BareOrTable {
                    type Value = $settings;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($what)
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$settings, E> {
                        let policy = Deserialize::deserialize(de::value::StrDeserializer::<E>::new(text))?;
                        Ok($settings { policy: Some(policy), ..$settings::default() })
                    }
                    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<$settings, A::Error> {
                        $table::deserialize(de::value::MapAccessDeserializer::new(map))
                    }
                }
                d.deserialize_any(BareOrTable)
            }
        }
    };
}

/// The `[questions]` table. Missing values come from the scope below.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionSettings {
    /// How to decide a question that no rule answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<QuestionPolicy>,
    /// How long a person has to answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// What happens after the timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
    /// The message to an agent whose question is rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

#[derive(Deserialize)]
#[serde(remote = "QuestionSettings", deny_unknown_fields)]
struct QuestionTable {
    #[serde(default)]
    policy: Option<QuestionPolicy>,
    #[serde(default)]
    timeout: Option<Span>,
    #[serde(default, rename = "on_timeout", alias = "onTimeout")]
    on_timeout: Option<OnTimeout>,
    #[serde(default)]
    message: Option<String>,
}

bare_or_table!(QuestionSettings, QuestionTable, "a question policy, or a table with policy, timeout, on_timeout and message");

/// The `[approvals]` table. Missing values come from the scope below.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalSettings {
    /// How to decide an approval that no rule decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<ApprovalPolicy>,
    /// How long a person has to decide. The approval is denied after that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// The message to an agent whose approval is denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

#[derive(Deserialize)]
#[serde(remote = "ApprovalSettings", deny_unknown_fields)]
struct ApprovalTable {
    #[serde(default)]
    policy: Option<ApprovalPolicy>,
    #[serde(default)]
    timeout: Option<Span>,
    #[serde(default)]
    message: Option<String>,
}

bare_or_table!(ApprovalSettings, ApprovalTable, "an approval policy, or a table with policy, timeout and message");

/// A rule as written. It matches if all given conditions hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuleSpec {
    /// Identifies the rule in stored decisions, also after it was renamed or moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(rename = "do")]
    pub effect: Effect,
    /// Commands, for example `git diff *`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Texts>,
    /// Files that are changed, for example `src/**` and `!migrations/**`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<Texts>,
    /// Files that are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Texts>,
    /// Addresses, for example `https://docs.rs/*` or `docs.rs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch: Option<Texts>,
    /// Tools of MCP servers, for example `server/tool`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<Texts>,
    /// The agent's name of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Texts>,
    /// The configured name of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Texts>,
    /// A directory. Projects in it also match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The header of a question: a part of it, ignoring case, or `/regex/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The header or the text of a question: a part of it, ignoring case, or `/regex/`.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<String>,
    /// The answers: labels of options, or text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Texts>,
    /// Answers with this option, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pick: Option<usize>,
    /// The end of the rule. It does not match at or after this time.
    #[serde(default, deserialize_with = "point_in_time", skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// The message to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Reads a time from a text or from a TOML datetime.
fn point_in_time<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Time>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        Toml(toml::value::Datetime),
    }
    let text = match Option::<Written>::deserialize(d)? {
        None => return Ok(None),
        Some(Written::Text(text)) => text,
        Some(Written::Toml(time)) => time.to_string(),
    };
    text.parse().map(Some).map_err(de::Error::custom)
}

impl RuleSpec {
    /// Creates a rule without conditions.
    #[must_use]
    pub const fn new(effect: Effect) -> Self {
        Self {
            id: None,
            name: None,
            effect,
            run: None,
            edit: None,
            read: None,
            fetch: None,
            mcp: None,
            tool: None,
            agent: None,
            project: None,
            header: None,
            matches: None,
            answer: None,
            pick: None,
            until: None,
            message: None,
        }
    }
}

/// Named settings that a person activates for a while, such as `away`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Profile {
    /// Overrides `[questions]`.
    pub questions: QuestionSettings,
    /// Overrides `[approvals]`.
    pub approvals: ApprovalSettings,
}

/// The policy of a session or a workflow step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SessionPolicy {
    /// Overrides the scopes below.
    #[serde(skip_serializing_if = "is_default")]
    pub questions: QuestionSettings,
    /// Overrides the scopes below.
    #[serde(skip_serializing_if = "is_default")]
    pub approvals: ApprovalSettings,
    /// Additional rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleSpec>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
