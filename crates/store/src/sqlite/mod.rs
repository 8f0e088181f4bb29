//! The SQLite implementation.

mod advance;
mod ask_row;
mod attach;
mod backup;
mod command_session;
mod configure_session;
mod create_session;
mod events;
mod external;
mod kept;
mod list_asks;
mod message;
mod migrate;
mod notes;
mod open_ask;
mod policy_state;
mod pushes;
mod recent;
mod resolve;
mod retention;
mod rule_hits;
mod run_reads;
mod runs;
mod sessions;
mod store;
mod tokens;
mod tx;
mod writer;

pub use backup::backup;
pub use store::{Store, StoreOptions};
pub(crate) use tokens::all_tokens;
pub use tx::Tx;

use rusqlite::types::FromSql;

use crate::error::StoreError;

/// A column, or an error that names it.
fn column<T: FromSql>(row: &rusqlite::Row<'_>, index: usize) -> Result<T, StoreError> {
    row.get(index).map_err(StoreError::from)
}

/// JSON that we wrote.
fn json<T: serde::de::DeserializeOwned>(what: &'static str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Unreadable { what, detail: error.to_string() })
}

/// The JSON to write. Our own types always have one.
fn to_json<T: serde::Serialize>(what: &'static str, value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Unreadable { what, detail: error.to_string() })
}
