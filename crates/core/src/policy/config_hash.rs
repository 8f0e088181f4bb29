//! The hash that detects changes of configuration since a session began.

use super::hash::project_hash;

/// Computes the hash of a watched file. Sections of `.git/config` that only say where a branch is pushed are ignored, because
/// git writes them with every `git push -u` and `git switch`.
#[must_use]
pub fn config_hash(path: &str, text: &str) -> String {
    if path.ends_with(".git/config") { project_hash(&without_branches(text)) } else { project_hash(text) }
}

/// Removes `[branch "…"]` sections that contain only plain values of harmless keys.
fn without_branches(text: &str) -> String {
    // A value that continues on the next line could hide the start of a section.
    if text.contains('\\') {
        return text.to_owned();
    }
    let mut kept = String::with_capacity(text.len());
    let mut section: Vec<&str> = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with('[') {
            keep(&section, &mut kept);
            section.clear();
        }
        section.push(line);
    }
    keep(&section, &mut kept);
    kept
}

fn keep(section: &[&str], kept: &mut String) {
    let is_branch = match section.split_first() {
        Some((header, lines)) => is_branch_header(header) && lines.iter().all(|line| is_harmless_line(line)),
        None => true,
    };
    if !is_branch {
        for line in section {
            kept.push_str(line);
            kept.push('\n');
        }
    }
}

fn is_branch_header(line: &str) -> bool {
    line.strip_prefix("[branch \"").and_then(|rest| rest.strip_suffix("\"]")).is_some_and(is_plain)
}

/// Matches lines such as `remote = origin`, as git writes them. A remote can be an address, so only names of remotes match.
fn is_harmless_line(line: &str) -> bool {
    line.trim().split_once(" = ").is_some_and(|(key, value)| match key {
        "remote" => is_plain(value) && !value.contains([':', '/']),
        "merge" | "rebase" | "vscode-merge-base" | "github-pr-owner-number" => is_plain(value),
        _ => false,
    })
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+' | '#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@example.test:a.git\n";
    const TRACKING: &str = "[branch \"topic/x-1\"]\n\tremote = origin\n\tmerge = refs/heads/topic/x-1\n";

    fn hash(text: &str) -> String {
        config_hash("/p/.git/config", text)
    }

    #[test]
    fn tracking_a_branch_does_not_change_the_hash() {
        assert_eq!(hash(&format!("{BASE}{TRACKING}")), hash(BASE));
        assert_eq!(hash(&format!("{TRACKING}{BASE}{TRACKING}")), hash(BASE));
        assert_ne!(config_hash("/p/.npmrc", &format!("{BASE}{TRACKING}")), config_hash("/p/.npmrc", BASE));
    }

    #[test]
    fn other_edits_change_the_hash() {
        for added in [
            "[core]\n\tfsmonitor = x\n",
            "\tfsmonitor = x\n",
            "[branch \"x\"]\n\tremote = origin\n\tpushRemote = ext::sh\n",
            "[branch \"x\"]\n\tremote = ext::sh\n",
            "[branch \"x\"]\n\tremote = ../evil\n",
            "[branch \"x\"] # y\n\tremote = origin\n",
            "[branch \"x\"]\n\tremote = origin # y\n",
            "[branch \"x\"]\n\tmerge = \"a\"\n",
            "[branch \"x\"]\n\tmergeOptions = a\n",
            "[branch \"x\"]\n[core]\n\tfsmonitor = x\n",
            "[branch \"x\"]\n\tmerge = a\\\n",
            "[branch \"x\"]\n\tremote = origin\n[branch.y]\n",
        ] {
            assert_ne!(hash(&format!("{BASE}{added}")), hash(BASE), "{added}");
        }
        // A new section header in front of existing lines moves them to another section.
        assert_ne!(hash("[core]\n[branch \"x\"]\n\tmerge = a\n"), hash("[core]\n\tmerge = a\n"));
        assert_ne!(hash("[core]\n[branch \"x\"]\n\thooksPath = a\n"), hash("[core]\n\thooksPath = a\n"));
    }
}
