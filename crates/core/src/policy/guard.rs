//! The built-in rule, which cannot be removed: a person decides about everything that touches Sayso itself.
//!
//! Otherwise an agent could answer its own asks or edit the rules that apply to it.

use std::collections::HashSet;

use super::command_line::CommandLine;
use super::directories::{follow_directories, joined};
use super::expansion::{ANY, ONE, STAR, ShellNames};
use super::paths::Places;
use super::protected::ProtectedPlaces;
use super::rules::PreparedAsk;
use super::start_directory::StartDirectory;
use crate::ask::{Action, AskBody};

/// The name of the built-in rule.
pub const NAME: &str = "built in: sayso itself";

const TOUCHES: &str = "it touches Sayso's own files";

/// Returns why a person has to decide, or `None` if the rule does not apply.
pub(super) fn find_reason_to_ask(protected: &[String], prepared: &PreparedAsk<'_>) -> Option<&'static str> {
    let AskBody::Approval(approval) = prepared.subject.body else { return None };
    match &approval.action {
        Action::Run { command } => find_reason_in_line(protected, command, prepared),
        Action::Edit { .. } | Action::Read { .. } => {
            let touches = |path: &String| match prepared.places.absolute(path) {
                Some(_) => is_sayso_path(protected, path, prepared),
                None => names_sayso(path),
            };
            (prepared.paths.iter().any(touches) || has_sayso_argument(protected, prepared)).then_some(TOUCHES)
        }
        Action::Mcp { .. } | Action::Other => has_sayso_argument(protected, prepared).then_some(TOUCHES),
        Action::Fetch { .. } | Action::Plan | Action::Mode => None,
    }
}

/// Whether an argument of a tool is a path of Sayso.
fn has_sayso_argument(protected: &[String], prepared: &PreparedAsk<'_>) -> bool {
    prepared.arguments.iter().any(|path| is_sayso_path(protected, path, prepared))
}

fn is_sayso_path(protected: &[String], path: &str, prepared: &PreparedAsk<'_>) -> bool {
    let places = ProtectedPlaces::new(protected, prepared.places.home, false);
    prepared.places.absolute(path).is_some_and(|absolute| places.may_hold(&absolute))
}

fn find_reason_in_line(protected: &[String], command: &str, prepared: &PreparedAsk<'_>) -> Option<&'static str> {
    let line = prepared.line.as_ref()?;
    if line.too_long {
        return Some("the command line is too long to read");
    }
    let unquoted: String = command.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    let named = |text: &str| {
        names_sayso(&without_project(text, prepared))
            || protected.iter().any(|directory| text.contains(directory.trim_end_matches('/')))
    };
    if named(command) || named(&unquoted) || line.words().any(|word| named(&word.text)) {
        return Some("it names sayso or its files");
    }
    if line.computed {
        return Some("the name of a command in it is computed, so it might be sayso");
    }
    let by_link = || prepared.paths.iter().any(|path| is_sayso_path(protected, path, prepared));
    (line_may_reach_sayso(protected, command, line, prepared) || by_link()).then_some(TOUCHES)
}

/// Whether a text contains `sayso` as the name of a program, directory or file, and not as a part of another name.
fn names_sayso(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.split(|c| !is_part(c)).any(|token| {
        let token = token.trim_matches('.').to_lowercase();
        matches!(token.as_str(), "sayso" | "sayso.exe" | "sayso.toml" | "sayso_token" | "sayso_url")
    })
}

/// Removes the path of the project, which may contain the name `sayso`. A directory that a caller only reports is not removed,
/// because it can be any text, such as the path of the program.
fn without_project(text: &str, prepared: &PreparedAsk<'_>) -> String {
    match prepared.subject.project {
        Some(project) if !prepared.claims.project => text.replace(project.trim_end_matches('/'), ""),
        Some(_) | None => text.to_owned(),
    }
}

/// Whether a word of the line may be a path of Sayso, in any directory to which the line may change.
fn line_may_reach_sayso(protected: &[String], command: &str, line: &CommandLine, prepared: &PreparedAsk<'_>) -> bool {
    let dotglob = ["dotglob", "globdots", "glob_dots"].iter().any(|option| command.contains(option));
    let places = ProtectedPlaces::new(protected, prepared.places.home, dotglob);
    let mut names = shell_names(line, prepared.places, &prepared.start);
    if names
        .directories
        .iter()
        .any(|directory| prepared.subject.project != Some(directory.as_str()) && places.may_hold(directory))
    {
        return true;
    }
    // With `CDPATH`, `cd x` can change to another directory.
    let unknown = follow_directories(line, &mut names) || command.contains("CDPATH");
    let mut seen: HashSet<&str> = HashSet::new();
    line.words().filter(|word| seen.insert(word.raw.as_str())).any(|word| {
        names.expand(&word.raw).iter().flat_map(|pattern| paths_in(pattern)).any(|path| {
            // Bash expands `~` inside words such as `if=~/x`, and some programs expand it themselves.
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

/// Returns at most `most` absolute paths that the words of a line may mean, as far as they are literal.
pub(super) fn paths_of_line(line: &CommandLine, places: Places<'_>, start: &StartDirectory, most: usize) -> Vec<String> {
    let mut names = shell_names(line, places, start);
    let mut paths: Vec<String> = match start {
        StartDirectory::Named(directory) => vec![directory.clone()],
        StartDirectory::Project | StartDirectory::Unknown => Vec::new(),
    };
    follow_directories(line, &mut names);
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

/// Returns the paths that a word may contain: the word, and the text after `=`, `:`, `,`, `@`, a blank, a quote or an option.
pub(super) fn paths_in(pattern: &str) -> Vec<&str> {
    const MAX_PARTS: usize = 16;
    let behind_option = pattern.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| rest.get(1..));
    let parts =
        pattern.match_indices(['=', ':', ',', '@', ' ', '\n', '\'', '"', '(']).map(|(at, sign)| &pattern[at + sign.len()..]);
    std::iter::once(pattern).chain(behind_option).chain(parts.take(MAX_PARTS)).filter(|path| !path.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_contain_paths_after_signs_and_options() {
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
        // Words that the shell computes cannot be followed.
        assert_eq!(paths("cat *.rs a? [b] $x {c,d}", 9), ["/p/cat", "/p/c", "/p/d"]);
        assert_eq!(paths("cat a a a b", 9), ["/p/cat", "/p/a", "/p/b"]);
        assert_eq!(paths("cat a b c", 2), ["/p/cat", "/p/a"]);
        assert_eq!(paths("cat a,b,c d", 3), ["/p/cat", "/p/a,b,c", "/p/b,c"]);
        let unknown = Places { project: None, home: None };
        assert_eq!(paths_of_line(&CommandLine::read("cat a /b ~/c"), unknown, &StartDirectory::Project, 9), ["/b"]);
    }
}
