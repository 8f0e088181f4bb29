//! The tool `question`: its definition for the model, and the strict parser for its calls. Calls come from a model, so
//! they are validated like any external input. Errors name the problem so that the model can correct the call.

use sayso_core::ask::{Input, Question, QuestionOption};
use sayso_core::limits;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::json::{Object, list, text};

pub(super) const NAME: &str = "question";
/// Maximum length of a header or label in characters.
const SHORT: usize = 30;
/// Maximum number of options per question.
const OPTIONS: usize = 10;

/// The tool definition that the endpoint receives.
pub(super) fn definition() -> Value {
    json!({
        "type": "function",
        "function": {
            "name": NAME,
            "description": "Ask the user one question and wait for the answer. Use it instead of asking in prose when you \
                need a decision. Call it alone and at the very end of your turn. The user can always write something else \
                unless custom is false. The answer is the user's next message.",
            "parameters": {
                "type": "object",
                "properties": {
                    "header": { "type": "string", "maxLength": SHORT, "description": "A short name for the question, a few words" },
                    "question": { "type": "string", "description": "The full text of the question" },
                    "options": {
                        "type": "array", "minItems": 1, "maxItems": OPTIONS,
                        "items": {
                            "type": "object",
                            "properties": {
                                "label": { "type": "string", "maxLength": SHORT, "description": "The text of the option, which you get as the answer" },
                                "description": { "type": "string", "description": "What it means" }
                            },
                            "required": ["label"]
                        }
                    },
                    "multiple": { "type": "boolean", "description": "Whether the user can choose several options; false if omitted" },
                    "custom": { "type": "boolean", "description": "Whether the user can write their own answer; true if omitted" }
                },
                "required": ["question", "options"]
            }
        }
    })
}

/// Parses the arguments of a call.
///
/// # Errors
/// A description of the problem, for the model to read.
pub(super) fn read(arguments: &str) -> Result<Question, String> {
    let fields = Object::parse(arguments).ok_or("the arguments are not a JSON object")?;
    if fields.get("questions").is_some() {
        return Err("`questions` is not known: ask one question per call, in `question`".to_owned());
    }
    let asked = read_text(&fields, "question")?.ok_or("`question` is missing")?;
    if asked.trim().is_empty() {
        return Err("`question` is empty".to_owned());
    }
    limits::check("`question`", asked.len(), limits::TEXT).map_err(|error| error.to_string())?;
    let header = read_text(&fields, "header")?.filter(|header| !header.trim().is_empty());
    if let Some(header) = &header {
        short("`header`", header)?;
    }
    let given = fields.get("options").ok_or("`options` is missing")?;
    let given = list(given).ok_or("`options` is not a list")?;
    if given.is_empty() || given.len() > OPTIONS {
        return Err(format!("`options` has {} entries; it must have 1 to {OPTIONS}", given.len()));
    }
    let mut options: Vec<QuestionOption> = Vec::with_capacity(given.len());
    for (at, given) in given.into_iter().enumerate() {
        let option = option(at, given)?;
        if options.iter().any(|other| other.label == option.label) {
            return Err(format!("`options[{at}].label` is a duplicate"));
        }
        options.push(option);
    }
    let input =
        Input::Choice { options, multiple: read_flag(&fields, "multiple", false)?, custom: read_flag(&fields, "custom", true)? };
    Ok(Question { key: "0".to_owned(), header, text: asked, input, required: true, response_schema: None })
}

fn option(at: usize, given: &RawValue) -> Result<QuestionOption, String> {
    let fields = Object::of(given).ok_or_else(|| format!("`options[{at}]` is not an object with a `label`"))?;
    let what = format!("`options[{at}].label`");
    let label = fields.get("label").ok_or_else(|| format!("{what} is missing"))?;
    let label = text(label).ok_or_else(|| format!("{what} is not text"))?;
    if label.trim().is_empty() {
        return Err(format!("{what} is empty"));
    }
    short(&what, &label)?;
    let description = read_text(&fields, "description").map_err(|_| format!("`options[{at}].description` is not text"))?;
    if let Some(description) = &description {
        limits::check(&format!("`options[{at}].description`"), description.len(), limits::TEXT)
            .map_err(|error| error.to_string())?;
    }
    Ok(QuestionOption::new(label, description.filter(|description| !description.trim().is_empty())))
}

/// The value of an optional string field.
fn read_text(fields: &Object<'_>, name: &str) -> Result<Option<String>, String> {
    fields.get(name).map(|value| text(value).ok_or_else(|| format!("`{name}` is not text"))).transpose()
}

fn read_flag(fields: &Object<'_>, name: &str, otherwise: bool) -> Result<bool, String> {
    match fields.get(name).map(RawValue::get) {
        None => Ok(otherwise),
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        Some(_) => Err(format!("`{name}` is neither true nor false")),
    }
}

