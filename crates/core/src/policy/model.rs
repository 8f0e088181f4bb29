//! A policy as it is written: in `policy.toml`, in a project's file, in the JSON of a session.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use toml::Spanned;

use super::error::PolicyError;
use super::hash::fingerprint;
use super::rules::Rule;
use crate::time::{Span, Time};

/// Bytes of a policy text. A project's file is untrusted, so its size is bounded.
const TEXT_LIMIT: usize = 256 * 1024;
/// Rules of one policy.
const RULE_LIMIT: usize = 1_000;
/// Bytes of a message to an agent.
const MESSAGE_LIMIT: usize = 8 * 1024;

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

impl SessionPolicy {
    /// Checks what a session says.
    ///
    /// # Errors
    /// What is wrong, without a line.
    pub fn check(&self) -> Result<(), PolicyError> {
        self.questions.check(WhenSilent::MustBeWritten).map_err(Fault::alone)?;
        self.check_rest()
    }

    /// Checks what a workflow step says. A step may give a time without saying what happens then: the
    /// first options are taken. It has to forward its questions for that.
    ///
    /// # Errors
    /// What is wrong, without a line.
    pub fn check_step(&self) -> Result<(), PolicyError> {
        self.questions.check(WhenSilent::TakesFirst).map_err(Fault::alone)?;
        if self.questions.timeout.is_some() && self.questions.policy.is_none() {
            return Err(PolicyError::new("a step that gives a timeout forwards its questions: write policy forward"));
        }
        self.check_rest()
    }

    fn check_rest(&self) -> Result<(), PolicyError> {
        self.approvals.check().map_err(Fault::alone)?;
        self.compile().map(|_| ())
    }

    /// The rules, compiled.
    pub(super) fn compile(&self) -> Result<Vec<Rule>, PolicyError> {
        if self.rules.len() > RULE_LIMIT {
            return Err(too_many_rules(self.rules.len()));
        }
        self.rules
            .iter()
            .enumerate()
            .map(|(index, spec)| {
                Rule::compile(spec.clone(), index + 1).map_err(|fault| {
                    PolicyError::new(format!("rule {}: {}", index + 1, fault.message))
                })
            })
            .collect()
    }
}

/// Something wrong with one key.
#[derive(Debug)]
pub(super) struct Fault {
    /// The key to point at.
    pub(super) key: &'static str,
    /// What is wrong and what to write.
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self { key, message: message.into() }
    }

    fn alone(self) -> PolicyError {
        PolicyError::new(self.message)
    }
}

/// Whether a timeout may leave open what happens then.
#[derive(Debug, Clone, Copy)]
enum WhenSilent {
    /// No: silence is never consent.
    MustBeWritten,
    /// Yes, in a workflow step.
    TakesFirst,
}

impl QuestionSettings {
    fn check(&self, silent: WhenSilent) -> Result<(), Fault> {
        check_message(self.message.as_deref())?;
        if self.on_timeout == Some(OnTimeout::Deny) {
            return Err(Fault::new("on_timeout", "questions are not denied: write on_timeout = \"reject\" or \"accept-first\""));
        }
        match (self.timeout, self.on_timeout, silent) {
            (None, Some(_), _) => {
                return Err(Fault::new("on_timeout", "on_timeout without a timeout: write timeout = \"10m\", or leave both out to wait for ever"));
            }
            (Some(_), None, WhenSilent::MustBeWritten) => {
                return Err(Fault::new("timeout", "a timeout must say what happens then: write on_timeout = \"reject\" or \"accept-first\""));
            }
            (Some(Span(length)), _, _) if length.is_zero() => return Err(zero_timeout()),
            (None, None, _) | (Some(_), _, _) => {}
        }
        match self.policy {
            Some(policy @ (QuestionPolicy::Reject | QuestionPolicy::AcceptFirst | QuestionPolicy::Auto)) if self.timeout.is_some() => {
                Err(Fault::new("timeout", format!("only forwarded questions wait: write policy = \"forward\" instead of \"{}\", or leave the timeout out", policy.as_str())))
            }
            _ => Ok(()),
        }
    }
}

