//! A question and what it takes for an answer.

use serde::{Deserialize, Serialize};

use crate::limits::{self, LimitExceeded};

/// One thing that may be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionOption {
    /// What is sent to the agent.
    pub value: String,
    /// What a person reads.
    pub label: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it would look like: code, a diagram, text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

impl QuestionOption {
    /// An option whose label is its value.
    #[must_use]
    pub fn new(label: impl Into<String>, description: Option<String>) -> Self {
        let label = label.into();
        Self { value: label.clone(), label, description, preview: None }
    }

    /// Whether the agent marks it as its favourite.
    #[must_use]
    pub fn is_recommended(&self) -> bool {
        strip_recommended(&self.label).len() < self.label.trim_end().len()
    }

    /// Whether this entry of an answer means this option.
    #[must_use]
    pub fn is_named_by(&self, entry: &str) -> bool {
        entry == self.value || entry == self.label || strip_recommended(entry) == strip_recommended(&self.label)
    }
}

/// A label without the "(Recommended)" that agents put at its end.
#[must_use]
pub fn strip_recommended(label: &str) -> &str {
    const MARK: &str = "(recommended)";
    let label = label.trim_end();
    match label.len().checked_sub(MARK.len()) {
        Some(at) if label.is_char_boundary(at) && label[at..].eq_ignore_ascii_case(MARK) => label[..at].trim_end(),
        _ => label,
    }
}

/// What a question takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Input {
    /// One option, or several.
    Choice {
        /// The options, in the agent's order.
        options: Vec<QuestionOption>,
        /// Whether several may be chosen.
        multiple: bool,
        /// Whether own text is taken too.
        custom: bool,
    },
    /// Free text.
    Text {
        /// Never shown, stored or logged once it is sent.
        secret: bool,
    },
    /// A number.
    Number {
        /// Not below this.
        minimum: Option<f64>,
        /// Not above this.
        maximum: Option<f64>,
        /// Whole numbers only.
        integer: bool,
    },
    /// Yes or no, sent as `true` or `false`.
    YesNo,
}

/// One question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// What the agent calls it: a position, a field name.
    pub key: String,
    /// A short name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// What is asked.
    pub text: String,
    /// What it takes.
    #[serde(flatten)]
    pub input: Input,
    /// Whether it must be answered.
    pub required: bool,
}

impl Question {
    /// The header, else the text: what a person calls this question.
    #[must_use]
    pub fn name(&self) -> &str {
        self.header.as_deref().filter(|header| !header.trim().is_empty()).unwrap_or(&self.text)
    }

    /// Whether its answer is secret.
    #[must_use]
    pub const fn is_secret(&self) -> bool {
        matches!(self.input, Input::Text { secret: true })
    }

    /// Its options; none when it does not offer any.
    #[must_use]
    pub fn options(&self) -> &[QuestionOption] {
        match &self.input {
            Input::Choice { options, .. } => options,
            Input::Text { .. } | Input::Number { .. } | Input::YesNo => &[],
        }
    }

    /// Whether several options may be chosen.
    #[must_use]
    pub const fn multiple(&self) -> bool {
        matches!(self.input, Input::Choice { multiple: true, .. })
    }

    /// Whether it takes text of the person's own.
    #[must_use]
    pub const fn takes_text(&self) -> bool {
        matches!(self.input, Input::Choice { custom: true, .. } | Input::Text { .. })
    }

    pub(crate) fn check_limits(&self) -> Result<(), LimitExceeded> {
        limits::check("the key of a question", self.key.len(), limits::TEXT)?;
        limits::check("the text of a question", self.text.len(), limits::TEXT)?;
        limits::check("the header of a question", self.header.as_ref().map_or(0, String::len), limits::TEXT)?;
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
        for label in ["kurz", "PostgreSQL on a server", "recommended (by nobody)", "ééééééééé", "é (Recommended) x"] {
            assert_eq!(strip_recommended(label), label);
        }
    }
}
