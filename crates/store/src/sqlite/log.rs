//! The change log: committed changes that are not in their tables.
//!
//! A commit has to be durable before its effect is visible, and SQLite writes whole pages. Writing an ask, its event and its
//! connection into tables and indexes would change a dozen pages per commit. The log consists of a few preallocated blobs that
//! are written in place, so a commit changes one or two pages. The rows are flushed later, in one transaction for many commits,
//! in which a row that changed several times is written once. Both are ordinary transactions, so SQLite makes them atomic and
//! durable. A crash between them loses nothing, because opening the store replays the log.
//!
//! A record consists of the number of its batch, its length, the counters after the batch, and the changes. Batch numbers
//! increase by one from the last flushed batch, and an end marker follows the last record, so that no remains of an earlier
//! round are mistaken for a record.

use std::ops::Range;

use rusqlite::Connection;

use crate::columns::row_bytes::RowChanges;
use crate::error::StoreError;
use crate::unit::Counters;

/// The number of blobs in the log of a new database. Their total size limits what a crash leaves to replay.
const SEGMENTS: i64 = 32;
/// The size of a blob. SQLite finds a position in a blob by following its pages one by one, so the log has several blobs.
const SEGMENT_BYTES: i64 = 32 * 1024;
const HEADER: usize = 8 + 4;
const COUNTERS: usize = 8 + 8;
/// The end marker, which follows the last record where the next batch number would be. No batch has this number.
const END: [u8; 8] = [0; 8];

/// The log and the position of the next record.
#[derive(Debug)]
pub(super) struct ChangeLog {
    segments: Vec<Segment>,
    last_batch: u64,
    end: usize,
}

/// One blob of the log.
#[derive(Debug)]
struct Segment {
    row: i64,
    length: usize,
}

/// The unflushed content of a log.
#[derive(Debug, Default)]
pub(super) struct Replay {
    pub(super) changes: RowChanges,
    pub(super) counters: Option<Counters>,
}

/// The bytes of one batch: header, counters, changes and end marker.
#[derive(Debug)]
pub(super) struct Record(Vec<u8>);

impl ChangeLog {
    /// Opens the log and reads the unflushed records. The next record starts at the beginning of the log.
    pub(super) fn open(db: &Connection) -> Result<(Self, Replay), StoreError> {
        let flushed: i64 = db.query_row("SELECT flushed FROM change_log_state", [], |row| row.get(0))?;
        let segments = db
            .prepare("SELECT id, length(data) FROM change_log ORDER BY id")?
            .query_map([], |row| Ok(Segment { row: row.get(0)?, length: row.get::<_, u32>(1)? as usize }))?
            .collect::<Result<Vec<_>, _>>()?;
        let mut log = Self { segments, last_batch: flushed.unsigned_abs(), end: 0 };
        let replay = log.read(db)?;
        log.end = 0;
        Ok((log, replay))
    }

    /// Reads records until the batch numbers are not consecutive.
    fn read(&mut self, db: &Connection) -> Result<Replay, StoreError> {
        let unreadable = |detail: &str| StoreError::Unreadable { what: "change log", detail: detail.to_owned() };
        if self.segments.is_empty() {
            return Err(unreadable("missing"));
        }
        let mut found = Replay::default();
        while let Some(header) = self.read_at(db, self.end, HEADER)? {
            let batch = u64::from_le_bytes(header[..8].try_into().unwrap_or_default());
            let length = u32::from_le_bytes(header[8..].try_into().unwrap_or_default()) as usize;
            if batch != self.next_batch() {
                break;
            }
            let payload = self.read_at(db, self.end + HEADER, length)?.ok_or_else(|| unreadable("a record is cut off"))?;
            let (counters, changes) = parse(&payload).ok_or_else(|| unreadable("a record is invalid"))?;
            found.counters = Some(counters);
            found.changes.extend(&changes);
            self.last_batch = batch;
            self.end += HEADER + length;
        }
        Ok(found)
    }

