//! Questions and the answers that they accept.

use serde::{Deserialize, Serialize};

use crate::limits::{self, LimitExceeded};
use crate::raw::Raw;

/// One option of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionOption {
    /// The value that the agent gets.
    pub value: String,
    /// The text that a person reads.
    pub label: String,
    /// An explanation of the option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A preview of the result: code, a diagram or text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

impl QuestionOption {
    /// Creates an option whose label is its value.
    #[must_use]
    pub fn new(label: impl Into<String>, description: Option<String>) -> Self {
        let label = label.into();
        Self { value: label.clone(), label, description, preview: None }
    }

    /// Whether the agent recommends this option.
    #[must_use]
    pub fn is_recommended(&self) -> bool {
        strip_recommended(&self.label).len() < self.label.trim_end().len()
    }

    /// Whether an entry of an answer names this option.
    #[must_use]
    pub fn is_named_by(&self, entry: &str) -> bool {
        entry == self.value || entry == self.label || strip_recommended(entry) == strip_recommended(&self.label)
    }
}

/// Removes the "(Recommended)" that agents append to a label.
#[must_use]
pub fn strip_recommended(label: &str) -> &str {
    const MARK: &str = "(recommended)";
    let label = label.trim_end();
    match label.len().checked_sub(MARK.len()) {
        Some(at) if label.is_char_boundary(at) && label[at..].eq_ignore_ascii_case(MARK) => label[..at].trim_end(),
        _ => label,
    }
}

/// The type of answers that a question accepts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Input {
    /// One or several options.
    Choice {
        /// In the agent's order.
        options: Vec<QuestionOption>,
        /// Whether several options can be chosen.
        multiple: bool,
        /// Whether own text is also accepted.
        custom: bool,
    },
    Text {
        /// Whether the answer is secret. Secret answers are never shown or logged, and deleted after delivery.
        secret: bool,
    },
    Number {
        /// The smallest valid number.
        minimum: Option<f64>,
        /// The largest valid number.
        maximum: Option<f64>,
        /// Whether only whole numbers are valid.
        integer: bool,
    },
    /// Yes or no, sent as `true` or `false`.
    YesNo,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The agent's name of the question: an index or the name of a field.
    pub key: String,
    /// A short title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    pub text: String,
    #[serde(flatten)]
    pub input: Input,
    /// Whether an answer is required.
    pub required: bool,
    /// The JSON Schema of the person's own text. This crate does not interpret it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<Raw>,
}

impl Question {
    /// Returns the header, or the text if there is none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.header.as_deref().filter(|header| !header.trim().is_empty()).unwrap_or(&self.text)
    }

    #[must_use]
    pub const fn is_secret(&self) -> bool {
        matches!(self.input, Input::Text { secret: true })
    }

    /// Returns the options, or an empty slice for other types of input.
    #[must_use]
    pub fn options(&self) -> &[QuestionOption] {
        match &self.input {
            Input::Choice { options, .. } => options,
            Input::Text { .. } | Input::Number { .. } | Input::YesNo => &[],
        }
    }

    /// Whether several options can be chosen.
    #[must_use]
    pub const fn multiple(&self) -> bool {
        matches!(self.input, Input::Choice { multiple: true, .. })
    }

    /// Whether it accepts the person's own text.
    #[must_use]
    pub const fn takes_text(&self) -> bool {
        matches!(self.input, Input::Choice { custom: true, .. } | Input::Text { .. })
    }

    /// Returns the entry of an answer that is the person's own text.
    #[must_use]
    pub fn own_text<'a>(&self, answer: &'a [String]) -> Option<&'a str> {
        let is_own = |entry: &&String| !self.options().iter().any(|option| option.is_named_by(entry));
        answer.iter().filter(|entry| self.takes_text() && !entry.trim().is_empty()).find(is_own).map(String::as_str)
    }

    pub(crate) fn check_limits(&self) -> Result<(), LimitExceeded> {
        limits::check("the key of a question", self.key.len(), limits::TEXT)?;
        limits::check("the text of a question", self.text.len(), limits::TEXT)?;
        limits::check("the header of a question", self.header.as_ref().map_or(0, String::len), limits::TEXT)?;
        let schema = self.response_schema.as_ref().map_or(0, |schema| schema.as_str().len());
        limits::check("the responseSchema", schema, limits::SCHEMA)?;
        limits::check("the number of options", self.options().len(), limits::OPTIONS)?;
        for option in self.options() {
            limits::check("the label of an option", option.label.len(), limits::TEXT)?;
            limits::check("the value of an option", option.value.len(), limits::TEXT)?;
            limits::check("the description of an option", option.description.as_ref().map_or(0, String::len), limits::TEXT)?;
            limits::check("the preview of an option", option.preview.as_ref().map_or(0, String::len), limits::RAW)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recommended_is_ignored_for_matching() {
        let option = QuestionOption::new("SQLite (Recommended)", None);
        assert!(option.is_recommended());
        assert!(option.is_named_by("SQLite"));
        assert!(option.is_named_by("SQLite (recommended)"));
        assert!(!option.is_named_by("sqlite"));
        assert_eq!(strip_recommended("ü(Recommended)"), "ü");
        assert_eq!(strip_recommended("(Recommended)"), "");
        for label in ["kurz", "PostgreSQL on a server", "recommended (by no one)", "ééééééééé", "é (Recommended) x"] {
            assert_eq!(strip_recommended(label), label);
        }
    }
}
