//! Forms that agents and MCP servers describe as a flat JSON schema: converts them into questions, and answers into the
//! form's content.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use sayso_core::ask::{Input, Question, QuestionOption};
use serde_json::value::RawValue;

use crate::json::{Fields, Object, line, list, text};

/// Suffixes that agents append to a field's name for a companion field with free text.
const TWINS: [&str; 2] = ["_custom", "_note"];
/// The option that Codex offers for an answer that is only a note.
const NONE_OF_THEM: &str = "None of the above";
/// Generic messages that agents send above a form. They are dropped, and each question keeps its own text.
const GENERIC_MESSAGES: [&str; 2] = ["Please answer the following questions.", "Codex needs your input to continue."];
/// Introduces the default value in a question's text.
const DEFAULT: &str = " (default: ";
/// The key of the single question of a form without fields.
const CONFIRM: &str = "confirm";

/// One property of the schema.
struct Field<'a> {
    name: String,
    schema: Object<'a>,
    kind: Kind<'a>,
    required: bool,
    /// The companion property with free text.
    twin: Option<String>,
}

/// The type of a property's value.
enum Kind<'a> {
    Choice {
        options: Vec<Offered<'a>>,
        multiple: bool,
    },
    Text,
    Number {
        integer: bool,
    },
    YesNo,
    /// A list without options: one entry per line.
    Lines,
    /// An unknown type, shown as a text input.
    Unknown,
}

/// One option and the value that represents it in the content.
struct Offered<'a> {
    value: &'a RawValue,
    option: QuestionOption,
}

/// The questions of a form: one per field, in the order of the schema or, if given, of `order`. A field and its
/// free-text twin are one question. A form without fields is a single yes-or-no question.
pub(crate) fn questions(schema: &RawValue, order: Option<&[String]>) -> Vec<Question> {
    let mut fields = fields(schema);
    if let Some(order) = order {
        fields.sort_by_key(|field| order.iter().position(|name| *name == field.name).unwrap_or(usize::MAX));
    }
    if fields.is_empty() {
        let said =
            Object::of(schema).and_then(|schema| schema.non_blank_text("description").or_else(|| schema.non_blank_text("title")));
        let text = said.unwrap_or_else(|| "Do you agree?".to_owned());
        return vec![Question {
            key: CONFIRM.to_owned(),
            header: None,
            text,
            input: Input::YesNo,
            required: true,
            response_schema: None,
        }];
    }
    fields.into_iter().map(Field::into_question).collect()
}

/// Adds the agent's message to the questions: it becomes the text of a first question that only has a title, and
/// precedes its text otherwise.
pub(crate) fn introduce(questions: &mut [Question], message: &str) {
    let message = message.trim();
    let Some(first) = questions.first_mut() else { return };
    if message.is_empty() || GENERIC_MESSAGES.contains(&message) || first.text.contains(message) {
        return;
    }
    if first.key == CONFIRM && first.input == Input::YesNo && first.header.is_none() {
        first.text = message.to_owned();
    } else if first.header.is_none() {
        let (title, default) = first.text.split_at(first.text.rfind(DEFAULT).unwrap_or(first.text.len()));
        (first.header, first.text) = (Some(title.to_owned()), format!("{message}{default}"));
    } else {
        first.text = format!("{message}\n\n{}", first.text);
    }
}

/// The result of filling in a form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Filled {
    /// The content as JSON; `None` if the person answered no to a form without fields.
    pub(crate) content: Option<String>,
    /// The note, if the form has no field for it.
    pub(crate) unsaid: Option<String>,
}

