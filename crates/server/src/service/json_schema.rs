//! JSON Schemas that callers send with their asks. A changed input and a person's own text are validated against them.
//!
//! Schemas come from agents, so their cost is limited before they are compiled: a schema refers only to its own parts and never
//! to itself, and the number of its parts is counted with every reference replaced by its target. The product of this number
//! and the size of the value limits the work of one validation. Regular expressions match in linear time, and no schema is
//! fetched.

use std::collections::HashMap;

use jsonschema::{PatternOptions, Validator};
use sayso_core::limits;
use sayso_core::raw::Raw;
use serde_json::Value;

/// Maximum number of values in a schema, after every reference is replaced by its target.
const MAX_PARTS: u64 = 10_000;
/// Maximum nesting of a schema, including the targets of references.
const MAX_DEPTH: usize = 64;
/// Maximum number of regular expressions.
const MAX_PATTERNS: u64 = 64;
/// Maximum size of a compiled regular expression, in bytes.
const MAX_REGEX: usize = 512 * 1024;
/// Maximum product of the parts of the schema and the bytes of the value.
const MAX_WORK: u64 = 50_000_000;
/// Maximum number of mismatches that a sentence lists.
const SHOWN: usize = 3;
/// Maximum size of a listed mismatch, in bytes.
const SENTENCE: usize = 300;

/// A schema that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} cannot be used: {reason}; correct the schema, or open the ask without it")]
pub(crate) struct InvalidSchema {
    /// The field of the ask.
    pub(crate) field: &'static str,
    pub(crate) reason: String,
}

/// A compiled schema. It is compiled for each use.
pub(crate) struct Schema {
    validator: Validator,
    parts: u64,
    /// Whether it describes text, which is then not parsed as JSON.
    is_text: bool,
}

impl Schema {
    pub(crate) fn parse(field: &'static str, raw: &Raw) -> Result<Self, InvalidSchema> {
        Self::compile(raw).map_err(|reason| InvalidSchema { field, reason })
    }

    fn compile(raw: &Raw) -> Result<Self, String> {
        let schema: Value = serde_json::from_str(raw.as_str()).map_err(|error| error.to_string())?;
        let Some(root) = schema.as_object() else { return Err("a schema is a JSON object".to_owned()) };
        // In draft 4, `id` changes the meaning of references.
        if root
            .get("$schema")
            .and_then(Value::as_str)
            .is_some_and(|draft| draft.contains("draft-04") || draft.contains("draft-03"))
        {
            return Err("`$schema` is too old; use draft 6 or later".to_owned());
        }
        let cost = Measure { root: &schema, targets: HashMap::new() }.cost(&schema, 0)?;
        if cost.parts > MAX_PARTS {
            return Err(format!("it is too large: with its references it has more than {MAX_PARTS} parts"));
        }
        if cost.patterns > MAX_PATTERNS {
            return Err(format!("it has more than {MAX_PATTERNS} regular expressions"));
        }
        let patterns = PatternOptions::regex().size_limit(MAX_REGEX).dfa_size_limit(MAX_REGEX);
        let options = jsonschema::options().with_pattern_options(patterns).should_validate_formats(false);
        let validator = options.build(&schema).map_err(|error| {
            let path = error.instance_path().to_string();
            shorten(&at(&path, &error.to_string()))
        })?;
        let is_text = root.get("type").is_some_and(|kind| kind == "string");
        Ok(Self { validator, parts: cost.parts, is_text })
    }

    /// Validates a JSON value. The error lists the paths that do not fit.
    pub(crate) fn validate_json(&self, text: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON ({error})"))?;
        self.validate(&value, text.len())
    }

    /// Validates a person's text: as it is if the schema describes text, otherwise as JSON.
    pub(crate) fn validate_text(&self, text: &str) -> Result<(), String> {
        if self.is_text { self.validate(&Value::String(text.to_owned()), text.len()) } else { self.validate_json(text) }
    }

    fn validate(&self, value: &Value, size: usize) -> Result<(), String> {
        if self.parts.saturating_mul(size as u64) > MAX_WORK {
            return Err("it is too large to be validated against the schema".to_owned());
        }
        let mismatch = |error: jsonschema::ValidationError<'_>| {
            shorten(&at(&error.instance_path().to_string(), &error.masked_with("the value").to_string()))
        };
        let mismatches: Vec<String> = self.validator.iter_errors(value).take(SHOWN).map(mismatch).collect();
        if mismatches.is_empty() { Ok(()) } else { Err(mismatches.join("; ")) }
    }
}

