//! The writing connection with the change log and the cached rows.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::{Connection, params};
use sayso_core::time::Time;

use super::checkpoint::{self, LogReset};
use super::load;
use super::log::{self, ChangeLog};
use super::memory::Memory;
use super::statements::{Statements, TableWriter};
use super::unflushed::Unflushed;
use super::writer;
use crate::columns::encode::{encode, encode_secrets};
use crate::columns::row_bytes::{Action, RowChanges};
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::Reads;
use crate::unit::{Counters, Unit};

/// The largest number of unflushed rows. Flushing so many takes about ten milliseconds, during which nothing is committed.
const UNFLUSHED_ROWS: usize = 2_500;

#[derive(Debug)]
pub(super) struct Database {
    connection: Connection,
    statements: Statements,
    log: ChangeLog,
    memory: HashMap<WorkspaceId, Memory>,
    unflushed: Unflushed,
    secret_deleted: bool,
    wal_pages: Arc<AtomicU32>,
}

impl Database {
    /// Takes a connection to a database of the current schema, and replays its change log.
    pub(super) fn new(mut connection: Connection) -> Result<Self, StoreError> {
        let wal_pages = Arc::new(AtomicU32::new(0));
        let pages = Arc::clone(&wal_pages);
        connection.wal_hook(Some(move |_: &'_ mut rusqlite::hooks::Wal, count: std::ffi::c_int| {
            pages.store(count.unsigned_abs(), Ordering::Relaxed);
            Ok(())
        }))?;
        let (log, replay) = ChangeLog::open(&connection)?;
        let mut database = Self {
            connection,
            statements: Statements::new(),
            log,
            memory: HashMap::new(),
            unflushed: Unflushed::default(),
            secret_deleted: false,
            wal_pages,
        };
        if let Some(counters) = replay.counters {
            database.unflushed.add(&replay.changes);
            tracing::info!(rows = database.unflushed.len(), "replaying the change log");
            let batch = database.log.last_batch();
            let nothing = RowChanges::default();
            database.transaction(|database| database.write_tables(&nothing, &[(WorkspaceId::MAIN, counters)], batch))?;
            database.unflushed = Unflushed::default();
        }
        Ok(database)
    }

    pub(super) const fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(super) const fn has_unflushed(&self) -> bool {
        !self.log.is_empty()
    }

    /// Returns the number of pages in the write-ahead log.
    pub(super) fn wal_pages(&self) -> u32 {
        self.wal_pages.load(Ordering::Relaxed)
    }

    /// Runs the last step of a checkpoint. Returns whether it was complete.
    pub(super) fn reset_log(&mut self, step: LogReset) -> bool {
        let complete = checkpoint::reset_log(&self.connection, step);
        if complete {
            self.wal_pages.store(0, Ordering::Relaxed);
        }
        complete
    }

    /// Returns whether a secret was deleted since the last call.
    pub(super) const fn take_secret_deleted(&mut self) -> bool {
        std::mem::replace(&mut self.secret_deleted, false)
    }

    fn memory(&mut self, workspace: WorkspaceId) -> Result<&mut Memory, StoreError> {
        match self.memory.entry(workspace) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(Memory::load(&self.connection, workspace)?)),
        }
    }

    /// Returns the unit of a workspace in this batch, and creates it if there is none.
    pub(super) fn unit<'a>(
        &mut self,
        workspace: WorkspaceId,
        now: Time,
        units: &'a mut HashMap<WorkspaceId, Unit>,
    ) -> Result<&'a mut Unit, StoreError> {
        match units.entry(workspace) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let counters = self.memory(workspace)?.counters;
                Ok(place.insert(Unit::new(workspace, now, counters)))
            }
        }
    }

    /// Loads the named rows into a unit.
    pub(super) fn load(&mut self, unit: &mut Unit, reads: &mut Reads) -> Result<(), StoreError> {
        for read in reads.drain().collect::<Vec<_>>() {
            self.memory(unit.workspace)?;
            let Some(memory) = self.memory.get_mut(&unit.workspace) else { continue };
            load::load(&self.connection, memory, unit, read)?;
        }
        Ok(())
    }

    /// Commits a batch. Usually as a record of the change log. If the batch changes secrets, if the log is full, or with
    /// `flush`, the batch is written to the tables together with all unflushed changes.
    pub(super) fn commit(&mut self, units: &HashMap<WorkspaceId, Unit>, flush: bool) -> Result<(), StoreError> {
        let (mut changes, mut secrets) = (RowChanges::default(), RowChanges::default());
        let mut counters = Vec::with_capacity(units.len());
        for (workspace, unit) in units {
            encode(unit, &mut changes)?;
            encode_secrets(unit, &mut secrets, |out, _, secret| {
                out.raw(secret);
                Ok(())
            })?;
            counters.push((*workspace, unit.counters));
        }
        if changes.is_empty() && secrets.is_empty() {
            return Ok(());
        }
        let record = match counters.as_slice() {
            [(WorkspaceId::MAIN, counters)]
                if secrets.is_empty() && !flush && self.unflushed.len() < UNFLUSHED_ROWS && self.log.has_room(&changes) =>
            {
                Some(self.log.record(*counters, &changes))
            }
            _ => None,
        };
        match record {
            Some(record) => {
                self.transaction(|database| database.log.append(&database.connection, &record))?;
                self.log.appended(&record);
                self.unflushed.add(&changes);
                self.committed(units);
            }
            None => {
                let batch = self.log.next_batch();
                let secret = !secrets.is_empty();
                let secret_deleted = secrets.iter().any(|change| change.action == Action::Delete);
                changes.extend(&secrets);
                if secret {
                    self.secure_delete(true)?;
                }
                let done = self.transaction(|database| database.write_tables(&changes, &counters, batch));
                if secret {
                    // The batch is committed or failed already. If this statement fails, later deletions are overwritten as
                    // well, which is harmless.
                    let _ = self.secure_delete(false);
                }
                done?;
                self.secret_deleted |= secret_deleted;
                self.log.flushed(batch);
                self.unflushed = Unflushed::default();
                self.committed(units);
                self.memory.values_mut().for_each(Memory::flushed);
            }
        }
        Ok(())
    }

    fn committed(&mut self, units: &HashMap<WorkspaceId, Unit>) {
        for (workspace, unit) in units {
            if let Some(memory) = self.memory.get_mut(workspace) {
                memory.committed(unit);
            }
        }
    }

    /// Writes all unflushed changes to the tables. The transaction does not wait for the disk: a power loss before the next
    /// synced commit reverts it as a whole, and the change log still contains its rows.
    pub(super) fn flush(&mut self) -> Result<(), StoreError> {
        if self.log.is_empty() {
            return Ok(());
        }
        let counters: Vec<_> = self.memory.iter().map(|(workspace, memory)| (*workspace, memory.counters)).collect();
        let batch = self.log.next_batch();
        self.connection.execute_batch("PRAGMA synchronous = NORMAL")?;
        let done = self.transaction(|database| database.write_tables(&RowChanges::default(), &counters, batch));
        self.connection.execute_batch("PRAGMA synchronous = FULL")?;
        done?;
        self.log.flushed(batch);
        self.unflushed = Unflushed::default();
        self.memory.values_mut().for_each(Memory::flushed);
        Ok(())
    }

    /// Flushes inside a transaction, runs a query on the result, and rolls back. Nothing is written to disk.
    pub(super) fn query_unflushed(&self, query: impl FnOnce(Result<&Connection, StoreError>)) {
        let ready = self.connection.execute_batch("PRAGMA cache_spill = OFF; BEGIN IMMEDIATE").map_err(StoreError::from);
        let ready = ready.and_then(|()| self.write_tables(&RowChanges::default(), &[], self.log.next_batch()));
        query(ready.map(|()| &self.connection));
        let _ = self.connection.execute_batch("ROLLBACK; PRAGMA cache_spill = ON");
    }

    /// Enables overwriting of deleted content while a transaction changes secrets, so that no unused part of the file contains
    /// them.
    fn secure_delete(&self, on: bool) -> Result<(), StoreError> {
        self.connection.pragma_update(None, "secure_delete", on)?;
        Ok(())
    }

    /// Writes the unflushed changes and then these changes.
    fn write_tables(&self, changes: &RowChanges, counters: &[(WorkspaceId, Counters)], batch: u64) -> Result<(), StoreError> {
        let mut tables = TableWriter::new(&self.connection, &self.statements);
        self.unflushed.write(&mut tables)?;
        for change in changes.iter() {
            tables.write(changes.bytes(), *change, None)?;
        }
        for (workspace, counters) in counters {
            self.connection
                .prepare_cached("UPDATE workspace SET last_seq = ?2, last_outbox = ?3 WHERE id = ?1")?
                .execute(params![workspace.0, counters.seq, counters.outbox])?;
        }
        log::set_flushed(&self.connection, batch)
    }

    /// Runs `write` in a transaction, which is rolled back if it fails.
    fn transaction(&self, write: impl FnOnce(&Self) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let done = write(self).and_then(|()| {
            self.connection.prepare_cached("COMMIT")?.execute([])?;
            Ok(())
        });
        // SQLite may have rolled back already.
        if done.is_err() && !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        done
    }

    pub(super) fn close(self) {
        let Self { connection, .. } = self;
        writer::close(connection);
    }
}