/// Fills in a form. The answers are in the order of its [`questions`].
pub(crate) fn fill(schema: &RawValue, order: Option<&[String]>, answers: &[Vec<String>], note: Option<&str>) -> Filled {
    let questions = questions(schema, order);
    let keys = questions.iter().map(|question| question.key.clone());
    let mut answers: Vec<(String, Vec<String>)> = keys.zip(answers.iter().cloned()).collect();
    let mut unsaid = note.filter(|note| !note.trim().is_empty()).map(str::to_owned);
    if refuses(schema, &answers) {
        return Filled { content: None, unsaid };
    }
    // The note goes into the first unused free-text field.
    let place = questions.iter().zip(&answers).position(|(question, (_, given))| match &question.input {
        Input::Choice { options, custom, .. } => {
            *custom && !given.is_empty() && given.iter().all(|entry| options.iter().any(|option| option.value == *entry))
        }
        Input::Text { .. } | Input::Number { .. } | Input::YesNo => false,
    });
    if let Some(place) = place {
        answers[place].1.extend(unsaid.take());
    }
    Filled { content: Some(content(schema, &answers)), unsaid }
}

/// Whether the answers reject a form without fields, which can only be accepted.
fn refuses(schema: &RawValue, answers: &[(String, Vec<String>)]) -> bool {
    fields(schema).is_empty() && !answers.iter().any(|(_, entries)| entries.iter().any(|entry| entry == "true"))
}

/// The content of the form: an object with a correctly typed value for every answered field.
fn content(schema: &RawValue, answers: &[(String, Vec<String>)]) -> String {
    let mut values: Vec<(String, Box<RawValue>)> = Vec::new();
    for field in fields(schema) {
        let entries = answers.iter().find(|(name, _)| *name == field.name).map_or(&[][..], |(_, entries)| entries);
        field.write(entries, &mut values);
    }
    line(&Fields(values))
}

/// The fields of a schema, without the twins.
fn fields(schema: &RawValue) -> Vec<Field<'_>> {
    let Some(schema) = Object::of(schema) else { return Vec::new() };
    let Some(properties) = schema.object("properties") else { return Vec::new() };
    let required: Vec<String> = schema.list("required").unwrap_or_default().into_iter().filter_map(text).collect();
    let mut fields: Vec<Field<'_>> = Vec::new();
    for (name, property) in properties.fields() {
        let schema = Object::of(property).unwrap_or_default();
        let kind = Kind::of(&schema);
        let field =
            Field { required: required.iter().any(|wanted| wanted == name), name: name.to_owned(), schema, kind, twin: None };
        match fields.iter().position(|known| known.name == field.name) {
            Some(twice) => fields[twice] = field,
            None => fields.push(field),
        }
    }
    attach_twins(fields)
}

/// Removes the twins from the list and attaches them to their fields.
fn attach_twins(mut fields: Vec<Field<'_>>) -> Vec<Field<'_>> {
    let mut at = 0;
    while at < fields.len() {
        let owner = match fields[at].kind {
            Kind::Text => TWINS.iter().find_map(|twin| fields[at].name.strip_suffix(twin)).and_then(|name| {
                fields
                    .iter()
                    .position(|field| field.name == name && field.twin.is_none() && matches!(field.kind, Kind::Choice { .. }))
            }),
            Kind::Choice { .. } | Kind::Number { .. } | Kind::YesNo | Kind::Lines | Kind::Unknown => None,
        };
        match owner {
            Some(owner) => {
                let twin = fields.remove(at).name;
                let owner = if owner > at { owner - 1 } else { owner };
                fields[owner].twin = Some(twin);
            }
            None => at += 1,
        }
    }
    fields
}

impl<'a> Kind<'a> {
    fn of(schema: &Object<'a>) -> Self {
        let named = type_of(schema);
        let named = named.as_deref();
        if named == Some("array") || (named.is_none() && schema.get("items").is_some()) {
            let options = schema.object("items").map(|items| read_options(&items)).unwrap_or_default();
            return if options.is_empty() { Self::Lines } else { Self::Choice { options, multiple: true } };
        }
        let options = read_options(schema);
        if !options.is_empty() {
            return Self::Choice { options, multiple: false };
        }
        match named {
            Some("string") => Self::Text,
            Some("number") => Self::Number { integer: false },
            Some("integer") => Self::Number { integer: true },
            Some("boolean") => Self::YesNo,
            Some(_) => Self::Unknown,
            // The schema has several alternatives or no type: use the first alternative with a type.
            None => match alternatives(schema).into_iter().find(|one| type_of(one).is_some()) {
                Some(one) if alternatives(&one).is_empty() => Self::of(&one),
                Some(_) => Self::Unknown,
                None => Self::Text,
            },
        }
    }
}

/// The type of a schema, which can be one of several; `null` is ignored.
fn type_of(schema: &Object<'_>) -> Option<String> {
    let named = schema.get("type")?;
    let names = match text(named) {
        Some(name) => vec![name],
        None => list(named)?.into_iter().filter_map(text).collect(),
    };
    names.into_iter().find(|name| name != "null")
}

fn alternatives<'a>(schema: &Object<'a>) -> Vec<Object<'a>> {
    let entries = ["oneOf", "anyOf"].into_iter().filter_map(|name| schema.list(name)).flatten();
    entries.filter_map(Object::of).collect()
}

