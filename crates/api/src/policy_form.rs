//! The policy as a form: rules and settings as values, and the changes that a form makes to the text.

use std::collections::BTreeMap;

use sayso_core::policy as core;
use sayso_core::time::{Span, Time};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Gives an enum of the API the same variants as its counterpart in the core.
macro_rules! same_words {
    ($(#[$doc:meta])* $name:ident = $core:ident { $($(#[$what:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$what])* $variant),+ }

        impl From<core::$core> for $name {
            fn from(value: core::$core) -> Self {
                match value { $(core::$core::$variant => Self::$variant),+ }
            }
        }

        impl From<$name> for core::$core {
            fn from(value: $name) -> Self {
                match value { $($name::$variant => Self::$variant),+ }
            }
        }
    };
}

same_words! {
    /// What a rule does.
    RuleEffect = Effect {
        /// Approves.
        Allow,
        /// Denies.
        Deny,
        /// Leaves the ask to a person.
        Ask,
        /// Answers a question.
        Answer,
        /// Rejects a question.
        Reject,
    }
}

same_words! {
    /// What happens to a question that no rule answers.
    QuestionDefault = QuestionPolicy {
        /// The agent is told that nobody answers.
        Reject,
        /// The first option of every question is chosen.
        AcceptFirst,
        /// A person answers.
        Forward,
        /// Rules answer, and the first option is chosen where none fits.
        Auto,
    }
}

same_words! {
    /// What happens to an approval that no rule decides.
    ApprovalDefault = ApprovalPolicy {
        /// It is approved.
        Allow,
        /// A person decides.
        Ask,
        /// It is denied.
        Deny,
    }
}

same_words! {
    /// What happens to a question that nobody answers in time.
    QuestionTimeout = OnTimeout {
        /// It is rejected.
        Reject,
        /// The first option of every question is chosen.
        AcceptFirst,
        /// Only for approvals; a policy that says so for questions is refused.
        Deny,
    }
}

/// One rule. All conditions that it names have to hold together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PolicyRule {
    /// Identifies the rule in past decisions. The server makes one for a rule that is added or changed without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it does.
    #[serde(rename = "do")]
    pub effect: RuleEffect,
    /// Commands: `git diff *`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<String>,
    /// Files that are changed: `src/**`, `!migrations/**`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edit: Vec<String>,
    /// Files that are read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Addresses: `docs.rs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fetch: Vec<String>,
    /// Tools of MCP servers: `server/tool`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<String>,
    /// The agent's own names of tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool: Vec<String>,
    /// Only for these agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agent: Vec<String>,
    /// Only in this directory and below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// A part of a question's header, ignoring case, or `/regex/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The same for the header or the text of a question.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<String>,
    /// The answer: labels of options, or text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer: Vec<String>,
    /// Chooses this option, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pick: Option<usize>,
    /// The rule does nothing from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
    /// What the agent is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl From<&core::RuleSpec> for PolicyRule {
    fn from(spec: &core::RuleSpec) -> Self {
        let core::RuleSpec {
            id,
            name,
            effect,
            run,
            edit,
            read,
            fetch,
            mcp,
            tool,
            agent,
            project,
            header,
            matches,
            answer,
            pick,
            until,
            message,
        } = spec.clone();
        let list = |texts: Option<core::Texts>| texts.map(|texts| texts.0).unwrap_or_default();
        Self {
            id,
            name,
            effect: effect.into(),
            run: list(run),
            edit: list(edit),
            read: list(read),
            fetch: list(fetch),
            mcp: list(mcp),
            tool: list(tool),
            agent: list(agent),
            project,
            header,
            matches,
            answer: list(answer),
            pick,
            until,
            message,
        }
    }
}

impl From<PolicyRule> for core::RuleSpec {
    fn from(rule: PolicyRule) -> Self {
        let texts = |list: Vec<String>| Some(core::Texts(list)).filter(|texts| !texts.0.is_empty());
        Self {
            id: rule.id,
            name: rule.name,
            effect: rule.effect.into(),
            run: texts(rule.run),
            edit: texts(rule.edit),
            read: texts(rule.read),
            fetch: texts(rule.fetch),
            mcp: texts(rule.mcp),
            tool: texts(rule.tool),
            agent: texts(rule.agent),
            project: rule.project,
            header: rule.header,
            matches: rule.matches,
            answer: texts(rule.answer),
            pick: rule.pick,
            until: rule.until,
            message: rule.message,
        }
    }
}

/// What holds for questions when no rule fits. A field that is missing is taken from the scope below.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QuestionDefaults {
    /// What happens to a question that no rule answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<QuestionDefault>,
    /// How long a person has: `10m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub timeout: Option<Span>,
    /// What happens then. Required with `timeout`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<QuestionTimeout>,
    /// What a rejected agent is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl From<&core::QuestionSettings> for QuestionDefaults {
    fn from(settings: &core::QuestionSettings) -> Self {
        let core::QuestionSettings { policy, timeout, on_timeout, message } = settings.clone();
        Self { policy: policy.map(Into::into), timeout, on_timeout: on_timeout.map(Into::into), message }
    }
}

impl From<QuestionDefaults> for core::QuestionSettings {
    fn from(defaults: QuestionDefaults) -> Self {
        let QuestionDefaults { policy, timeout, on_timeout, message } = defaults;
        Self { policy: policy.map(Into::into), timeout, on_timeout: on_timeout.map(Into::into), message }
    }
}