fn short(what: &str, text: &str) -> Result<(), String> {
    let long = text.chars().count();
    if long > SHORT { Err(format!("{what} has {long} characters; at most {SHORT} are allowed")) } else { Ok(()) }
}

/// The message that carries an answer: the labels one per line, then the person's free text.
pub(super) fn message(arguments: Option<&str>, entries: &[String], note: Option<&str>) -> String {
    let asked = arguments.and_then(|arguments| read(arguments).ok());
    let is_option =
        |entry: &&String| asked.as_ref().is_some_and(|asked| asked.options().iter().any(|option| option.is_named_by(entry)));
    let (chosen, written): (Vec<&String>, Vec<&String>) = entries.iter().partition(is_option);
    let lines = chosen.into_iter().chain(written).map(String::as_str).chain(note);
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_changed_arguments(change: impl FnOnce(&mut Value)) -> Result<Question, String> {
        let mut arguments = json!({ "question": "Which?", "options": [{ "label": "A" }, { "label": "B", "description": "b" }] });
        change(&mut arguments);
        read(&arguments.to_string())
    }

    #[test]
    fn optional_question_fields_have_defaults() {
        let question = read_changed_arguments(|_| {}).unwrap();
        assert_eq!((question.header.as_deref(), question.text.as_str(), question.required), (None, "Which?", true));
        assert!(!question.multiple() && question.takes_text());
        let [first, second] = question.options() else { panic!() };
        assert_eq!((first.label.as_str(), first.value.as_str(), &first.description), ("A", "A", &None));
        assert_eq!(second.description.as_deref(), Some("b"));
        let question = read_changed_arguments(|it| {
            it["header"] = json!("x".repeat(30));
            it["multiple"] = json!(true);
            it["custom"] = json!(false);
        });
        let question = question.unwrap();
        assert!(question.multiple() && !question.takes_text() && question.header.is_some());
    }

    #[test]
    fn invalid_arguments_are_named_in_the_error() {
        let wrong = |change: &dyn Fn(&mut Value)| read_changed_arguments(change).unwrap_err();
        let label = |label: Value| wrong(&move |it| it["options"][1]["label"] = label.clone());
        for (said, part) in [
            (wrong(&|it| it["question"] = Value::Null), "`question` is missing"),
            (wrong(&|it| it["question"] = json!(" ")), "`question` is empty"),
            (wrong(&|it| it["question"] = json!(["Which?"])), "`question` is not text"),
            (wrong(&|it| it["question"] = json!("x".repeat(limits::TEXT + 1))), "`question`"),
            (wrong(&|it| it["questions"] = json!([])), "one question per call"),
            (wrong(&|it| it["header"] = json!("x".repeat(31))), "`header` has 31 characters"),
            (wrong(&|it| it["options"] = Value::Null), "`options` is missing"),
            (wrong(&|it| it["options"] = json!({})), "`options` is not a list"),
            (wrong(&|it| it["options"] = json!([])), "0 entries"),
            (wrong(&|it| it["options"] = json!(vec![json!({ "label": "A" }); 11])), "11 entries"),
            (wrong(&|it| it["options"][0] = json!("A")), "`options[0]` is not an object"),
            (label(json!("x".repeat(31))), "`options[1].label` has 31 characters"),
            (label(json!("")), "`options[1].label` is empty"),
            (label(json!(1)), "`options[1].label` is not text"),
            (label(json!("A")), "`options[1].label` is a duplicate"),
            (wrong(&|it| it["options"][1]["description"] = json!(7)), "`options[1].description` is not text"),
            (wrong(&|it| it["multiple"] = json!("yes")), "`multiple` is neither"),
            (wrong(&|it| it["custom"] = json!(0)), "`custom` is neither"),
        ] {
            assert!(said.contains(part), "{said}: {part}");
        }
        for arguments in ["", "null", "[]", "{", "7"] {
            assert_eq!(read(arguments).unwrap_err(), "the arguments are not a JSON object");
        }
    }

    #[test]
    fn answer_lists_labels_before_free_text() {
        let arguments =
            json!({ "question": "Which?", "options": [{ "label": "A" }, { "label": "B" }], "multiple": true }).to_string();
        let message = |entries: &[&str], note| {
            let entries: Vec<String> = entries.iter().map(|&entry| entry.to_owned()).collect();
            message(Some(&arguments), &entries, note)
        };
        assert_eq!(message(&["A"], None), "A");
        assert_eq!(message(&["A", "B"], None), "A\nB");
        assert_eq!(message(&["neither", "B"], None), "B\nneither");
        assert_eq!(message(&["own words"], None), "own words");
        assert_eq!(message(&["A"], Some("but soon")), "A\nbut soon");
    }
}
