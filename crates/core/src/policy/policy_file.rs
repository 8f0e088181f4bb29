//! Parses, checks and compiles the text of a policy.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::error::PolicyError;
use super::hash::fingerprint;
use super::model::{
    ApprovalPolicy, ApprovalSettings, OnTimeout, Profile, QuestionPolicy, QuestionSettings, RuleSpec, SessionPolicy,
};
use super::rules::Rule;
use crate::time::Span;

/// The largest policy text in bytes. Files of projects are untrusted, so their size is limited.
const TEXT_LIMIT: usize = 256 * 1024;
/// The largest number of rules in a policy.
const RULE_LIMIT: usize = 1_000;
/// The longest message to an agent, in bytes.
const MESSAGE_LIMIT: usize = 8 * 1024;

/// An error in one key.
#[derive(Debug)]
pub(super) struct KeyFault {
    /// The key whose place is reported.
    pub(super) key: &'static str,
    /// The error and the correction.
    pub(super) message: String,
}

impl KeyFault {
    pub(super) fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self { key, message: message.into() }
    }

    fn alone(self) -> PolicyError {
        PolicyError::new(self.message)
    }
}

/// Whether `on_timeout` is required with `timeout`.
#[derive(Debug, Clone, Copy)]
enum WhenSilent {
    /// It is required, because silence is never consent.
    MustBeWritten,
    /// It is optional in a workflow step, and the first options are the default.
    TakesFirst,
}

impl QuestionSettings {
    fn check(&self, silent: WhenSilent) -> Result<(), KeyFault> {
        check_message(self.message.as_deref())?;
        if self.on_timeout == Some(OnTimeout::Deny) {
            return Err(KeyFault::new(
                "on_timeout",
                "questions are not denied: write on_timeout = \"reject\" or \"accept-first\"",
            ));
        }
        match (self.timeout, self.on_timeout, silent) {
            (None, Some(_), _) => {
                return Err(KeyFault::new(
                    "on_timeout",
                    "on_timeout without a timeout: write timeout = \"10m\", or leave both out to wait without a limit",
                ));
            }
            (Some(_), None, WhenSilent::MustBeWritten) => {
                return Err(KeyFault::new(
                    "timeout",
                    "a timeout must say what happens then: write on_timeout = \"reject\" or \"accept-first\"",
                ));
            }
            (Some(Span(length)), _, _) if length.is_zero() => return Err(zero_timeout()),
            (None, None, _) | (Some(_), _, _) => {}
        }
        match self.policy {
            Some(policy @ (QuestionPolicy::Reject | QuestionPolicy::AcceptFirst | QuestionPolicy::Auto))
                if self.timeout.is_some() =>
            {
                Err(KeyFault::new(
                    "timeout",
                    format!(
                        "only forwarded questions wait: write policy = \"forward\" instead of \"{}\", or leave the timeout out",
                        policy.as_str()
                    ),
                ))
            }
            _ => Ok(()),
        }
    }
}

impl ApprovalSettings {
    fn check(&self) -> Result<(), KeyFault> {
        check_message(self.message.as_deref())?;
        match (self.timeout, self.policy) {
            (Some(Span(length)), _) if length.is_zero() => Err(zero_timeout()),
            (Some(_), Some(policy @ (ApprovalPolicy::Allow | ApprovalPolicy::Deny))) => Err(KeyFault::new(
                "timeout",
                format!(
                    "only approvals that a person decides wait: write policy = \"ask\" instead of \"{}\", or leave the timeout out",
                    policy.as_str()
                ),
            )),
            (Some(_), Some(ApprovalPolicy::Ask) | None) | (None, _) => Ok(()),
        }
    }
}

fn zero_timeout() -> KeyFault {
    KeyFault::new("timeout", "a timeout of zero leaves no time to answer: write a length such as \"10m\"")
}

pub(super) fn check_message(message: Option<&str>) -> Result<(), KeyFault> {
    match message {
        Some(text) if text.len() > MESSAGE_LIMIT => {
            Err(KeyFault::new("message", format!("the message has {} bytes, the limit is {MESSAGE_LIMIT}", text.len())))
        }
        Some(_) | None => Ok(()),
    }
}

fn too_many_rules(count: usize) -> PolicyError {
    PolicyError::new(format!("{count} rules, the limit is {RULE_LIMIT}: join some, a rule takes lists"))
}

/// A parsed and compiled policy.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// The defaults for questions.
    pub questions: QuestionSettings,
    /// The defaults for approvals.
    pub approvals: ApprovalSettings,
    /// The rules in the order of the file.
    pub rules: Vec<Rule>,
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
    /// Parses a `policy.toml` or the `.sayso.toml` of a project.
    ///
    /// # Errors
    /// Returns the first error, with its line, its column and the correction.
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
        let place = |fault: KeyFault, start: usize| PolicyError::new(fault.message).at(text, key_after(text, start, fault.key));

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
        let mut ids = std::collections::HashSet::new();
        for (index, spec) in document.rules.into_iter().enumerate() {
            let start = spec.span().start;
            if let Some(id) = &spec.get_ref().id
                && !ids.insert(id.clone())
            {
                let message = format!("another rule has the id {id:?} already: write another one, or leave it out");
                return Err(place(KeyFault::new("id", message), start));
            }
            policy.rules.push(Rule::compile(spec.into_inner(), index + 1).map_err(|fault| place(fault, start))?);
        }
        Ok(policy)
    }
}

/// Returns the byte position of `key` in the table that starts at `start`, or `start` if the key is not on a separate line.
pub(crate) fn key_after(text: &str, start: usize, key: &str) -> usize {
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

impl SessionPolicy {
    /// Checks the policy of a session.
    ///
    /// # Errors
    /// Returns the first error, without a line.
    pub fn check(&self) -> Result<(), PolicyError> {
        self.questions.check(WhenSilent::MustBeWritten).map_err(KeyFault::alone)?;
        self.check_rest()
    }

    /// Checks the policy of a workflow step. A step can set a timeout without `on_timeout`, which then answers with the first
    /// options. It has to forward its questions for that.
    ///
    /// # Errors
    /// Returns the first error, without a line.
    pub fn check_step(&self) -> Result<(), PolicyError> {
        self.questions.check(WhenSilent::TakesFirst).map_err(KeyFault::alone)?;
        if self.questions.timeout.is_some() && self.questions.policy.is_none() {
            return Err(PolicyError::new("a step that gives a timeout forwards its questions: write policy forward"));
        }
        self.check_rest()
    }

    fn check_rest(&self) -> Result<(), PolicyError> {
        self.approvals.check().map_err(KeyFault::alone)?;
        self.compile().map(|_| ())
    }

    /// Compiles the rules.
    pub(super) fn compile(&self) -> Result<Vec<Rule>, PolicyError> {
        if self.rules.len() > RULE_LIMIT {
            return Err(too_many_rules(self.rules.len()));
        }
        self.rules
            .iter()
            .enumerate()
            .map(|(index, spec)| {
                Rule::compile(spec.clone(), index + 1)
                    .map_err(|fault| PolicyError::new(format!("rule {}: {}", index + 1, fault.message)))
            })
            .collect()
    }
}
