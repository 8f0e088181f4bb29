//! Lenient JSON parsing: field by field, in the original order, with unknown parts unchanged. Invalid input from an
//! agent can only fail to parse.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// Maximum number of fields in an object and entries in a list. Larger values are not parsed.
const ENTRIES: usize = 4096;
/// Maximum nesting depth of a forwarded payload. JSON parsers typically reject about twice this depth.
const DEPTH: usize = 64;

/// A value as one line of JSON; `null` if it cannot be serialized.
pub fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// Writes canonical JSON with sorted field names, so that equal values have equal text.
pub fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (name, value) in fields {
                text.push_str(&line(name));
                text.push(':');
                canonical(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                canonical(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => text.push_str(&value.to_string()),
    }
}

/// Whether a payload is nested too deeply for later parsers.
pub fn too_deep(json: &str) -> bool {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let (mut quoted, mut escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest > DEPTH
}

/// A JSON object whose fields are parsed one by one, in their original order. A `null` field counts as absent; of two
/// fields with the same name, the last one counts.
#[derive(Debug, Clone, Default)]
pub struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Object<'a> {
    /// Parses text; `None` if it is not an object.
    pub fn parse(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// Parses a value; `None` if it is not an object.
    pub fn of(raw: &'a RawValue) -> Option<Self> {
        Self::parse(raw.get())
    }

    /// Whether the field exists, even if it is `null`.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        let (_, value) = self.0.iter().rev().find(|(key, _)| key == name)?;
        (value.get() != "null").then_some(value)
    }

    /// The value of a string field.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(text)
    }

    /// The value of a string field that is not blank.
    pub fn non_blank_text(&self, name: &str) -> Option<String> {
        self.text(name).filter(|text| !text.trim().is_empty())
    }

    /// Whether the field is `true`.
    pub fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.get() == "true")
    }

    /// The value of a numeric field.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(|value| value.get().parse().ok())
    }

    /// The value of an object field.
    pub fn object(&self, name: &str) -> Option<Object<'a>> {
        self.get(name).and_then(Self::of)
    }

    /// The value of a list field.
    pub fn list(&self, name: &str) -> Option<Vec<&'a RawValue>> {
        self.get(name).and_then(list)
    }

    /// The fields in their original order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), *value))
    }
}

pub fn list(raw: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str::<List<'_>>(raw.get()).ok().map(|list| list.0)
}

/// The value as a string. Half of a surrogate pair, which a Rust string cannot contain, is replaced.
pub fn text(raw: &RawValue) -> Option<String> {
    if !raw.get().starts_with('"') {
        return None;
    }
    if let Ok(text) = serde_json::from_str(raw.get()) {
        return Some(text);
    }
    serde_json::from_str::<Bytes>(raw.get()).ok().map(|bytes| String::from_utf8_lossy(&bytes.0).into_owned())
}

struct List<'a>(Vec<&'a RawValue>);
struct Bytes(Vec<u8>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    if fields.len() == ENTRIES {
                        return Err(serde::de::Error::custom("too many fields"));
                    }
                    fields.push((key, value));
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl<'de> Deserialize<'de> for List<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = List<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = seq.next_element()? {
                    if entries.len() == ENTRIES {
                        return Err(serde::de::Error::custom("too many entries"));
                    }
                    entries.push(entry);
                }
                Ok(List(entries))
            }
        }
        deserializer.deserialize_seq(Entries)
    }
}

/// A field name, borrowed if it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;
        impl<'de> Visitor<'de> for Name {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(name)))
            }
            fn visit_str<E>(self, name: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(Name)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Content;
        impl Visitor<'_> for Content {
            type Value = Bytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Content)
    }
}

/// Serializes as an object with the fields in this order.
pub struct Fields<K, V>(pub Vec<(K, V)>);

impl<K: Serialize, V: Serialize> Serialize for Fields<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_ignores_brackets_in_strings() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(!too_deep(&nested(DEPTH)));
        assert!(too_deep(&nested(DEPTH + 1)));
        assert!(!too_deep(&format!(r#"{{"a":"\"{}"}}"#, "[".repeat(1_000))));
        assert!(!too_deep(&"[]".repeat(1_000)));
    }

    #[test]
    fn oversized_objects_and_lists_are_not_parsed() {
        let object = |fields: usize| format!("{{{}\"z\":0}}", "\"a\":0,".repeat(fields));
        assert!(Object::parse(&object(ENTRIES - 1)).is_some() && Object::parse(&object(ENTRIES)).is_none());
        let list_of = |entries: usize| RawValue::from_string(format!("[{}0]", "0,".repeat(entries))).unwrap();
        assert!(list(&list_of(ENTRIES - 1)).is_some() && list(&list_of(ENTRIES)).is_none());
    }

    #[test]
    fn unpaired_surrogate_is_replaced() {
        let object = Object::parse(r#"{"a":"x\ud800y","b":7}"#).unwrap();
        assert_eq!(object.text("a").unwrap().trim_matches('\u{fffd}').chars().next(), Some('x'));
        assert_eq!(object.text("b"), None);
    }
}
