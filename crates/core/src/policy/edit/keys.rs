//! Edits the keys of one rule or setting. Only changed keys are written.

use serde::Serialize;
use serde_json::{Map, Value as Json};
use toml_edit::{Item, Table, TableLike, Value};

use super::arrays;
use crate::policy::model::RuleSpec;

/// The order of new keys.
const ORDER: [&str; 20] = [
    "id",
    "name",
    "do",
    "run",
    "edit",
    "read",
    "fetch",
    "mcp",
    "tool",
    "agent",
    "project",
    "header",
    "match",
    "answer",
    "pick",
    "until",
    "policy",
    "timeout",
    "on_timeout",
    "message",
];

/// Returns the keys of a rule or of settings in the spelling of policy files.
pub(super) fn json_of(value: &impl Serialize) -> Map<String, Json> {
    match serde_json::to_value(value) {
        Ok(Json::Object(map)) => map.into_iter().map(|(key, value)| (in_file(key), value)).collect(),
        Ok(_) | Err(_) => Map::new(),
    }
}

/// Converts the one key that policy files spell with an underscore.
fn in_file(key: String) -> String {
    if key == "onTimeout" { "on_timeout".to_owned() } else { key }
}

/// Formats a new rule.
pub(super) fn rule_text(rule: &RuleSpec) -> String {
    let mut table = Table::new();
    set_keys(&mut table, &Map::new(), &json_of(rule));
    format!("[[rules]]\n{table}")
}

/// Writes the keys that differ between `old` and `new`, and removes those that `new` lacks. `old` is the current meaning of the
/// table. Returns comments above removed keys that no later key can take.
pub(super) fn set_keys(table: &mut dyn TableLike, old: &Map<String, Json>, new: &Map<String, Json>) -> String {
    let mut comments = String::new();
    for key in ORDER {
        if old.get(key) == new.get(key) {
            continue;
        }
        let written = if key == "on_timeout" && table.contains_key("onTimeout") { "onTimeout" } else { key };
        match new.get(key).and_then(value_of) {
            Some(value) => set_key(table, written, value),
            None => comments.push_str(&remove_key(table, written)),
        }
    }
    comments
}

/// Sets one key and keeps the comment on its line.
pub(super) fn set_key(table: &mut dyn TableLike, key: &str, mut value: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            if let (Value::Array(old), Value::Array(new)) = (&mut *old, &value)
                && arrays::become_list(old, new)
            {
                return;
            }
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => {
            table.insert(key, Item::Value(value));
        }
    }
}

/// Removes one key. Comments above it move to the next key, or are returned if there is none.
pub(super) fn remove_key(table: &mut dyn TableLike, key: &str) -> String {
    let comment = table.key(key).and_then(|key| key.leaf_decor().prefix()).and_then(|prefix| prefix.as_str()).unwrap_or_default();
    let comment = if comment.contains('#') { comment.to_owned() } else { String::new() };
    let next = table.iter().map(|(name, _)| name.to_owned()).skip_while(|name| name != key).nth(1);
    table.remove(key);
    let Some(mut next) = next.as_deref().and_then(|next| table.key_mut(next)) else { return comment };
    let prefix = next.leaf_decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
    let joined = format!("{comment}{prefix}");
    next.leaf_decor_mut().set_prefix(joined);
    String::new()
}

/// Converts a JSON value to TOML. Rules and settings contain only texts, lists of texts and numbers.
fn value_of(json: &Json) -> Option<Value> {
    match json {
        Json::String(text) => Some(Value::from(text.as_str())),
        Json::Number(number) => number.as_i64().map(Value::from),
        Json::Bool(bool) => Some(Value::from(*bool)),
        Json::Array(list) => Some(Value::Array(list.iter().filter_map(value_of).collect())),
        Json::Null | Json::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use toml_edit::DocumentMut;

    use super::*;

    #[test]
    fn comment_of_a_removed_key_moves_to_the_next_key() {
        for (text, key, left, expected) in [
            ("# of a\na = 1\nb = 2\nc = 3\n", "a", "", "# of a\nb = 2\nc = 3\n"),
            ("a = 1\n# of b\nb = 2\n# of c\nc = 3\nd = 4\n", "b", "", "a = 1\n# of b\n# of c\nc = 3\nd = 4\n"),
            ("a = 1\n# of b\nb = 2\n", "b", "# of b\n", "a = 1\n"),
        ] {
            let mut document: DocumentMut = text.parse().unwrap();
            assert_eq!(remove_key(document.as_table_mut(), key), left, "{text}");
            assert_eq!(document.to_string(), expected);
        }
    }
}
