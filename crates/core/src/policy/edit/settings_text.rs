//! Edits the settings in a policy file: `[questions]`, `[approvals]` and profiles, in all spellings.

use serde::Serialize;
use serde_json::Map;
use toml_edit::{InlineTable, Item, Table, TableLike, Value};

use super::keys;

/// Writes one group of settings, which is a table, an inline table, or only the name of a policy.
pub(super) fn set_settings(parent: &mut dyn TableLike, name: &str, old: &impl Serialize, new: &impl Serialize) {
    let (old, new) = (keys::json_of(old), keys::json_of(new));
    if old == new {
        return;
    }
    if let Some(table) = parent.get_mut(name).and_then(Item::as_table_like_mut) {
        keys::set_keys(table, &old, &new);
        return;
    }
    match (parent.contains_key(name), new.get("policy")) {
        (true, _) if new.is_empty() => {
            keys::remove_key(parent, name);
        }
        (true, Some(serde_json::Value::String(policy))) if new.len() == 1 => {
            keys::set_key(parent, name, Value::from(policy.as_str()));
        }
        (true, _) => {
            let mut table = InlineTable::new();
            keys::set_keys(&mut table, &Map::new(), &new);
            keys::set_key(parent, name, Value::InlineTable(table));
        }
        (false, _) => {
            let mut table = Table::new();
            keys::set_keys(&mut table, &Map::new(), &new);
            parent.insert(name, Item::Table(table));
        }
    }
}

/// Returns the table of a profile and creates it if it does not exist. `None` if the name has another type of value.
pub(super) fn find_or_add_profile<'a>(root: &'a mut Table, name: &str) -> Option<&'a mut dyn TableLike> {
    let made = || {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    };
    let profiles = root.entry("profiles").or_insert_with(made).as_table_like_mut()?;
    profiles.entry(name).or_insert_with(|| Item::Table(Table::new())).as_table_like_mut()
}