impl ApprovalSettings {
    fn check(&self) -> Result<(), Fault> {
        check_message(self.message.as_deref())?;
        match (self.timeout, self.policy) {
            (Some(Span(length)), _) if length.is_zero() => Err(zero_timeout()),
            (Some(_), Some(policy @ (ApprovalPolicy::Allow | ApprovalPolicy::Deny))) => Err(Fault::new(
                "timeout",
                format!("only approvals that a person decides wait: write policy = \"ask\" instead of \"{}\", or leave the timeout out", policy.as_str()),
            )),
            (Some(_), Some(ApprovalPolicy::Ask) | None) | (None, _) => Ok(()),
        }
    }
}

fn zero_timeout() -> Fault {
    Fault::new("timeout", "a timeout of nothing gives nobody a chance: write a length such as \"10m\"")
}

pub(super) fn check_message(message: Option<&str>) -> Result<(), Fault> {
    match message {
        Some(text) if text.len() > MESSAGE_LIMIT => {
            Err(Fault::new("message", format!("the message has {} bytes, the limit is {MESSAGE_LIMIT}", text.len())))
        }
        Some(_) | None => Ok(()),
    }
}

fn too_many_rules(count: usize) -> PolicyError {
    PolicyError::new(format!("{count} rules, the limit is {RULE_LIMIT}: join some, a rule takes lists"))
}

/// A policy, read and compiled.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// When no rule fits a question.
    pub questions: QuestionSettings,
    /// When no rule fits an approval.
    pub approvals: ApprovalSettings,
    /// The rules, in their order.
    pub rules: Vec<Rule>,
    /// Settings to switch on for a while.
    pub profiles: BTreeMap<String, Profile>,
    pub(super) hash: u64,
}

impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        (&self.questions, &self.approvals, &self.profiles, &self.rules)
            == (&other.questions, &other.approvals, &other.profiles, &other.rules)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    questions: Option<Spanned<QuestionSettings>>,
    approvals: Option<Spanned<ApprovalSettings>>,
    #[serde(default)]
    rules: Vec<Spanned<RuleSpec>>,
    #[serde(default)]
    profiles: BTreeMap<String, Spanned<Profile>>,
}

impl Policy {
    /// Reads a `policy.toml` or a project's `.sayso.toml`.
    ///
    /// # Errors
    /// The first thing that is wrong, with its line and column and what to write.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        if text.len() > TEXT_LIMIT {
            return Err(PolicyError::new(format!("the policy has {} bytes, the limit is {TEXT_LIMIT}", text.len())).at(text, 0));
        }
        let document: Document = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            PolicyError::new(error.message()).at(text, at)
        })?;
        if document.rules.len() > RULE_LIMIT {
            let at = document.rules.get(RULE_LIMIT).map_or(0, |rule| rule.span().start);
            return Err(too_many_rules(document.rules.len()).at(text, at));
        }
        let place = |fault: Fault, start: usize| {
            PolicyError::new(fault.message).at(text, key_after(text, start, fault.key))
        };

        let mut policy = Self { hash: fingerprint(&[text.as_bytes()]), ..Self::default() };
        if let Some(questions) = document.questions {
            let start = questions.span().start;
            policy.questions = questions.into_inner();
            policy.questions.check(WhenSilent::MustBeWritten).map_err(|fault| place(fault, start))?;
        }
        if let Some(approvals) = document.approvals {
            let start = approvals.span().start;
            policy.approvals = approvals.into_inner();
            policy.approvals.check().map_err(|fault| place(fault, start))?;
        }
        for (name, profile) in document.profiles {
            let start = profile.span().start;
            let profile = profile.into_inner();
            profile.questions.check(WhenSilent::MustBeWritten).map_err(|fault| place(fault, start))?;
            profile.approvals.check().map_err(|fault| place(fault, start))?;
            policy.profiles.insert(name, profile);
        }
        for (index, spec) in document.rules.into_iter().enumerate() {
            let start = spec.span().start;
            policy.rules.push(Rule::compile(spec.into_inner(), index + 1).map_err(|fault| place(fault, start))?);
        }
        Ok(policy)
    }
}

/// The byte where `key` is written in the table that starts at `start`; the start itself if it is not
/// on a line of its own.
fn key_after(text: &str, start: usize, key: &str) -> usize {
    let mut at = crate::limits::head(text, start).rfind('\n').map_or(0, |newline| newline + 1);
    for (index, line) in text[at..].split_inclusive('\n').enumerate() {
        let trimmed = line.trim_start();
        if index > 0 && trimmed.starts_with('[') {
            break;
        }
        if trimmed.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('=')) {
            return at + (line.len() - trimmed.len());
        }
        at += line.len();
    }
    start
}
