//! Edits rules that are written as an array of inline tables: `rules = [{ do = "ask", run = "x" }]`.

use serde_json::Map;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Value};

use super::{arrays, keys};
use crate::policy::model::RuleSpec;

fn rules(document: &mut DocumentMut) -> Option<&mut Array> {
    document.get_mut("rules").and_then(Item::as_array_mut)
}

pub(super) fn add_rule(document: &mut DocumentMut, rule: &RuleSpec) {
    let mut table = InlineTable::new();
    keys::set_keys(&mut table, &Map::new(), &keys::json_of(rule));
    if let Some(rules) = rules(document) {
        arrays::push_entry(rules, Value::InlineTable(table));
    }
}

pub(super) fn set_rule(document: &mut DocumentMut, index: usize, old: &RuleSpec, new: &RuleSpec) {
    if let Some(table) = rules(document).and_then(|rules| rules.get_mut(index)).and_then(Value::as_inline_table_mut) {
        keys::set_keys(table, &keys::json_of(old), &keys::json_of(new));
    }
}

pub(super) fn remove(document: &mut DocumentMut, index: usize) {
    if let Some(rules) = rules(document) {
        arrays::remove_entry(rules, index);
    }
}

pub(super) fn shift(document: &mut DocumentMut, from: usize, to: usize) {
    if let Some(rules) = rules(document) {
        // The whitespace is not moved, so that the layout of the array does not change.
        let step: isize = if from < to { 1 } else { -1 };
        let mut at = from;
        while at != to {
            let next = at.saturating_add_signed(step);
            swap(rules, at, next);
            at = next;
        }
    }
}

fn swap(rules: &mut Array, one: usize, other: usize) {
    let (Some(mut first), Some(mut second)) = (rules.get(one).cloned(), rules.get(other).cloned()) else { return };
    std::mem::swap(first.decor_mut(), second.decor_mut());
    rules.replace_formatted(one, second);
    rules.replace_formatted(other, first);
}
