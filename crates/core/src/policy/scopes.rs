//! The scopes of rules: built in, the person, a profile, the project, the session, and grants.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::PolicyError;
use super::hash::fingerprint;
use super::model::{Effect, Profile, RuleSpec, SessionPolicy, Texts};
use super::policy_file::Policy;
use super::rules::Rule;
use crate::ask::Claims;
use crate::id::GrantId;
use crate::time::Time;

/// The source of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    /// The rule that protects Sayso itself.
    BuiltIn,
    User,
    /// An active profile.
    Profile,
    /// The `.sayso.toml` of the project.
    Project,
    /// The policy of the session or workflow step.
    Session,
    /// A rule that a person granted for a while.
    Grant,
}

impl Scope {
    /// The name on the wire and in messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built in",
            Self::User => "user",
            Self::Profile => "profile",
            Self::Project => "project",
            Self::Session => "session",
            Self::Grant => "grant",
        }
    }
}

/// The `.sayso.toml` of a project.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectPolicy {
    pub policy: Policy,
    /// Whether a person trusted exactly this text. An untrusted file can only make the policy stricter.
    pub trusted: bool,
}

/// A permission that a person grants, usually for a while. The patterns are those of rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Grant {
    pub id: GrantId,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edit: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fetch: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<String>,
    /// The agent's names of tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Applies only in this directory and below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The end of the grant. `None` if it lasts until it is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

impl Grant {
    /// Creates a grant without patterns.
    #[must_use]
    pub const fn new(id: GrantId, until: Option<Time>) -> Self {
        Self {
            id,
            run: Vec::new(),
            edit: Vec::new(),
            read: Vec::new(),
            fetch: Vec::new(),
            mcp: Vec::new(),
            tool: Vec::new(),
            agent: None,
            project: None,
            until,
        }
    }

    /// Checks the patterns. There has to be at least one.
    ///
    /// # Errors
    /// When a pattern is invalid or there is none.
    pub fn check(&self) -> Result<(), PolicyError> {
        self.rule().map(|_| ())
    }

    fn rule(&self) -> Result<Rule, PolicyError> {
        let texts = |list: &Vec<String>| Some(Texts(list.clone())).filter(|texts| !texts.0.is_empty());
        Rule::new(RuleSpec {
            name: Some(format!("grant {}", self.id)),
            run: texts(&self.run),
            edit: texts(&self.edit),
            read: texts(&self.read),
            fetch: texts(&self.fetch),
            mcp: texts(&self.mcp),
            tool: texts(&self.tool),
            agent: self.agent.clone().map(|agent| Texts(vec![agent])),
            project: self.project.clone(),
            until: self.until,
            ..RuleSpec::new(Effect::Allow)
        })
    }
}

#[derive(Debug)]
pub(super) struct ActiveProfile {
    pub(super) profile: Profile,
    until: Option<Time>,
}

impl ActiveProfile {
    pub(super) fn is_on(&self, now: Time) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

/// All rules and settings that apply to one session. Clones share the rules.
#[derive(Debug, Clone)]
pub struct PolicySet {
    pub(super) user: Arc<Policy>,
    pub(super) profile: Option<Arc<ActiveProfile>>,
    pub(super) project: Option<Arc<ProjectPolicy>>,
    pub(super) session: Arc<SessionPolicy>,
    session_rules: Arc<[Rule]>,
    grants: Arc<[Rule]>,
    pub(super) protected: Arc<[String]>,
    pub(super) claims: Claims,
    /// The hashes of user policy, profile, project, session and grants.
    hashes: [u64; 5],
}

impl Default for PolicySet {
    fn default() -> Self {
        Self::new(Arc::default(), Vec::new())
    }
}

impl PolicySet {
    /// Creates a set with the person's policy. `protected` are the absolute paths of Sayso's directories.
    #[must_use]
    pub fn new(user: Arc<Policy>, protected: Vec<String>) -> Self {
        // A root directory would match every command.
        let protected = protected.into_iter().filter(|directory| directory.trim_end_matches('/').len() > 1).collect();
        Self {
            hashes: [user.hash, 0, 0, 0, 0],
            user,
            profile: None,
            project: None,
            session: Arc::default(),
            session_rules: Arc::from([]),
            grants: Arc::from([]),
            protected,
            claims: Claims::default(),
        }
    }

