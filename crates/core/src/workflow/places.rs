//! Parses a workflow, and finds the line and column of mistakes.

use std::fmt;

use serde::Deserialize;
use toml::Spanned;

use super::model::Workflow;
use crate::policy::key_after;

/// Maximum bytes of a workflow's text.
const TEXT_LIMIT: usize = 1024 * 1024;

/// A mistake in a workflow.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, thiserror::Error)]
#[error("{}{message}", describe_place(.line, .column, .path))]
pub struct WorkflowError {
    /// The line, counted from 1. `None` if the workflow was not read from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column in characters, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The path of the invalid value, for example `steps[1].prompt`. Empty for the whole workflow.
    pub path: String,
    /// The error and the correction.
    pub message: String,
}

fn describe_place(line: &Option<usize>, column: &Option<usize>, path: &str) -> String {
    let place = line.map(|line| format!("line {line}, column {}: ", column.unwrap_or(1))).unwrap_or_default();
    if path.is_empty() { place } else { format!("{place}{path}: ") }
}

impl WorkflowError {
    /// Creates an error about the whole workflow.
    pub(super) fn whole(message: impl Into<String>) -> Self {
        Self { line: None, column: None, path: String::new(), message: message.into() }
    }

    fn at(mut self, text: &str, byte: usize) -> Self {
        let before = crate::limits::head(text, byte);
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        self.line = Some(before.matches('\n').count() + 1);
        self.column = Some(before[start..].chars().count() + 1);
        self
    }
}

/// A location in a workflow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The index of the step, and the index within its group.
    pub(super) step: Option<(usize, Option<usize>)>,
    /// The index of the rule within the step.
    pub(super) rule: Option<usize>,
    /// The key within the step or rule.
    pub(super) key: &'static str,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut dot = "";
        if let Some((step, member)) = self.step {
            write!(f, "steps[{step}]")?;
            if let Some(member) = member {
                write!(f, ".parallel[{member}]")?;
            }
            dot = ".";
        }
        if let Some(rule) = self.rule {
            write!(f, "{dot}rules[{rule}]")?;
            dot = ".";
        }
        if self.key.is_empty() { Ok(()) } else { write!(f, "{dot}{}", self.key) }
    }
}

/// The byte ranges of the steps in a text.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Spans {
    #[serde(default)]
    steps: Vec<Spanned<StepSpans>>,
}

#[derive(Debug, Default, Deserialize)]
struct StepSpans {
    #[serde(default)]
    parallel: Vec<Spanned<StepSpans>>,
    #[serde(default)]
    rules: Vec<Spanned<serde::de::IgnoredAny>>,
    checkpoint: Option<Spanned<serde::de::IgnoredAny>>,
}

/// The text that a workflow was parsed from, used to locate mistakes.
#[derive(Debug, Default)]
pub struct Source {
    text: String,
    spans: Option<Spans>,
}

impl Source {
    /// Creates an error at this location.
    pub(super) fn error(&self, place: &Place, message: String) -> WorkflowError {
        let error = WorkflowError { path: place.to_string(), ..WorkflowError::whole(message) };
        match self.byte(place) {
            Some(byte) => error.at(&self.text, byte),
            None => error,
        }
    }

    fn byte(&self, place: &Place) -> Option<usize> {
        let spans = self.spans.as_ref()?;
        let Some((step, member)) = place.step else { return Some(key_after(&self.text, 0, place.key)) };
        let mut found = spans.steps.get(step)?;
        if let Some(member) = member {
            found = found.get_ref().parallel.get(member)?;
        }
        let inner = match (place.rule, place.key) {
            (Some(rule), _) => found.get_ref().rules.get(rule).map(|rule| rule.span().start),
            (None, "checkpoint") => found.get_ref().checkpoint.as_ref().map(|checkpoint| checkpoint.span().start),
            (None, _) => None,
        };
        Some(inner.unwrap_or_else(|| key_after(&self.text, found.span().start, place.key)))
    }
}

impl Workflow {
    /// Parses a TOML file without checking its content.
    ///
    /// # Errors
    /// If the text is not TOML of this shape. The error has the line and column of the first mistake.
    pub fn parse_toml(text: &str) -> Result<(Self, Source), WorkflowError> {
        let too_long = too_long(text);
        if let Some(error) = too_long {
            return Err(error);
        }
        let unread = |error: toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start);
            WorkflowError::whole(error.message()).at(text, at)
        };
        let workflow: Self = toml::from_str(text).map_err(unread)?;
        let spans: Spans = toml::from_str(text).map_err(unread)?;
        Ok((workflow, Source { text: text.to_owned(), spans: Some(spans) }))
    }

    /// Parses a JSON document of the same shape without checking its content.
    ///
    /// # Errors
    /// If the text is not JSON of this shape. The error has the line and column of the first mistake.
    pub fn parse_json(text: &str) -> Result<(Self, Source), WorkflowError> {
        if let Some(error) = too_long(text) {
            return Err(error);
        }
        let workflow = serde_json::from_str(text).map_err(|error| WorkflowError {
            line: Some(error.line()),
            column: Some(error.column()),
            ..WorkflowError::whole(error.to_string().split(" at line ").next().unwrap_or_default())
        })?;
        Ok((workflow, Source::default()))
    }
}

fn too_long(text: &str) -> Option<WorkflowError> {
    (text.len() > TEXT_LIMIT)
        .then(|| WorkflowError::whole(format!("the workflow has {} bytes, the limit is {TEXT_LIMIT}", text.len())))
}
