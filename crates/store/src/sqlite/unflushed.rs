//! The committed changes that are not in their tables, at most one per row.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::statements::TableWriter;
use crate::columns::row_bytes::{Action, RowChange, RowChanges};
use crate::columns::table::Table;
use crate::error::StoreError;

/// The changes that wait for a flush, in the order in which rows first changed.
#[derive(Debug, Default)]
pub(super) struct Unflushed {
    /// The bytes of all changes, including replaced ones. The size of the change log limits them.
    bytes: Vec<u8>,
    rows: Vec<UnflushedRow>,
    /// The index of the change of each row.
    places: HashMap<(Table, Box<[u8]>), usize>,
}

#[derive(Debug)]
struct UnflushedRow {
    change: RowChange,
    /// The last change of the ask's state after `change`.
    state: Option<RowChange>,
}

impl Unflushed {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn add(&mut self, changes: &RowChanges) {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(changes.bytes());
        for change in changes.iter() {
            self.add_change(change.moved_by(offset));
        }
    }

    fn add_change(&mut self, change: RowChange) {
        if change.table == Table::Event {
            // Events are only added and never changed.
            self.rows.push(UnflushedRow { change, state: None });
            return;
        }
        match self.places.entry((change.table, change.key(&self.bytes).into())) {
            Entry::Vacant(place) => {
                place.insert(self.rows.len());
                self.rows.push(UnflushedRow { change, state: None });
            }
            Entry::Occupied(place) => {
                let row = &mut self.rows[*place.get()];
                match (row.change.action, change.action) {
                    (Action::Put, Action::SetAskState) => row.state = Some(change),
                    (Action::Put | Action::Delete | Action::SetAskState, _) => *row = UnflushedRow { change, state: None },
                }
            }
        }
    }

    /// Writes all rows to their tables.
    pub(super) fn write(&self, tables: &mut TableWriter<'_>) -> Result<(), StoreError> {
        self.rows.iter().try_for_each(|row| tables.write(&self.bytes, row.change, row.state))
    }
}
