//! The rows of one table in a unit of work.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use crate::error::StoreError;

/// The rows of one table that a batch loaded or changed.
///
/// Looking up a key that was not loaded is an error and not an absent row. An operation with a forgotten read fails in its
/// first test instead of overwriting data that it has not seen.
#[derive(Debug)]
pub(crate) struct Rows<K, R> {
    table: &'static str,
    slots: HashMap<K, Slot<R>>,
    /// Changed keys, in the order of their first change.
    changed: Vec<K>,
    /// The slots that the current operation replaced, newest last.
    undo: Vec<(K, Option<Slot<R>>)>,
}

#[derive(Debug)]
struct Slot<R> {
    row: Option<Arc<R>>,
    changed: bool,
}

// A derived `Clone` would require `R: Clone`.
impl<R> Clone for Slot<R> {
    fn clone(&self) -> Self {
        Self { row: self.row.clone(), changed: self.changed }
    }
}

impl<K: Clone + Eq + Hash, R> Rows<K, R> {
    pub(crate) fn new(table: &'static str) -> Self {
        Self { table, slots: HashMap::new(), changed: Vec::new(), undo: Vec::new() }
    }

    /// Adds a stored row, or its absence. Rows that the batch changed are not replaced.
    pub(crate) fn load(&mut self, key: K, row: Option<Arc<R>>) {
        self.slots.entry(key).or_insert(Slot { row, changed: false });
    }

    pub(crate) fn is_loaded(&self, key: &K) -> bool {
        self.slots.contains_key(key)
    }

    pub(crate) fn get(&self, key: &K) -> Result<Option<&Arc<R>>, StoreError> {
        match self.slots.get(key) {
            Some(slot) => Ok(slot.row.as_ref()),
            None => Err(StoreError::NotLoaded { table: self.table }),
        }
    }

    /// Adds a row under a new key.
    ///
    /// # Errors
    /// When the key was not loaded, or when it has a row that is stored or staged by the same batch.
    pub(crate) fn insert(&mut self, key: K, row: Arc<R>) -> Result<(), StoreError> {
        if self.get(&key)?.is_some() {
            return Err(StoreError::Duplicate { what: self.table });
        }
        self.put(key, row);
        Ok(())
    }

    /// Replaces a row, or adds one if there is none.
    pub(crate) fn put(&mut self, key: K, row: Arc<R>) {
        self.set(key, Some(row));
    }

    pub(crate) fn remove(&mut self, key: K) {
        self.set(key, None);
    }

    fn set(&mut self, key: K, row: Option<Arc<R>>) {
        let before = self.slots.insert(key.clone(), Slot { row, changed: true });
        if !before.as_ref().is_some_and(|slot| slot.changed) {
            self.changed.push(key.clone());
        }
        self.undo.push((key, before));
    }

    /// Returns all rows that exist, loaded or changed.
    pub(crate) fn present(&self) -> impl Iterator<Item = &Arc<R>> {
        self.slots.values().filter_map(|slot| slot.row.as_ref())
    }

    /// Returns all rows that exist, with their keys.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&K, &Arc<R>)> {
        self.slots.iter().filter_map(|(key, slot)| slot.row.as_ref().map(|row| (key, row)))
    }

    /// Returns the changed rows, in the order of their first change. `None` is a deletion.
    pub(crate) fn changes(&self) -> impl Iterator<Item = (&K, Option<&Arc<R>>)> {
        self.changed.iter().filter_map(|key| self.slots.get(key).map(|slot| (key, slot.row.as_ref())))
    }

    /// Returns the rows that the current operation added, under keys that had no row or were not loaded.
    pub(crate) fn added(&self) -> impl Iterator<Item = (&K, &Arc<R>)> {
        let is_new = |before: &Option<Slot<R>>| before.as_ref().is_none_or(|slot| slot.row.is_none());
        let keys = self.undo.iter().filter(move |(_, before)| is_new(before));
        keys.filter_map(|(key, _)| self.slots.get(key)?.row.as_ref().map(|row| (key, row)))
    }

    /// Keeps the changes of the current operation.
    pub(crate) fn keep(&mut self) {
        self.undo.clear();
    }

    /// Rolls back the changes of the current operation.
    pub(crate) fn roll_back(&mut self) {
        while let Some((key, before)) = self.undo.pop() {
            let was_changed = before.as_ref().is_some_and(|slot| slot.changed);
            match before {
                Some(slot) => self.slots.insert(key, slot),
                None => self.slots.remove(&key),
            };
            if !was_changed {
                self.changed.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(rows: &Rows<u8, u8>) -> Vec<(u8, Option<u8>)> {
        rows.changes().map(|(key, row)| (*key, row.map(|row| **row))).collect()
    }

    #[test]
    fn key_that_was_not_loaded_is_an_error() {
        let mut rows = Rows::<u8, u8>::new("ask");
        assert!(matches!(rows.get(&1), Err(StoreError::NotLoaded { table: "ask" })));
        rows.load(1, None);
        assert_eq!(rows.get(&1).unwrap(), None);
    }

    #[test]
    fn new_key_must_be_loaded_and_free() {
        let mut rows = Rows::new("ask");
        assert!(matches!(rows.insert(1, Arc::new(1)), Err(StoreError::NotLoaded { table: "ask" })));
        rows.load(1, None);
        rows.load(2, Some(Arc::new(2)));
        rows.insert(1, Arc::new(1)).unwrap();
        for taken in [1, 2] {
            assert!(matches!(rows.insert(taken, Arc::new(9)), Err(StoreError::Duplicate { what: "ask" })));
        }
        assert_eq!(values(&rows), [(1, Some(1))]);
    }

    #[test]
    fn loading_does_not_replace_a_change() {
        let mut rows = Rows::new("ask");
        rows.put(1, Arc::new(7));
        rows.load(1, Some(Arc::new(3)));
        assert_eq!(rows.get(&1).unwrap().map(|row| **row), Some(7));
    }

    #[test]
    fn rolling_back_restores_loaded_rows_and_earlier_operations() {
        let mut rows = Rows::new("ask");
        rows.load(1, Some(Arc::new(1)));
        rows.put(2, Arc::new(2));
        rows.keep();
        rows.put(1, Arc::new(10));
        rows.put(2, Arc::new(20));
        rows.remove(2);
        rows.put(3, Arc::new(30));
        rows.roll_back();
        assert_eq!(values(&rows), [(2, Some(2))]);
        assert_eq!(rows.get(&1).unwrap().map(|row| **row), Some(1));
        assert!(!rows.is_loaded(&3));
    }

    #[test]
    fn added_rows_are_those_of_the_current_operation_that_were_absent() {
        let mut rows = Rows::new("ask");
        rows.load(1, Some(Arc::new(1)));
        rows.load(2, None);
        rows.put(4, Arc::new(4));
        rows.keep();
        for key in [1, 2, 3, 4] {
            rows.put(key, Arc::new(10 * key));
        }
        rows.remove(3);
        assert_eq!(rows.added().map(|(key, row)| (*key, **row)).collect::<Vec<_>>(), [(2, 20)]);
    }

    #[test]
    fn row_that_changes_twice_is_one_change() {
        let mut rows = Rows::new("ask");
        rows.put(1, Arc::new(1));
        rows.put(1, Arc::new(2));
        rows.remove(5);
        assert_eq!(values(&rows), [(1, Some(2)), (5, None)]);
    }
}
