//! Checkpoints: questions at which a run pauses.

use serde::{Deserialize, Serialize};

use crate::ask::{Input, Question, QuestionOption};

/// A question that a workflow asks a person. The answer is the output of the step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Checkpoint {
    /// The text of the question, a template.
    #[serde(alias = "text")]
    pub question: String,
    /// A short label for the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The type of the answer. Defaults to a choice if there are options, and to text otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<CheckpointInput>,
    /// The options to choose from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<CheckpointOption>,
    /// Whether more than one option can be chosen.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub multiple: bool,
    /// Whether free text is accepted in addition to the options.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub custom: bool,
    /// The smallest number that is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// The largest number that is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// Whether the number has to be an integer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub integer: bool,
}

/// The type of answer that a checkpoint accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckpointInput {
    /// One option, or several with `multiple`.
    Choice,
    Text,
    Number,
    #[serde(alias = "yesNo")]
    YesNo,
}

/// An option of a checkpoint: a label, or a label with a description.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CheckpointOption {
    Label(String),
    Described {
        label: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
    },
}

impl CheckpointOption {
    #[must_use]
    pub fn label(&self) -> &str {
        match self {
            Self::Label(label) | Self::Described { label, .. } => label,
        }
    }
}

impl Checkpoint {
    /// Returns the type of the answer, including the default.
    #[must_use]
    pub fn takes(&self) -> CheckpointInput {
        self.input.unwrap_or(if self.options.is_empty() { CheckpointInput::Text } else { CheckpointInput::Choice })
    }

    /// Converts the checkpoint to a question with this text, the filled-in template.
    #[must_use]
    pub fn to_question(&self, text: String) -> Question {
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
        Question { key: "0".to_owned(), header: self.header.clone(), text, input, required: true, response_schema: None }
    }
}
