//! Hashes of configuration files that make programs run. Compared with the hashes from the start of the session.
//!
//! Blocks on the file system; callers use [`read_apart`](crate::small_file::read_apart).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sayso_core::policy::{WATCHED_CONFIG, config_hash};
use sayso_core::session::ConfigSnapshot;

use crate::small_file::read_small_file;

/// Maximum size in bytes of a file that is hashed by its content. Larger files are identified by size and modification time.
const MAX_TEXT: u64 = 256 * 1024;
/// Maximum size in bytes of the files that point git to the repository of a working tree.
const MAX_POINTER: u64 = 4 * 1024;
/// Maximum number of hashed files, and maximum depth in a watched directory.
const MAX_FILES: usize = 512;
const MAX_DEPTH: usize = 3;

/// Hashes the watched configuration of a project, of the repository that it is in, and of the home directory.
pub(crate) fn hash_config(project: &Path, home: Option<&Path>) -> ConfigSnapshot {
    let repository = project.ancestors().find(|directory| directory.join(".git").exists());
    let roots: BTreeSet<&Path> = [Some(project), repository, home].into_iter().flatten().collect();
    let mut snapshot = BTreeMap::new();
    for root in roots {
        let git = GitDirectories::of(root);
        for path in WATCHED_CONFIG.iter().flat_map(|watched| watched.paths) {
            let place = git.as_ref().and_then(|git| git.place_of(path)).unwrap_or_else(|| root.join(path));
            hash_into(&mut snapshot, &root.join(path), &place, 0);
        }
        if let Some(git) = git {
            snapshot.insert(root.join(".git/config").to_string_lossy().into_owned(), git.config_hash());
        }
    }
    ConfigSnapshot(snapshot)
}

/// Lists files that were added, removed or changed.
pub(crate) fn changed_config(before: &ConfigSnapshot, now: &ConfigSnapshot) -> Vec<String> {
    let paths: BTreeSet<&String> = before.0.keys().chain(now.0.keys()).collect();
    paths.into_iter().filter(|path| before.0.get(*path) != now.0.get(*path)).cloned().collect()
}

/// Hashes a file, or all files of a directory. `name` is the path in the snapshot, `place` is the path to read.
fn hash_into(snapshot: &mut BTreeMap<String, String>, name: &Path, place: &Path, depth: usize) {
    if snapshot.len() >= MAX_FILES || name.extension().is_some_and(|extension| extension == "sample") {
        return;
    }
    let Ok(metadata) = fs::metadata(place) else { return };
    if metadata.is_dir() {
        let entries = if depth < MAX_DEPTH { fs::read_dir(place).ok() } else { None };
        for entry in entries.into_iter().flatten().flatten().take(MAX_FILES) {
            hash_into(snapshot, &name.join(entry.file_name()), &entry.path(), depth + 1);
        }
        return;
    }
    let name = name.to_string_lossy().into_owned();
    let hash = match read_small_file(place, MAX_TEXT) {
        Ok(text) => config_hash(&name, &text),
        Err(error) if error.kind() == ErrorKind::NotFound => return,
        Err(_) => format!("{}:{}:{}:{}", metadata.len(), metadata.ino(), metadata.mtime(), metadata.mtime_nsec()),
    };
    snapshot.insert(name, hash);
}

/// The directories with git's configuration of a working tree whose `.git` is a file.
struct GitDirectories {
    pointer: String,
    /// The directory of this working tree.
    own: PathBuf,
    /// The directory that all working trees of the repository share.
    common: PathBuf,
}

impl GitDirectories {
    fn of(root: &Path) -> Option<Self> {
        let pointer = read_small_file(&root.join(".git"), MAX_POINTER).ok()?;
        let own = root.join(pointer.trim().strip_prefix("gitdir: ")?);
        let common = read_small_file(&own.join("commondir"), MAX_POINTER).map(|common| own.join(common.trim()));
        Some(Self { pointer, common: common.unwrap_or_else(|_| own.clone()), own })
    }

    fn place_of(&self, path: &str) -> Option<PathBuf> {
        let inside = path.strip_prefix(".git/")?;
        let directory = if matches!(inside, "config.worktree" | "commondir") { &self.own } else { &self.common };
        Some(directory.join(inside))
    }

    /// Hashes the configuration together with the files that point to it.
    fn config_hash(&self) -> String {
        let config = read_small_file(&self.common.join("config"), MAX_TEXT).unwrap_or_default();
        config_hash(".git/config", &format!("{}\n{config}", self.pointer))
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(directory: &Path, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.current_dir(directory).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        git.env("HOME", directory).env("GIT_CONFIG_NOSYSTEM", "1");
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.test", "-c", "init.defaultBranch=main"];
        assert!(git.args(identity).args(arguments).output().unwrap().status.success(), "{arguments:?}");
    }

    fn changes(project: &Path, before: &ConfigSnapshot) -> Vec<String> {
        let root = project.to_string_lossy().into_owned();
        changed_config(before, &hash_config(project, None)).iter().map(|path| path.replace(&root, "")).collect()
    }

    #[test]
    fn repository_changes_are_detected_and_ordinary_work_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("shop");
        fs::create_dir(&project).unwrap();
        git(&project, &["init"]);
        let before = hash_config(&project, None);
        git(&project, &["commit", "--allow-empty", "-m", "x"]);
        git(&project, &["remote", "add", "origin", "."]);
        assert_eq!(changes(&project, &before), ["/.git/config"]);

        let before = hash_config(&project, None);
        git(&project, &["fetch", "origin"]);
        git(&project, &["switch", "-c", "topic", "--track", "origin/main"]);
        git(&project, &["commit", "--allow-empty", "-m", "y"]);
        assert_eq!(changes(&project, &before), Vec::<String>::new());

        fs::write(project.join(".git/hooks/pre-commit"), [0xff, 0xfe]).unwrap();
        fs::write(project.join(".npmrc"), "script-shell=x").unwrap();
        fs::create_dir(project.join(".husky")).unwrap();
        fs::write(project.join(".husky/pre-push"), "x").unwrap();
        assert_eq!(changes(&project, &before), ["/.git/hooks/pre-commit", "/.husky/pre-push", "/.npmrc"]);

        let before = hash_config(&project, None);
        fs::remove_file(project.join(".npmrc")).unwrap();
        assert_eq!(changes(&project, &before), ["/.npmrc"]);
    }

    #[test]
    fn worktree_and_subdirectory_use_the_configuration_of_their_repository() {
        let dir = tempfile::tempdir().unwrap();
        let main = dir.path().join("main");
        fs::create_dir(&main).unwrap();
        git(&main, &["init"]);
        git(&main, &["commit", "--allow-empty", "-m", "x"]);
        git(&main, &["worktree", "add", "../tree"]);
        let tree = dir.path().join("tree");
        fs::create_dir(tree.join("sub")).unwrap();

        let before = hash_config(&tree.join("sub"), None);
        git(&main, &["config", "core.fsmonitor", "x"]);
        let found = changed_config(&before, &hash_config(&tree.join("sub"), None));
        assert_eq!(found, [tree.join(".git/config").to_string_lossy().into_owned()]);

        let before = hash_config(&tree, None);
        fs::write(tree.join(".git"), "gitdir: ../other").unwrap();
        assert_eq!(changes(&tree, &before), ["/.git/commondir", "/.git/config"]);
    }
}
