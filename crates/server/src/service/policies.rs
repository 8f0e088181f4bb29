//! The active policy: the person's file, temporary grants, the active profile, trusted projects, and the policy of a session.

use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};
use std::time::SystemTime;

use sayso_core::ask::{AskBody, PolicyNote};
use sayso_core::policy::{Grant, Policy, PolicyError, PolicySet, ProjectPolicy, SessionPolicy, Subject, Verdict, project_hash};
use sayso_core::session::{ConfigSnapshot, Session};
use sayso_core::time::Time;
use sayso_store::read::{ReadStoredPolicy, StoredPolicy};
use sayso_store::{Store, StoreError, WorkspaceId};
use serde::{Deserialize, Serialize};

/// Key of the setting with the active profile.
pub(crate) const PROFILE: &str = "profile";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ActiveProfile {
    pub(crate) name: String,
    pub(crate) until: Option<Time>,
}

/// The parts of the policy that apply to all sessions. Replaced as a whole on every change.
#[derive(Debug, Clone)]
pub(crate) struct ActivePolicy {
    /// The person's policy: the last version of the file that parsed.
    pub(crate) user: Arc<Policy>,
    /// The current text of the file, valid or not.
    pub(crate) text: String,
    /// Why the current text does not parse.
    pub(crate) error: Option<PolicyError>,
    pub(crate) profile: Option<ActiveProfile>,
    pub(crate) grants: Vec<Grant>,
    trusted: Vec<(String, String)>,
    /// Grows with every change, so that callers know when a compiled set is stale.
    pub(crate) version: u64,
}

/// Owns the policy file and the active policy.
#[derive(Debug)]
pub(crate) struct Policies {
    path: PathBuf,
    protected: Vec<String>,
    home: Option<String>,
    state: RwLock<PoliciesState>,
    /// Held while the file is compared and written, so that two writers cannot replace the same version.
    writing: Mutex<()>,
}

