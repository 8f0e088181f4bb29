//! Row changes as bytes, for the change log.

use rusqlite::types::Value;

use super::table::{RowChange, Table};

const PUT: u8 = 0;
const DELETE: u8 = 1;
const ASK_STATE: u8 = 2;

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const TEXT: u8 = 2;
const BLOB: u8 = 3;
const REAL: u8 = 4;

pub(super) fn write_change(out: &mut Vec<u8>, change: &RowChange) {
    let (tag, table, values) = match change {
        RowChange::Put { table, values } => (PUT, *table, values),
        RowChange::Delete { table, key } => (DELETE, *table, key),
        RowChange::AskState { values } => (ASK_STATE, Table::Ask, values),
    };
    out.extend([tag, table as u8]);
    write_length(out, values.len());
    for value in values {
        write_value(out, value);
    }
}

fn write_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.push(NULL),
        Value::Integer(number) => {
            out.push(INTEGER);
            out.extend(number.to_le_bytes());
        }
        Value::Real(number) => {
            out.push(REAL);
            out.extend(number.to_le_bytes());
        }
        Value::Text(text) => {
            out.push(TEXT);
            write_length(out, text.len());
            out.extend(text.as_bytes());
        }
        Value::Blob(bytes) => {
            out.push(BLOB);
            write_length(out, bytes.len());
            out.extend(bytes);
        }
    }
}

/// Seven bits per byte, lowest first; the highest bit says that more follow.
fn write_length(out: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        out.push(length.to_le_bytes()[0] | 0x80);
        length >>= 7;
    }
    out.push(length.to_le_bytes()[0]);
}

/// Reads changes until the bytes end. `None` if they are not what [`write_change`] wrote.
pub(super) fn read_changes(mut bytes: &[u8]) -> Option<Vec<RowChange>> {
    let mut changes = Vec::new();
    while !bytes.is_empty() {
        changes.push(read_change(&mut bytes)?);
    }
    Some(changes)
}

fn read_change(bytes: &mut &[u8]) -> Option<RowChange> {
    let [tag, table] = take(bytes, 2)?.try_into().ok()?;
    let table = Table::from_number(table)?;
    let count = read_length(bytes)?;
    let mut values = Vec::with_capacity(count.min(64));
    for _ in 0..count {
        values.push(read_value(bytes)?);
    }
    match tag {
        PUT => Some(RowChange::Put { table, values }),
        DELETE => Some(RowChange::Delete { table, key: values }),
        ASK_STATE => Some(RowChange::AskState { values }),
        _ => None,
    }
}

fn read_value(bytes: &mut &[u8]) -> Option<Value> {
    Some(match take(bytes, 1)?[0] {
        NULL => Value::Null,
        INTEGER => Value::Integer(i64::from_le_bytes(take(bytes, 8)?.try_into().ok()?)),
        REAL => Value::Real(f64::from_le_bytes(take(bytes, 8)?.try_into().ok()?)),
        TEXT => {
            let length = read_length(bytes)?;
            Value::Text(String::from_utf8(take(bytes, length)?.to_vec()).ok()?)
        }
        BLOB => {
            let length = read_length(bytes)?;
            Value::Blob(take(bytes, length)?.to_vec())
        }
        _ => return None,
    })
}

fn read_length(bytes: &mut &[u8]) -> Option<usize> {
    let mut length = 0_usize;
    for shift in (0..usize::BITS).step_by(7) {
        let byte = take(bytes, 1)?[0];
        length |= usize::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(length);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::Integer),
            ".{0,300}".prop_map(Value::Text),
            proptest::collection::vec(any::<u8>(), 0..300).prop_map(Value::Blob),
        ]
    }

    fn change() -> impl Strategy<Value = RowChange> {
        let table = (1_u8..=18).prop_filter_map("a table", Table::from_number);
        (table, proptest::collection::vec(value(), 0..30), 0..3).prop_map(|(table, values, tag)| match tag {
            0 => RowChange::Put { table, values },
            1 => RowChange::Delete { table, key: values },
            _ => RowChange::AskState { values },
        })
    }

    proptest! {
        #[test]
        fn changes_read_back(changes in proptest::collection::vec(change(), 0..8)) {
            let mut bytes = Vec::new();
            for change in &changes {
                write_change(&mut bytes, change);
            }
            prop_assert_eq!(read_changes(&bytes), Some(changes));
        }

        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_changes(&bytes);
        }
    }
}
