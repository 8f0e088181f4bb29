//! The columns for searches: all texts in the JSON of a row. Outcomes contain masked secrets, so no secret can be found.

use super::value::Value;

/// Fills the columns for searches from the columns before them.
pub(crate) fn with_search_text<'a>(
    columns: impl Iterator<Item = &'static str>,
    values: impl Iterator<Item = Value<'a>>,
) -> impl Iterator<Item = Value<'a>> {
    let mut search = SearchText::default();
    columns.zip(values).map(move |(column, value)| match (column, value) {
        ("body" | "context" | "outcome", Value::Text(json)) => {
            search.add(&json);
            Value::Text(json)
        }
        ("asked_text", _) => Value::Text(std::mem::take(&mut search).into_text().into()),
        // A pending ask has no outcome.
        ("decided_text", _) if !search.is_empty() => Value::Text(std::mem::take(&mut search).into_text().into()),
        (_, value) => value,
    })
}

/// Collects all texts of a JSON value, one per line. Names of fields are not texts.
#[derive(Debug, Default)]
pub(crate) struct SearchText(String);

impl SearchText {
    /// Adds the texts of valid JSON, for example of one that was just written.
    pub(crate) fn add(&mut self, json: &str) {
        let mut rest = json;
        while let Some(start) = rest.find('"') {
            let (inside, after) = split_string(&rest[start + 1..]);
            // JSON of agents is stored unchanged and may have spaces before the colon.
            if !after.trim_start().starts_with(':') {
                self.add_text(inside);
            }
            rest = after;
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }

    fn add_text(&mut self, inside: &str) {
        if !inside.contains('\\') {
            self.0.push_str(inside);
        } else if let Ok(text) = serde_json::from_str::<String>(&format!("\"{inside}\"")) {
            // SQLite ignores what follows U+0000, and PostgreSQL refuses it.
            self.0.extend(text.chars().map(|letter| if letter == '\0' { ' ' } else { letter }));
        }
        self.0.push('\n');
    }
}

/// Splits JSON after the string that it starts with. The string ends at the first quote that is not escaped.
fn split_string(json: &str) -> (&str, &str) {
    let mut from = 0;
    while let Some(at) = json[from..].find(['"', '\\']).map(|at| from + at) {
        if json.as_bytes()[at] == b'"' {
            return (&json[..at], &json[at + 1..]);
        }
        // Escaped characters are ASCII, so this stays on a character boundary.
        from = at + 2;
    }
    (json, "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn text_of(value: &Value) -> String {
        let mut found = SearchText::default();
        found.add(&value.to_string());
        found.into_text()
    }

    #[test]
    fn texts_are_found_and_names_of_fields_are_not() {
        let value = json!({ "name": "a \"quoted\" one\\", "list": ["b", 1, null, { "deep": "c\nd" }], "empty": "" });
        assert_eq!(text_of(&value), "\nb\nc\nd\na \"quoted\" one\\\n");
        let mut spaced = SearchText::default();
        spaced.add(r#"{ "name" : "text" }"#);
        assert_eq!(spaced.into_text(), "text\n");
        assert_eq!(text_of(&json!("before\0after")), "before after\n");
    }

    fn collect(value: &Value, found: &mut String) {
        match value {
            Value::String(text) => {
                found.push_str(&text.replace('\0', " "));
                found.push('\n');
            }
            Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
            Value::Object(fields) => fields.values().for_each(|value| collect(value, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), "(?s).{0,12}".prop_map(Value::from)];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("(?s).{0,6}", inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_text_of_any_value_is_found(value in value()) {
            let mut expected = String::new();
            collect(&value, &mut expected);
            prop_assert_eq!(text_of(&value), expected);
        }
    }
}
