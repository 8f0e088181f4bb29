//! Pages that are limited by the number of rows and the bytes of text.

use std::sync::Arc;

use crate::columns::decode;
use crate::columns::value::Value;
use crate::error::StoreError;
use crate::read::{PAGE_BYTES, Page, PendingAsks};
use crate::snapshot::{Next, Snapshot};

/// Collects the rows of a page until it is full.
pub(super) struct PageBuilder<T> {
    page: Page<T>,
    limit: usize,
    bytes: usize,
    last: i64,
}

impl<T> PageBuilder<T> {
    pub(super) const fn new(limit: usize, seq: i64) -> Self {
        Self { page: Page { rows: Vec::new(), next: None, seq, truncated: false }, limit, bytes: 0, last: 0 }
    }

    /// Adds the row at `seq` with this many bytes of text. If the page is full, stops the query, and the page ends before this
    /// row.
    pub(super) fn push(&mut self, seq: i64, row: T, bytes: usize) -> Next {
        let too_large = !self.page.rows.is_empty() && self.bytes + bytes > PAGE_BYTES;
        if too_large || self.page.rows.len() == self.limit {
            self.page.truncated = self.page.rows.len() < self.limit;
            self.page.next = Some(self.last);
            return Next::Break(());
        }
        self.bytes += bytes;
        self.last = seq;
        self.page.rows.push(row);
        Next::Continue(())
    }

    pub(super) fn finish(self) -> Page<T> {
        self.page
    }
}

/// Reads pending asks. Asks beyond [`PAGE_BYTES`] are only counted.
pub(super) fn pending_asks(db: &dyn Snapshot, sql: &str, params: &[Value<'_>]) -> Result<PendingAsks, StoreError> {
    let mut found = PageBuilder::new(usize::MAX, 0);
    let mut count = 0;
    let mut full = false;
    db.each_row(sql, params, &mut |row| {
        count += 1;
        if !full {
            let ask = Arc::unwrap_or_clone(decode::ask(row, 0)?.ask);
            let bytes = ask.text_size();
            full = found.push(0, ask, bytes).is_break();
        }
        Ok(Next::Continue(()))
    })?;
    Ok(PendingAsks { asks: found.finish().rows, count })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(limit: usize, sizes: &[usize]) -> (Vec<i64>, Option<i64>, bool) {
        let mut page = PageBuilder::new(limit, 9);
        for (seq, bytes) in (1..).zip(sizes) {
            if page.push(seq, seq, *bytes).is_break() {
                break;
            }
        }
        let page = page.finish();
        (page.rows, page.next, page.truncated)
    }

    #[test]
    fn page_ends_at_its_limit_of_rows_or_bytes_and_has_one_row_in_any_case() {
        let half = PAGE_BYTES / 2;
        assert_eq!(page(3, &[1, 1]), (vec![1, 2], None, false));
        assert_eq!(page(2, &[1, 1]), (vec![1, 2], None, false));
        assert_eq!(page(2, &[1, 1, 1]), (vec![1, 2], Some(2), false));
        assert_eq!(page(9, &[half, half]), (vec![1, 2], None, false));
        assert_eq!(page(9, &[half, half, 1]), (vec![1, 2], Some(2), true));
        assert_eq!(page(9, &[3 * half, 1]), (vec![1], Some(1), true));
        assert_eq!(page(2, &[half, half, half]), (vec![1, 2], Some(2), false));
    }
}
