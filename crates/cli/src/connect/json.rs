//! Edits JSON as text. Edits only insert or remove entries; all surrounding comments, order and white space are kept
//! byte for byte.

use std::ops::Range;

use jsonc_parser::ast::{self, ObjectPropName};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast, parse_to_serde_value};
use serde_json::Value;

use super::Unfit;

/// The syntax that the agents accept: JSON with comments and trailing commas.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A value to write. Fields keep their order.
#[derive(Debug, Clone)]
pub(super) enum JsonItem {
    /// A string, a number or another value that is written on one line.
    Plain(Value),
    List(Vec<JsonItem>),
    Fields(Vec<(&'static str, JsonItem)>),
}

impl JsonItem {
    /// Creates a list of strings on one line.
    pub(super) fn words(words: &[String]) -> Self {
        Self::Plain(words.into())
    }

    fn write(&self, out: &mut String, layout: Option<(&Layout, &str)>) {
        let deeper = layout.map(|(layout, indent)| format!("{}{indent}{}", layout.newline, layout.unit));
        let (open, close, items): (char, char, Vec<(Option<&str>, &Self)>) = match self {
            Self::Plain(value) => return out.push_str(&flat(value)),
            Self::List(items) => ('[', ']', items.iter().map(|item| (None, item)).collect()),
            Self::Fields(fields) => ('{', '}', fields.iter().map(|(name, item)| (Some(*name), item)).collect()),
        };
        out.push(open);
        for (number, (name, item)) in items.into_iter().enumerate() {
            if number > 0 {
                out.push(',');
            }
            match &deeper {
                Some(line) => out.push_str(line),
                None => out.push(' '),
            }
            if let Some(name) = name {
                out.push_str(&format!("{}: ", Value::from(name)));
            }
            let indent = layout.map(|(layout, indent)| (layout, format!("{indent}{}", layout.unit)));
            item.write(out, indent.as_ref().map(|(layout, indent)| (*layout, indent.as_str())));
        }
        match layout {
            Some((layout, indent)) => out.push_str(&format!("{}{indent}", layout.newline)),
            None => out.push(' '),
        }
        out.push(close);
    }
}

/// Formats a value on one line.
fn flat(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(flat).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// Formatting style of a file: newline and unit of indentation.
#[derive(Debug)]
struct Layout {
    newline: &'static str,
    unit: String,
}

/// One step of a path to a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum JsonStep<'a> {
    /// Property with this name.
    Name(&'a str),
    /// Entry with this index.
    At(usize),
}

/// Positions of an object or list in the text, and of its children with their names.
#[derive(Debug)]
struct Container {
    range: Range<usize>,
    children: Vec<(String, Range<usize>)>,
    is_list: bool,
}

impl Container {
    fn of(value: &ast::Value<'_>) -> Option<Self> {
        let range = |range: jsonc_parser::common::Range| range.start..range.end;
        match value {
            ast::Value::Object(object) => Some(Self {
                range: range(object.range),
                children: object.properties.iter().map(|property| (name(&property.name), range(property.range))).collect(),
                is_list: false,
            }),
            ast::Value::Array(array) => Some(Self {
                range: range(array.range),
                children: array.elements.iter().map(|element| (String::new(), range(element.range()))).collect(),
                is_list: true,
            }),
            ast::Value::StringLit(_) | ast::Value::NumberLit(_) | ast::Value::BooleanLit(_) | ast::Value::NullKeyword(_) => None,
        }
    }
}

fn name(name: &ObjectPropName<'_>) -> String {
    name.clone().into_string()
}

/// The text of a document during edits.
#[derive(Debug, Clone)]
pub(super) struct JsonDocument {
    text: String,
}

impl JsonDocument {
    /// Parses a text. An empty text counts as an empty object.
    pub(super) fn parse(text: &str) -> Result<Self, Unfit> {
        let text = if text.trim().is_empty() { "{}\n".to_owned() } else { text.to_owned() };
        let document = Self { text };
        match document.root()? {
            ast::Value::Object(_) => Ok(document),
            _ => Err(Unfit::Shape("the whole file".to_owned())),
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn root(&self) -> Result<ast::Value<'_>, Unfit> {
        let parsed = parse_to_ast(&self.text, &CollectOptions::default(), &OPTIONS);
        let parsed = parsed.map_err(|error| Unfit::Syntax(error.to_string()))?;
        parsed.value.ok_or_else(|| Unfit::Syntax("the file is empty".to_owned()))
    }

    /// Returns the parsed value.
    pub(super) fn value(&self) -> Value {
        parse_to_serde_value(&self.text, &OPTIONS).unwrap_or_default()
    }

    /// Finds the container at this path.
    fn container(&self, path: &[JsonStep<'_>]) -> Result<Option<Container>, Unfit> {
        let root = self.root()?;
        let mut value = &root;
        for step in path {
            let next = match (value, step) {
                (ast::Value::Object(object), JsonStep::Name(wanted)) => {
                    // If a name occurs twice, the last one counts.
                    object.properties.iter().rfind(|property| name(&property.name) == *wanted).map(|property| &property.value)
                }
                (ast::Value::Array(array), JsonStep::At(index)) => array.elements.get(*index),
                _ => None,
            };
            let Some(next) = next else { return Ok(None) };
            value = next;
        }
        Ok(Container::of(value))
    }

    /// Creates missing objects and lists on the path. Fails if the path contains another kind of value.
    fn ensure(&mut self, path: &[JsonStep<'_>], is_list: bool) -> Result<Container, Unfit> {
        let [before @ .., last] = path else {
            return self.container(path)?.ok_or_else(|| Unfit::Shape("the whole file".to_owned()));
        };
        let unfit = || Unfit::Shape(words(path));
        let JsonStep::Name(wanted) = last else { return self.container(path)?.ok_or_else(unfit) };
        let parent = self.ensure(before, false)?;
        if !parent.children.iter().any(|(name, _)| name == wanted) {
            let empty = JsonItem::Plain(if is_list { Value::Array(Vec::new()) } else { Value::Object(serde_json::Map::new()) });
            self.put(&parent, Some(wanted), &empty)?;
        }
        self.container(path)?.filter(|container| container.is_list == is_list).ok_or_else(unfit)
    }

    /// Adds a property to the object at this path.
    pub(super) fn add(&mut self, path: &[JsonStep<'_>], name: &str, item: &JsonItem) -> Result<(), Unfit> {
        let object = self.ensure(path, false)?;
        self.put(&object, Some(name), item)
    }

    /// Appends an entry to the list at this path.
    pub(super) fn push(&mut self, path: &[JsonStep<'_>], item: &JsonItem) -> Result<(), Unfit> {
        let list = self.ensure(path, true)?;
        self.put(&list, None, item)
    }

    /// Appends an entry to a container.
    fn put(&mut self, container: &Container, name: Option<&str>, item: &JsonItem) -> Result<(), Unfit> {
        let layout = self.layout()?;
        let write = |place: Option<(&Layout, &str)>| {
            let mut text = name.map(|name| format!("{}: ", Value::from(name))).unwrap_or_default();
            item.write(&mut text, place);
            text
        };
        let inside = container.range.start + 1;
        let (Some((_, first)), Some((_, last))) = (container.children.first(), container.children.last()) else {
            let outer = self.indent_of_line(container.range.start);
            let indent = format!("{outer}{}", layout.unit);
            let text = format!("{}{indent}{}", layout.newline, write(Some((&layout, &indent))));
            let goes_on = self.text[inside..].trim_start_matches([' ', '\t']).starts_with(['\n', '\r']);
            let end = if goes_on { String::new() } else { format!("{}{outer}", layout.newline) };
            self.text.insert_str(inside, &format!("{text}{end}"));
            return Ok(());
        };
        let lines = self.text[inside..first.start].contains('\n');
        let indent = self.indent_of_line(first.start);
        let entry = if lines {
            format!("{}{indent}{}", layout.newline, write(Some((&layout, &indent))))
        } else {
            format!(" {}", write(None))
        };
        match self.comma_after(last.end) {
            Some(comma) => self.text.insert_str(self.comment_after(comma + 1), &format!("{entry},")),
            None => {
                let end = last.end;
                self.text.insert_str(self.comment_after(end), &entry);
                self.text.insert(end, ',');
            }
        }
        Ok(())
    }

    /// Removes the value at this path, if it exists.
    pub(super) fn remove(&mut self, path: &[JsonStep<'_>]) -> Result<(), Unfit> {
        let [before @ .., last] = path else { return Ok(()) };
        let Some(container) = self.container(before)? else { return Ok(()) };
        let index = match last {
            JsonStep::Name(wanted) => container.children.iter().rposition(|(name, _)| name == wanted),
            JsonStep::At(index) => Some(*index).filter(|index| *index < container.children.len()),
        };
        let Some(index) = index else { return Ok(()) };
        let child = container.children[index].1.clone();
        let own_comma = self.comma_after(child.end);
        let previous = index.checked_sub(1).and_then(|index| self.comma_after(container.children[index].1.end));
        let inside = container.range.start + 1..container.range.end - 1;
        match (previous, own_comma) {
            (Some(comma), None) => {
                self.text.replace_range(self.comment_after(comma + 1)..child.end, "");
                self.text.remove(comma);
            }
            (Some(comma), Some(own)) => self.text.replace_range(self.comment_after(comma + 1)..own + 1, ""),
            (None, own) => {
                let end = own.map_or(child.end, |own| own + 1);
                let alone = container.children.len() == 1;
                if alone && self.text[inside.start..child.start].trim().is_empty() && self.text[end..inside.end].trim().is_empty()
                {
                    self.text.replace_range(inside, "");
                } else {
                    let start = if self.text[inside.start..child.start].trim().is_empty() { inside.start } else { child.start };
                    self.text.replace_range(start..end, "");
                }
            }
        }
        Ok(())
    }

    fn layout(&self) -> Result<Layout, Unfit> {
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let root = self.container(&[])?;
        let first = root.as_ref().and_then(|root| Some((root.range.start, root.children.first()?.1.start)));
        let unit =
            first.filter(|(start, first)| self.text[*start..*first].contains('\n')).map(|(_, first)| self.indent_of_line(first));
        Ok(Layout { newline, unit: unit.filter(|unit| !unit.is_empty()).unwrap_or_else(|| "  ".to_owned()) })
    }

    /// Returns the indentation of the line that contains this position.
    fn indent_of_line(&self, at: usize) -> String {
        let line = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        self.text[line..at].chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
    }

    /// Finds the next comma after white space and comments.
    fn comma_after(&self, mut at: usize) -> Option<usize> {
        loop {
            let rest = &self.text[at..];
            let trimmed = rest.trim_start();
            at += rest.len() - trimmed.len();
            if trimmed.starts_with(',') {
                return Some(at);
            }
            at += comment(trimmed)?;
        }
    }

    /// Returns the position after the comments that follow on this line.
    fn comment_after(&self, from: usize) -> usize {
        let mut end = from;
        loop {
            let rest = &self.text[end..];
            let trimmed = rest.trim_start_matches([' ', '\t']);
            match comment(trimmed).filter(|length| !trimmed[..*length].contains('\n')) {
                Some(length) => end += rest.len() - trimmed.len() + length,
                None => return end,
            }
        }
    }
}

/// Returns the length of the comment at the start of the text, without its newline.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        Some(text.find(['\n', '\r']).unwrap_or(text.len()))
    } else if text.starts_with("/*") {
        text.find("*/").map(|end| end + 2)
    } else {
        None
    }
}

/// Formats a path for messages.
fn words(path: &[JsonStep<'_>]) -> String {
    let word = |step: &JsonStep<'_>| match step {
        JsonStep::Name(name) => (*name).to_owned(),
        JsonStep::At(index) => index.to_string(),
    };
    path.iter().map(word).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXTS: [&str; 16] = [
        "{}",
        "{ }\n",
        "{\n}\n",
        "{\"a\":1}",
        "{ \"a\": 1 , }",
        "{\n  \"a\": 1\n}\n",
        "{\n  \"a\": 1, // why\n}\n",
        "{\n  \"a\": 1 // why\n}\n",
        "{\n  \"a\": 1 /* , */ // why\n  // more\n}\n",
        "{\r\n\t\"a\": [1, 2],\r\n\t\"b\": {}\r\n}\r\n",
        "// first\n{ // second\n  // third\n  \"a\": 1\n  /* fourth */\n}\n// last\n",
        "{\n  \"l\": [],\n  \"o\": {}\n}\n",
        "{\n  \"l\": [ 1 ],\n  \"o\": { \"x\": {} }\n}\n",
        "{\n  \"l\": [\n    1,\n  ],\n  \"o\": {\n    \"x\": \"}\" }\n}\n",
        "{\"l\":[{\"b\":\"//\"}],\"o\":{\"x\":\"/*\"}}",
        "{\n\n  \"l\" : [ // c\n    1 ] , \"o\" : { /* c */ }\n}",
    ];

    fn item() -> JsonItem {
        JsonItem::Fields(vec![
            ("type", JsonItem::Plain(json!("t"))),
            ("list", JsonItem::List(vec![JsonItem::words(&["a".into(), "b".into()])])),
        ])
    }

    fn is_part(part: &str, whole: &str) -> bool {
        let mut rest = whole.bytes();
        part.bytes().all(|byte| rest.any(|other| other == byte))
    }

    #[test]
    fn insertion_keeps_all_existing_bytes() {
        for text in TEXTS {
            let before = JsonDocument::parse(text).unwrap();
            let mut document = before.clone();
            document.add(&[JsonStep::Name("o")], "new", &item()).unwrap();
            document.push(&[JsonStep::Name("l")], &item()).unwrap();
            let mut expected = before.value();
            let fresh = json!({"type": "t", "list": [["a", "b"]]});
            if expected["l"].is_null() {
                expected["l"] = json!([]);
            }
            expected["o"]["new"] = fresh.clone();
            expected["l"].as_array_mut().unwrap().push(fresh);
            assert_eq!(document.value(), expected, "{}", document.text);
            assert!(is_part(text, &document.text), "{text:?} in {:?}", document.text);
        }
    }

    #[test]
    fn removal_undoes_insertion_byte_for_byte() {
        for text in TEXTS {
            let before = JsonDocument::parse(text).unwrap();
            if before.container(&[]).unwrap().unwrap().children.is_empty() {
                continue;
            }
            let mut document = before.clone();
            document.add(&[], "new", &item()).unwrap();
            assert_ne!(document.text, text);
            document.remove(&[JsonStep::Name("new")]).unwrap();
            assert_eq!(document.text, text);
            document.remove(&[JsonStep::Name("new")]).unwrap();
            assert_eq!(document.text, text);
        }
    }

    #[test]
    fn removal_of_any_child_keeps_the_rest() {
        for text in TEXTS {
            let document = JsonDocument::parse(text).unwrap();
            let names: Vec<String> = document.value().as_object().unwrap().keys().cloned().collect();
            for name in names {
                let mut without = document.clone();
                without.remove(&[JsonStep::Name(&name)]).unwrap();
                let mut expected = document.value();
                expected.as_object_mut().unwrap().remove(&name);
                assert_eq!(without.value(), expected, "{name} of {text:?}: {:?}", without.text);
                assert!(is_part(&without.text, text));
                let comments = |text: &str| text.matches("//").count() + text.matches("/*").count();
                if !text.contains("\"//\"") && !text.contains("[ //") && !text.contains("{ /*") {
                    assert_eq!(comments(&without.text), comments(text), "comments stay: {:?}", without.text);
                }
            }
        }
    }

    #[test]
    fn inserted_lines_follow_the_style_of_the_file() {
        let mut document = JsonDocument::parse("{\n\t\"a\": 1\n}\n").unwrap();
        document.add(&[JsonStep::Name("o")], "x", &item()).unwrap();
        let expected = "{\n\t\"a\": 1,\n\t\"o\": {\n\t\t\"x\": {\n\t\t\t\"type\": \"t\",\n\t\t\t\"list\": [\n\t\t\t\t[\"a\", \"b\"]\n\t\t\t]\n\t\t}\n\t}\n}\n";
        assert_eq!(document.into_text(), expected);
        let mut document = JsonDocument::parse("{ \"a\": 1 }").unwrap();
        document.add(&[], "x", &item()).unwrap();
        assert_eq!(document.into_text(), "{ \"a\": 1, \"x\": { \"type\": \"t\", \"list\": [ [\"a\", \"b\"] ] } }");
    }

    #[test]
    fn unexpected_kind_of_value_is_refused_with_its_path() {
        for (text, what) in [("{\"o\":1}", "o"), ("{\"o\":[]}", "o"), ("{\"o\":{\"p\":true}}", "o.p")] {
            let mut document = JsonDocument::parse(text).unwrap();
            assert_eq!(
                document.add(&[JsonStep::Name("o"), JsonStep::Name("p")], "x", &item()),
                Err(Unfit::Shape(what.to_owned()))
            );
        }
        assert!(
            JsonDocument::parse("[]").is_err()
                && JsonDocument::parse("{").is_err()
                && JsonDocument::parse("// nothing\n").is_err()
        );
    }
}
