//! The policy as a form: rules and settings as structured values, and edits that change the text of the file.

use std::collections::BTreeMap;

use sayso_core::policy as core;
use sayso_core::time::{Span, Time};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Declares an API enum together with conversions from and to the core enum that has the same variants.
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
    /// The effect of a rule.
    RuleEffect = Effect {
        /// The rule approves the action.
        Allow,
        /// The rule denies the action.
        Deny,
        /// The rule leaves the ask to a person.
        Ask,
        /// The rule answers the question with `answer` or `pick`.
        Answer,
        /// The rule rejects the question.
        Reject,
    }
}

same_words! {
    /// What happens to a question that no rule answers.
    QuestionDefault = QuestionPolicy {
        /// Sayso rejects the question and tells the agent that no one answers.
        Reject,
        /// Sayso chooses the first option of every question.
        AcceptFirst,
        /// The question waits for a person.
        Forward,
        /// Sayso chooses the first option of each question that no rule answers.
        Auto,
    }
}

same_words! {
    /// What happens to an approval that no rule decides.
    ApprovalDefault = ApprovalPolicy {
        /// Sayso approves it.
        Allow,
        /// The approval waits for a person.
        Ask,
        /// Sayso denies it.
        Deny,
    }
}

same_words! {
    /// What happens to a question at its deadline.
    QuestionTimeout = OnTimeout {
        /// Sayso rejects the question.
        Reject,
        /// Sayso chooses the first option of every question.
        AcceptFirst,
        /// Valid for approvals only. A policy that sets it for questions is invalid.
        Deny,
    }
}

/// One rule of a policy. It matches an ask only if all conditions that it sets match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PolicyRule {
    /// Identifies the rule in past decisions. The server generates one when you add or change a rule without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The effect of the rule when it matches.
    #[serde(rename = "do")]
    pub effect: RuleEffect,
    /// Command patterns, for example `git diff *`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<String>,
    /// Patterns of files that are changed, for example `src/**` or `!migrations/**`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edit: Vec<String>,
    /// Patterns of files that are read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Addresses that are fetched, for example `docs.rs`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fetch: Vec<String>,
    /// MCP tools, as `server/tool`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<String>,
    /// Tools by the agent's own names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool: Vec<String>,
    /// Limits the rule to these agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agent: Vec<String>,
    /// Limits the rule to this directory and the directories below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Matches a part of a question's header, ignoring case, or a regular expression written as `/regex/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Like `header`, but matches the header or the text of a question.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<String>,
    /// The answer that the rule gives: labels of options, or free text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer: Vec<String>,
    /// The option that the rule chooses, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pick: Option<usize>,
    /// When the rule stops applying.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub until: Option<Time>,
    /// The message to the agent when the rule denies or rejects.
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

/// Settings for questions that no rule matches. Missing fields are inherited from the enclosing scope.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QuestionDefaults {
    /// What happens to a question that no rule answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<QuestionDefault>,
    /// How long a person has to answer, for example `10m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub timeout: Option<Span>,
    /// What happens at the deadline. Required with `timeout`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<QuestionTimeout>,
    /// The message to an agent whose question is rejected.
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

/// Settings for approvals that no rule matches. Missing fields are inherited from the enclosing scope.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovalDefaults {
    /// What happens to an approval that no rule decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<ApprovalDefault>,
    /// How long a person has to decide. At the deadline, Sayso denies the approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub timeout: Option<Span>,
    /// The message to an agent whose approval is denied.
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

/// One change to the text of a policy. `place` counts rules from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum PolicyEdit {
    /// Adds a rule after the last one.
    AddRule {
        /// The rule to add.
        rule: Box<PolicyRule>,
    },
    /// Replaces a rule. Comments and unchanged keys keep their text.
    SetRule {
        /// The place of the rule to replace.
        place: usize,
        /// The complete new rule.
        rule: Box<PolicyRule>,
    },
    /// Removes a rule and the comment directly above it.
    RemoveRule {
        /// The place of the rule to remove.
        place: usize,
    },
    /// Moves a rule together with the comment directly above it.
    MoveRule {
        /// The place of the rule to move.
        place: usize,
        /// The place of the rule after the move.
        to: usize,
    },
    /// Sets the defaults for asks that no rule matches.
    SetDefaults {
        /// The new defaults for questions.
        questions: QuestionDefaults,
        /// The new defaults for approvals.
        approvals: ApprovalDefaults,
    },
    /// Sets the defaults of a profile. Adds the profile if it does not exist.
    SetProfile {
        /// The name of the profile.
        name: String,
        /// The profile's defaults for questions.
        questions: QuestionDefaults,
        /// The profile's defaults for approvals.
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

/// Applies edits to a policy text, which does not have to be saved. The policy file stays unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditPolicy {
    /// The complete policy text to edit.
    pub text: String,
    /// The edits, applied in this order; at most 100. An empty list only parses the text.
    #[serde(default)]
    pub edits: Vec<PolicyEdit>,
}

/// A policy text and its content as structured values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyForm {
    /// The text after the edits. Save it with `PUT /v1/policy`.
    pub text: String,
    /// Defaults for questions that no rule matches.
    pub questions: QuestionDefaults,
    /// Defaults for approvals that no rule matches.
    pub approvals: ApprovalDefaults,
    /// The rules, in the order of the file.
    pub rules: Vec<FormRule>,
    /// Profiles by name. A profile, such as `away`, replaces defaults while it is switched on.
    pub profiles: BTreeMap<String, ProfileDefaults>,
}

/// The defaults that a profile replaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileDefaults {
    /// The profile's defaults for questions.
    pub questions: QuestionDefaults,
    /// The profile's defaults for approvals.
    pub approvals: ApprovalDefaults,
}

/// A rule with its place in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FormRule {
    /// The place of the rule, counted from 1.
    pub place: usize,
    /// The key of the rule in past decisions: its id, or its label if it has no id. See `GET /v1/policy/hits`.
    pub key: String,
    /// The label to display: the rule's name, or its place if it has no name.
    pub label: String,
    /// The content of the rule.
    pub rule: PolicyRule,
}

impl PolicyForm {
    /// Builds the form of a policy text and the policy that was parsed from it.
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

/// The period in which rule decisions are counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct RuleHitsQuery {
    /// The number of days before now, 1 to 366. Defaults to 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(minimum = 1, maximum = 366)]
    pub days: Option<u32>,
}

/// How often each rule of the saved policy matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleHitsList {
    /// The start of the counted period.
    #[schema(value_type = String, format = DateTime)]
    pub since: Time,
    /// One entry per rule, and one for the built-in rule.
    pub data: Vec<RuleHits>,
}

/// How often one rule decided an ask or left it to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleHits {
    /// The `key` of the rule, as in the policy form.
    pub rule: String,
    /// The number of matches. Counting stops at 10,000.
    pub hits: usize,
    /// The last match, which can be earlier than `since`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_at: Option<Time>,
}

/// Earlier decisions of people about the same action: the same tool with the same command, files or address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Precedents {
    /// How often people approved the action, among the newest 2,000 asks.
    pub approved: usize,
    /// How often people denied the action, among the newest 2,000 asks.
    pub denied: usize,
    /// The last time that a person decided about the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_at: Option<Time>,
}
