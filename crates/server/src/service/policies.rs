//! The policy in force: the person's file, what was set by hand, and what a session adds.

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

/// The setting that names the active profile.
pub(crate) const PROFILE: &str = "profile";

/// The profile that is switched on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ActiveProfile {
    pub(crate) name: String,
    pub(crate) until: Option<Time>,
}

/// What is in force for everybody.
#[derive(Debug, Clone)]
pub(crate) struct InForce {
    /// The person's policy: the last one that parsed.
    pub(crate) user: Arc<Policy>,
    /// The file's text.
    pub(crate) text: String,
    /// What is wrong with the text.
    pub(crate) error: Option<PolicyError>,
    pub(crate) profile: Option<ActiveProfile>,
    pub(crate) grants: Vec<Grant>,
    trusted: Vec<(String, String)>,
    /// Grows with every change, so that whoever keeps a compiled set knows when to ask again.
    pub(crate) version: u64,
}

/// Owner of the policy.
#[derive(Debug)]
pub(crate) struct Policies {
    path: PathBuf,
    protected: Vec<String>,
    home: Option<String>,
    state: RwLock<PoliciesState>,
    /// Whoever writes the file holds this, so that two do not take the same text for the last one.
    writing: Mutex<()>,
}

/// Why the file was not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotWritten {
    /// The text is no policy.
    #[error(transparent)]
    Invalid(#[from] PolicyError),
    /// The file is not what the writer had read.
    #[error("the policy file changed meanwhile")]
    Changed,
    /// The disk.
    #[error(transparent)]
    File(#[from] io::Error),
}

#[derive(Debug)]
struct PoliciesState {
    in_force: Arc<InForce>,
    modified: Option<SystemTime>,
}

impl Policies {
    /// Reads the file and what is stored.
    pub(crate) fn new(path: PathBuf, protected: Vec<String>, home: Option<String>, stored: StoredPolicy) -> Self {
        let in_force = InForce {
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
        policies.take_stored(stored);
        policies.reload();
        policies
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What is in force now.
    pub(crate) fn in_force(&self) -> Arc<InForce> {
        Arc::clone(&self.state.read().unwrap_or_else(std::sync::PoisonError::into_inner).in_force)
    }

    fn change(&self, change: impl FnOnce(&mut InForce, &mut Option<SystemTime>)) {
        let mut state = self.state.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut in_force = InForce::clone(&state.in_force);
        change(&mut in_force, &mut state.modified);
        in_force.version += 1;
        state.in_force = Arc::new(in_force);
    }

    /// Reads the file again if it changed; tells whether it did. A text that does not parse keeps the
    /// last good policy in force.
    pub(crate) fn reload(&self) -> bool {
        let modified = std::fs::metadata(&self.path).and_then(|meta| meta.modified()).ok();
        let (known, text_known) = {
            let state = self.state.read().unwrap_or_else(std::sync::PoisonError::into_inner);
            (state.modified, state.in_force.version > 1)
        };
        if modified == known && text_known {
            return false;
        }
        self.take(std::fs::read_to_string(&self.path).unwrap_or_default(), modified);
        true
    }

    fn take(&self, text: String, modified: Option<SystemTime>) {
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
                    tracing::warn!(%error, "policy.toml cannot be used; the last good policy stays in force");
                    in_force.error = Some(error);
                }
            }
        });
    }

    /// Writes another text into the file, whole or not at all, if the file still has the text with this fingerprint. It
    /// is in force at once.
    pub(crate) fn write(&self, text: String, if_fingerprint: &str) -> Result<(), NotWritten> {
        let _writing = self.writing.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Policy::parse(&text)?;
        // A file that cannot be read is not one that is empty.
        let before = match std::fs::read_to_string(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        if project_hash(&before) != if_fingerprint {
            return Err(NotWritten::Changed);
        }
        // A link to a file that is kept elsewhere stays one.
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
        self.take(text, modified);
        Ok(())
    }

    /// Takes over grants, the profile and trusted projects.
    pub(crate) fn take_stored(&self, stored: StoredPolicy) {
        let grants = stored.grants.iter().filter_map(|(_, _, raw)| serde_json::from_str::<Grant>(raw.as_str()).ok()).collect();
        let profile =
            stored.settings.iter().find(|(key, _)| key == PROFILE).and_then(|(_, raw)| serde_json::from_str(raw.as_str()).ok());
        self.change(|in_force, _| {
            in_force.grants = grants;
            in_force.profile = profile;
            in_force.trusted = stored.trusted;
        });
    }

    /// Reads what is stored again, after somebody wrote it.
    pub(crate) async fn refresh(&self, store: &Store, workspace: WorkspaceId) -> Result<(), StoreError> {
        let stored = store.read(ReadStoredPolicy { workspace }).await?;
        self.take_stored(stored);
        Ok(())
    }

    /// Everything that holds for a session, with another person's policy if one is given. Something
    /// that cannot be used is left out if it would allow, so doubt never approves.
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

    /// The ask as the policy looks at it.
    pub(crate) fn subject<'a>(&'a self, agent: &'a str, project: Option<&'a str>, body: &'a AskBody) -> Subject<'a> {
        Subject { agent, project, home: self.home.as_deref(), body, step: false, disk: None }
    }
}

/// What of a session bears on the policy.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionScope {
    pub(crate) project: String,
    pub(crate) project_policy: Option<String>,
    pub(crate) policy: SessionPolicy,
    /// The configuration when the session began.
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

/// The policy file of a project.
pub(crate) fn project_file(project: &str) -> String {
    format!("{}/.sayso.toml", project.trim_end_matches('/'))
}

/// The state of an ask after the policy looked at it.
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
