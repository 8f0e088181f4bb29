//! The change to one file as a unified diff.

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// The diff from `old` to `new`; nothing stands for a file that is not there. What is common at both
/// ends is left out but for its nearest lines, and everything between is one hunk, so that nothing
/// that changes can be missed.
pub(super) fn unified(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    let name = |side: Option<&str>| if side.is_some() { shown(path) } else { "/dev/null".to_owned() };
    let mut diff = format!("--- {}\n+++ {}\n", name(old), name(new));
    let before: Vec<&str> = old.unwrap_or_default().split_inclusive('\n').collect();
    let after: Vec<&str> = new.unwrap_or_default().split_inclusive('\n').collect();
    if before == after {
        return diff;
    }
    let head = before.iter().zip(&after).take_while(|(old, new)| old == new).count();
    let most = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(most).take_while(|(old, new)| old == new).count();
    let from = head.saturating_sub(CONTEXT);
    let (old_changed, new_changed) = (before.len() - tail, after.len() - tail);
    let shown_tail = tail.min(CONTEXT);
    diff.push_str(&format!(
        "@@ -{} +{} @@\n",
        range(from, old_changed + shown_tail - from),
        range(from, new_changed + shown_tail - from)
    ));
    let sections = [
        (' ', &before[from..head]),
        ('-', &before[head..old_changed]),
        ('+', &after[head..new_changed]),
        (' ', &before[old_changed..old_changed + shown_tail]),
    ];
    for (mark, lines) in sections {
        for line in lines {
            diff.push(mark);
            diff.push_str(line);
            if !line.ends_with('\n') {
                diff.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    diff
}

/// Where a hunk begins and how long it is; an empty one stands behind the line before it.
fn range(from: usize, length: usize) -> String {
    format!("{},{length}", if length == 0 { from } else { from + 1 })
}

/// A path that cannot be taken for a line of the diff.
fn shown(path: &str) -> String {
    if path.contains(char::is_control) { path.escape_debug().to_string() } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_hunk_with_its_surroundings() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n5½\n6\n7\n8\n9\n";
        let wanted = "--- a\n+++ a\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+5½\n 6\n 7\n 8\n";
        assert_eq!(unified("a", Some(old), Some(new)), wanted);
    }

    #[test]
    fn files_come_and_go() {
        assert_eq!(unified("a", None, Some("x\n")), "--- /dev/null\n+++ a\n@@ -0,0 +1,1 @@\n+x\n");
        assert_eq!(unified("a", Some("x\n"), None), "--- a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n");
        assert_eq!(unified("a", Some("x\n"), Some("x\n")), "--- a\n+++ a\n");
        assert_eq!(unified("a", Some(""), Some("")), "--- a\n+++ a\n");
    }

    #[test]
    fn the_end_of_the_last_line_counts() {
        let wanted = "--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+y\n";
        assert_eq!(unified("a", Some("x\ny"), Some("x\ny\n")), wanted);
    }

    #[test]
    fn a_repeated_line_is_not_counted_twice() {
        assert_eq!(unified("a", Some("x\nx\n"), Some("x\n")), "--- a\n+++ a\n@@ -1,2 +1,1 @@\n x\n-x\n");
        assert_eq!(unified("a", Some("x\n"), Some("x\nx\n")), "--- a\n+++ a\n@@ -1,1 +1,2 @@\n x\n+x\n");
    }

    #[test]
    fn a_path_is_no_line_of_the_diff() {
        assert!(unified("a\n+rm -rf", None, Some("")).starts_with("--- /dev/null\n+++ a\\n+rm -rf\n"));
    }
}
