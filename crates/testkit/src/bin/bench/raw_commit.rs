//! What one durable commit costs on this disk: the floor that a round trip stands on.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use rusqlite::Connection;

use crate::meter;

/// The median microseconds of a small commit, WAL and `synchronous=FULL` as in the store.
pub(crate) fn p50(dir: &Path, commits: usize) -> Result<f64> {
    let mut database = Connection::open(dir.join("raw.db"))?;
    database.pragma_update(None, "journal_mode", "WAL")?;
    database.pragma_update(None, "synchronous", "FULL")?;
    database.execute("create table t (id integer primary key, text text not null)", [])?;
    let text = "x".repeat(200);
    let mut times = Vec::with_capacity(commits);
    for _ in 0..commits {
        let began = Instant::now();
        let transaction = database.transaction()?;
        transaction.prepare_cached("insert into t (text) values (?1)")?.execute([&text])?;
        transaction.commit()?;
        times.push(meter::micros(began.elapsed()));
    }
    Ok(meter::percentile(&mut times, 0.5))
}
