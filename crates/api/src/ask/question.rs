//! Questions as clients see them.

use sayso_core::ask as core;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a question takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum InputKind {
    /// One of the options, or several with `multiple`, own text with `custom`.
    Choice,
    /// Free text, hidden with `secret`.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    YesNo,
}

/// One thing that may be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuestionOption {
    /// What is sent to the agent. The label, if it is left out.
    #[serde(default)]
    pub value: Option<String>,
    /// What a person reads.
    pub label: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it would look like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// Whether the agent marks it as its favourite.
    #[serde(default)]
    pub recommended: bool,
}

impl QuestionOption {
    /// The option as the domain knows it: a favourite is marked at the end of its label, as agents do it.
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

/// One question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// What the agent calls it; its position, if it is left out.
    #[serde(default)]
    pub key: Option<String>,
    /// A short name.
    #[serde(default)]
    pub header: Option<String>,
    /// What is asked.
    pub text: String,
    /// What it takes. Without options and without this, text.
    #[serde(default = "choice")]
    pub input: InputKind,
    /// Whether several options may be chosen.
    #[serde(default)]
    pub multiple: bool,
    /// Whether text of the person's own is taken.
    #[serde(default = "yes")]
    pub custom: bool,
    /// Whether it must be answered.
    #[serde(default = "yes")]
    pub required: bool,
    /// Whether the answer is secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// The smallest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// The largest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// Whole numbers only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub integer: bool,
    /// The options, in the agent's order.
    #[serde(default)]
    pub options: Vec<QuestionOption>,
    /// What a rule of the person preselects.
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
    /// The question as the domain knows it. `index` names it when it has no key.
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_favourite_stays_one_and_its_value_stays_plain() {
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
