//! Converts questions into a form, and a form's content into answers.

use sayso_core::ask::{Answers, Input, Question};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::json::{Fields, Object, line, list, text};

/// The message above the form, and the form's schema as JSON, with fields in the order of the questions.
pub fn form(questions: &[Question]) -> (String, String) {
    let several = questions.len() > 1;
    let message = match questions {
        [only] => only.text.clone(),
        _ => "Please answer the following questions.".to_owned(),
    };
    let mut properties = Vec::new();
    let mut required = Vec::new();
    for question in questions {
        let mut property = match &question.input {
            Input::Choice { options, multiple, .. } => {
                let options: Vec<Value> = options
                    .iter()
                    .map(|option| json!({ "const": option.value, "title": option.label, "description": option.description }))
                    .map(without_nulls)
                    .collect();
                if *multiple {
                    json!({ "type": "array", "items": { "anyOf": options } })
                } else {
                    json!({ "type": "string", "oneOf": options })
                }
            }
            Input::Text { secret: true } => json!({ "type": "string", "format": "password" }),
            Input::Text { secret: false } => json!({ "type": "string" }),
            Input::Number { minimum, maximum, integer: true } => {
                let whole = |bound: &Option<f64>| bound.map(|bound| bound as i64);
                json!({ "type": "integer", "minimum": whole(minimum), "maximum": whole(maximum) })
            }
            Input::Number { minimum, maximum, integer: false } => {
                json!({ "type": "number", "minimum": minimum, "maximum": maximum })
            }
            Input::YesNo => json!({ "type": "boolean" }),
        };
        property["title"] = json!(question.name());
        if several {
            property["description"] = json!(question.text);
        }
        properties.push((question.key.clone(), without_nulls(property)));
        let custom = matches!(question.input, Input::Choice { custom: true, .. });
        if custom {
            properties.push((format!("{}_custom", question.key), json!({ "type": "string", "title": "Other" })));
        }
        if question.required && !custom {
            required.push(&question.key);
        }
    }
    let (properties, required) = (line(&Fields(properties)), line(&required));
    (message, format!(r#"{{"type":"object","properties":{properties},"required":{required}}}"#))
}

/// The answers in a form's content, one list per question.
pub fn content_of(questions: &[Question], content: &Object<'_>) -> Answers {
    let of = |question: &Question| {
        let own = content.non_blank_text(&format!("{}_custom", question.key));
        content.get(&question.key).map(entries).unwrap_or_default().into_iter().chain(own).collect()
    };
    questions.iter().map(of).collect()
}

/// The answers in the format of the sandbox extension: a list of lists.
pub fn answers(result: &Object<'_>) -> Answers {
    result.list("answers").unwrap_or_default().into_iter().map(entries).collect()
}

/// Removes `null` fields: strict parsers report them as values of the wrong type.
fn without_nulls(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    object
}

fn entries(raw: &RawValue) -> Vec<String> {
    match list(raw) {
        Some(entries) => entries.into_iter().filter_map(text).collect(),
        None => vec![text(raw).unwrap_or_else(|| raw.get().to_owned())],
    }
}