/// The options of a schema: `enum`, or alternatives with a single value each.
fn read_options<'a>(schema: &Object<'a>) -> Vec<Offered<'a>> {
    let names: Vec<Option<String>> = schema.list("enumNames").unwrap_or_default().into_iter().map(text).collect();
    let values = schema.list("enum").unwrap_or_default().into_iter().enumerate();
    let mut options: Vec<Offered<'a>> = values
        .map(|(at, value)| Offered {
            value,
            option: QuestionOption {
                value: display_value(value).into_owned(),
                label: names.get(at).cloned().flatten().unwrap_or_else(|| display_value(value).into_owned()),
                description: None,
                preview: None,
            },
        })
        .collect();
    for one in alternatives(schema).into_iter().chain(schema.get("const").map(|_| schema.clone())) {
        match one.get("const") {
            Some(value) => options.push(Offered {
                value,
                option: QuestionOption {
                    value: display_value(value).into_owned(),
                    label: one.non_blank_text("title").unwrap_or_else(|| display_value(value).into_owned()),
                    description: one.non_blank_text("description"),
                    preview: one
                        .object("_meta")
                        .and_then(|meta| meta.object("_claude/askUserQuestionOption")?.non_blank_text("preview")),
                },
            }),
            None if one.get("enum").is_some() => options.extend(read_options(&one)),
            None => {}
        }
    }
    options
}

/// A value as people write it: strings without quotes, other values as JSON.
fn display_value(value: &RawValue) -> Cow<'_, str> {
    text(value).map_or(Cow::Borrowed(value.get()), Cow::Owned)
}

