//! The files of Sayso, and whether a path may be one of them.

use super::expansion::{ANY, ONE, STAR};

/// The directories of Sayso below any home directory.
const HOMES: &[&str] = &[
    ".config/sayso",
    ".local/state/sayso",
    ".local/share/sayso",
    ".cache/sayso",
    "library/application support/sayso",
    "appdata/roaming/sayso",
];
/// The files and directories in them.
const FILES: &[&str] = &[
    "token",
    "agent-token",
    "server.json",
    "sayso.db",
    "sayso.db-wal",
    "policy.toml",
    "config.toml",
    "agents",
    "attached",
    "undo",
];
const POLICY_FILE: &str = ".sayso.toml";

/// The protected directories, as components in lower case, because some file systems ignore case.
#[derive(Debug)]
pub(super) struct ProtectedPlaces {
    directories: Vec<Vec<String>>,
    home: Option<Vec<String>>,
    /// Whether a wildcard at the start of a name also matches a leading dot.
    dotglob: bool,
}

impl ProtectedPlaces {
    pub(super) fn new(protected: &[String], home: Option<&str>, dotglob: bool) -> Self {
        let home = home.map(parts);
        let homes = home.iter().flat_map(|home| HOMES.iter().map(|place| [home.clone(), parts(place)].concat()));
        Self { directories: protected.iter().map(|directory| parts(directory)).chain(homes).collect(), home, dotglob }
    }

    /// Whether an absolute pattern may match a file of Sayso, a directory below home that contains one, or a policy file.
    pub(super) fn may_hold(&self, absolute: &str) -> bool {
        let parts = parts(absolute);
        let below_home = self.home.as_ref().is_some_and(|home| parts.len() > home.len() && parts.starts_with(home));
        let counts = |reach: Reach| match reach {
            Reach::Inside => true,
            Reach::Above => below_home || (!parts.is_empty() && parts.iter().any(|part| is_wild(part))),
            Reach::Elsewhere => false,
        };
        self.directories.iter().any(|directory| counts(reach(&parts, directory)))
            || (0..parts.len()).any(|at| self.may_be_other_home(&parts[at..]))
            || self.has_policy_file(&parts)
    }

    /// Whether a relative pattern may match a file of Sayso if its start directory is unknown.
    pub(super) fn may_hold_from_anywhere(&self, relative: &str) -> bool {
        // `$x/token` starts with an unknown directory, `${x}so/token` with an unknown part of a name.
        let (rest, glued) = match relative.strip_prefix(ANY) {
            Some(rest) => (rest, !rest.starts_with('/')),
            None => (relative, false),
        };
        let named = parts(rest);
        let starting = if glued { parts(relative) } else { named.clone() };
        let is_file = named.last().is_some_and(|last| FILES.iter().any(|file| may_be(last, file)));
        let homes = HOMES.iter().map(|place| parts(place));
        !named.is_empty()
            && ((is_file && !(glued && named.len() == 1))
                || self.directories.iter().cloned().chain(homes).any(|directory| ends_where(&directory, &starting))
                || (0..named.len()).any(|at| self.may_be_other_home(&named[at..]))
                || self.has_policy_file(&starting))
    }

    /// Whether the pattern may be `.config/sayso` below another user's home. Patterns that start with a wildcard are excluded,
    /// because they would match every path of that length.
    fn may_be_other_home(&self, parts: &[String]) -> bool {
        parts.first().is_some_and(|first| !first.starts_with([ANY, STAR, ONE]))
            && HOMES.iter().any(|place| {
                let place: Vec<&str> = place.split('/').collect();
                parts.len() >= place.len() && parts.iter().zip(&place).all(|(part, wanted)| may_be(part, wanted))
            })
    }