    /// Adds a profile of the person's policy.
    ///
    /// # Errors
    /// When the policy has no profile with this name.
    pub fn with_profile(mut self, name: &str, until: Option<Time>) -> Result<Self, PolicyError> {
        let profile = self
            .user
            .profiles
            .get(name)
            .cloned()
            .ok_or_else(|| PolicyError::new(format!("there is no profile {name}: write [profiles.{name}] in policy.toml")))?;
        self.hashes[1] = fingerprint(&[name.as_bytes(), until.map_or_else(String::new, |until| until.to_string()).as_bytes()]);
        self.profile = Some(Arc::new(ActiveProfile { profile, until }));
        Ok(self)
    }

    /// Adds the policy file of the project.
    #[must_use]
    pub fn with_project(mut self, project: Arc<ProjectPolicy>) -> Self {
        self.hashes[2] = fingerprint(&[&project.policy.hash.to_le_bytes(), &[u8::from(project.trusted)]]);
        self.project = Some(project);
        self
    }

    /// Adds the policy of a session or workflow step.
    ///
    /// # Errors
    /// When one of its rules is invalid.
    pub fn with_session(mut self, session: &SessionPolicy) -> Result<Self, PolicyError> {
        self.session_rules = session.compile()?.into();
        self.hashes[3] = canonical(session);
        self.session = Arc::new(session.clone());
        Ok(self)
    }

    /// Sets which properties of the caller are only reported.
    #[must_use]
    pub const fn with_claims(mut self, claims: Claims) -> Self {
        self.claims = claims;
        self
    }

    /// Adds grants.
    ///
    /// # Errors
    /// When a pattern of a grant is invalid.
    pub fn with_grants(mut self, grants: &[Grant]) -> Result<Self, PolicyError> {
        self.grants = grants.iter().map(Grant::rule).collect::<Result<_, _>>()?;
        self.hashes[4] = canonical(&grants);
        Ok(self)
    }

    /// Creates a set with one rule in the scope of the person.
    pub(super) fn of_one(rule: &Rule) -> Self {
        Self::new(Arc::new(Policy { rules: vec![rule.clone()], ..Policy::default() }), Vec::new())
    }

    /// Returns a text that identifies the rules. Equal rules have equal fingerprints.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let parts = self.hashes.map(u64::to_le_bytes);
        let [user, profile, project, session, grants] = &parts;
        format!("{:016x}", fingerprint(&[user, profile, project, session, grants]))
    }

    /// Returns all rules with their scopes, the nearest scope first.
    pub(super) fn rules(&self) -> impl Iterator<Item = (Scope, &Rule)> {
        let of = |scope: Scope, rules: &[Rule]| std::iter::repeat_n(scope, rules.len());
        let project: &[Rule] = self.project.as_ref().map_or(&[], |project| &project.policy.rules);
        of(Scope::Grant, &self.grants)
            .zip(self.grants.iter())
            .chain(of(Scope::Session, &self.session_rules).zip(self.session_rules.iter()))
            .chain(of(Scope::Project, project).zip(project))
            .chain(of(Scope::User, &self.user.rules).zip(self.user.rules.iter()))
    }

    /// Whether rules of this scope can have this effect. Untrusted projects can only protect.
    pub(super) fn permits(&self, scope: Scope, effect: Effect) -> bool {
        let untrusted = scope == Scope::Project && self.project.as_ref().is_some_and(|project| !project.trusted);
        !untrusted || matches!(effect, Effect::Deny | Effect::Ask)
    }
}

fn canonical<T: Serialize>(value: &T) -> u64 {
    fingerprint(&[serde_json::to_string(value).unwrap_or_default().as_bytes()])
}
