//! Encodes changed rows as bytes, for the change log in the database and in memory.
//!
//! A change consists of its action, its table, the number of values, and the values. Operations write values straight into the
//! buffer, and the table writer reads them in place, so a batch makes no copy per row or value.

use serde::Serialize;

use super::table::Table;
use super::value::Value;
use crate::error::StoreError;

/// What a change does to its row. The change log contains these numbers, so never change one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Action {
    /// Writes the whole row, in the order of the columns.
    Put = 0,
    /// Deletes the row. The values are its key.
    Delete = 1,
    /// Writes the state of an ask: its key and the columns of `ASK_STATE`.
    SetAskState = 2,
}

impl Action {
    fn from_number(number: u8) -> Option<Self> {
        [Self::Put, Self::Delete, Self::SetAskState].into_iter().find(|action| *action as u8 == number)
    }
}

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const TEXT: u8 = 2;
const BLOB: u8 = 3;

/// A change with the positions of its values in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowChange {
    pub(crate) action: Action,
    pub(crate) table: Table,
    start: usize,
    key_end: usize,
    end: usize,
}

impl RowChange {
    pub(crate) fn values<'a>(&self, bytes: &'a [u8]) -> Values<'a> {
        Values(bytes.get(self.start..self.end).unwrap_or_default())
    }

    /// Returns the encoded primary key.
    pub(crate) fn key<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes.get(self.start..self.key_end).unwrap_or_default()
    }

    /// Moves the positions, for a buffer that was appended to another one.
    pub(crate) const fn moved_by(self, offset: usize) -> Self {
        Self { start: self.start + offset, key_end: self.key_end + offset, end: self.end + offset, ..self }
    }
}

/// A buffer of encoded changes.
#[derive(Debug, Default)]
pub(crate) struct RowChanges {
    bytes: Vec<u8>,
    list: Vec<RowChange>,
    /// A buffer for JSON, whose length has to be written before it.
    json: Vec<u8>,
}

impl RowChanges {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, RowChange> {
        self.list.iter()
    }

    /// Adds a change. `write` adds its values.
    pub(crate) fn add(
        &mut self,
        action: Action,
        table: Table,
        write: impl FnOnce(&mut RowWriter<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.bytes.extend([action as u8, table as u8, 0]);
        let start = self.bytes.len();
        let mut row =
            RowWriter { bytes: &mut self.bytes, json: &mut self.json, count: 0, key_width: table.key_width(), key_end: start };
        write(&mut row)?;
        let (count, key_end) = (row.count, row.key_end);
        self.bytes[start - 1] = count;
        self.list.push(RowChange { action, table, start, key_end, end: self.bytes.len() });
        Ok(())
    }

    /// Appends the changes of another buffer.
    pub(crate) fn extend(&mut self, other: &Self) {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes);
        self.list.extend(other.list.iter().map(|change| change.moved_by(offset)));
    }

    /// Reads all changes from bytes. `None` if the bytes are invalid.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut found = Self { bytes: bytes.to_vec(), ..Self::default() };
        let mut at = 0;
        while at < bytes.len() {
            let change = read_change(bytes, at)?;
            at = change.end;
            found.list.push(change);
        }
        Some(found)
    }
}

/// Writes the values of one change.
#[derive(Debug)]
pub(crate) struct RowWriter<'a> {
    bytes: &'a mut Vec<u8>,
    json: &'a mut Vec<u8>,
    count: u8,
    key_width: usize,
    key_end: usize,
}

impl RowWriter<'_> {
    fn written(&mut self) {
        // The number of columns fits one byte.
        self.count += 1;
        if usize::from(self.count) == self.key_width {
            self.key_end = self.bytes.len();
        }
    }

    pub(crate) fn null(&mut self) {
        self.bytes.push(NULL);
        self.written();
    }

    pub(crate) fn integer(&mut self, number: i64) {
        self.bytes.push(INTEGER);
        self.bytes.extend(number.to_le_bytes());
        self.written();
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes.push(TEXT);
        write_length(self.bytes, text.len());
        self.bytes.extend_from_slice(text.as_bytes());
        self.written();
    }

    pub(crate) fn blob(&mut self, blob: &[u8]) {
        self.bytes.push(BLOB);
        write_length(self.bytes, blob.len());
        self.bytes.extend_from_slice(blob);
        self.written();
    }

    pub(crate) fn json<T: Serialize>(&mut self, what: &'static str, value: &T) -> Result<(), StoreError> {
        self.json.clear();
        serde_json::to_writer(&mut *self.json, value)
            .map_err(|error| StoreError::Unreadable { what, detail: error.to_string() })?;
        self.bytes.push(TEXT);
        write_length(self.bytes, self.json.len());
        self.bytes.extend_from_slice(self.json);
        self.written();
        Ok(())
    }

    /// Adds a value, or null.
    pub(crate) fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match value {
            Some(value) => write(self, value),
            None => self.null(),
        }
    }
}

