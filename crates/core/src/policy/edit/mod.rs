//! Changes to the text of a policy file that keep everything else in it, comments included.
//!
//! The page edits rules in a form, and people edit the same file by hand. So a change is made to the text: a changed rule
//! is spliced into the bytes around it ([`rule_spans`]), and inside it only the keys that changed are written ([`keys`]).

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

/// One change to the text of a policy. Places count rules from 1, as `rule 3 (user)` does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum PolicyEdit {
    /// Adds a rule after the last one.
    AddRule {
        /// The rule.
        rule: RuleSpec,
    },
    /// Replaces a rule. Keys with the same value keep their spelling.
    SetRule {
        /// Which rule.
        place: usize,
        /// The whole rule.
        rule: RuleSpec,
    },
    /// Removes a rule and the comment directly above it.
    RemoveRule {
        /// Which rule.
        place: usize,
    },
    /// Moves a rule together with the comment directly above it.
    MoveRule {
        /// Which rule.
        place: usize,
        /// The place that it has afterwards.
        to: usize,
    },
    /// Sets what holds when no rule fits.
    SetDefaults {
        /// For questions.
        questions: QuestionSettings,
        /// For approvals.
        approvals: ApprovalSettings,
    },
    /// Sets what a profile lays over the defaults. A profile that does not exist is added.
    SetProfile {
        /// Its name.
        name: String,
        /// For questions.
        questions: QuestionSettings,
        /// For approvals.
        approvals: ApprovalSettings,
    },
}

/// The text after one change. The text before has to be a policy, and so does the text after.
///
/// # Errors
/// What is wrong with the text before or after, with its line; or that there is no such rule.
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
        PolicyEdit::AddRule { rule } if inline => whole(text, |document| inline_rules::push(document, rule))?,
        PolicyEdit::AddRule { rule } => append(text, text.len(), &keys::rule_text(rule)),
        PolicyEdit::SetRule { place, rule } => {
            let index = index(*place)?;
            let old = spec(index).unwrap_or_else(|| rule.clone());
            match spans.get(index) {
                Some(span) => set_rule(text, span, &old, rule)?,
                None => whole(text, |document| inline_rules::set(document, index, &old, rule))?,
            }
        }
        PolicyEdit::RemoveRule { place } => {
            let index = index(*place)?;
            match spans.get(index) {
                Some(span) => without(text, span),
                None => whole(text, |document| inline_rules::remove(document, index))?,
            }
        }
        PolicyEdit::MoveRule { place, to } => {
            let (from, to) = (index(*place)?, index(*to)?);
            match spans.get(from) {
                Some(_) if from == to => text.to_owned(),
                Some(span) => moved(text, span, to)?,
                None => whole(text, |document| inline_rules::shift(document, from, to))?,
            }
        }
        PolicyEdit::SetDefaults { questions, approvals } => whole(text, |document| {
            settings_text::set(document.as_table_mut(), "questions", &before.questions, questions);
            settings_text::set(document.as_table_mut(), "approvals", &before.approvals, approvals);
        })?,
        PolicyEdit::SetProfile { name, questions, approvals } => {
            let old = before.profiles.get(name).cloned().unwrap_or_default();
            whole(text, |document| {
                if let Some(profile) = settings_text::profile(document.as_table_mut(), name) {
                    settings_text::set(profile, "questions", &old.questions, questions);
                    settings_text::set(profile, "approvals", &old.approvals, approvals);
                }
            })?
        }
    };
    Policy::parse(&after)?;
    Ok(after)
}

/// The line ending of a text.
fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Changes a piece of TOML that stands alone. The line endings of the piece stay as they are.
fn whole(text: &str, change: impl FnOnce(&mut DocumentMut)) -> Result<String, PolicyError> {
    let end = line_end(text);
    let mut document: DocumentMut =
        text.replace("\r\n", "\n").parse().map_err(|error: toml_edit::TomlError| PolicyError::new(error.message()))?;
    change(&mut document);
    Ok(document.to_string().replace('\n', end))
}

/// Puts a block after the byte `at`, with an empty line before it.
fn append(text: &str, at: usize, block: &str) -> String {
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
    let rule = whole(&text[span.start..span.body_end], |document| {
        let first = document.get_mut("rules").and_then(Item::as_array_of_tables_mut).and_then(|rules| rules.get_mut(0));
        if let Some(table) = first {
            let comments = keys::set_keys(table, &keys::json_of(old), &keys::json_of(new));
            document.set_trailing(comments);
        }
    })?;
    Ok(format!("{}{rule}{}", &text[..span.start], &text[span.body_end..]))
}

/// The text without a rule. Comments between this rule and the next one stay, unless they belong to the rule.
fn without(text: &str, span: &RuleSpan) -> String {
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
    let rest = without(text, span);
    let spans = rule_spans(&rest).map_err(|error| PolicyError::new(error.message()))?;
    Ok(match (spans.get(to), spans.last()) {
        (Some(next), _) => format!("{}{block}{end}{}", &rest[..next.start], &rest[next.start..]),
        (None, Some(last)) => append(&rest, last.body_end, &block),
        (None, None) => rest + &block,
    })
}
