//! The rule that nobody can remove: what touches Sayso itself is decided by a person.
//!
//! An agent that could answer its own asks, or edit the rules it runs under, would have no rules.

use std::collections::HashSet;

use super::command_line::CommandLine;
use super::directories::{follow, joined};
use super::expansion::{ANY, ONE, STAR, ShellNames};
use super::paths::Places;
use super::protected::ProtectedPlaces;
use super::rules::PreparedAsk;
use super::start_directory::StartDirectory;
use crate::ask::{Action, AskBody};

/// The name under which the built-in rule decides.
pub const NAME: &str = "built in: sayso itself";

const TOUCHES: &str = "it touches Sayso's own files";

/// Why a person has to decide, if one has to.
pub(super) fn guards(protected: &[String], look: &PreparedAsk<'_>) -> Option<&'static str> {
    let AskBody::Approval(approval) = look.subject.body else { return None };
    match &approval.action {
        Action::Run { command } => guards_line(protected, command, look),
        Action::Edit { .. } | Action::Read { .. } => {
            let touches = |path: &String| match look.places.absolute(path) {
                Some(_) => leads_to_sayso(protected, path, look),
                None => names_sayso(path),
            };
            (look.paths.iter().any(touches) || mentioned(protected, look)).then_some(TOUCHES)
        }
        Action::Mcp { .. } | Action::Other => mentioned(protected, look).then_some(TOUCHES),
        Action::Fetch { .. } | Action::Plan | Action::Mode => None,
    }
}

/// Whether an argument of a tool is a path of Sayso's.
fn mentioned(protected: &[String], look: &PreparedAsk<'_>) -> bool {
    look.arguments.iter().any(|path| leads_to_sayso(protected, path, look))
}

fn leads_to_sayso(protected: &[String], path: &str, look: &PreparedAsk<'_>) -> bool {
    let places = ProtectedPlaces::new(protected, look.places.home, false);
    look.places.absolute(path).is_some_and(|absolute| places.may_hold(&absolute))
}

fn guards_line(protected: &[String], command: &str, look: &PreparedAsk<'_>) -> Option<&'static str> {
    let line = look.line.as_ref()?;
    if line.too_long {
        return Some("the command line is too long to read");
    }
    let unquoted: String = command.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    let named = |text: &str| {
        names_sayso(&without_project(text, look))
            || protected.iter().any(|directory| text.contains(directory.trim_end_matches('/')))
    };
    if named(command) || named(&unquoted) || line.words().any(|word| named(&word.text)) {
        return Some("it names sayso or its files");
    }
    if line.computed {
        return Some("the name of a command in it is computed, so it might be sayso");
    }
    let by_link = || look.paths.iter().any(|path| leads_to_sayso(protected, path, look));
    (leads_there(protected, command, line, look) || by_link()).then_some(TOUCHES)
}

/// Whether a text has `sayso` in it as a program, a directory or a file, not as a part of another name.
fn names_sayso(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.split(|c| !is_part(c)).any(|token| {
        let token = token.trim_matches('.').to_lowercase();
        matches!(token.as_str(), "sayso" | "sayso.exe" | "sayso.toml" | "sayso_token" | "sayso_url")
    })
}

/// A project may live in a directory of that name; that alone means nothing. A directory that is only reported can be any
/// text, such as the path of the program.
fn without_project(text: &str, look: &PreparedAsk<'_>) -> String {
    match look.subject.project {
        Some(project) if !look.claims.project => text.replace(project.trim_end_matches('/'), ""),
        Some(_) | None => text.to_owned(),
    }
}

/// Whether a word of the line may be a path of Sayso's, in any directory that the line may change to.
fn leads_there(protected: &[String], command: &str, line: &CommandLine, look: &PreparedAsk<'_>) -> bool {
    let dotglob = ["dotglob", "globdots", "glob_dots"].iter().any(|option| command.contains(option));
    let places = ProtectedPlaces::new(protected, look.places.home, dotglob);
    let mut names = shell_names(line, look.places, &look.start);
    if names.directories.iter().any(|directory| look.subject.project != Some(directory.as_str()) && places.may_hold(directory)) {
        return true;
    }
    // With `CDPATH`, `cd x` leads somewhere else.
    let unknown = follow(line, &mut names) || command.contains("CDPATH");
    let mut seen: HashSet<&str> = HashSet::new();
    line.words().filter(|word| seen.insert(word.raw.as_str())).any(|word| {
        names.expand(&word.raw).iter().flat_map(|pattern| paths_in(pattern)).any(|path| {
            // Inside a word, bash expands `if=~/x` and programs expand what it leaves.
            let path = match (path.strip_prefix("~/"), &names.home) {
                (Some(rest), Some(home)) => format!("{home}/{rest}"),
                (Some(_) | None, _) => path.to_owned(),
            };
            let starts_anywhere = path.starts_with(ANY) || (unknown && !path.starts_with('/'));
            joined(&path, &names.directories).iter().any(|absolute| places.may_hold(absolute))
                || (starts_anywhere && places.may_hold_from_anywhere(&path))
        })
    })
}

fn shell_names(line: &CommandLine, places: Places<'_>, start: &StartDirectory) -> ShellNames {
    let variables = line.variables();
    ShellNames {
        home: places.home.filter(|_| !variables.contains_key("HOME")).map(str::to_owned),
        directories: start.directories(places),
        variables,
    }
}

/// The absolute paths that the words of a line may be, as far as the line writes them out; at most `most`.
pub(super) fn paths_of_line(line: &CommandLine, places: Places<'_>, start: &StartDirectory, most: usize) -> Vec<String> {
    let mut names = shell_names(line, places, start);
    let mut paths: Vec<String> = match start {
        StartDirectory::Named(directory) => vec![directory.clone()],
        StartDirectory::Project | StartDirectory::Unknown => Vec::new(),
    };
    follow(line, &mut names);
    for word in line.words() {
        for pattern in names.expand(&word.raw) {
            for path in paths_in(&pattern).into_iter().filter(|path| !path.contains([ANY, STAR, ONE])) {
                paths.extend(
                    joined(path, &names.directories).into_iter().filter(|path| !paths.contains(path)).collect::<Vec<_>>(),
                );
            }
        }
        if paths.len() >= most {
            break;
        }
    }
    paths.truncate(most);
    paths
}

/// The paths that a word may hold: the word, and the text behind `=`, `:`, `,`, `@`, a blank or a quote, or right behind an
/// option.
pub(super) fn paths_in(pattern: &str) -> Vec<&str> {
    const MOST: usize = 16;
    let behind_option = pattern.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| rest.get(1..));
    let parts =
        pattern.match_indices(['=', ':', ',', '@', ' ', '\n', '\'', '"', '(']).map(|(at, sign)| &pattern[at + sign.len()..]);
    std::iter::once(pattern).chain(behind_option).chain(parts.take(MOST)).filter(|path| !path.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_paths_behind_signs_and_options() {
        for (word, paths) in [
            ("a/b", &["a/b"][..]),
            ("", &[]),
            ("-", &["-"]),
            ("-o", &["-o"]),
            ("-ofile", &["-ofile", "file"]),
            ("--file", &["--file"]),
            ("--file=x", &["--file=x", "x"]),
            ("a=b:c,d@e", &["a=b:c,d@e", "b:c,d@e", "c,d@e", "d@e", "e"]),
            ("x y\nz", &["x y\nz", "y\nz", "z"]),
            ("f('a\"b", &["f('a\"b", "'a\"b", "a\"b", "b"]),
            ("a=", &["a="]),
            ("-é/x", &["-é/x"]),
        ] {
            assert_eq!(paths_in(word), paths, "{word:?}");
        }
        assert_eq!(paths_in(&"=x".repeat(20)).len(), 17);
    }

    #[test]
    fn paths_of_a_line_are_absolute_and_written_out() {
        let places = Places { project: Some("/p"), home: Some("/home/u") };
        let paths = |line: &str, most| paths_of_line(&CommandLine::read(line), places, &StartDirectory::Project, most);
        assert_eq!(paths("cat a /b", 9), ["/p/cat", "/p/a", "/b"]);
        assert_eq!(paths("cat ~/x $HOME/y --z=c", 9), ["/p/cat", "/home/u/x", "/home/u/y", "/p/--z=c", "/p/c"]);
        assert_eq!(paths("cd /q; cat a", 9), ["/p/cd", "/q/cd", "/q", "/p/cat", "/q/cat", "/p/a", "/q/a"]);
        assert_eq!(paths("HOME=/h; cat ~/x", 9), ["/p/>", "/h", "/p/cat"]);
        // Words that the shell computes are no paths that could be followed.
        assert_eq!(paths("cat *.rs a? [b] $x {c,d}", 9), ["/p/cat", "/p/c", "/p/d"]);
        assert_eq!(paths("cat a a a b", 9), ["/p/cat", "/p/a", "/p/b"]);
        assert_eq!(paths("cat a b c", 2), ["/p/cat", "/p/a"]);
        assert_eq!(paths("cat a,b,c d", 3), ["/p/cat", "/p/a,b,c", "/p/b,c"]);
        let unknown = Places { project: None, home: None };
        assert_eq!(paths_of_line(&CommandLine::read("cat a /b ~/c"), unknown, &StartDirectory::Project, 9), ["/b"]);
    }
}
