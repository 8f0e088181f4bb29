//! Finds out whether a path is configuration that makes programs run, whether a rule names it, and which programs read it.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::config_table::{ConfigKind, PROTECTED_CONFIG, WATCHED_CONFIG};
use super::guard::paths_in;
use super::paths::{Places, below};
use super::text_pattern::matches_wildcard;
use super::words::Word;

/// Programs that write the files in their arguments.
const FILE_WRITERS: &[&str] = &[
    "chmod", "chown", "cp", "curl", "dd", "install", "ln", "mkdir", "mv", "patch", "rm", "rmdir", "rsync", "scp", "tar", "tee",
    "touch", "truncate", "unlink", "unzip", "wget",
];

/// A protected entry of the table that a path contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConfigMatch {
    pub(super) kind: ConfigKind,
    /// The entry as written in the table.
    entry: &'static str,
    /// The index of the first path component that belongs to the entry.
    from: usize,
}

/// Returns the protected entries that an absolute path contains. An entry counts if it is below the project, because the
/// project itself may be inside a directory such as `.claude`. `.git` counts everywhere.
pub(super) fn protected_entries(absolute: &str, places: Places<'_>) -> Vec<ConfigMatch> {
    let parts: Vec<&str> = parts(absolute).collect();
    let project =
        places.project.filter(|project| below(absolute, project).is_some()).map_or(0, |project| self::parts(project).count());
    let mut found = Vec::new();
    for (from, first) in parts.iter().enumerate() {
        let same = INDEX.by_first.get(&folded(first)).map_or(&[][..], Vec::as_slice);
        for (kind, entry) in same.iter().chain(&INDEX.with_wildcard) {
            let length = self::parts(entry).count();
            let counts = from + length > project || *entry == ".git";
            let is_there = |window: &[&str]| self::parts(entry).zip(window).all(|(wanted, part)| is_part(wanted, part));
            if counts && parts.get(from..from + length).is_some_and(is_there) {
                found.push(ConfigMatch { kind: *kind, entry, from });
            }
        }
    }
    found
}

/// The table, indexed by the first component of its entries.
struct Index {
    by_first: HashMap<String, Vec<(ConfigKind, &'static str)>>,
    with_wildcard: Vec<(ConfigKind, &'static str)>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index { by_first: HashMap::new(), with_wildcard: Vec::new() };
    for (kind, entry) in PROTECTED_CONFIG.iter().flat_map(|(kind, entries)| entries.iter().map(move |entry| (*kind, *entry))) {
        match parts(entry).next() {
            Some(first) if !first.contains('*') => index.by_first.entry(first.to_owned()).or_default().push((kind, entry)),
            Some(_) | None => index.with_wildcard.push((kind, entry)),
        }
    }
    index
});

/// Returns the kind of configuration of a protected path.
pub(super) fn config_kind(path: &str, places: Places<'_>) -> Option<ConfigKind> {
    // A path whose directory is unknown is matched as text.
    let absolute = places.absolute(path).unwrap_or_else(|| format!("/{path}"));
    protected_entries(&absolute, places).first().map(|found| found.kind)
}

/// Whether a glob contains the entry literally: `.github/**` names `.github`, `.git*` does not.
pub(super) fn names_entry(glob: &str, absolute: &str, found: &ConfigMatch) -> bool {
    let written: Vec<&str> = parts(glob).collect();
    let entry: Vec<&str> = parts(found.entry).collect();
    let path: Vec<&str> = parts(absolute).skip(found.from).take(entry.len()).collect();
    written.windows(entry.len()).any(|window| {
        window.iter().zip(&entry).zip(&path).all(|((written, entry), part)| {
            let is_literal = !written.contains(['*', '?', '[', ']', '{', '}', '\\']);
            written == entry || (is_literal && is_part(&written.to_lowercase(), part))
        })
    })
}

/// Whether a command writes protected configuration that `names` does not accept. `names` gets the index of the word.
pub(super) fn writes_config(command: &[Word], names: impl Fn(usize, &ConfigMatch, &str) -> bool) -> bool {
    let writes = command.first().is_some_and(|program| FILE_WRITERS.contains(&program.program().as_str()));
    writes
        && command.iter().enumerate().skip(1).any(|(at, word)| {
            // A word from the input of `xargs` may be any path.
            word.splits
                || paths_in(&word.text).into_iter().any(|path| {
                    let absolute = format!("/{path}");
                    protected_entries(&absolute, Places { project: None, home: None })
                        .iter()
                        .any(|found| !names(at, found, &absolute))
                })
        })
}

pub(super) fn mentions_config(command: &[Word], places: Places<'_>) -> bool {
    command.iter().any(|word| paths_in(&word.text).into_iter().any(|path| config_kind(path, places).is_some()))
}

/// Returns the programs that read a watched file.
pub(super) fn programs_that_read(path: &str) -> Vec<&'static str> {
    let path: Vec<&str> = parts(path).collect();
    let is_watched = |watched: &str| {
        let wanted: Vec<&str> = parts(watched).collect();
        path.windows(wanted.len()).any(|window| window.iter().zip(&wanted).all(|(part, wanted)| is_part(wanted, part)))
    };
    WATCHED_CONFIG
        .iter()
        .filter(|watched| watched.paths.iter().any(|path| is_watched(path)))
        .flat_map(|watched| watched.programs.iter().copied())
        .collect()
}

