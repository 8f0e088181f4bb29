//! Paths and the globs that match them, without access to the disk.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::config_files::{names_entry, protected_entries};

/// The directories against which paths are resolved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places<'a> {
    /// The absolute path of the project.
    pub(super) project: Option<&'a str>,
    /// The absolute path of the home directory.
    pub(super) home: Option<&'a str>,
}

impl Places<'_> {
    /// Returns the absolute path, with `~`, `.` and `..` resolved textually. `None` if it is unknown.
    pub(super) fn absolute(self, path: &str) -> Option<String> {
        let whole = self.joined(path)?;
        let mut parts: Vec<&str> = Vec::new();
        for part in whole.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        Some(format!("/{}", parts.join("/")))
    }

    /// Returns the absolute path without resolving `.` and `..`, which after a link lead to another place.
    pub(super) fn joined(self, path: &str) -> Option<String> {
        if path.is_empty() || path.contains('\0') {
            return None;
        }
        Some(if path == "~" || path.starts_with("~/") {
            format!("{}{}", self.home?, &path[1..])
        } else if path.starts_with('/') {
            path.to_owned()
        } else if path.starts_with('~') {
            return None;
        } else {
            format!("{}/{path}", self.project?)
        })
    }
}

/// Returns the part of `path` below `directory`, or `None` if it is not below.
pub(super) fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    path.strip_prefix(directory.trim_end_matches('/'))?.strip_prefix('/')
}

/// Whether `path` is `directory` or below it.
pub(super) fn within(path: &str, directory: &str) -> bool {
    path == directory.trim_end_matches('/') || below(path, directory).is_some()
}

/// The globs of one rule, compiled for strict and broad matching.
#[derive(Debug, Clone)]
pub(super) struct PathPatterns {
    /// For `allow` rules: paths that certainly match.
    strict: GlobRoots,
    /// For `ask` and `deny` rules: paths that may match.
    broad: GlobRoots,
    /// The globs after `!`. They protect, so they always match broadly.
    excluded: GlobRoots,
}

/// Globs, grouped by the directory from which they start.
#[derive(Debug, Clone)]
struct GlobRoots {
    project: Globs,
    home: Globs,
    absolute: Globs,
}

#[derive(Debug, Clone)]
struct Globs {
    set: GlobSet,
    texts: Vec<String>,
}

#[derive(Default)]
struct RootBuilder {
    project: Vec<globset::Glob>,
    home: Vec<globset::Glob>,
    absolute: Vec<globset::Glob>,
}

impl PathPatterns {
    pub(super) fn compile(written: &[String]) -> Result<Self, String> {
        let (mut strict, mut broad, mut excluded) = (RootBuilder::default(), RootBuilder::default(), RootBuilder::default());
        for text in written {
            match text.strip_prefix('!') {
                Some(out) => excluded.add(out, Reading::Generous)?,
                None => {
                    strict.add(text, Reading::Strict)?;
                    broad.add(text, Reading::Generous)?;
                }
            }
        }
        if written.iter().all(|text| text.starts_with('!')) {
            return Err("only exclusions: write a pattern without ! first, such as \"**\"".to_owned());
        }
        Ok(Self { strict: strict.build()?, broad: broad.build()?, excluded: excluded.build()? })
    }

    /// Whether every path certainly matches. False if there are no paths.
    pub(super) fn match_all_strictly(&self, paths: &[String], places: Places<'_>) -> bool {
        !paths.is_empty()
            && paths.iter().all(|path| {
                places.absolute(path).is_some_and(|path| self.strict.fits(&path, places) && !self.excluded.fits(&path, places))
            })
    }

    /// Whether every path that is protected configuration is named literally by a glob that covers it.
    pub(super) fn name_config(&self, paths: &[String], places: Places<'_>) -> bool {
        paths.iter().all(|path| {
            places.absolute(path).is_some_and(|path| {
                let entries = protected_entries(&path, places);
                entries.is_empty()
                    || self
                        .strict
                        .covering(&path, places)
                        .iter()
                        .any(|glob| entries.iter().all(|entry| names_entry(glob, &path, entry)))
            })
        })
    }

    /// Returns the first path that may match.
    pub(super) fn first_broad_match<'a>(&self, paths: &'a [String], places: Places<'_>) -> Option<&'a str> {
        paths.iter().map(String::as_str).find(|path| match places.absolute(path) {
            Some(path) => self.broad.fits(&path, places) && !self.excluded.fits(&path, places),
            // The target is unknown, so the path is matched as text.
            None => self.broad.project.set.is_match(path) || self.broad.home.set.is_match(path.trim_start_matches("~/")),
        })
    }
}

#[derive(Clone, Copy)]
enum Reading {
    Strict,
    Generous,
}

