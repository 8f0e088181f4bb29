//! The arguments of the tools. Models write them, so they are parsed leniently, and error messages tell the model what to
//! change.

use std::time::Duration;

use rmcp::model::JsonObject;
use sayso_api::ask::{InputKind, NewAsk, Question, QuestionOption};
use sayso_core::limits;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::asks::ToolFailure;

/// The arguments of `ask_user`.
#[derive(Debug, Deserialize)]
pub(super) struct AskUser {
    questions: Vec<QuestionArgument>,
    #[serde(default)]
    context: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct QuestionArgument {
    question: String,
    #[serde(default)]
    header: Option<String>,
    #[serde(default)]
    options: Option<Vec<OptionArgument>>,
    #[serde(default, alias = "multiSelect")]
    multiple: Option<bool>,
    #[serde(default)]
    custom: Option<bool>,
}

/// An option. Models often write only its label.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum OptionArgument {
    Label(String),
    Whole {
        label: String,
        #[serde(default)]
        description: Option<String>,
    },
}

/// The arguments of `get_answer`.
#[derive(Debug, Deserialize)]
pub(super) struct GetAnswer {
    /// The id of the ask.
    pub(super) id: String,
    #[serde(default)]
    wait: Option<f64>,
}

/// The arguments of `notify_user`.
#[derive(Debug, Deserialize)]
pub(super) struct NotifyUser {
    /// The text of the notice.
    pub(super) text: String,
}

/// Parses the arguments of a tool.
pub(super) fn read<T: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<T, ToolFailure> {
    serde_json::from_value(serde_json::Value::Object(arguments.unwrap_or_default()))
        .map_err(|error| ToolFailure(format!("Invalid arguments: {error}.")))
}

impl AskUser {
    /// Returns the ask, and the content that identifies it when the call is repeated.
    pub(super) fn ask(self) -> Result<(NewAsk, impl Serialize), ToolFailure> {
        if self.questions.is_empty() {
            return Err(ToolFailure("There is no question; give at least one.".to_owned()));
        }
        let within = |what: &str, actual: usize, limit: usize| {
            limits::check(what, actual, limit).map_err(|error| ToolFailure(format!("{error}. Send less at once.")))
        };
        within("the number of questions", self.questions.len(), limits::QUESTIONS)?;
        let mut questions = Vec::with_capacity(self.questions.len());
        for (index, asked) in self.questions.iter().enumerate() {
            let number = index + 1;
            if asked.question.trim().is_empty() {
                return Err(ToolFailure(format!("Question {number} has no text.")));
            }
            let options = asked.options.as_deref().unwrap_or_default();
            within("the number of options", options.len(), limits::OPTIONS)?;
            let options: Vec<QuestionOption> = options.iter().map(OptionArgument::option).collect();
            for (at, option) in options.iter().enumerate() {
                if option.label.trim().is_empty() {
                    return Err(ToolFailure(format!("Question {number} has an option without a label.")));
                }
                if options[..at].iter().any(|other| other.label == option.label) {
                    return Err(ToolFailure(format!("Question {number} has two options with the same label.")));
                }
            }
            questions.push(asked.question(options));
        }
        let context = self.context.map(|context| limits::tail(&context, limits::CONTEXT).to_owned());
        Ok((NewAsk { questions: Some(questions), context, ..NewAsk::default() }, self.questions))
    }
}

impl QuestionArgument {
    fn question(&self, options: Vec<QuestionOption>) -> Question {
        Question {
            key: None,
            header: self.header.clone().filter(|header| !header.trim().is_empty()),
            text: self.question.clone(),
            input: if options.is_empty() { InputKind::Text } else { InputKind::Choice },
            multiple: self.multiple.unwrap_or(false),
            custom: self.custom.unwrap_or(true),
            required: true,
            response_schema: None,
            secret: false,
            minimum: None,
            maximum: None,
            integer: false,
            options,
            preselected: None,
        }
    }
}