/// Whether a path component matches a name of the table.
fn is_part(wanted: &str, part: &str) -> bool {
    let part = folded(part);
    if wanted.contains('*') { matches_wildcard(wanted, &part) } else { wanted.eq_ignore_ascii_case(&part) }
}

/// Normalises a path component as the most lenient file systems do: some ignore case, some also ignore invisible characters.
fn folded(part: &str) -> String {
    if part.is_ascii() {
        return part.to_ascii_lowercase();
    }
    let is_visible =
        |c: &char| !matches!(*c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    part.chars().filter(is_visible).map(|c| if c == 'ſ' { 's' } else { c }).flat_map(char::to_lowercase).collect()
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !matches!(*part, "" | "." | "~"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACES: Places<'_> = Places { project: Some("/home/u/.claude/worktrees/shop"), home: Some("/home/u") };

    fn entries(path: &str) -> Vec<&'static str> {
        protected_entries(path, PLACES).iter().map(|found| found.entry).collect()
    }

    #[test]
    fn paths_are_matched_by_their_parts() {
        for (path, expected) in [
            ("/home/u/.claude/worktrees/shop/.git/config", vec![".git"]),
            ("/home/u/.claude/worktrees/shop/a/.GIT/hooks/x", vec![".git"]),
            ("/home/u/.claude/worktrees/shop/src/main.rs", vec![]),
            ("/home/u/.claude/worktrees/shop/.claude/settings.json", vec![".claude"]),
            ("/home/u/.claude/settings.json", vec![".claude"]),
            ("/home/u/.config/git/config", vec![".config/git"]),
            ("/home/u/.config/other/git", vec![]),
            ("/p/.github/.git/x", vec![".github", ".git"]),
            ("/p/x.code-workspace", vec!["*.code-workspace"]),
            ("/p/.gitignore", vec![]),
            ("/p/git/config", vec![]),
            ("/p/x/HEAD", vec!["head"]),
            ("/p/header", vec![]),
            ("/p/.g\u{200c}it/config", vec![".git"]),
            ("/p/.hu\u{17f}\u{212a}y/x", vec![".husky"]),
            ("/p/.gït/config", vec![]),
        ] {
            assert_eq!(entries(path), expected, "{path}");
        }
        let inside = Places { project: Some("/p/.git"), home: None };
        assert_eq!(protected_entries("/p/.git/config", inside).len(), 1, "`.git` counts above the project too");
        let inside = Places { project: Some("/p/.claude"), home: None };
        assert_eq!(protected_entries("/p/.claude/settings.json", inside), vec![], "the project itself has that name");
        assert_eq!(protected_entries("/p/.claude/.claude/settings.json", inside).len(), 1);
        assert_eq!(protected_entries("/q/.claude/settings.json", inside).len(), 1);
        assert_eq!(config_kind("~other/.ssh/config", Places { project: None, home: None }), Some(ConfigKind::Shell));
    }

    #[test]
    fn glob_names_only_literal_entries() {
        for (glob, path, named) in [
            (".github/**", "/p/.github/workflows/ci.yml", true),
            (".GitHub/**", "/p/.github/x", true),
            ("**/.git/config", "/p/a/.git/config", true),
            ("/p/.git/config", "/p/.git/config", true),
            ("**", "/p/.git/config", false),
            (".*/**", "/p/.git/config", false),
            (".git*/**", "/p/.git/config", false),
            (".gi[t]/**", "/p/.git/config", false),
            ("{.git,x}/**", "/p/.git/config", false),
            ("config", "/p/.git/config", false),
            ("~/.config/**", "/home/u/.config/git/config", false),
            ("~/.config/git/config", "/home/u/.config/git/config", true),
            ("*.code-workspace", "/p/x.code-workspace", true),
            ("x.code-workspace", "/p/x.code-workspace", true),
            ("*.code-*", "/p/x.code-workspace", false),
        ] {
            let found = protected_entries(path, PLACES);
            assert_eq!(found.len(), 1, "{path}");
            assert_eq!(names_entry(glob, path, &found[0]), named, "{glob} / {path}");
        }
    }

    #[test]
    fn watched_files_are_protected_and_have_readers() {
        for watched in WATCHED_CONFIG {
            assert!(!watched.programs.is_empty(), "{watched:?}");
            for path in watched.paths {
                assert!(config_kind(path, Places { project: Some("/p"), home: None }).is_some(), "{path}");
                for program in watched.programs {
                    assert!(programs_that_read(&format!("/p/{path}")).contains(program), "{path} {program}");
                }
            }
        }
        assert_eq!(programs_that_read("/p/.husky/pre-commit").first(), Some(&"git"));
        assert_eq!(programs_that_read("/p/src/main.rs"), Vec::<&str>::new());
    }

    #[test]
    fn the_table_is_in_lower_case_without_repetition() {
        let all: Vec<&str> = PROTECTED_CONFIG.iter().flat_map(|(_, entries)| entries.iter().copied()).collect();
        for entry in &all {
            assert_eq!(*entry, entry.to_lowercase());
            assert_eq!(all.iter().filter(|other| *other == entry).count(), 1, "{entry}");
        }
    }
}
