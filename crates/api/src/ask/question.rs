//! Questions, and conversions from and to the types of `sayso-core`.

use sayso_core::ask as core;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The type of answer that a question accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum InputKind {
    /// One of the options; several with `multiple`; free text with `custom`.
    Choice,
    /// Free text. Clients hide the input if `secret` is set.
    Text,
    /// A number between `minimum` and `maximum`.
    Number,
    /// The text `true` or `false`.
    YesNo,
}

/// An option of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionOption {
    /// The value that the agent receives. Defaults to the label.
    #[serde(default)]
    pub value: Option<String>,
    /// The text to display.
    pub label: String,
    /// A longer explanation of the option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// An example of the result, such as code or a drawing in text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// Whether the agent recommends this option.
    #[serde(default)]
    pub recommended: bool,
}

impl QuestionOption {
    /// Converts to the option of the core. A recommendation becomes a suffix of the label, as agents write it.
    fn into_core(self) -> core::QuestionOption {
        let mut option = core::QuestionOption {
            value: self.value.unwrap_or_else(|| self.label.clone()),
            label: self.label,
            description: self.description,
            preview: self.preview,
        };
        if self.recommended && !option.is_recommended() {
            option.label.push_str(" (Recommended)");
        }
        option
    }
}

const fn yes() -> bool {
    true
}

const fn choice() -> InputKind {
    InputKind::Choice
}

/// One question of an ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The name that the agent uses for the question. Defaults to its position.
    #[serde(default)]
    pub key: Option<String>,
    /// A short label that clients show as a chip.
    #[serde(default)]
    pub header: Option<String>,
    /// The text of the question.
    pub text: String,
    /// The type of the answer. Defaults to `choice` if there are options, and to `text` otherwise.
    #[serde(default = "choice")]
    pub input: InputKind,
    /// Whether more than one option can be chosen.
    #[serde(default)]
    pub multiple: bool,
    /// Whether free text is accepted in addition to the options.
    #[serde(default = "yes")]
    pub custom: bool,
    /// Whether the question has to be answered.
    #[serde(default = "yes")]
    pub required: bool,
    /// Whether the answer is a secret. Sayso never displays secret answers and deletes them after delivery.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// The smallest number that is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// The largest number that is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// Whether the number has to be an integer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub integer: bool,
    /// A JSON Schema that the person's own text has to fit, for questions that accept text; at most 32 KiB and without
    /// references to other documents. With `"type": "string"` the text itself is the value, otherwise the text is JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub response_schema: Option<serde_json::Value>,
    /// The options, in the agent's order.
    #[serde(default)]
    pub options: Vec<QuestionOption>,
    /// The options that a policy rule suggests. Clients preselect them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preselected: Option<Vec<String>>,
}

impl From<&core::Question> for Question {
    fn from(question: &core::Question) -> Self {
        let mut shown = Self {
            key: Some(question.key.clone()),
            header: question.header.clone(),
            text: question.text.clone(),
            input: InputKind::Text,
            multiple: false,
            custom: false,
            required: question.required,
            secret: false,
            minimum: None,
            maximum: None,
            integer: false,
            response_schema: question.response_schema.as_ref().and_then(|schema| serde_json::from_str(schema.as_str()).ok()),
            options: Vec::new(),
            preselected: None,
        };
        match &question.input {
            core::Input::Choice { options, multiple, custom } => {
                shown.input = InputKind::Choice;
                shown.multiple = *multiple;
                shown.custom = *custom;
                shown.options = options
                    .iter()
                    .map(|option| QuestionOption {
                        value: Some(option.value.clone()),
                        label: option.label.clone(),
                        description: option.description.clone(),
                        preview: option.preview.clone(),
                        recommended: option.is_recommended(),
                    })
                    .collect();
            }
            core::Input::Text { secret } => shown.secret = *secret,
            core::Input::Number { minimum, maximum, integer } => {
                shown.input = InputKind::Number;
                shown.minimum = *minimum;
                shown.maximum = *maximum;
                shown.integer = *integer;
            }
            core::Input::YesNo => shown.input = InputKind::YesNo,
        }
        shown
    }
}

impl Question {
    /// Converts to the question of the core. `index` becomes the key if the question has none.
    #[must_use]
    pub fn into_core(self, index: usize) -> core::Question {
        let input = match self.input {
            InputKind::Choice if self.options.is_empty() => core::Input::Text { secret: self.secret },
            InputKind::Choice => core::Input::Choice {
                options: self.options.into_iter().map(QuestionOption::into_core).collect(),
                multiple: self.multiple,
                custom: self.custom,
            },
            InputKind::Text => core::Input::Text { secret: self.secret },
            InputKind::Number => core::Input::Number { minimum: self.minimum, maximum: self.maximum, integer: self.integer },
            InputKind::YesNo => core::Input::YesNo,
        };
        core::Question {
            key: self.key.unwrap_or_else(|| index.to_string()),
            header: self.header,
            text: self.text,
            input,
            required: self.required,
            response_schema: self.response_schema.as_ref().map(sayso_core::raw::Raw::of),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recommendation_round_trips_and_is_not_part_of_the_value() {
        let option = |label: &str, recommended| QuestionOption {
            value: None,
            label: label.to_owned(),
            description: None,
            preview: None,
            recommended,
        };
        let marked = option("NAS", true).into_core();
        assert_eq!((marked.label.as_str(), marked.value.as_str(), marked.is_recommended()), ("NAS (Recommended)", "NAS", true));
        assert_eq!(option("NAS (recommended)", true).into_core().label, "NAS (recommended)");
        assert!(!option("S3", false).into_core().is_recommended());
    }
}
