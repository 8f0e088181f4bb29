//! A policy as it is written: in `policy.toml`, in a project's file, in the JSON of a session.

use std::fmt;

use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::time::{Span, Time};

/// What happens when nobody answers in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnTimeout {
    /// The question is rejected: nobody answered.
    Reject,
    /// The first option of every question is taken.
    AcceptFirst,
    /// The tool is denied (approvals only).
    Deny,
}

/// What becomes of a question that no rule answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionPolicy {
    /// The agent is told that nobody answers.
    Reject,
    /// The first option of every question is taken.
    AcceptFirst,
    /// A person answers.
    Forward,
    /// Rules answer, and the first option where none fits.
    Auto,
}

impl QuestionPolicy {
    /// The word for it in a policy.
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

/// What becomes of an approval that no rule decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalPolicy {
    /// It is approved.
    Allow,
    /// A person decides.
    Ask,
    /// It is denied.
    Deny,
}

impl ApprovalPolicy {
    /// The word for it in a policy.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Approve.
    Allow,
    /// Deny.
    Deny,
    /// Leave it to a person.
    Ask,
    /// Answer a question.
    Answer,
    /// Reject a question.
    Reject,
}

impl Effect {
    /// The word for it in a policy.
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

/// One text or several; written as `"a"` or `["a", "b"]`.
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

/// Gives a settings type its two spellings: the bare policy, or a table with everything.
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

/// The `[questions]` part. What is not said is taken from the scope below.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionSettings {
    /// What becomes of a question that no rule answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<QuestionPolicy>,
    /// How long a person has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// What happens then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<OnTimeout>,
    /// What a rejected agent is told.
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

/// The `[approvals]` part. What is not said is taken from the scope below.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalSettings {
    /// What becomes of an approval that no rule decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<ApprovalPolicy>,
    /// How long a person has; then it is denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// What a denied agent is told.
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

/// One rule as it is written. All conditions that are named must hold together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuleSpec {
    /// Identifies the rule in the history of decisions, also after it was renamed or moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it does.
    #[serde(rename = "do")]
    pub effect: Effect,
    /// Commands: `git diff *`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Texts>,
    /// Files that are changed: `src/**`, `!migrations/**`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<Texts>,
    /// Files that are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Texts>,
    /// Addresses: `https://docs.rs/*`, `docs.rs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch: Option<Texts>,
    /// Tools of MCP servers: `server/tool`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcp: Option<Texts>,
    /// The agent's own name of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Texts>,
    /// The agent's configured name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Texts>,
    /// A directory: it and everything below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The header of a question: a part of it ignoring case, or `/regex/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The header or the text of a question: a part of it ignoring case, or `/regex/`.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<String>,
    /// The answer: labels of options, or text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Texts>,
    /// Takes this option, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pick: Option<usize>,
    /// Does nothing from then on.
    #[serde(default, deserialize_with = "point_in_time", skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// What the agent is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A time as text, or as TOML writes it without quotes.
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
    /// A rule with no conditions.
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

/// Settings that a person switches on for a while, such as `away`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Profile {
    /// Laid over `[questions]`.
    pub questions: QuestionSettings,
    /// Laid over `[approvals]`.
    pub approvals: ApprovalSettings,
}

/// What a session or a step adds to the person's policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SessionPolicy {
    /// Laid over everything below.
    #[serde(skip_serializing_if = "is_default")]
    pub questions: QuestionSettings,
    /// Laid over everything below.
    #[serde(skip_serializing_if = "is_default")]
    pub approvals: ApprovalSettings,
    /// Rules of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleSpec>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