impl RootBuilder {
    fn add(&mut self, text: &str, reading: Reading) -> Result<(), String> {
        let (list, glob) = if let Some(rest) = text.strip_prefix("~/") {
            (&mut self.home, rest)
        } else if text.starts_with('~') {
            return Err(format!("`{text}`: only ~/ is known, write the whole path"));
        } else if text.starts_with('/') {
            (&mut self.absolute, text)
        } else {
            (&mut self.project, text.strip_prefix("./").unwrap_or(text))
        };
        if glob.is_empty() {
            return Err("an empty path: write a glob such as \"src/**\"".to_owned());
        }
        if glob.split('/').any(|part| part == "..") {
            return Err(format!("`{text}`: a path with .. in it is never below the project, write it from / or ~/"));
        }
        let glob = if glob.ends_with('/') { format!("{glob}**") } else { glob.to_owned() };
        let mut forms = vec![glob.clone()];
        if matches!(reading, Reading::Generous) {
            // A directory matches everything below it, and a bare name matches anywhere.
            forms.push(format!("{glob}/**"));
            if !glob.contains('/') {
                forms.push(format!("**/{glob}"));
                forms.push(format!("**/{glob}/**"));
            }
        }
        for form in forms {
            // Some file systems ignore case, so broad matching does as well.
            let built =
                GlobBuilder::new(&form).literal_separator(true).case_insensitive(matches!(reading, Reading::Generous)).build();
            list.push(built.map_err(|error| format!("`{text}` is not a glob: {}", error.kind()))?);
        }
        Ok(())
    }

    fn build(self) -> Result<GlobRoots, String> {
        let set = |globs: Vec<globset::Glob>| {
            let mut builder = GlobSetBuilder::new();
            let texts = globs.iter().map(|glob| glob.glob().to_owned()).collect();
            for glob in globs {
                builder.add(glob);
            }
            let set = builder.build().map_err(|error| format!("not usable as globs: {}", error.kind()))?;
            Ok::<_, String>(Globs { set, texts })
        };
        Ok(GlobRoots { project: set(self.project)?, home: set(self.home)?, absolute: set(self.absolute)? })
    }
}

impl GlobRoots {
    fn fits(&self, absolute: &str, places: Places<'_>) -> bool {
        let under = |root: Option<&str>, globs: &Globs| {
            root.and_then(|root| below(absolute, root)).is_some_and(|rest| globs.set.is_match(rest))
        };
        self.absolute.set.is_match(absolute) || under(places.project, &self.project) || under(places.home, &self.home)
    }

    /// Returns the globs that cover a path.
    fn covering(&self, absolute: &str, places: Places<'_>) -> Vec<&str> {
        let under = |root: Option<&str>| root.and_then(|root| below(absolute, root).map(str::to_owned));
        [(&self.absolute, Some(absolute.to_owned())), (&self.project, under(places.project)), (&self.home, under(places.home))]
            .into_iter()
            .filter_map(|(globs, rest)| Some((globs, globs.set.matches(rest?))))
            .flat_map(|(globs, matched)| matched.into_iter().filter_map(|at| globs.texts.get(at).map(String::as_str)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACES: Places<'_> = Places { project: Some("/home/u/shop"), home: Some("/home/u") };

    #[test]
    fn paths_are_resolved_textually() {
        for (path, absolute) in [
            ("src/a.rs", Some("/home/u/shop/src/a.rs")),
            ("./a/../b", Some("/home/u/shop/b")),
            ("../../x", Some("/home/x")),
            ("~/x", Some("/home/u/x")),
            ("/etc//passwd", Some("/etc/passwd")),
            ("/../..", Some("/")),
            ("", None),
            ("~root/x", None),
            ("a\0b", None),
        ] {
            assert_eq!(PLACES.absolute(path).as_deref(), absolute, "{path}");
        }
        assert!(within("/a/b", "/a") && within("/a", "/a/") && !within("/ab", "/a"));
    }

    #[test]
    fn globs_stay_inside_the_project() {
        let patterns = PathPatterns::compile(&["**", "!.github/**", "!migrations"].map(str::to_owned)).unwrap();
        let allowed = |paths: &[&str]| {
            patterns.match_all_strictly(&paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>(), PLACES)
        };
        assert!(allowed(&["src/a.rs"]) && allowed(&["/home/u/shop/deep/er/b", "c"]));
        for paths in [
            &[][..],
            &["src/a.rs", "/etc/passwd"],
            &["../other/x"],
            &["src/../../x"],
            &["~/x"],
            &[".github/workflows/ci.yml"],
            &[".GitHub/x"],
            &["migrations/1.sql"],
            &["a/../migrations/1.sql"],
            &["/home/u/shopping/x"],
            &["."],
        ] {
            assert!(!allowed(paths), "{paths:?}");
        }
    }

    #[test]
    fn broad_path_patterns_ignore_case() {
        let patterns = PathPatterns::compile(&[".env", "secrets/", "~/.ssh", "/etc"].map(str::to_owned)).unwrap();
        for path in [".env", "deep/.ENV", "secrets/a", "~/.ssh/id", "/etc/passwd", "../.ssh/id"] {
            assert_eq!(patterns.first_broad_match(&["ok".to_owned(), path.to_owned()], PLACES), Some(path));
        }
        assert_eq!(patterns.first_broad_match(&["src/a".to_owned()], PLACES), None);
        // Targets are unknown, so paths are matched as text.
        let unknown = Places { project: None, home: None };
        for path in ["~other/.env", "~/.ssh/id", "sub/.env"] {
            assert_eq!(patterns.first_broad_match(&[path.to_owned()], unknown), Some(path));
        }
        assert_eq!(patterns.first_broad_match(&["~other/x".to_owned()], unknown), None);
        for wrong in ["[", "../x", "~root/x", ""] {
            assert!(PathPatterns::compile(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
        assert!(PathPatterns::compile(&["!a".to_owned()]).is_err());
    }
}
