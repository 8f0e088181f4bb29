//! Follows symbolic links in paths, also in paths that do not exist yet.
//!
//! Blocks on the file system; callers use [`read_apart`](crate::small_file::read_apart).

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Maximum number of links in one path. Linux has the same limit.
const MAX_LINKS: usize = 40;

/// Resolves the links in an absolute path. Components that do not exist stay unchanged. `None` if links form a cycle.
pub(crate) fn follow_links(path: &Path) -> Option<PathBuf> {
    let mut rest: VecDeque<OsString> = names(path).collect();
    let mut real = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&name);
        match fs::read_link(&next) {
            Ok(target) => {
                links += 1;
                if links > MAX_LINKS {
                    return None;
                }
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                for name in names(&target).collect::<Vec<_>>().into_iter().rev() {
                    rest.push_front(name);
                }
            }
            Err(_) => real = next,
        }
    }
    Some(real)
}

fn names(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_also_where_nothing_exists_yet() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        symlink("b", root.join("a/relative")).unwrap();
        symlink(root.join("a"), root.join("absolute")).unwrap();
        symlink("../missing/file", root.join("a/dangling")).unwrap();
        symlink("circle", root.join("circle")).unwrap();
        let followed = |path: &str| follow_links(&root.join(path));
        for (path, real) in [
            ("a/b/c", "a/b/c"),
            ("a/relative/c", "a/b/c"),
            ("absolute/relative/new/file", "a/b/new/file"),
            ("a/dangling", "missing/file"),
            ("a/relative/../x", "a/x"),
            ("absolute/../x", "x"),
            ("missing/../x", "x"),
        ] {
            assert_eq!(followed(path), Some(root.join(real)), "{path}");
        }
        assert_eq!(followed("circle/x"), None);
    }
}
