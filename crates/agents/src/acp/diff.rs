//! Unified diffs of one file.

use crate::diff::{DiffScope, hunk};

/// The diff from `old` to `new`; `None` is a file that does not exist.
pub(super) fn unified(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    let name = |side: Option<&str>| if side.is_some() { escape_path(path) } else { "/dev/null".to_owned() };
    let mut diff = format!("--- {}\n+++ {}\n", name(old), name(new));
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    if old != new {
        diff.push_str(&hunk(old, new, DiffScope::File));
    }
    diff
}

/// The path with control characters escaped, so that a path cannot inject lines into the diff.
fn escape_path(path: &str) -> String {
    if path.contains(char::is_control) { path.escape_debug().to_string() } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diff_marks_created_and_deleted_files() {
        assert_eq!(unified("a", None, Some("x\n")), "--- /dev/null\n+++ a\n@@ -0,0 +1,1 @@\n+x\n");
        assert_eq!(unified("a", Some("x\n"), None), "--- a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n");
        assert_eq!(unified("a", Some("x\n"), Some("x\n")), "--- a\n+++ a\n");
        assert_eq!(unified("a", Some(""), Some("")), "--- a\n+++ a\n");
    }

    #[test]
    fn path_with_line_break_cannot_inject_diff_lines() {
        assert!(unified("a\n+rm -rf", None, Some("")).starts_with("--- /dev/null\n+++ a\\n+rm -rf\n"));
    }
}
