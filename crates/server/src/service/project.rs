//! The project directory of an agent.

use std::path::{Path, PathBuf};

use sayso_api::token::Role;
use sayso_core::limits;
use sayso_core::plain_text;
use sayso_core::session::ConfigSnapshot;

use super::config_snapshot::hash_config;
use super::policies::project_file;
use super::{ServiceError, Services};
use crate::auth::Caller;
use crate::small_file::{read_apart, read_small_file};

/// Maximum size of a project's policy file, in bytes.
pub(super) const MAX_PROJECT_POLICY: u64 = 256 * 1024;
/// Maximum size of `.git/HEAD`, which contains a reference or a hash, in bytes.
const MAX_HEAD: u64 = 4 * 1024;

/// A project directory, and the facts that Sayso reads from it when a session begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    pub(crate) path: String,
    /// The text of `.sayso.toml`.
    pub(crate) policy: Option<String>,
    pub(crate) branch: Option<String>,
    /// Hashes of configuration that makes programs run.
    pub(crate) config: Option<ConfigSnapshot>,
}

impl Project {
    /// A directory that this server cannot read.
    const fn unread(path: String) -> Self {
        Self { path, policy: None, branch: None, config: None }
    }

    /// Reads the policy file, the branch and the configuration. Blocks on the file system.
    fn read(directory: &Path, home: Option<&str>) -> Self {
        let path = directory.to_string_lossy().into_owned();
        let policy = read_small_file(Path::new(&project_file(&path)), MAX_PROJECT_POLICY).ok();
        let head = directory.ancestors().find_map(|dir| read_small_file(&dir.join(".git/HEAD"), MAX_HEAD).ok());
        let branch = head.and_then(|head| head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned));
        let config = Some(hash_config(directory, home.map(Path::new)));
        Self { path, policy, branch, config }
    }
}

/// Reads a directory that exists on this machine.
pub(crate) async fn read_project(directory: PathBuf, home: Option<String>) -> Project {
    let path = directory.to_string_lossy().into_owned();
    read_apart(move || Project::read(&directory, home.as_deref())).await.unwrap_or_else(|| Project::unread(path))
}

/// Reads a directory; `None` if it no longer exists.
pub(crate) async fn read_existing_project(directory: PathBuf, home: Option<String>) -> Option<Project> {
    let read = move || directory.is_dir().then(|| Project::read(&directory, home.as_deref()));
    read_apart(read).await.flatten()
}

/// Checks a directory and a branch that a caller reports. `what` names the directory in errors.
pub(crate) fn check_reported_place(
    what: &'static str,
    directory: Option<&str>,
    branch: Option<&str>,
) -> Result<(), ServiceError> {
    let checks = [(what, directory, limits::PATH), ("the branch", branch, limits::NAME)];
    for (what, text, limit) in checks.into_iter().filter_map(|(what, text, limit)| Some((what, text?, limit))) {
        limits::check(what, text.len(), limit)?;
        plain_text::check(what, text)?;
    }
    if directory.is_some_and(|directory| !Path::new(directory).is_absolute()) {
        return Err(ServiceError::invalid(format!("{what} must be an absolute path")));
    }
    Ok(())
}

/// Reads the directory that an agent outside this server reports. If it does not exist here, the agent may run on another
/// machine, and the reported path is used unchecked.
pub(crate) async fn read_reported_project(path: &str, home: Option<String>) -> Project {
    let directory = PathBuf::from(path);
    let read = move || Project::read(&directory.canonicalize().unwrap_or(directory), home.as_deref());
    read_apart(read).await.unwrap_or_else(|| Project::unread(path.to_owned()))
}

/// Resolves the directory that a caller chooses. It must be absolute, exist, and be inside a configured root unless the caller
/// is an admin. Defaults to the home directory.
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
        return Err(refused("cwd must be an absolute path".to_owned()));
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

/// The result of resolving a chosen directory.
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