    fn has_policy_file(&self, parts: &[String]) -> bool {
        parts.iter().any(|part| (self.dotglob || part.starts_with('.')) && may_be(part, POLICY_FILE))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The pattern may match the directory or something in it.
    Inside,
    /// The pattern may match a parent of the directory.
    Above,
    Elsewhere,
}

fn reach(pattern: &[String], directory: &[String]) -> Reach {
    for (at, wanted) in directory.iter().enumerate() {
        let Some(part) = pattern.get(at) else { return Reach::Above };
        // A computed part may contain slashes, so every path with this prefix may match.
        if let Some((before, _)) = part.split_once(ANY)
            && (before.contains([STAR, ONE]) || wanted.starts_with(before))
        {
            return Reach::Inside;
        }
        if !may_be(part, wanted) {
            return Reach::Elsewhere;
        }
    }
    Reach::Inside
}

/// Whether the last components of a directory may match the first ones of a pattern, as for `data/token` in the parent of
/// `data`.
fn ends_where(directory: &[String], pattern: &[String]) -> bool {
    (1..=directory.len().min(pattern.len()))
        .any(|count| directory[directory.len() - count..].iter().zip(pattern).all(|(wanted, part)| may_be(part, wanted)))
}

fn is_wild(part: &str) -> bool {
    part.contains([ANY, STAR, ONE])
}

/// Whether one component of a pattern may match this name.
fn may_be(part: &str, name: &str) -> bool {
    if !is_wild(part) {
        return part == name;
    }
    let (part, name): (Vec<char>, Vec<char>) = (part.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // The position of the last `*` and the length that it matches. After a mismatch, the search continues one character later.
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        match part.get(p) {
            Some(&(STAR | ANY)) => {
                p += 1;
                retry = Some((p, n));
            }
            Some(&c) if c == ONE || c == name[n] => {
                p += 1;
                n += 1;
            }
            Some(_) | None => match retry {
                Some((behind, from)) => {
                    (p, n) = (behind, from + 1);
                    retry = Some((p, n));
                }
                None => return false,
            },
        }
    }
    part[p..].iter().all(|c| matches!(*c, STAR | ANY))
}

/// Returns the components of a path in lower case, with `.` and `..` resolved textually.
fn parts(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part.to_lowercase()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(dotglob: bool) -> ProtectedPlaces {
        ProtectedPlaces::new(&["/srv/Data".to_owned()], Some("/home/u"), dotglob)
    }

    fn pattern(text: &str) -> String {
        text.replace('%', &ANY.to_string()).replace('*', &STAR.to_string()).replace('?', &ONE.to_string())
    }

    #[test]
    fn patterns_that_may_match_protected_files_are_found() {
        for path in [
            "/srv/data",
            "/srv/data/token",
            "/srv/x/../data/x",
            "/srv/DATA/x",
            "/srv/d*",
            "/srv/d?ta/x",
            "/srv/%",
            "/srv/%/token",
            "/s*",
            "/*",
            "/home/u/.config",
            "/home/u/.local/state/s*/token",
            "/home/u/*",
            "/home/u/%",
            "/home/u/shop/../.config/sayso/x",
            "/home/other/.local/state/sayso",
            "/home/other/.local/state/*/x",
            "/home/u/shop/.sayso.toml",
            "/x/.say*",
            "/x/.s?yso.toml/y",
            "/x/.s%",
        ] {
            assert!(places(false).may_hold(&pattern(path)), "{path}");
        }
        for path in [
            "/",
            "/srv",
            "/home/u",
            "/home/u/shop",
            "/home/u/shop/src/*",
            "/home/u/shop/*/*/*",
            "/home/u/shop/%",
            "/srv/database",
            "/srv/x*",
            "/home/u/work/*.rs",
            "/x/*.toml",
            "/x/*",
            "/etc/%",
        ] {
            assert!(!places(false).may_hold(&pattern(path)), "{path}");
        }
        assert!(places(true).may_hold(&pattern("/x/*.toml")));
    }

    #[test]
    fn names_match_in_unknown_directories() {
        for path in [
            "%/token",
            "%/x/token",
            "token",
            "data/x",
            "srv/data",
            "d*/x",
            "*",
            "%/*",
            "%so/token",
            "%so",
            ".local/state/s*",
            "state/s*/x",
            ".sayso.toml",
            "sub/.say*",
            "polic?.toml",
            "%x/token",
        ] {
            assert!(places(false).may_hold_from_anywhere(&pattern(path)), "{path}");
        }
        for path in ["%", "%/", "%/src", "%.bak", "%.toml", "%token", "src/x", "*.rs", "%/*.rs", "database", ".", ".."] {
            assert!(!places(false).may_hold_from_anywhere(&pattern(path)), "{path}");
        }
    }
}
