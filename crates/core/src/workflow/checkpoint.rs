//! The question at which a run pauses.

use serde::{Deserialize, Serialize};

use crate::ask::{Input, Question, QuestionOption};

/// A pause with a question of the workflow's own. Its answer is the step's output.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Checkpoint {
    /// What is asked; a template.
    #[serde(alias = "text")]
    pub question: String,
    /// A short name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// What it takes; a choice if there are options, else text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<CheckpointInput>,
    /// What may be chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<CheckpointOption>,
    /// Whether several may be chosen.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub multiple: bool,
    /// Whether text of one's own is taken beside the options.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub custom: bool,
    /// A number is not below this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// A number is not above this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// A number is whole.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub integer: bool,
}

/// What a checkpoint takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckpointInput {
    /// One option, or several.
    Choice,
    /// Free text.
    Text,
    /// A number.
    Number,
    /// Yes or no.
    #[serde(alias = "yesNo")]
    YesNo,
}

/// Something that may be chosen: a label, or a label with what it means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CheckpointOption {
    /// A label.
    Label(String),
    /// A label with what it means.
    Described {
        /// What a person reads.
        label: String,
        /// What it means.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
    },
}

impl CheckpointOption {
    /// What a person reads.
    #[must_use]
    pub fn label(&self) -> &str {
        match self {
            Self::Label(label) | Self::Described { label, .. } => label,
        }
    }
}

impl Checkpoint {
    /// What it takes.
    #[must_use]
    pub fn takes(&self) -> CheckpointInput {
        self.input.unwrap_or(if self.options.is_empty() { CheckpointInput::Text } else { CheckpointInput::Choice })
    }

    /// The question, with its template filled in.
    #[must_use]
    pub fn asked(&self, text: String) -> Question {
        let input = match self.takes() {
            CheckpointInput::Choice => Input::Choice {
                options: self
                    .options
                    .iter()
                    .map(|option| match option {
                        CheckpointOption::Label(label) => QuestionOption::new(label, None),
                        CheckpointOption::Described { label, description } => QuestionOption::new(label, description.clone()),
                    })
                    .collect(),
                multiple: self.multiple,
                custom: self.custom,
            },
            CheckpointInput::Text => Input::Text { secret: false },
            CheckpointInput::Number => Input::Number { minimum: self.minimum, maximum: self.maximum, integer: self.integer },
            CheckpointInput::YesNo => Input::YesNo,
        };
        Question { key: "0".to_owned(), header: self.header.clone(), text, input, required: true }
    }
}
