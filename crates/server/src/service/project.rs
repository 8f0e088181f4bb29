//! The directory that an agent works in.

use std::path::{Path, PathBuf};

use sayso_api::token::Role;
use sayso_core::limits;

use super::policies::project_file;
use super::{ServiceError, Services};
use crate::auth::Caller;

/// Bytes of a project's policy file.
const MAX_PROJECT_POLICY: u64 = 256 * 1024;

/// A directory and what Sayso reads from it when a session begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    /// Absolute.
    pub(crate) path: String,
    /// The text of `.sayso.toml`.
    pub(crate) policy: Option<String>,
    /// The git branch.
    pub(crate) branch: Option<String>,
}

impl Project {
    /// A directory that cannot be read from here.
    const fn unread(path: String) -> Self {
        Self { path, policy: None, branch: None }
    }

    /// Reads the policy file and the branch. Blocks on the file system.
    fn read(directory: &Path) -> Self {
        let path = directory.to_string_lossy().into_owned();
        let file = PathBuf::from(project_file(&path));
        let small = std::fs::metadata(&file).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_PROJECT_POLICY);
        let policy = small.then(|| std::fs::read_to_string(&file).ok()).flatten();
        let head = directory.ancestors().find_map(|dir| std::fs::read_to_string(dir.join(".git/HEAD")).ok());
        let branch = head.and_then(|head| head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned));
        Self { path, policy, branch }
    }
}

/// Reads a directory that exists on this machine.
pub(crate) async fn read_project(directory: PathBuf) -> Project {
    let path = directory.to_string_lossy().into_owned();
    tokio::task::spawn_blocking(move || Project::read(&directory)).await.unwrap_or_else(|_| Project::unread(path))
}

/// The same, if it still is a directory.
pub(crate) async fn read_existing_project(directory: PathBuf) -> Option<Project> {
    let read = move || directory.is_dir().then(|| Project::read(&directory));
    tokio::task::spawn_blocking(read).await.ok().flatten()
}

/// Reads the directory that an agent outside this server reports. The agent may run on another machine; then its word is
/// all there is.
pub(crate) async fn read_reported_project(path: &str) -> Project {
    let directory = PathBuf::from(path);
    let read = move || Project::read(&directory.canonicalize().unwrap_or(directory));
    tokio::task::spawn_blocking(read).await.unwrap_or_else(|_| Project::unread(path.to_owned()))
}

/// The directory that a caller chooses: absolute, existing, and inside a configured root unless the caller is an admin.
/// The home directory if the caller chooses none.
pub(crate) fn allowed_directory(services: &Services, caller: &Caller, wanted: Option<&str>) -> Result<PathBuf, ServiceError> {
    let refused = ServiceError::DirectoryNotAllowed;
    let home = services.home.clone().unwrap_or_else(|| "/".to_owned());
    let wanted = wanted.filter(|cwd| !cwd.is_empty()).unwrap_or(&home);
    let expand = |path: &str| match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ => path.to_owned(),
    };
    let path = PathBuf::from(expand(wanted));
    if !path.is_absolute() {
        return Err(refused("cwd is an absolute path".to_owned()));
    }
    let shown = limits::head(wanted, 200).to_owned();
    let real =
        path.canonicalize().ok().filter(|real| real.is_dir()).ok_or_else(|| refused(format!("{shown} is not a directory")))?;
    if caller.role == Role::Admin {
        return Ok(real);
    }
    let mut roots: Vec<PathBuf> = services.config.roots.iter().map(|root| PathBuf::from(expand(root))).collect();
    if roots.is_empty() {
        roots.push(PathBuf::from(&home));
    }
    let inside = roots.iter().filter_map(|root| root.canonicalize().ok()).any(|root| real.starts_with(root));
    if inside { Ok(real) } else { Err(refused(format!("{shown} is outside the directories that config.toml names as roots"))) }
}
