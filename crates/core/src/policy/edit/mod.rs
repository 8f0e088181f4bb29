//! Changes the text of a policy file and keeps everything else in it, including comments.
//!
//! People edit rules on the page and in the same file by hand, so changes are made to the text: a changed rule is spliced into
//! the bytes around it ([`rule_spans`]), and only its changed keys are written ([`keys`]).

mod arrays;
mod inline_rules;
mod keys;
mod rule_spans;
mod settings_text;

use serde::{Deserialize, Serialize};
use toml_edit::{DocumentMut, Item};

use super::error::PolicyError;
use super::model::{ApprovalSettings, QuestionSettings, RuleSpec};
use super::policy_file::Policy;
use rule_spans::{RuleSpan, rule_spans};

/// A change to the text of a policy. `place` counts rules from 1, like the label `rule 3 (user)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum PolicyEdit {
    /// Adds a rule after the last one.
    AddRule { rule: RuleSpec },
    /// Replaces a rule. Unchanged keys keep their spelling.
    SetRule { place: usize, rule: RuleSpec },
    /// Removes a rule and the comment directly above it.
    RemoveRule { place: usize },
    /// Moves a rule together with the comment directly above it.
    MoveRule {
        place: usize,
        /// The new place.
        to: usize,
    },
    /// Sets the defaults, which apply when no rule matches.
    SetDefaults { questions: QuestionSettings, approvals: ApprovalSettings },
    /// Sets the defaults of a profile. Adds the profile if it does not exist.
    SetProfile { name: String, questions: QuestionSettings, approvals: ApprovalSettings },
}

/// Applies one change to the text of a policy and returns the new text. Both texts have to be valid policies.
///
/// # Errors
/// When the old or new text is not a valid policy, or the rule does not exist.
pub fn edit_policy(text: &str, edit: &PolicyEdit) -> Result<String, PolicyError> {
    let before = Policy::parse(text)?;
    let count = before.rules.len();
    let index = |place: usize| match place.checked_sub(1) {
        Some(index) if index < count => Ok(index),
        Some(_) | None => Err(PolicyError::new(format!("there is no rule {place}: the policy has {count} rules"))),
    };
    let spec = |index: usize| before.rules.get(index).map(|rule| rule.spec().clone());
    let spans = rule_spans(text).map_err(|error| PolicyError::new(error.message()))?;
    // Rules are tables with a header each, or one array of inline tables.
    let inline = count > 0 && spans.is_empty();
    let after = match edit {
        PolicyEdit::AddRule { rule } if inline => edit_fragment(text, |document| inline_rules::add_rule(document, rule))?,
        PolicyEdit::AddRule { rule } => append_block(text, text.len(), &keys::rule_text(rule)),
        PolicyEdit::SetRule { place, rule } => {
            let index = index(*place)?;
            let old = spec(index).unwrap_or_else(|| rule.clone());
            match spans.get(index) {
                Some(span) => set_rule(text, span, &old, rule)?,
                None => edit_fragment(text, |document| inline_rules::set_rule(document, index, &old, rule))?,
            }
        }
        PolicyEdit::RemoveRule { place } => {
            let index = index(*place)?;
            match spans.get(index) {
                Some(span) => remove_rule(text, span),
                None => edit_fragment(text, |document| inline_rules::remove(document, index))?,
            }
        }
        PolicyEdit::MoveRule { place, to } => {
            let (from, to) = (index(*place)?, index(*to)?);
            match spans.get(from) {
                Some(_) if from == to => text.to_owned(),
                Some(span) => moved(text, span, to)?,
                None => edit_fragment(text, |document| inline_rules::shift(document, from, to))?,
            }
        }
        PolicyEdit::SetDefaults { questions, approvals } => edit_fragment(text, |document| {
            settings_text::set_settings(document.as_table_mut(), "questions", &before.questions, questions);
            settings_text::set_settings(document.as_table_mut(), "approvals", &before.approvals, approvals);
        })?,
        PolicyEdit::SetProfile { name, questions, approvals } => {
            let old = before.profiles.get(name).cloned().unwrap_or_default();
            edit_fragment(text, |document| {
                if let Some(profile) = settings_text::find_or_add_profile(document.as_table_mut(), name) {
                    settings_text::set_settings(profile, "questions", &old.questions, questions);
                    settings_text::set_settings(profile, "approvals", &old.approvals, approvals);
                }
            })?
        }
    };
    Policy::parse(&after)?;
    Ok(after)
}

/// Returns the line ending of a text.
fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Changes a fragment of TOML and keeps its line endings.
fn edit_fragment(text: &str, change: impl FnOnce(&mut DocumentMut)) -> Result<String, PolicyError> {
    let end = line_end(text);
    let mut document: DocumentMut =
        text.replace("\r\n", "\n").parse().map_err(|error: toml_edit::TomlError| PolicyError::new(error.message()))?;
    change(&mut document);
    Ok(document.to_string().replace('\n', end))
}

/// Inserts a block after the byte `at`, with an empty line before it.
fn append_block(text: &str, at: usize, block: &str) -> String {
    let end = line_end(text);
    let (before, after) = text.split_at(at);
    let gap = if before.is_empty() || before.ends_with("\n\n") || before.ends_with("\r\n\r\n") {
        String::new()
    } else if before.ends_with('\n') {
        end.to_owned()
    } else {
        end.repeat(2)
    };
    let block = block.replace("\r\n", "\n").replace('\n', end);
    format!("{before}{gap}{block}{after}")
}

fn set_rule(text: &str, span: &RuleSpan, old: &RuleSpec, new: &RuleSpec) -> Result<String, PolicyError> {
    let rule = edit_fragment(&text[span.start..span.body_end], |document| {
        let first = document.get_mut("rules").and_then(Item::as_array_of_tables_mut).and_then(|rules| rules.get_mut(0));
        if let Some(table) = first {
            let comments = keys::set_keys(table, &keys::json_of(old), &keys::json_of(new));
            document.set_trailing(comments);
        }
    })?;
    Ok(format!("{}{rule}{}", &text[..span.start], &text[span.body_end..]))
}

/// Removes a rule. Comments between this rule and the next one stay, unless they belong to the rule.
fn remove_rule(text: &str, span: &RuleSpan) -> String {
    let rest = &text[span.body_end..];
    let blank = &text[span.body_end..span.end];
    let gap = if blank.trim().is_empty() { blank.len() } else { blank.len() - blank.trim_start_matches(['\r', '\n']).len() };
    format!("{}{}", &text[..span.start], &rest[gap..])
}

fn moved(text: &str, span: &RuleSpan, to: usize) -> Result<String, PolicyError> {
    let end = line_end(text);
    let mut block = text[span.start..span.body_end].to_owned();
    if !block.ends_with('\n') {
        block.push_str(end);
    }
    let rest = remove_rule(text, span);
    let spans = rule_spans(&rest).map_err(|error| PolicyError::new(error.message()))?;
    Ok(match (spans.get(to), spans.last()) {
        (Some(next), _) => format!("{}{block}{end}{}", &rest[..next.start], &rest[next.start..]),
        (None, Some(last)) => append_block(&rest, last.body_end, &block),
        (None, None) => rest + &block,
    })
}
