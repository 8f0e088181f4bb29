//! Who says what: built in, the person, a profile, the project, the session, a grant by hand.

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

/// Where a rule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    /// Sayso itself.
    BuiltIn,
    /// The person's `policy.toml`.
    User,
    /// A profile that is switched on.
    Profile,
    /// The project's `.sayso.toml`.
    Project,
    /// The session or the step.
    Session,
    /// A grant by hand.
    Grant,
}

impl Scope {
    /// The word for it.
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

/// A project's `.sayso.toml`.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectPolicy {
    /// What it says.
    pub policy: Policy,
    /// Whether a person trusted exactly this text. Untrusted it may only make things stricter.
    pub trusted: bool,
}

/// What a person allowed by hand, mostly for a while. The patterns are those of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Grant {
    /// Its id.
    pub id: GrantId,
    /// Commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub run: Vec<String>,
    /// Files that are changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edit: Vec<String>,
    /// Files that are read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<String>,
    /// Addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fetch: Vec<String>,
    /// Tools of MCP servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp: Vec<String>,
    /// The agent's own names of tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool: Vec<String>,
    /// Only for this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only in this directory and below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Until then; nothing: until it is taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

impl Grant {
    /// A grant of nothing yet.
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

    /// Checks the patterns, and that there is one.
    ///
    /// # Errors
    /// What is wrong with them.
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

/// All that is in force for one session. Cheap to clone.
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
    /// One hash per part: user, profile, project, session, grants.
    hashes: [u64; 5],
}

impl Default for PolicySet {
    fn default() -> Self {
        Self::new(Arc::default(), Vec::new())
    }
}

impl PolicySet {
    /// The person's policy, and the directories (absolute) that are Sayso's own.
    #[must_use]
    pub fn new(user: Arc<Policy>, protected: Vec<String>) -> Self {
        // A root directory would make every command touch Sayso's files.
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

    /// With a profile of the person's policy switched on.
    ///
    /// # Errors
    /// When the policy has no profile of that name.
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

    /// With the file of the session's project.
    #[must_use]
    pub fn with_project(mut self, project: Arc<ProjectPolicy>) -> Self {
        self.hashes[2] = fingerprint(&[&project.policy.hash.to_le_bytes(), &[u8::from(project.trusted)]]);
        self.project = Some(project);
        self
    }

    /// With what a session or a step says.
    ///
    /// # Errors
    /// When one of its rules cannot be used.
    pub fn with_session(mut self, session: &SessionPolicy) -> Result<Self, PolicyError> {
        self.session_rules = session.compile()?.into();
        self.hashes[3] = canonical(session);
        self.session = Arc::new(session.clone());
        Ok(self)
    }

    /// For an asker that only reports who it is or where it works.
    #[must_use]
    pub const fn with_claims(mut self, claims: Claims) -> Self {
        self.claims = claims;
        self
    }

    /// With what a person granted by hand.
    ///
    /// # Errors
    /// When a pattern of a grant cannot be used.
    pub fn with_grants(mut self, grants: &[Grant]) -> Result<Self, PolicyError> {
        self.grants = grants.iter().map(Grant::rule).collect::<Result<_, _>>()?;
        self.hashes[4] = canonical(&grants);
        Ok(self)
    }

    /// A set with one rule, as if the person had written it alone.
    pub(super) fn of_one(rule: &Rule) -> Self {
        Self::new(Arc::new(Policy { rules: vec![rule.clone()], ..Policy::default() }), Vec::new())
    }

    /// Names this set of rules: the same rules, the same text.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let parts = self.hashes.map(u64::to_le_bytes);
        let [user, profile, project, session, grants] = &parts;
        format!("{:016x}", fingerprint(&[user, profile, project, session, grants]))
    }

    /// Every rule with its scope, the nearest scope first.
    pub(super) fn rules(&self) -> impl Iterator<Item = (Scope, &Rule)> {
        let of = |scope: Scope, rules: &[Rule]| std::iter::repeat_n(scope, rules.len());
        let project: &[Rule] = self.project.as_ref().map_or(&[], |project| &project.policy.rules);
        of(Scope::Grant, &self.grants)
            .zip(self.grants.iter())
            .chain(of(Scope::Session, &self.session_rules).zip(self.session_rules.iter()))
            .chain(of(Scope::Project, project).zip(project))
            .chain(of(Scope::User, &self.user.rules).zip(self.user.rules.iter()))
    }

    /// Whether a rule of this scope may do this: an untrusted project may only protect.
    pub(super) fn may(&self, scope: Scope, effect: Effect) -> bool {
        let untrusted = scope == Scope::Project && self.project.as_ref().is_some_and(|project| !project.trusted);
        !untrusted || matches!(effect, Effect::Deny | Effect::Ask)
    }
}

fn canonical<T: Serialize>(value: &T) -> u64 {
    fingerprint(&[serde_json::to_string(value).unwrap_or_default().as_bytes()])
}
