//! Question lists in the format of Claude Code's question tool, which several agents use.

use sayso_core::ask::{Input, Question, QuestionOption};
use serde_json::value::RawValue;

use crate::json::{Object, list, text};

/// The field that identifies an option in the answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    ById,
    /// The label that people read.
    ByLabel,
}

/// Parses the questions; `None` if any question is invalid, because a partial answer is not an answer.
pub(super) fn read(list: &[&RawValue], named: Named, custom: bool) -> Option<Vec<Question>> {
    list.iter().enumerate().map(|(at, raw)| parse_question(raw, at, named, custom)).collect()
}

fn parse_question(raw: &RawValue, at: usize, named: Named, custom: bool) -> Option<Question> {
    let question = Object::of(raw)?;
    let text = ["question", "prompt", "text"].into_iter().find_map(|name| question.non_blank_text(name))?;
    let key = match named {
        Named::ById => question.non_blank_text("id").unwrap_or_else(|| at.to_string()),
        Named::ByLabel => at.to_string(),
    };
    let options: Vec<QuestionOption> =
        question.list("options").unwrap_or_default().into_iter().filter_map(|raw| option(raw, named)).collect();
    let multiple = ["multiSelect", "multi_select", "multiple", "allowMultiple"].into_iter().any(|name| question.is_true(name));
    let input = if options.is_empty() { Input::Text { secret: false } } else { Input::Choice { options, multiple, custom } };
    Some(Question { key, header: question.non_blank_text("header"), text, input, required: true, response_schema: None })
}

/// Parses an option: a string, a pair of id and label, or an object.
pub(super) fn option(raw: &RawValue, named: Named) -> Option<QuestionOption> {
    if let Some(label) = text(raw) {
        return Some(QuestionOption::new(label, None));
    }
    if let Some(pair) = list(raw) {
        let mut words = pair.into_iter().filter_map(text);
        let value = words.next()?;
        let label = words.next().unwrap_or_else(|| value.clone());
        return Some(QuestionOption { value, label, description: words.next(), preview: None });
    }
    let object = Object::of(raw)?;
    let id = ["id", "value", "optionId"].into_iter().find_map(|name| object.non_blank_text(name));
    let label = ["label", "name", "title"].into_iter().find_map(|name| object.non_blank_text(name)).or_else(|| id.clone())?;
    let value = match named {
        Named::ById => id.unwrap_or_else(|| label.clone()),
        Named::ByLabel => label.clone(),
    };
    Some(QuestionOption {
        value,
        label,
        description: object.non_blank_text("description"),
        preview: object.non_blank_text("preview"),
    })
}
