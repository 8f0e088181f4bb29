//! Edits lists in a policy file. Unchanged entries keep their lines and comments.

use toml_edit::{Array, RawString, Value};

/// Changes a list to another one in place. Returns false if the common entries have another order, so that the list has to be
/// rewritten.
pub(super) fn become_list(old: &mut Array, new: &Array) -> bool {
    let wanted: Vec<&str> = new.iter().filter_map(Value::as_str).collect();
    let kept: Vec<&str> = old.iter().filter_map(Value::as_str).filter(|entry| wanted.contains(entry)).collect();
    if wanted.len() != new.len() || wanted.get(..kept.len()) != Some(kept.as_slice()) {
        return false;
    }
    let added: Vec<String> = wanted.iter().skip(kept.len()).map(|entry| (*entry).to_owned()).collect();
    for index in (0..old.len()).rev() {
        if old.get(index).and_then(Value::as_str).is_none_or(|entry| !wanted.contains(&entry)) {
            remove_entry(old, index);
        }
    }
    for entry in added {
        push_entry(old, Value::from(entry));
    }
    true
}

fn text_of(raw: Option<&RawString>) -> String {
    raw.and_then(RawString::as_str).unwrap_or_default().to_owned()
}

/// Splits a text at its first line break.
fn first_line(text: &str) -> (&str, &str) {
    text.split_at(text.find('\n').unwrap_or(text.len()))
}

/// Removes one entry with the comment on its line, which the parser attaches to the next entry.
pub(super) fn remove_entry(array: &mut Array, index: usize) {
    let removed = text_of(array.remove(index).decor().prefix());
    let (line_before, _) = first_line(&removed);
    let is_last = index == array.len();
    let next =
        if is_last { text_of(Some(array.trailing())) } else { text_of(array.get(index).and_then(|next| next.decor().prefix())) };
    let (_, below) = first_line(&next);
    // On a single line, only the space is removed.
    let joined = if is_last && below.is_empty() { next.clone() } else { format!("{line_before}{below}") };
    match array.get_mut(index) {
        Some(next) => next.decor_mut().set_prefix(joined),
        None => array.set_trailing(joined),
    }
}

/// Adds an entry at the end, on a separate line if the others have separate lines.
pub(super) fn push_entry(array: &mut Array, mut entry: Value) {
    let last = array.len().checked_sub(1).and_then(|last| array.get_mut(last));
    let (prefix, suffix) = match last {
        None => return array.push(entry),
        Some(last) => {
            let suffix = text_of(last.decor().suffix());
            last.decor_mut().set_suffix("");
            (text_of(last.decor().prefix()), suffix)
        }
    };
    let Some((_, indent)) = prefix.rsplit_once('\n') else {
        entry.decor_mut().set_prefix(" ");
        return array.push_formatted(entry);
    };
    // If the last entry has no trailing comma, the text after it belongs to that entry.
    let trailing = format!("{suffix}{}", text_of(Some(array.trailing())));
    let (same_line, below) = first_line(&trailing);
    entry.decor_mut().set_prefix(format!("{same_line}\n{indent}"));
    array.push_formatted(entry);
    array.set_trailing(below);
    array.set_trailing_comma(true);
}