impl Field<'_> {
    fn into_question(self) -> Question {
        let (header, mut text) = match (self.schema.non_blank_text("title"), self.schema.non_blank_text("description")) {
            // Codex puts the question into the title and its short name into the description.
            (Some(title), Some(description)) if title.trim_end().ends_with('?') && !description.trim_end().ends_with('?') => {
                (Some(description), title)
            }
            (Some(title), Some(description)) => (Some(title), description),
            (Some(title), None) => (None, title),
            (None, Some(description)) => (Some(self.name.clone()), description),
            (None, None) => (None, self.name.clone()),
        };
        // A default does not have to be entered, but the person should see it.
        let default = self.schema.get("default").map(display_value).filter(|default| (1..=80).contains(&default.len()));
        if let Some(default) = &default {
            text.push_str(&format!("{DEFAULT}{default})"));
        }
        let input = match self.kind {
            Kind::Choice { options, multiple } => {
                let options = options.into_iter().map(|offered| offered.option).collect();
                Input::Choice { options, multiple, custom: self.twin.is_some() }
            }
            Kind::Number { integer } => {
                Input::Number { minimum: self.schema.number("minimum"), maximum: self.schema.number("maximum"), integer }
            }
            Kind::YesNo => Input::YesNo,
            Kind::Text => Input::Text { secret: is_secret(&self.schema) },
            Kind::Lines | Kind::Unknown => Input::Text { secret: false },
        };
        Question {
            key: self.name,
            header,
            text,
            input,
            required: self.required && self.schema.get("default").is_none(),
            response_schema: None,
        }
    }

    /// Adds the value for these entries, and the value of the twin.
    fn write(self, entries: &[String], values: &mut Vec<(String, Box<RawValue>)>) {
        let entries: Vec<&str> = entries.iter().map(String::as_str).filter(|entry| !entry.trim().is_empty()).collect();
        if entries.is_empty() {
            if let Some(default) = self.schema.get("default").filter(|_| self.required) {
                values.push((self.name, default.to_owned()));
            }
            return;
        }
        let value = match &self.kind {
            Kind::Choice { options, multiple } => {
                let mut chosen: Vec<Box<RawValue>> = Vec::new();
                let mut own = Vec::new();
                for entry in entries {
                    match options.iter().find(|offered| offered.option.is_named_by(entry)) {
                        Some(offered) if *multiple || chosen.is_empty() => chosen.push(offered.value.to_owned()),
                        _ => own.push(entry),
                    }
                }
                let own = own.join("\n");
                match &self.twin {
                    _ if own.is_empty() => {}
                    Some(twin) => {
                        values.push((twin.clone(), raw(&own)));
                        let none = options.iter().find(|offered| offered.option.value == NONE_OF_THEM);
                        if let Some(none) = none.filter(|_| chosen.is_empty() && twin.ends_with("_note")) {
                            chosen.push(none.value.to_owned());
                        }
                    }
                    // Without a twin, free text is added to the choice.
                    None if chosen.is_empty() || *multiple => chosen.push(raw(&own)),
                    None => {}
                }
                match (*multiple, chosen.as_slice()) {
                    (_, []) => return,
                    (true, chosen) => raw(&chosen),
                    (false, [first, ..]) => first.clone(),
                }
            }
            Kind::Text => raw(&entries[0]),
            Kind::Number { integer } => number(entries[0].trim(), *integer),
            Kind::YesNo => raw(&(entries[0] == "true")),
            Kind::Lines => {
                let lines = entries.iter().flat_map(|entry| entry.lines()).map(str::trim).filter(|line| !line.is_empty());
                let of = self.schema.object("items").and_then(|items| type_of(&items));
                let lines = lines.map(|line| match of.as_deref() {
                    Some("number") => number(line, false),
                    Some("integer") => number(line, true),
                    _ => raw(&line),
                });
                raw(&lines.collect::<Vec<_>>())
            }
            Kind::Unknown => {
                let entry = entries[0].trim();
                let structured = entry.starts_with(['{', '[']).then(|| RawValue::from_string(entry.to_owned()).ok());
                structured.flatten().unwrap_or_else(|| raw(&entries[0]))
            }
        };
        values.push((self.name, value));
    }
}

fn is_secret(schema: &Object<'_>) -> bool {
    let codex = || schema.object("_meta").and_then(|meta| meta.object("codex"));
    schema.text("format").as_deref() == Some("password") || codex().is_some_and(|codex| codex.is_true("isSecret"))
}

/// Formats a number as JSON; a text that is not a number stays a string.
fn number(entry: &str, integer: bool) -> Box<RawValue> {
    if let Ok(whole) = entry.parse::<i64>() {
        return raw(&whole);
    }
    match entry.parse::<f64>().ok().filter(|value| value.is_finite()) {
        // A whole number written with a decimal point or an exponent.
        Some(value) if integer && value.fract() == 0.0 && value.abs() < 9e15 => raw(&(value as i64)),
        Some(value) => RawValue::from_string(entry.to_owned()).unwrap_or_else(|_| raw(&value)),
        None => raw(&entry),
    }
}

fn raw(value: &impl serde::Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
