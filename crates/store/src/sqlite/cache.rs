//! Rows in memory: rows that are newer than their table, and recently used rows.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::Arc;

/// The cached rows of one table. Rows that are not flushed stay. Flushed rows are evicted in the order in which they were
/// added.
#[derive(Debug)]
pub(super) struct Cache<K, R> {
    entries: HashMap<K, Entry<R>>,
    /// The order of eviction. A key can occur more than once.
    order: VecDeque<K>,
    unflushed: Vec<K>,
    capacity: usize,
}

#[derive(Debug)]
struct Entry<R> {
    /// `None` if the row was deleted but its table still has it.
    row: Option<Arc<R>>,
    flushed: bool,
}

impl<K: Clone + Eq + Hash, R> Cache<K, R> {
    /// `capacity` is the largest number of flushed rows.
    pub(super) fn new(capacity: usize) -> Self {
        Self { entries: HashMap::new(), order: VecDeque::new(), unflushed: Vec::new(), capacity }
    }

    /// Returns `None` if the row has to be read from its table, and `Some(None)` if it does not exist.
    pub(super) fn get(&self, key: &K) -> Option<Option<Arc<R>>> {
        self.entries.get(key).map(|entry| entry.row.clone())
    }

    /// Returns the rows that are newer than their table.
    pub(super) fn unflushed(&self) -> impl Iterator<Item = (&K, &Arc<R>)> {
        self.unflushed.iter().filter_map(|key| Some((key, self.entries.get(key)?.row.as_ref()?)))
    }

    pub(super) fn add(&mut self, key: K, row: Arc<R>) {
        if self.capacity == 0 || self.entries.contains_key(&key) {
            return;
        }
        self.entries.insert(key.clone(), Entry { row: Some(row), flushed: true });
        self.order.push_back(key);
        self.shrink();
    }

    /// Applies a committed change.
    pub(super) fn set(&mut self, key: &K, row: Option<Arc<R>>) {
        let before = self.entries.insert(key.clone(), Entry { row, flushed: false });
        if before.is_none_or(|entry| entry.flushed) {
            self.unflushed.push(key.clone());
        }
    }

    /// Marks all rows as flushed. Rows for which `keep` returns false are evicted.
    pub(super) fn flushed(&mut self, keep: impl Fn(&R) -> bool) {
        for key in std::mem::take(&mut self.unflushed) {
            let Some(entry) = self.entries.get_mut(&key) else { continue };
            if self.capacity > 0 && entry.row.as_ref().is_some_and(|row| keep(row)) {
                entry.flushed = true;
                self.order.push_back(key);
            } else {
                self.entries.remove(&key);
            }
        }
        self.shrink();
    }

    fn shrink(&mut self) {
        while self.order.len() > self.capacity
            && let Some(key) = self.order.pop_front()
        {
            // The row may have changed since or be in the queue twice, so it may be evicted early, which is harmless.
            if self.entries.get(&key).is_some_and(|entry| entry.flushed) {
                self.entries.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unflushed_rows_stay_and_flushed_ones_are_bounded() {
        let mut cache = Cache::new(2);
        for key in 0..5_u8 {
            cache.set(&key, Some(Arc::new(key)));
        }
        assert!((0..5).all(|key| cache.get(&key) == Some(Some(Arc::new(key)))));
        cache.flushed(|_| true);
        assert_eq!((0..5).map(|key| cache.get(&key)).filter(Option::is_some).count(), 2);
        assert_eq!(cache.get(&4), Some(Some(Arc::new(4))));
    }

    #[test]
    fn deleted_row_hides_its_table_until_the_flush() {
        let mut cache = Cache::<u8, u8>::new(2);
        cache.set(&1, None);
        assert_eq!(cache.get(&1), Some(None));
        cache.flushed(|_| true);
        assert_eq!(cache.get(&1), None);
    }

    #[test]
    fn row_from_a_table_does_not_replace_a_newer_one() {
        let mut cache = Cache::new(2);
        cache.set(&1, Some(Arc::new(9)));
        cache.add(1, Arc::new(1));
        assert_eq!(cache.get(&1), Some(Some(Arc::new(9))));
    }
}
