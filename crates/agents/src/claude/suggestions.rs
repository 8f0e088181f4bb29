//! Claude's own suggestions for permanent permissions: each suggested permission change is one choice, and only the
//! chosen one is returned.

use sayso_core::ask::Choice;
use serde_json::value::RawValue;

use crate::json::{Object, text};

/// Maximum number of suggestions that are offered.
const CHOICES: usize = 16;
/// Maximum length of a label in bytes. Longer suggestions are not offered, because a person cannot agree to truncated text.
const LABEL: usize = 1024;

pub(super) fn choices(request: &Object<'_>) -> Vec<Choice> {
    let labels = suggestions(request).into_iter().enumerate().filter_map(|(index, raw)| Some((index, label(raw)?)));
    labels.filter(|(_, label)| label.len() <= LABEL).map(|(index, label)| Choice { id: id(index), label }).take(CHOICES).collect()
}

/// The suggestion with this id, unchanged; `None` if it was not offered.
pub(super) fn chosen(request: &Object<'_>, choice: &str) -> Option<String> {
    choices(request).iter().find(|offered| offered.id == choice)?;
    let suggestions = suggestions(request);
    let at = (0..suggestions.len()).find(|index| id(*index) == choice)?;
    Some(suggestions[at].get().to_owned())
}

fn suggestions<'a>(request: &Object<'a>) -> Vec<&'a RawValue> {
    if request.is_true("suppress_always_allow_rule") {
        return Vec::new();
    }
    request.list("permission_suggestions").unwrap_or_default()
}

fn id(index: usize) -> String {
    format!("suggestion-{index}")
}

/// A description of a suggestion; `None` if this version does not know its type.
fn label(raw: &RawValue) -> Option<String> {
    let update = Object::of(raw)?;
    let words = match update.text("type")?.as_str() {
        "addRules" => {
            let verb = match update.text("behavior")?.as_str() {
                "allow" => "Always allow",
                "ask" => "Always ask about",
                "deny" => "Always deny",
                _ => return None,
            };
            format!("{verb} {}", join_with_and(update.list("rules")?.into_iter().map(rule).collect::<Option<Vec<_>>>()?)?)
        }
        "addDirectories" => {
            format!(
                "Allow work in {}",
                join_with_and(update.list("directories")?.into_iter().map(quoted).collect::<Option<Vec<_>>>()?)?
            )
        }
        "setMode" => match update.text("mode")?.as_str() {
            "acceptEdits" => "Accept all file edits".to_owned(),
            "bypassPermissions" => "Allow everything without asking".to_owned(),
            "default" => "Ask about everything".to_owned(),
            "plan" => "Only plan".to_owned(),
            mode => format!("Switch to the mode `{mode}`"),
        },
        _ => return None,
    };
    let holds = match update.text("destination")?.as_str() {
        "session" => "this session",
        "localSettings" => "this project",
        "projectSettings" => "this project, for everybody",
        "userSettings" => "all projects",
        "cliArg" => "this run",
        _ => return None,
    };
    Some(format!("{words} (Claude, {holds})"))
}

/// What a rule covers: a command on its own, everything else with the tool's name.
fn rule(raw: &RawValue) -> Option<String> {
    let rule = Object::of(raw)?;
    let tool = rule.non_blank_text("toolName")?;
    Some(match (tool.as_str(), rule.non_blank_text("ruleContent")) {
        (tool, None) => format!("every use of {tool}"),
        ("Bash", Some(content)) => format!("`{content}`"),
        (tool, Some(content)) => format!("{tool} `{content}`"),
    })
}

fn quoted(raw: &RawValue) -> Option<String> {
    text(raw).map(|text| format!("`{text}`"))
}

fn join_with_and(parts: Vec<String>) -> Option<String> {
    (!parts.is_empty()).then(|| parts.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(suggestions: &str) -> Vec<String> {
        let request = format!(r#"{{"permission_suggestions":{suggestions}}}"#);
        choices(&Object::parse(&request).unwrap()).into_iter().map(|choice| format!("{}: {}", choice.id, choice.label)).collect()
    }

    #[test]
    fn each_suggestion_becomes_a_labelled_choice() {
        let suggested = r#"[
            {"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch x *"},{"toolName":"Bash","ruleContent":":"}],"behavior":"allow","destination":"localSettings"},
            {"type":"addRules","rules":[{"toolName":"Read","ruleContent":"//etc/**"}],"behavior":"allow","destination":"session"},
            {"type":"addRules","rules":[{"toolName":"mcp__github__list"}],"behavior":"allow","destination":"userSettings"},
            {"type":"addDirectories","directories":["/a","/b"],"destination":"projectSettings"},
            {"type":"setMode","mode":"acceptEdits","destination":"session"},
            {"type":"setMode","mode":"careful","destination":"cliArg"}]"#;
        assert_eq!(
            labels(suggested),
            [
                "suggestion-0: Always allow `touch x *` and `:` (Claude, this project)",
                "suggestion-1: Always allow Read `//etc/**` (Claude, this session)",
                "suggestion-2: Always allow every use of mcp__github__list (Claude, all projects)",
                "suggestion-3: Allow work in `/a` and `/b` (Claude, this project, for everybody)",
                "suggestion-4: Accept all file edits (Claude, this session)",
                "suggestion-5: Switch to the mode `careful` (Claude, this run)",
            ]
        );
    }

    #[test]
    fn truncated_suggestions_are_not_offered() {
        let long = "x".repeat(LABEL);
        let suggested = format!(
            r#"[{{"type":"addRules","rules":[{{"toolName":"Bash","ruleContent":"{long}"}}],"behavior":"allow","destination":"session"}},
                {{"type":"somethingNew","destination":"session"}}, 7,
                {{"type":"addRules","rules":[],"behavior":"allow","destination":"session"}},
                {{"type":"setMode","mode":"plan","destination":"session"}}]"#
        );
        assert_eq!(labels(&suggested), ["suggestion-4: Only plan (Claude, this session)"]);
        assert_eq!(labels("{}"), Vec::<String>::new());
    }

    #[test]
    fn only_the_chosen_suggestion_is_returned() {
        let request = r#"{"permission_suggestions":[{"type":"setMode","mode":"acceptEdits","destination":"session"},
            {"type":"setMode","mode":"plan", "destination":"session"},{"type":"new"}]}"#;
        let request = Object::parse(request).unwrap();
        assert_eq!(
            chosen(&request, "suggestion-1").as_deref(),
            Some(r#"{"type":"setMode","mode":"plan", "destination":"session"}"#)
        );
        for unknown in ["suggestion-2", "suggestion-3", "", "1"] {
            assert_eq!(chosen(&request, unknown), None, "{unknown}");
        }
        let suppressed = r#"{"suppress_always_allow_rule":true,"permission_suggestions":[{"type":"setMode","mode":"plan","destination":"session"}]}"#;
        assert!(choices(&Object::parse(suppressed).unwrap()).is_empty());
    }
}
