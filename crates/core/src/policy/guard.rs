//! The rule that nobody can remove: what touches Sayso itself is decided by a person.
//!
//! An agent that could answer its own asks, or edit the rules it runs under, would have no rules.

use std::collections::HashSet;

use super::command_line::CommandLine;
use super::directories::{follow, joined};
use super::expansion::{ANY, ShellNames};
use super::protected::ProtectedPlaces;
use super::rules::PreparedAsk;
use crate::ask::{Action, AskBody};

/// The name under which the built-in rule decides.
pub const NAME: &str = "built in: sayso itself";

/// Why a person has to decide, if one has to.
pub(super) fn guards(protected: &[String], look: &PreparedAsk<'_>) -> Option<&'static str> {
    let AskBody::Approval(approval) = look.subject.body else { return None };
    match &approval.action {
        Action::Run { command } => guards_line(protected, command, look),
        Action::Edit { paths } | Action::Read { paths } => {
            let places = ProtectedPlaces::new(protected, look.places.home, false);
            let touches = |path: &String| match look.places.absolute(path) {
                Some(absolute) => places.may_hold(&absolute),
                None => names_sayso(path),
            };
            paths.iter().any(touches).then_some("it touches Sayso's own files")
        }
        Action::Fetch { .. } | Action::Mcp { .. } | Action::Plan | Action::Mode | Action::Other => None,
    }
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
    leads_there(protected, command, line, look).then_some("it touches Sayso's own files")
}

/// Whether a text has `sayso` in it as a program, a directory or a file, not as a part of another name.
fn names_sayso(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.split(|c| !is_part(c)).any(|token| {
        let token = token.trim_matches('.').to_lowercase();
        matches!(token.as_str(), "sayso" | "sayso.exe" | "sayso.toml" | "sayso_token" | "sayso_url")
    })
}

/// A project may live in a directory of that name; that alone means nothing.
fn without_project(text: &str, look: &PreparedAsk<'_>) -> String {
    match look.subject.project {
        Some(project) if project.len() > 1 => text.replace(project.trim_end_matches('/'), ""),
        Some(_) | None => text.to_owned(),
    }
}

/// Whether a word of the line may be a path of Sayso's, in any directory that the line may change to.
fn leads_there(protected: &[String], command: &str, line: &CommandLine, look: &PreparedAsk<'_>) -> bool {
    let dotglob = ["dotglob", "globdots", "glob_dots"].iter().any(|option| command.contains(option));
    let places = ProtectedPlaces::new(protected, look.places.home, dotglob);
    let variables = line.variables();
    let mut names = ShellNames {
        home: look.places.home.filter(|_| !variables.contains_key("HOME")).map(str::to_owned),
        directories: look.places.project.iter().map(|project| (*project).to_owned()).collect(),
        variables,
    };
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

/// The paths that a word may hold: the word, and the text behind `=`, `:`, `,`, `@`, a blank or a quote, or right behind an
/// option.
fn paths_in(pattern: &str) -> Vec<&str> {
    const MOST: usize = 16;
    let behind_option = pattern.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| rest.get(1..));
    let parts =
        pattern.match_indices(['=', ':', ',', '@', ' ', '\n', '\'', '"', '(']).map(|(at, sign)| &pattern[at + sign.len()..]);
    std::iter::once(pattern).chain(behind_option).chain(parts.take(MOST)).filter(|path| !path.is_empty()).collect()
}