/// An iterator over the values of a change. It ends early if the bytes are invalid.
#[derive(Debug, Clone)]
pub(crate) struct Values<'a>(&'a [u8]);

impl<'a> Iterator for Values<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        read_value(&mut self.0)
    }
}

fn read_change(bytes: &[u8], at: usize) -> Option<RowChange> {
    let mut rest = bytes.get(at..)?;
    let [action, table] = take_bytes(&mut rest, 2)?.try_into().ok()?;
    let (action, table) = (Action::from_number(action)?, Table::from_number(table)?);
    let count = read_length(&mut rest)?;
    let position = |rest: &[u8]| bytes.len() - rest.len();
    let start = position(rest);
    let mut key_end = start;
    for number in 1..=count {
        read_value(&mut rest)?;
        if number == table.key_width() {
            key_end = position(rest);
        }
    }
    Some(RowChange { action, table, start, key_end, end: position(rest) })
}

fn read_value<'a>(bytes: &mut &'a [u8]) -> Option<Value<'a>> {
    Some(match take_bytes(bytes, 1)?[0] {
        NULL => Value::Null,
        INTEGER => Value::Integer(i64::from_le_bytes(take_bytes(bytes, 8)?.try_into().ok()?)),
        TEXT => {
            let length = read_length(bytes)?;
            let text = take_bytes(bytes, length)?;
            Value::Text(std::str::from_utf8(text).ok()?.into())
        }
        BLOB => {
            let length = read_length(bytes)?;
            Value::Blob(take_bytes(bytes, length)?)
        }
        _ => return None,
    })
}

/// Writes a LEB128 number: seven bits per byte, lowest first, and the highest bit marks that more bytes follow.
fn write_length(out: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        out.push(length.to_le_bytes()[0] | 0x80);
        length >>= 7;
    }
    out.push(length.to_le_bytes()[0]);
}

fn read_length(bytes: &mut &[u8]) -> Option<usize> {
    let mut length = 0_usize;
    for shift in (0..usize::BITS).step_by(7) {
        let byte = take_bytes(bytes, 1)?[0];
        length |= usize::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(length);
        }
    }
    None
}

fn take_bytes<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone, PartialEq)]
    enum Owned {
        Null,
        Integer(i64),
        Text(String),
        Blob(Vec<u8>),
    }

    fn value() -> impl Strategy<Value = Owned> {
        prop_oneof![
            Just(Owned::Null),
            any::<i64>().prop_map(Owned::Integer),
            ".{0,300}".prop_map(Owned::Text),
            proptest::collection::vec(any::<u8>(), 0..300).prop_map(Owned::Blob),
        ]
    }

    fn owned(value: Value<'_>) -> Owned {
        match value {
            Value::Null => Owned::Null,
            Value::Integer(number) => Owned::Integer(number),
            Value::Text(text) => Owned::Text(text.into_owned()),
            Value::Blob(blob) => Owned::Blob(blob.to_vec()),
        }
    }

    fn change() -> impl Strategy<Value = (Action, Table, Vec<Owned>)> {
        let action = (0_u8..3).prop_filter_map("an action", Action::from_number);
        let table = (1_u8..=21).prop_filter_map("a table", Table::from_number);
        (action, table, proptest::collection::vec(value(), 0..30))
    }

    fn write(row: &mut RowWriter<'_>, value: &Owned) {
        match value {
            Owned::Null => row.null(),
            Owned::Integer(number) => row.integer(*number),
            Owned::Text(text) => row.text(text),
            Owned::Blob(blob) => row.blob(blob),
        }
    }

    fn read(changes: &RowChanges) -> Vec<(Action, Table, Vec<Owned>)> {
        let values = |change: &RowChange| change.values(changes.bytes()).map(owned).collect();
        changes.iter().map(|change| (change.action, change.table, values(change))).collect()
    }

    proptest! {
        #[test]
        fn changes_read_back(
            first in proptest::collection::vec(change(), 0..4),
            second in proptest::collection::vec(change(), 0..4),
        ) {
            let written = |list: &[(Action, Table, Vec<Owned>)]| {
                let mut changes = RowChanges::default();
                for (action, table, values) in list {
                    let done = changes.add(*action, *table, |row| {
                        values.iter().for_each(|value| write(row, value));
                        Ok(())
                    });
                    assert!(done.is_ok());
                }
                changes
            };
            let mut changes = written(&first);
            changes.extend(&written(&second));
            let all = [first, second].concat();
            prop_assert_eq!(read(&changes), all.clone());
            let reread = RowChanges::read(changes.bytes());
            prop_assert_eq!(reread.as_ref().map(read), Some(all));
            // Written and reread changes return the same key.
            prop_assert_eq!(reread.map(|reread| reread.list), Some(changes.list));
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = RowChanges::read(&bytes);
        }
    }
}
