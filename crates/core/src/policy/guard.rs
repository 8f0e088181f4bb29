//! The rule that nobody can remove: what touches Sayso itself is decided by a person.
//!
//! An agent that could answer its own asks, or edit the rules it runs under, would have no rules.

use super::paths::{below, within};
use super::rules::PreparedAsk;
use super::words::Word;
use crate::ask::{Action, AskBody};

/// The name under which the built-in rule decides.
pub const NAME: &str = "built in: sayso itself";

/// Where Sayso lives below a home directory, whichever home that is.
const HOMES: &[&str] = &[
    "/.config/sayso",
    "/.local/state/sayso",
    "/.local/share/sayso",
    "/.cache/sayso",
    "/library/application support/sayso",
    "/appdata/roaming/sayso",
];

/// Why a person has to decide, if one has to.
pub(super) fn guards(protected: &[String], look: &PreparedAsk<'_>) -> Option<&'static str> {
    let AskBody::Approval(approval) = look.subject.body else { return None };
    match &approval.action {
        Action::Run { command } => guards_line(protected, command, look),
        Action::Edit { paths } | Action::Read { paths } => {
            let touches = |path: &String| match look.places.absolute(path) {
                Some(absolute) => {
                    touches(protected, &absolute, look) || without_project(path, look).split('/').any(is_policy_file)
                }
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
    if line.words().any(|word| leads_there(protected, word, look)) {
        return Some("it touches Sayso's own files");
    }
    line.computed.then_some("the name of a command in it is computed, so it might be sayso")
}

/// Whether a text has `sayso` in it as a program, a directory or a file, not as a part of another name.
fn names_sayso(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.split(|c| !is_part(c)).any(|token| {
        let token = token.trim_matches('.').to_lowercase();
        matches!(token.as_str(), "sayso" | "sayso.exe" | "sayso.toml" | "sayso_token" | "sayso_url")
    })
}

fn is_policy_file(part: &str) -> bool {
    part.eq_ignore_ascii_case(".sayso.toml")
}

/// A project may live in a directory of that name; that alone means nothing.
fn without_project(text: &str, look: &PreparedAsk<'_>) -> String {
    match look.subject.project {
        Some(project) if project.len() > 1 => text.replace(project.trim_end_matches('/'), ""),
        Some(_) | None => text.to_owned(),
    }
}

fn leads_there(protected: &[String], word: &Word, look: &PreparedAsk<'_>) -> bool {
    let literal = if word.active { word.text.split(['*', '?', '[', '{']).next().unwrap_or_default() } else { &word.text };
    let Some(absolute) = look.places.absolute(literal) else { return false };
    if touches(protected, &absolute, look) {
        return true;
    }
    // Wildcards may end anywhere that starts like this.
    literal.len() < word.text.len()
        && !literal.is_empty()
        && homes(look).iter().chain(protected).any(|directory| directory.starts_with(&absolute))
}

/// Whether a path is one of Sayso's, or a directory below home that holds one.
fn touches(protected: &[String], absolute: &str, look: &PreparedAsk<'_>) -> bool {
    let lowered = format!("{}/", absolute.to_lowercase());
    let holds =
        |directory: &str| within(directory, absolute) && look.places.home.is_some_and(|home| below(absolute, home).is_some());
    HOMES.iter().any(|home| lowered.contains(&format!("{home}/")))
        || protected.iter().any(|directory| within(absolute, directory) || holds(directory))
        || homes(look).iter().any(|directory| holds(directory))
}

fn homes(look: &PreparedAsk<'_>) -> Vec<String> {
    look.places
        .home
        .map_or_else(Vec::new, |home| HOMES.iter().map(|place| format!("{}{place}", home.trim_end_matches('/'))).collect())
}