/// Puts the path of a value before the sentence about it.
fn at(path: &str, sentence: &str) -> String {
    if path.is_empty() { sentence.to_owned() } else { format!("`{path}`: {sentence}") }
}

fn shorten(text: &str) -> String {
    let head = limits::head(text, SENTENCE);
    if head.len() < text.len() { format!("{head}…") } else { head.to_owned() }
}

/// The cost of a schema with every reference replaced by its target.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    parts: u64,
    patterns: u64,
    depth: usize,
}

impl Cost {
    /// Adds a part that is one level deeper.
    fn add(&mut self, inner: Self) {
        self.parts = self.parts.saturating_add(inner.parts);
        self.patterns = self.patterns.saturating_add(inner.patterns);
        self.depth = self.depth.max(inner.depth + 1);
    }
}

struct Measure<'a> {
    root: &'a Value,
    /// The cost of the targets of references. `None` while a target is being measured.
    targets: HashMap<&'a str, Option<Cost>>,
}

impl<'a> Measure<'a> {
    fn cost(&mut self, part: &'a Value, level: usize) -> Result<Cost, String> {
        if level > MAX_DEPTH {
            return Err(format!("it is nested more than {MAX_DEPTH} levels deep"));
        }
        let mut cost = Cost { parts: 1, ..Cost::default() };
        match part {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match (key.as_str(), value) {
                        ("$ref", Value::String(target)) => cost.add(self.target_cost(target, level)?),
                        ("$dynamicRef" | "$recursiveRef", _) => return Err(format!("`{key}` is not supported; use `$ref`")),
                        ("$id" | "$schema", Value::String(_)) if level > 0 => {
                            return Err(format!("`{key}` is only supported at the top"));
                        }
                        ("pattern", Value::String(_)) => cost.add(Cost { parts: 1, patterns: 1, depth: 0 }),
                        ("patternProperties", Value::Object(patterns)) => {
                            cost.patterns = cost.patterns.saturating_add(patterns.len() as u64);
                            cost.add(self.cost(value, level + 1)?);
                        }
                        _ => cost.add(self.cost(value, level + 1)?),
                    }
                }
                // These keywords evaluate their neighbours once more.
                if fields.contains_key("unevaluatedProperties") || fields.contains_key("unevaluatedItems") {
                    cost.parts = cost.parts.saturating_mul(2);
                }
            }
            Value::Array(items) => {
                for item in items {
                    cost.add(self.cost(item, level + 1)?);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        if level + cost.depth > MAX_DEPTH {
            return Err(format!("it is nested more than {MAX_DEPTH} levels deep"));
        }
        Ok(cost)
    }

    fn target_cost(&mut self, reference: &'a str, level: usize) -> Result<Cost, String> {
        match self.targets.get(reference) {
            Some(Some(known)) => return Ok(*known),
            Some(None) => return Err(format!("`$ref` {reference} refers to itself; recursive schemas are not supported")),
            None => {}
        }
        let Some(pointer) = reference.strip_prefix('#') else {
            return Err(format!("`$ref` {reference} refers to another document; put the definition into `$defs`"));
        };
        let target = self.root.pointer(pointer).ok_or_else(|| format!("`$ref` {reference} does not exist"))?;
        self.targets.insert(reference, None);
        let cost = self.cost(target, level + 1)?;
        self.targets.insert(reference, Some(cost));
        Ok(cost)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(value: &Value) -> Result<Schema, String> {
        Schema::parse("inputSchema", &Raw::of(value)).map_err(|error| error.to_string())
    }

    #[test]
    fn unusable_schemas_are_refused_with_the_reason() {
        let nested = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({ "not": inner }));
        let many_patterns: serde_json::Map<String, Value> =
            (0..65).map(|n| (format!("p{n}"), json!({ "pattern": format!("^{n}") }))).collect();
        // Each definition contains the next one ten times.
        let mut wide = json!({ "$defs": { "d6": { "type": "string" } }, "$ref": "#/$defs/d0" });
        for n in 0..6 {
            wide["$defs"][format!("d{n}")] = json!({ "anyOf": vec![json!({ "$ref": format!("#/$defs/d{}", n + 1) }); 10] });
        }
        for (wrong, why) in [
            (json!(true), "a schema is a JSON object"),
            (json!([]), "a schema is a JSON object"),
            (json!({ "type": "strin" }), "`/type`: "),
            (json!({ "properties": { "to": { "type": 7 } } }), "`/properties/to/type`: "),
            (json!({ "required": "to" }), "`/required`: "),
            (json!({ "pattern": "(" }), "`/pattern`: "),
            (json!({ "pattern": "^(?=a)" }), "`/pattern`: "),
            (json!({ "pattern": "(\\d{1000}){1000}" }), "`/pattern`: "),
            (json!({ "$ref": "https://example.com/x.json" }), "refers to another document"),
            (json!({ "$ref": "other.json#/a" }), "refers to another document"),
            (json!({ "$ref": "#/$defs/missing" }), "does not exist"),
            (json!({ "$ref": "#anchor", "$anchor": "anchor" }), "does not exist"),
            (json!({ "properties": { "child": { "$ref": "#" } } }), "refers to itself"),
            (json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }), "refers to itself"),
            (json!({ "$dynamicRef": "#x" }), "`$dynamicRef` is not supported"),
            (json!({ "properties": { "a": { "$id": "https://example.com/a" } } }), "`$id` is only supported at the top"),
            (json!({ "$schema": "http://json-schema.org/draft-04/schema#" }), "use draft 6 or later"),
            (nested(65), "nested more than 64 levels deep"),
            (json!({ "properties": many_patterns }), "more than 64 regular expressions"),
            (wide, "more than 10000 parts"),
        ] {
            let error = schema(&wrong).err().unwrap_or_else(|| panic!("accepted: {wrong}"));
            assert!(error.contains(why), "{wrong}: {error}");
            assert!(error.ends_with("; correct the schema, or open the ask without it"), "{error}");
        }
    }

    #[test]
    fn schemas_of_current_drafts_are_accepted() {
        for good in [
            json!({}),
            json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.com/a", "type": "object" }),
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "definitions": { "a": {} }, "$ref": "#/definitions/a" }),
            json!({ "$defs": { "a": { "type": "string" } }, "properties": { "x": { "$ref": "#/$defs/a" }, "y": { "$ref": "#/$defs/a" } } }),
            json!({ "properties": { "$ref": { "type": "string" }, "pattern": { "type": "string" } } }),
            json!({ "type": "string", "format": "email", "pattern": "^\\w+@" }),
        ] {
            assert_eq!(schema(&good).err(), None, "{good}");
        }
    }

    #[test]
    fn mismatches_name_their_paths_and_not_the_values() {
        let schema = schema(&json!({
            "type": "object", "required": ["to"], "additionalProperties": false,
            "properties": { "to": { "type": "string", "maxLength": 5 }, "count": { "type": "integer" } },
        }))
        .unwrap();
        assert_eq!(schema.validate_json(r#"{"to":"ada"}"#), Ok(()));
        let mismatch = |text: &str| schema.validate_json(text).unwrap_err();
        assert_eq!(mismatch(r#"{"to":"confidential"}"#), "`/to`: the value is longer than 5 characters");
        assert_eq!(mismatch("{}"), "\"to\" is a required property");
        assert!(mismatch(r#"{"to":"ada","cc":1}"#).contains("'cc' was unexpected"));
        assert!(mismatch("{").starts_with("it is not JSON ("));
        let both = mismatch(r#"{"to":7,"count":"x"}"#);
        assert!(both.contains("`/to`: ") && both.contains("`/count`: "), "{both}");
    }

    #[test]
    fn text_is_parsed_as_json_unless_the_schema_describes_text() {
        let text = schema(&json!({ "type": "string", "pattern": "^[0-9]+$" })).unwrap();
        assert_eq!(text.validate_text("42"), Ok(()));
        assert!(text.validate_text("\"42\"").is_err());
        let number = schema(&json!({ "type": "integer" })).unwrap();
        assert_eq!(number.validate_text("42"), Ok(()));
        assert!(number.validate_text("forty").is_err());
    }

    #[test]
    fn work_of_a_validation_is_limited() {
        let options: Vec<Value> = (0..1000).map(|n| json!({ "const": n })).collect();
        let schema = schema(&json!({ "items": { "anyOf": options } })).unwrap();
        let large = format!("[{}]", vec!["-1"; 20_000].join(","));
        assert_eq!(schema.validate_json(&large), Err("it is too large to be validated against the schema".to_owned()));
        assert!(schema.validate_json("[1,2,3]").is_ok());
    }
}