/// What holds for approvals when no rule fits. A field that is missing is taken from the scope below.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovalDefaults {
    /// What happens to an approval that no rule decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<ApprovalDefault>,
    /// How long a person has; the approval is denied then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub timeout: Option<Span>,
    /// What a denied agent is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl From<&core::ApprovalSettings> for ApprovalDefaults {
    fn from(settings: &core::ApprovalSettings) -> Self {
        let core::ApprovalSettings { policy, timeout, message } = settings.clone();
        Self { policy: policy.map(Into::into), timeout, message }
    }
}

impl From<ApprovalDefaults> for core::ApprovalSettings {
    fn from(defaults: ApprovalDefaults) -> Self {
        let ApprovalDefaults { policy, timeout, message } = defaults;
        Self { policy: policy.map(Into::into), timeout, message }
    }
}

/// One change to the text of a policy. Places count rules from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum PolicyEdit {
    /// Adds a rule after the last one.
    AddRule {
        /// The rule.
        rule: Box<PolicyRule>,
    },
    /// Replaces a rule. Comments and the keys that stay the same are not touched.
    SetRule {
        /// Which rule.
        place: usize,
        /// The whole rule.
        rule: Box<PolicyRule>,
    },
    /// Removes a rule and the comment directly above it.
    RemoveRule {
        /// Which rule.
        place: usize,
    },
    /// Moves a rule together with the comment directly above it.
    MoveRule {
        /// Which rule.
        place: usize,
        /// The place that it has afterwards.
        to: usize,
    },
    /// Sets what holds when no rule fits.
    SetDefaults {
        /// For questions.
        questions: QuestionDefaults,
        /// For approvals.
        approvals: ApprovalDefaults,
    },
    /// Sets what a profile changes. A profile that does not exist is added.
    SetProfile {
        /// Its name.
        name: String,
        /// For questions.
        questions: QuestionDefaults,
        /// For approvals.
        approvals: ApprovalDefaults,
    },
}

impl From<PolicyEdit> for core::PolicyEdit {
    fn from(edit: PolicyEdit) -> Self {
        match edit {
            PolicyEdit::AddRule { rule } => Self::AddRule { rule: (*rule).into() },
            PolicyEdit::SetRule { place, rule } => Self::SetRule { place, rule: (*rule).into() },
            PolicyEdit::RemoveRule { place } => Self::RemoveRule { place },
            PolicyEdit::MoveRule { place, to } => Self::MoveRule { place, to },
            PolicyEdit::SetDefaults { questions, approvals } => {
                Self::SetDefaults { questions: questions.into(), approvals: approvals.into() }
            }
            PolicyEdit::SetProfile { name, questions, approvals } => {
                Self::SetProfile { name, questions: questions.into(), approvals: approvals.into() }
            }
        }
    }
}

/// Applies changes to a text, which may not be saved yet. Nothing is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditPolicy {
    /// The whole text of a policy.
    pub text: String,
    /// The changes, in this order; at most 100. Without any the text is only read.
    #[serde(default)]
    pub edits: Vec<PolicyEdit>,
}

/// A text of a policy and what it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyForm {
    /// The text after the changes. Save it with `PUT /v1/policy`.
    pub text: String,
    /// When no rule fits a question.
    pub questions: QuestionDefaults,
    /// When no rule fits an approval.
    pub approvals: ApprovalDefaults,
    /// The rules, in their order.
    pub rules: Vec<FormRule>,
    /// Settings to switch on for a while, such as `away`.
    pub profiles: BTreeMap<String, ProfileDefaults>,
}

/// What a profile changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileDefaults {
    /// For questions.
    pub questions: QuestionDefaults,
    /// For approvals.
    pub approvals: ApprovalDefaults,
}

/// One rule of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FormRule {
    /// Its place, counted from 1.
    pub place: usize,
    /// What past decisions call it: its id, else its label. See `GET /v1/policy/hits`.
    pub key: String,
    /// What people call it: its name, else its place.
    pub label: String,
    /// The rule.
    pub rule: PolicyRule,
}

impl PolicyForm {
    /// What a text says, read as a policy.
    #[must_use]
    pub fn of(text: String, policy: &core::Policy) -> Self {
        let rules = policy.rules.iter().zip(1..).map(|(rule, place)| FormRule {
            place,
            key: rule.key(core::Scope::User),
            label: rule.label(core::Scope::User),
            rule: rule.spec().into(),
        });
        let profile = |profile: &core::Profile| ProfileDefaults {
            questions: (&profile.questions).into(),
            approvals: (&profile.approvals).into(),
        };
        Self {
            text,
            questions: (&policy.questions).into(),
            approvals: (&policy.approvals).into(),
            rules: rules.collect(),
            profiles: policy.profiles.iter().map(|(name, found)| (name.clone(), profile(found))).collect(),
        }
    }
}

/// Which period to count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct RuleHitsQuery {
    /// Days back from now, 1 to 366. 30 if it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 366)]
    pub days: Option<u32>,
}

/// How often the rules of the saved policy decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleHitsList {
    /// Asks are counted from then on.
    #[schema(value_type = String, format = DateTime)]
    pub since: Time,
    /// One entry per rule, and one for the built-in rule.
    pub data: Vec<RuleHits>,
}

/// How often one rule decided an ask or left it to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleHits {
    /// The `key` of the rule.
    pub rule: String,
    /// How often. Counting stops at 10000.
    pub hits: usize,
    /// When it last did, also before `since`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_at: Option<Time>,
}

/// What people decided before about the same action: the same tool with the same command, files or address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Precedents {
    /// How often people approved it, among the newest 2000 asks.
    pub approved: usize,
    /// How often people denied it.
    pub denied: usize,
    /// When a person last decided it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_at: Option<Time>,
}
