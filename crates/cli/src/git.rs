//! Reads the current branch of a directory from git's own files.

use std::path::{Path, PathBuf};

use sayso_server::read_small_file;

/// Limit for git's small files (a reference, a hash or a path), in bytes.
const SMALL: u64 = 8 * 1024;

/// Returns the branch of the repository that contains this directory; `None` if no branch is checked out.
pub(crate) fn branch(directory: &Path) -> Option<String> {
    let dot_git = directory.ancestors().map(|parent| parent.join(".git")).find(|path| path.exists())?;
    let git_dir = if dot_git.is_dir() { dot_git } else { worktree(&dot_git)? };
    let head = read_small_file(&git_dir.join("HEAD"), SMALL).ok()?;
    head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned)
}

/// Resolves the git directory of a worktree, where `.git` is a file with its path.
fn worktree(dot_git: &Path) -> Option<PathBuf> {
    let text = read_small_file(dot_git, SMALL).ok()?;
    let named = text.trim().strip_prefix("gitdir: ")?;
    Some(dot_git.parent()?.join(named))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn branch_is_found_from_a_subdirectory() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("a/b");
        fs::create_dir_all(&below).unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/feat/x\n").unwrap();
        assert_eq!(branch(&below).as_deref(), Some("feat/x"));
        fs::write(dir.path().join(".git/HEAD"), "0123456789abcdef\n").unwrap();
        assert_eq!(branch(&below), None);
    }
}
