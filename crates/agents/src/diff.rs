//! Computes one hunk of a unified diff.

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;

/// What the two texts are versions of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DiffScope<'a> {
    /// A file. Lines far from the change are omitted, and a missing newline at the end is marked.
    File,
    /// A part of a file at an unknown position. It is shown in full, with this text in the hunk header.
    Part(&'a str),
}

/// The change to a file as one hunk of a unified diff.
#[must_use]
pub fn file_diff(old: &str, new: &str) -> String {
    hunk(old, new, DiffScope::File)
}

/// The change between two texts: the common start and end are context, and everything between is removed and added, so
/// that no change can be hidden.
pub(crate) fn hunk(old: &str, new: &str, of: DiffScope<'_>) -> String {
    let (context, about) = match of {
        DiffScope::File => (CONTEXT, String::new()),
        DiffScope::Part(about) => (usize::MAX, format!(" {about}")),
    };
    let before: Vec<&str> = old.split_inclusive('\n').collect();
    let after: Vec<&str> = new.split_inclusive('\n').collect();
    let head = before.iter().zip(&after).take_while(|(old, new)| old == new).count();
    let rest = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let (old_end, new_end) = (before.len() - tail, after.len() - tail);
    let from = head.saturating_sub(context);
    let shown_tail = tail.min(context);
    let old_range = range(from, old_end + shown_tail - from);
    let new_range = range(from, new_end + shown_tail - from);
    let mut diff = format!("@@ -{old_range} +{new_range} @@{about}\n");
    let sections = [
        (' ', &before[from..head]),
        ('-', &before[head..old_end]),
        ('+', &after[head..new_end]),
        (' ', &before[old_end..old_end + shown_tail]),
    ];
    for (mark, lines) in sections {
        for line in lines {
            diff.push(mark);
            diff.push_str(line);
            if !line.ends_with('\n') {
                diff.push_str(match of {
                    DiffScope::File => "\n\\ No newline at end of file\n",
                    DiffScope::Part(_) => "\n",
                });
            }
        }
    }
    diff
}

/// The range in the hunk header; an empty range starts at the line before it.
fn range(from: usize, length: usize) -> String {
    format!("{},{length}", if length == 0 { from } else { from + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    const NEW: &str = "1\n2\n3\n4\nfive\n5½\n6\n7\n8\n9\n";

    #[test]
    fn file_hunk_has_limited_context_and_part_hunk_is_complete() {
        let changed = " 2\n 3\n 4\n-5\n+five\n+5½\n 6\n 7\n 8\n";
        assert_eq!(hunk(OLD, NEW, DiffScope::File), format!("@@ -2,7 +2,8 @@\n{changed}"));
        assert_eq!(hunk(OLD, NEW, DiffScope::Part("somewhere")), format!("@@ -1,9 +1,10 @@ somewhere\n 1\n{changed} 9\n"));
    }

    #[test]
    fn missing_newline_at_end_is_a_change() {
        let marked = "@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+y\n";
        assert_eq!(hunk("x\ny", "x\ny\n", DiffScope::File), marked);
        assert_eq!(hunk("x", "", DiffScope::Part("here")), "@@ -1,1 +0,0 @@ here\n-x\n", "a part need not end a line");
    }

    #[test]
    fn repeated_line_is_not_counted_twice() {
        assert_eq!(hunk("x\nx\n", "x\n", DiffScope::File), "@@ -1,2 +1,1 @@\n x\n-x\n");
        assert_eq!(hunk("x\n", "x\nx\n", DiffScope::File), "@@ -1,1 +1,2 @@\n x\n+x\n");
    }
}
