//! The directory that an agent works in.

use std::path::{Path, PathBuf};

use sayso_api::token::Role;
use sayso_core::limits;

use super::policies::project_file;
use super::{ServiceError, Services};
use crate::auth::Caller;
use crate::small_file::{read_apart, read_small_file};

/// Bytes of a project's policy file.
pub(super) const MAX_PROJECT_POLICY: u64 = 256 * 1024;
/// Bytes of `.git/HEAD`: a reference or a hash.
const MAX_HEAD: u64 = 4 * 1024;

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
        let policy = read_small_file(Path::new(&project_file(&path)), MAX_PROJECT_POLICY).ok();
        let head = directory.ancestors().find_map(|dir| read_small_file(&dir.join(".git/HEAD"), MAX_HEAD).ok());
        let branch = head.and_then(|head| head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned));
        Self { path, policy, branch }
    }
}

/// Reads a directory that exists on this machine.
pub(crate) async fn read_project(directory: PathBuf) -> Project {
    let path = directory.to_string_lossy().into_owned();
    read_apart(move || Project::read(&directory)).await.unwrap_or_else(|| Project::unread(path))
}

/// The same, if it still is a directory.
pub(crate) async fn read_existing_project(directory: PathBuf) -> Option<Project> {
    let read = move || directory.is_dir().then(|| Project::read(&directory));
    read_apart(read).await.flatten()
}

/// Reads the directory that an agent outside this server reports. The agent may run on another machine; then its word is
/// all there is.
pub(crate) async fn read_reported_project(path: &str) -> Project {
    let directory = PathBuf::from(path);
    let read = move || Project::read(&directory.canonicalize().unwrap_or(directory));
    read_apart(read).await.unwrap_or_else(|| Project::unread(path.to_owned()))
}

/// The directory that a caller chooses: absolute, existing, and inside a configured root unless the caller is an admin.
/// The home directory if the caller chooses none.
pub(crate) async fn allowed_directory(
    services: &Services,
    caller: &Caller,
    wanted: Option<&str>,
) -> Result<PathBuf, ServiceError> {
    let refused = ServiceError::DirectoryNotAllowed;
    let home = services.home.clone().unwrap_or_else(|| "/".to_owned());
    let wanted = wanted.filter(|cwd| !cwd.is_empty()).unwrap_or(&home);
    let expand = |path: &str| match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => PathBuf::from(format!("{home}{rest}")),
        _ => PathBuf::from(path),
    };
    let path = expand(wanted);
    if !path.is_absolute() {
        return Err(refused("cwd is an absolute path".to_owned()));
    }
    let roots: Option<Vec<PathBuf>> = match (caller.role, services.config.roots.as_slice()) {
        (Role::Admin, _) => None,
        (_, []) => Some(vec![PathBuf::from(&home)]),
        (_, roots) => Some(roots.iter().map(|root| expand(root)).collect()),
    };
    let shown = limits::head(wanted, 200).to_owned();
    let found = read_apart(move || ChosenDirectory::find(&path, roots.as_deref())).await;
    match found {
        Some(ChosenDirectory::Allowed(real)) => Ok(real),
        Some(ChosenDirectory::Missing) => Err(refused(format!("{shown} is not a directory"))),
        Some(ChosenDirectory::OutsideRoots) => {
            Err(refused(format!("{shown} is outside the directories that config.toml names as roots")))
        }
        None => Err(refused(format!("the file system of {shown} does not respond"))),
    }
}

/// The result of looking up the directory that a caller chooses.
enum ChosenDirectory {
    /// The path without links.
    Allowed(PathBuf),
    Missing,
    OutsideRoots,
}

impl ChosenDirectory {
    /// Blocks on the file system.
    fn find(path: &Path, roots: Option<&[PathBuf]>) -> Self {
        let Some(real) = path.canonicalize().ok().filter(|real| real.is_dir()) else { return Self::Missing };
        let contains = |root: &PathBuf| root.canonicalize().is_ok_and(|root| real.starts_with(root));
        if roots.is_none_or(|roots| roots.iter().any(contains)) { Self::Allowed(real) } else { Self::OutsideRoots }
    }
}