/// Why the policy file was not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WritePolicyError {
    #[error(transparent)]
    Invalid(#[from] PolicyError),
    /// The file differs from the version that the writer had read.
    #[error("the policy file changed since it was read")]
    Changed,
    #[error(transparent)]
    File(#[from] io::Error),
}

#[derive(Debug)]
struct PoliciesState {
    in_force: Arc<ActivePolicy>,
    modified: Option<SystemTime>,
}

impl Policies {
    /// Reads the policy file and combines it with the stored grants, profile and trusted projects.
    pub(crate) fn new(path: PathBuf, protected: Vec<String>, home: Option<String>, stored: StoredPolicy) -> Self {
        let in_force = ActivePolicy {
            user: Arc::default(),
            text: String::new(),
            error: None,
            profile: None,
            grants: Vec::new(),
            trusted: Vec::new(),
            version: 0,
        };
        let state = RwLock::new(PoliciesState { in_force: Arc::new(in_force), modified: None });
        let policies = Self { path, protected, home, state, writing: Mutex::default() };
        policies.activate_stored(stored);
        policies.reload();
        policies
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the active policy.
    pub(crate) fn in_force(&self) -> Arc<ActivePolicy> {
        Arc::clone(&self.state.read().unwrap_or_else(std::sync::PoisonError::into_inner).in_force)
    }

    fn change(&self, change: impl FnOnce(&mut ActivePolicy, &mut Option<SystemTime>)) {
        let mut state = self.state.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut in_force = ActivePolicy::clone(&state.in_force);
        change(&mut in_force, &mut state.modified);
        in_force.version += 1;
        state.in_force = Arc::new(in_force);
    }

    /// Reads the file again if its modification time changed. Returns true if it did. If the text does not parse, the last
    /// valid policy stays active.
    pub(crate) fn reload(&self) -> bool {
        let modified = std::fs::metadata(&self.path).and_then(|meta| meta.modified()).ok();
        let (known, text_known) = {
            let state = self.state.read().unwrap_or_else(std::sync::PoisonError::into_inner);
            (state.modified, state.in_force.version > 1)
        };
        if modified == known && text_known {
            return false;
        }
        self.activate_text(std::fs::read_to_string(&self.path).unwrap_or_default(), modified);
        true
    }

    fn activate_text(&self, text: String, modified: Option<SystemTime>) {
        let parsed = Policy::parse(&text);
        self.change(|in_force, seen| {
            *seen = modified;
            in_force.text = text;
            match parsed {
                Ok(policy) => {
                    in_force.user = Arc::new(policy);
                    in_force.error = None;
                }
                Err(error) => {
                    tracing::warn!(%error, "policy.toml is invalid; the last valid policy stays active");
                    in_force.error = Some(error);
                }
            }
        });
    }

    /// Replaces the file atomically if its text still has this fingerprint, and activates the new text.
    pub(crate) fn write(&self, text: String, if_fingerprint: &str) -> Result<(), WritePolicyError> {
        let _writing = self.writing.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Policy::parse(&text)?;
        // A missing file counts as empty; an unreadable one is an error.
        let before = match std::fs::read_to_string(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        if project_hash(&before) != if_fingerprint {
            return Err(WritePolicyError::Changed);
        }
        // If the path is a symbolic link, replace its target and keep the link.
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let part = path.with_extension("part");
        let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&part, &path)?;
        let modified = std::fs::metadata(&path).and_then(|meta| meta.modified()).ok();
        self.activate_text(text, modified);
        Ok(())
    }

    /// Activates stored grants, the stored profile and trusted projects.
    pub(crate) fn activate_stored(&self, stored: StoredPolicy) {
        let grants = stored.grants.iter().filter_map(|(_, _, raw)| serde_json::from_str::<Grant>(raw.as_str()).ok()).collect();
        let profile =
            stored.settings.iter().find(|(key, _)| key == PROFILE).and_then(|(_, raw)| serde_json::from_str(raw.as_str()).ok());
        self.change(|in_force, _| {
            in_force.grants = grants;
            in_force.profile = profile;
            in_force.trusted = stored.trusted;
        });
    }

    /// Reads grants, profile and trusted projects from the store again, after a write.
    pub(crate) async fn refresh(&self, store: &Store, workspace: WorkspaceId) -> Result<(), StoreError> {
        let stored = store.read(ReadStoredPolicy { workspace }).await?;
        self.activate_stored(stored);
        Ok(())
    }

    /// Compiles the policy for a session, or for asks without one. `user` replaces the person's policy, for trials. Parts
    /// that are invalid are omitted: they could only allow more, and doubt must never approve.
    pub(crate) fn set(&self, session: Option<&SessionScope>, user: Option<Arc<Policy>>) -> PolicySet {
        let in_force = self.in_force();
        let user = user.unwrap_or_else(|| Arc::clone(&in_force.user));
        let mut set = PolicySet::new(user, self.protected.clone());
        if let Some(profile) = &in_force.profile {
            set = set.clone().with_profile(&profile.name, profile.until).unwrap_or(set);
        }
        if !in_force.grants.is_empty() {
            set = set.clone().with_grants(&in_force.grants).unwrap_or(set);
        }
        if let Some(session) = session {
            if let Some(text) = &session.project_policy
                && let Ok(policy) = Policy::parse(text)
            {
                let path = project_file(&session.project);
                let hash = project_hash(text);
                let trusted = in_force.trusted.iter().any(|(known, pinned)| *known == path && *pinned == hash);
                set = set.with_project(Arc::new(ProjectPolicy { policy, trusted }));
            }
            set = set.clone().with_session(&session.policy).unwrap_or(set);
        }
        set
    }

    /// Builds the subject of a policy decision.
    pub(crate) fn subject<'a>(&'a self, agent: &'a str, project: Option<&'a str>, body: &'a AskBody) -> Subject<'a> {
        Subject { agent, project, home: self.home.as_deref(), body, step: false, disk: None }
    }
}

/// The parts of a session that affect the policy.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionScope {
    pub(crate) project: String,
    pub(crate) project_policy: Option<String>,
    pub(crate) policy: SessionPolicy,
    /// Hashes of the configuration at the start of the session.
    pub(crate) config: Option<ConfigSnapshot>,
}

impl From<&Session> for SessionScope {
    fn from(session: &Session) -> Self {
        Self {
            project: session.project.clone(),
            project_policy: session.project_policy.clone(),
            policy: session.policy.clone(),
            config: session.config.clone(),
        }
    }
}

/// Returns the path of a project's policy file.
pub(crate) fn project_file(project: &str) -> String {
    format!("{}/.sayso.toml", project.trim_end_matches('/'))
}

/// Converts a verdict to the initial state of an ask.
pub(crate) fn state_after(verdict: Verdict, now: Time) -> (sayso_core::ask::AskState, PolicyNote) {
    use sayso_core::ask::{AskState, Delivery, Outcome, Reach};
    match verdict {
        Verdict::Person(note) => (AskState::Pending(Reach::Live), note),
        Verdict::Decided { decision, rule, hits } => {
            let outcome = Outcome { decision, by: sayso_core::actor::Actor::Policy { rule }, at: now, content: None };
            (AskState::Resolved { outcome, delivery: Delivery::Queued }, PolicyNote { hits, ..PolicyNote::default() })
        }
    }
}