    /// Reads bytes at a position. Returns `None` if the log is too short.
    fn read_at(&self, db: &Connection, at: usize, length: usize) -> Result<Option<Vec<u8>>, StoreError> {
        if at + length > self.capacity() {
            return Ok(None);
        }
        let mut bytes = vec![0; length];
        for (row, offset, part) in self.parts(at, length) {
            db.blob_open("main", "change_log", "data", row, true)?.read_at_exact(&mut bytes[part], offset)?;
        }
        Ok(Some(bytes))
    }

    /// Splits a range of the log by blobs. Returns the row of each blob, the offset in it, and the part of the range that it
    /// contains.
    fn parts(&self, at: usize, length: usize) -> impl Iterator<Item = (i64, usize, Range<usize>)> {
        let mut start = 0;
        self.segments.iter().filter_map(move |segment| {
            let (from, to) = (at.max(start), (at + length).min(start + segment.length));
            let offset = from.saturating_sub(start);
            start += segment.length;
            (from < to).then(|| (segment.row, offset, from - at..to - at))
        })
    }

    fn capacity(&self) -> usize {
        self.segments.iter().map(|segment| segment.length).sum()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.end == 0
    }

    pub(super) const fn last_batch(&self) -> u64 {
        self.last_batch
    }

    /// Returns the number of the next batch.
    pub(super) const fn next_batch(&self) -> u64 {
        self.last_batch + 1
    }

    pub(super) fn has_room(&self, changes: &RowChanges) -> bool {
        self.end + HEADER + COUNTERS + changes.bytes().len() + END.len() <= self.capacity()
    }

    /// Builds the record of the next batch.
    pub(super) fn record(&self, counters: Counters, changes: &RowChanges) -> Record {
        let length = COUNTERS + changes.bytes().len();
        let mut record = Vec::with_capacity(HEADER + length + END.len());
        record.extend(self.next_batch().to_le_bytes());
        record.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
        record.extend(counters.seq.to_le_bytes());
        record.extend(counters.outbox.to_le_bytes());
        record.extend_from_slice(changes.bytes());
        record.extend(END);
        Record(record)
    }

    /// Writes a record in the current transaction. Call [`Self::appended`] after the commit.
    pub(super) fn append(&self, db: &Connection, Record(record): &Record) -> Result<(), StoreError> {
        for (row, offset, part) in self.parts(self.end, record.len()) {
            let mut blob = db.blob_open("main", "change_log", "data", row, false)?;
            blob.write_at(&record[part], offset)?;
            blob.close()?;
        }
        Ok(())
    }

    pub(super) const fn appended(&mut self, Record(record): &Record) {
        self.last_batch += 1;
        self.end += record.len() - END.len();
    }

    /// Records that the log was flushed and that this batch was written to the tables directly.
    pub(super) const fn flushed(&mut self, batch: u64) {
        self.last_batch = batch;
        self.end = 0;
    }
}

fn parse(payload: &[u8]) -> Option<(Counters, RowChanges)> {
    let (seq, rest) = payload.split_first_chunk::<8>()?;
    let (outbox, rest) = rest.split_first_chunk::<8>()?;
    Some((Counters { seq: i64::from_le_bytes(*seq), outbox: i64::from_le_bytes(*outbox) }, RowChanges::read(rest)?))
}

pub(super) fn create(db: &Connection) -> rusqlite::Result<()> {
    for row in 1..=SEGMENTS {
        db.execute("INSERT INTO change_log (id, data) VALUES (?1, zeroblob(?2))", [row, SEGMENT_BYTES])?;
    }
    Ok(())
}

/// Stores in the current transaction that all batches up to this one are in the tables.
pub(super) fn set_flushed(db: &Connection, batch: u64) -> Result<(), StoreError> {
    let batch = i64::try_from(batch).unwrap_or(i64::MAX);
    db.prepare_cached("UPDATE change_log_state SET flushed = ?1")?.execute([batch])?;
    Ok(())
}
