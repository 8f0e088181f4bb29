//! The change log: committed changes that are not in the tables yet.
//!
//! A commit has to be durable before anyone sees its effect, and SQLite writes whole pages. Writing an ask, its event and
//! its connection into their tables and indexes changes a dozen pages per commit. The log is one preallocated value that is
//! written in place, so a commit changes one or two pages; the rows follow later, in one transaction for many commits,
//! where a row that changed several times is written once. Both are ordinary transactions: SQLite makes them atomic and
//! durable, and a crash between the two loses nothing, because opening the store replays the log.
//!
//! A record is the number of its batch, its length, the counters after it, and its changes. Numbers count up by one from
//! the last flushed batch, and an end marker follows the last record, so that nothing of an earlier round is mistaken for a
//! record.

use rusqlite::{Connection, OptionalExtension};

use super::codec;
use super::table::RowChange;
use crate::error::StoreError;
use crate::unit::Counters;

/// The size of the log of a new database, and so the most that a crash leaves to replay.
const CAPACITY: usize = 1024 * 1024;
const ROW: i64 = 1;
const HEADER: usize = 8 + 4;
/// Stands where the number of the next batch would. No batch has this number.
const END: [u8; 8] = [0; 8];

/// Where the next record goes.
#[derive(Debug)]
pub(super) struct ChangeLog {
    last_batch: u64,
    end: usize,
    capacity: usize,
}

/// The content of a log that was not flushed.
#[derive(Debug, Default)]
pub(super) struct Replay {
    pub(super) changes: Vec<RowChange>,
    pub(super) counters: Option<Counters>,
    pub(super) last_batch: u64,
    /// The size of the log in this database.
    pub(super) capacity: usize,
}

/// Encodes the record of a batch.
pub(super) fn encode(counters: Counters, changes: &[RowChange]) -> Vec<u8> {
    let mut payload = Vec::with_capacity(1024);
    payload.extend(counters.seq.to_le_bytes());
    payload.extend(counters.outbox.to_le_bytes());
    for change in changes {
        codec::write_change(&mut payload, change);
    }
    payload
}

impl ChangeLog {
    /// An empty log after this replay.
    pub(super) const fn after(replay: &Replay) -> Self {
        Self { last_batch: replay.last_batch, end: 0, capacity: replay.capacity }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// The number of the next batch.
    pub(super) const fn next_batch(&self) -> u64 {
        self.last_batch + 1
    }

    pub(super) const fn has_room(&self, payload: usize) -> bool {
        self.end + HEADER + payload + END.len() <= self.capacity
    }

    /// Writes a record inside the current transaction. Call [`Self::appended`] after the commit.
    pub(super) fn append(&self, db: &Connection, payload: &[u8]) -> Result<(), StoreError> {
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        let mut record = Vec::with_capacity(HEADER + payload.len() + END.len());
        record.extend(self.next_batch().to_le_bytes());
        record.extend(length.to_le_bytes());
        record.extend(payload);
        record.extend(END);
        let mut blob = db.blob_open("main", "change_log", "data", ROW, false)?;
        blob.write_at(&record, self.end)?;
        blob.close()?;
        Ok(())
    }

    pub(super) const fn appended(&mut self, payload: usize) {
        self.last_batch += 1;
        self.end += HEADER + payload;
    }

    /// The log was flushed, and this batch went directly into the tables.
    pub(super) const fn flushed(&mut self, batch: u64) {
        self.last_batch = batch;
        self.end = 0;
    }
}

/// Creates the log in a new database.
pub(super) fn create(db: &Connection) -> rusqlite::Result<()> {
    let size = i64::try_from(CAPACITY).unwrap_or(i64::MAX);
    db.execute("INSERT INTO change_log (id, data) VALUES (?1, zeroblob(?2))", [ROW, size])?;
    Ok(())
}

/// Stores inside the current transaction that everything up to this batch is in the tables.
pub(super) fn set_flushed(db: &Connection, batch: u64) -> Result<(), StoreError> {
    let batch = i64::try_from(batch).unwrap_or(i64::MAX);
    db.prepare_cached("UPDATE change_log_state SET flushed = ?1")?.execute([batch])?;
    Ok(())
}

/// Reads the records that are not in the tables.
pub(super) fn replay(db: &Connection) -> Result<Replay, StoreError> {
    let unreadable = |detail: &str| StoreError::Unreadable { what: "change log", detail: detail.to_owned() };
    let flushed: i64 = db.query_row("SELECT flushed FROM change_log_state", [], |row| row.get(0))?;
    let mut found = Replay { last_batch: flushed.unsigned_abs(), ..Replay::default() };
    let data: Option<Vec<u8>> = db.query_row("SELECT data FROM change_log WHERE id = ?1", [ROW], |row| row.get(0)).optional()?;
    let data = data.ok_or_else(|| unreadable("missing"))?;
    found.capacity = data.len();
    let mut rest = data.as_slice();
    while let Some((header, after)) = rest.split_at_checked(HEADER) {
        let batch = u64::from_le_bytes(header[..8].try_into().unwrap_or_default());
        let length = u32::from_le_bytes(header[8..].try_into().unwrap_or_default()) as usize;
        if batch != found.last_batch + 1 {
            break;
        }
        let (payload, next) = after.split_at_checked(length).ok_or_else(|| unreadable("a record is cut off"))?;
        let (seq, outbox, changes) = parse(payload).ok_or_else(|| unreadable("a record is invalid"))?;
        found.counters = Some(Counters { seq, outbox });
        found.changes.extend(changes);
        found.last_batch = batch;
        rest = next;
    }
    Ok(found)
}

fn parse(payload: &[u8]) -> Option<(i64, i64, Vec<RowChange>)> {
    let (seq, rest) = payload.split_first_chunk::<8>()?;
    let (outbox, rest) = rest.split_first_chunk::<8>()?;
    Some((i64::from_le_bytes(*seq), i64::from_le_bytes(*outbox), codec::read_changes(rest)?))
}