impl OptionArgument {
    fn option(&self) -> QuestionOption {
        let (label, description) = match self {
            Self::Label(label) => (label.clone(), None),
            Self::Whole { label, description } => (label.clone(), description.clone()),
        };
        QuestionOption { value: None, label, description, preview: None, recommended: false }
    }
}

impl GetAnswer {
    /// Returns how long to wait: not at all by default, and no longer than the client can.
    pub(super) fn wait(&self, patience: Option<Duration>) -> Result<Duration, ToolFailure> {
        let seconds = self.wait.unwrap_or(0.0);
        let wait = Duration::try_from_secs_f64(seconds.min(86_400.0))
            .map_err(|_| ToolFailure("wait must be a number of seconds, 0 or more.".to_owned()))?;
        Ok(patience.map_or(wait, |patience| wait.min(patience)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn ask(arguments: Value) -> Result<NewAsk, String> {
        let Value::Object(arguments) = arguments else { panic!("arguments must be an object") };
        read::<AskUser>(Some(arguments)).and_then(AskUser::ask).map(|(ask, _)| ask).map_err(|failure| failure.0)
    }

    #[test]
    fn questions_are_read_as_models_write_them() {
        let asked = json!({"questions": [
            {"question": "Which?", "header": "DB", "options": [{"label": "A", "description": "a"}, "B"], "multiSelect": true, "custom": false},
            {"question": "Why?", "options": null, "more": 1},
        ], "context": "So far so good."});
        let ask = ask(asked).unwrap();
        let questions = ask.questions.unwrap();
        let first = &questions[0];
        assert_eq!(
            (first.header.as_deref(), first.multiple, first.custom, first.input),
            (Some("DB"), true, false, InputKind::Choice)
        );
        assert_eq!(first.options.iter().map(|option| option.label.as_str()).collect::<Vec<_>>(), ["A", "B"]);
        assert_eq!((questions[1].input, questions[1].custom, questions[1].multiple), (InputKind::Text, true, false));
        assert_eq!(ask.context.as_deref(), Some("So far so good."));
    }

    #[test]
    fn invalid_arguments_are_explained() {
        let many = |count: usize| Value::Array(vec![json!({"question": "a"}); count]);
        let options = |count: usize| (0..count).map(|n| json!(n.to_string())).collect::<Vec<_>>();
        for (wrong, why) in [
            (json!({}), "missing field `questions`"),
            (json!({"questions": "a"}), "invalid type: string"),
            (json!({"questions": [7]}), "invalid type: integer"),
            (json!({"questions": []}), "There is no question"),
            (json!({"questions": [{"question": " "}]}), "Question 1 has no text"),
            (json!({"questions": [{"question": "a", "options": [{"label": ""}]}]}), "an option without a label"),
            (json!({"questions": [{"question": "a", "options": ["b", "b"]}]}), "two options with the same label"),
            (json!({"questions": [{"question": "a", "multiple": "yes"}]}), "invalid type: string"),
            (json!({"questions": many(17)}), "the number of questions is 17, the limit is 16"),
            (json!({"questions": [{"question": "a", "options": options(65)}]}), "the number of options is 65, the limit is 64"),
        ] {
            let said = ask(wrong.clone()).unwrap_err();
            assert!(said.contains(why), "{wrong}: {said}");
        }
    }

    #[test]
    fn wait_is_limited() {
        let wait = |wait: Option<f64>, patience: Option<u64>| {
            GetAnswer { id: String::new(), wait }.wait(patience.map(Duration::from_secs)).map(|wait| wait.as_secs())
        };
        assert_eq!(wait(None, None), Ok(0));
        assert_eq!(wait(Some(90.0), Some(50)), Ok(50));
        assert_eq!(wait(Some(1e300), None), Ok(86_400));
        assert!(wait(Some(-1.0), None).is_err());
    }
}
