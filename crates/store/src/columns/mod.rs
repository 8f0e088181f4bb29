//! Converts rows to columns and back, the same way for every backend: tables with their columns, the numbers of kinds and
//! states, JSON, and the text for searches. To add a column, add it to [`table`], [`encode`] and [`decode`], and to the schema
//! of each backend.

pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod event_row;
pub(crate) mod numbers;
pub(crate) mod row_bytes;
pub(crate) mod search_text;
pub(crate) mod table;
pub(crate) mod value;
