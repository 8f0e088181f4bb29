//! Functions for tools and tests that inspect database files without opening a store.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::migrate::FULL_SYNC;
use crate::error::StoreError;

/// Returns whether SQLite's integrity check of a file succeeds.
///
/// # Errors
/// When the file cannot be read.
pub fn is_sound(path: &Path) -> Result<bool, StoreError> {
    let health: String = Connection::open(path)?.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    Ok(health == "ok")
}

/// Runs statements on a file, for example to rebuild a database of an earlier version.
///
/// # Errors
/// When a statement fails.
pub fn run_sql(path: &Path, sql: &str) -> Result<(), StoreError> {
    Ok(Connection::open(path)?.execute_batch(sql)?)
}

/// Measures small commits on the disk of this file, with the same durability as the store.
///
/// # Errors
/// When the file cannot be written.
pub fn time_commits(path: &Path, commits: usize) -> Result<Vec<Duration>, StoreError> {
    let mut database = Connection::open(path)?;
    database.pragma_update(None, "journal_mode", "WAL")?;
    database.pragma_update(None, "synchronous", "FULL")?;
    database.execute_batch(FULL_SYNC)?;
    database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT NOT NULL)", [])?;
    let text = "x".repeat(200);
    let mut times = Vec::with_capacity(commits);
    for _ in 0..commits {
        let began = Instant::now();
        let transaction = database.transaction()?;
        transaction.prepare_cached("INSERT INTO t (text) VALUES (?1)")?.execute([&text])?;
        transaction.commit()?;
        times.push(began.elapsed());
    }
    Ok(times)
}
