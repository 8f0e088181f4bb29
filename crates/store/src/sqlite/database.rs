//! The writing connection with everything that belongs to it: the change log and the rows in memory.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::types::Value;
use rusqlite::{Connection, params};
use sayso_core::time::Time;

use super::checkpoint::{self, LogReset};
use super::encode::{Encoded, encode};
use super::load;
use super::log::{self, ChangeLog};
use super::memory::Memory;
use super::table::{RowChange, Statements, Table};
use super::writer;
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::Reads;
use crate::unit::{Counters, Unit};

/// How many rows wait in the log at most. A flush of so many takes about ten milliseconds, in which nothing is committed.
const UNFLUSHED_ROWS: usize = 2_500;

#[derive(Debug)]
pub(super) struct Database {
    connection: Connection,
    statements: Statements,
    log: ChangeLog,
    memory: HashMap<WorkspaceId, Memory>,
    /// Changes in the log, each row once, in the order in which rows first changed.
    unflushed: Unflushed,
    secret_deleted: bool,
    wal_pages: Arc<AtomicU32>,
}

/// Row changes that wait for a flush.
#[derive(Debug, Default)]
struct Unflushed {
    changes: Vec<Option<RowChange>>,
    /// Where the change of a row is.
    places: HashMap<(Table, Vec<u8>), usize>,
}

impl Unflushed {
    fn len(&self) -> usize {
        self.changes.len()
    }

    fn add(&mut self, change: RowChange) {
        if change.table() == Table::Event {
            // Events are only ever added.
            self.changes.push(Some(change));
            return;
        }
        match self.places.entry((change.table(), key_bytes(change.key()))) {
            Entry::Vacant(place) => {
                place.insert(self.changes.len());
                self.changes.push(Some(change));
            }
            Entry::Occupied(place) => {
                let slot = &mut self.changes[*place.get()];
                match (slot.as_mut(), change) {
                    (Some(RowChange::Put { values, .. }), RowChange::AskState { values: state }) => {
                        let width = Table::Ask.key_width();
                        let from = values.len() - (state.len() - width);
                        values.splice(from.., state.into_iter().skip(width));
                    }
                    (_, change) => *slot = Some(change),
                }
            }
        }
    }
}

fn key_bytes(key: &[Value]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(40);
    for value in key {
        match value {
            Value::Null | Value::Real(_) => bytes.push(0),
            Value::Integer(number) => bytes.extend(number.to_le_bytes()),
            Value::Text(text) => {
                bytes.extend(text.len().to_le_bytes());
                bytes.extend(text.as_bytes());
            }
            Value::Blob(blob) => {
                bytes.extend(blob.len().to_le_bytes());
                bytes.extend(blob);
            }
        }
    }
    bytes
}

impl Database {
    /// Takes over a connection to a database of the current schema, and replays its log.
    pub(super) fn new(mut connection: Connection) -> Result<Self, StoreError> {
        let wal_pages = Arc::new(AtomicU32::new(0));
        let pages = Arc::clone(&wal_pages);
        connection.wal_hook(Some(move |_: &'_ mut rusqlite::hooks::Wal, count: std::ffi::c_int| {
            pages.store(count.unsigned_abs(), Ordering::Relaxed);
            Ok(())
        }))?;
        let replay = log::replay(&connection)?;
        let mut database = Self {
            connection,
            statements: Statements::new(),
            log: ChangeLog::after(&replay),
            memory: HashMap::new(),
            unflushed: Unflushed::default(),
            secret_deleted: false,
            wal_pages,
        };
        if let Some(counters) = replay.counters {
            tracing::info!(changes = replay.changes.len(), "replaying the change log");
            for change in replay.changes {
                database.unflushed.add(change);
            }
            database.transaction(|database| database.write_tables(&[], &[(WorkspaceId::MAIN, counters)], replay.last_batch))?;
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

    /// How many pages the write-ahead log has.
    pub(super) fn wal_pages(&self) -> u32 {
        self.wal_pages.load(Ordering::Relaxed)
    }

    /// Takes the last step of a checkpoint. Returns whether it was complete.
    pub(super) fn reset_log(&mut self, step: LogReset) -> bool {
        let complete = checkpoint::reset_log(&self.connection, step);
        if complete {
            self.wal_pages.store(0, Ordering::Relaxed);
        }
        complete
    }

    /// Whether a secret was deleted since the last call.
    pub(super) const fn take_secret_deleted(&mut self) -> bool {
        std::mem::replace(&mut self.secret_deleted, false)
    }

    fn memory(&mut self, workspace: WorkspaceId) -> Result<&mut Memory, StoreError> {
        match self.memory.entry(workspace) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(Memory::load(&self.connection, workspace)?)),
        }
    }

    /// The unit of a workspace in this batch.
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

    /// Loads what was named into a unit.
    pub(super) fn load(&mut self, unit: &mut Unit, reads: &mut Reads) -> Result<(), StoreError> {
        for read in reads.drain().collect::<Vec<_>>() {
            if load::needs_flush(&read) && !unit.has(&read) {
                self.flush()?;
            }
            self.memory(unit.workspace)?;
            let Some(memory) = self.memory.get_mut(&unit.workspace) else { continue };
            load::load(&self.connection, memory, unit, read)?;
        }
        Ok(())
    }

    /// Makes a batch durable: as a record of the log, or in the tables together with everything the log has.
    pub(super) fn commit(&mut self, units: &HashMap<WorkspaceId, Unit>, flush: bool) -> Result<(), StoreError> {
        let mut changes = Vec::new();
        let mut secrets = Vec::new();
        let mut counters = Vec::with_capacity(units.len());
        for (workspace, unit) in units {
            let Encoded { changes: more, secrets: hidden } = encode(unit)?;
            if more.is_empty() && hidden.is_empty() {
                continue;
            }
            changes.extend(more);
            secrets.extend(hidden);
            counters.push((*workspace, unit.counters));
        }
        if counters.is_empty() {
            return Ok(());
        }
        let payload = match counters.as_slice() {
            [(WorkspaceId::MAIN, counters)] if secrets.is_empty() && !flush => Some(log::encode(*counters, &changes)),
            _ => None,
        };
        let room = |payload: &Vec<u8>| self.log.has_room(payload.len()) && self.unflushed.len() < UNFLUSHED_ROWS;
        match payload.filter(room) {
            Some(payload) => {
                self.transaction(|database| database.log.append(&database.connection, &payload))?;
                self.log.appended(payload.len());
                for change in changes {
                    self.unflushed.add(change);
                }
                self.committed(units);
            }
            None => {
                let batch = self.log.next_batch();
                let secret = !secrets.is_empty();
                let all = [changes, secrets].concat();
                if secret {
                    self.secure_delete(true)?;
                }
                let done = self.transaction(|database| database.write_tables(&all, &counters, batch));
                if secret {
                    // The batch is decided. If this fails, later deletions overwrite as well.
                    let _ = self.secure_delete(false);
                }
                done?;
                self.secret_deleted |= all.iter().any(|change| matches!(change, RowChange::Delete { table: Table::Secret, .. }));
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

    /// Writes everything the log has into the tables.
    pub(super) fn flush(&mut self) -> Result<(), StoreError> {
        if self.log.is_empty() {
            return Ok(());
        }
        let counters: Vec<_> = self.memory.iter().map(|(workspace, memory)| (*workspace, memory.counters)).collect();
        let batch = self.log.next_batch();
        self.transaction(|database| database.write_tables(&[], &counters, batch))?;
        self.log.flushed(batch);
        self.unflushed = Unflushed::default();
        self.memory.values_mut().for_each(Memory::flushed);
        Ok(())
    }

    /// Runs a query on the tables as a flush would leave them, and takes the flush back. Nothing is written to the disk.
    pub(super) fn query_unflushed(&self, query: impl FnOnce(Result<&Connection, StoreError>)) {
        let ready = self.connection.execute_batch("PRAGMA cache_spill = OFF; BEGIN IMMEDIATE").map_err(StoreError::from);
        let ready = ready.and_then(|()| self.write_tables(&[], &[], self.log.next_batch()));
        query(ready.map(|()| &self.connection));
        let _ = self.connection.execute_batch("ROLLBACK; PRAGMA cache_spill = ON");
    }

    /// Overwrites deleted content while a transaction touches secrets, so that none is left in an unused part of the file.
    fn secure_delete(&self, on: bool) -> Result<(), StoreError> {
        self.connection.pragma_update(None, "secure_delete", on)?;
        Ok(())
    }

    fn write_tables(&self, changes: &[RowChange], counters: &[(WorkspaceId, Counters)], batch: u64) -> Result<(), StoreError> {
        for change in self.unflushed.changes.iter().flatten().chain(changes) {
            change.write(&self.connection, &self.statements)?;
        }
        for (workspace, counters) in counters {
            self.connection
                .prepare_cached("UPDATE workspace SET last_seq = ?2, last_outbox = ?3 WHERE id = ?1")?
                .execute(params![workspace.0, counters.seq, counters.outbox])?;
        }
        log::set_flushed(&self.connection, batch)
    }

    /// All or nothing.
    fn transaction(&self, write: impl FnOnce(&Self) -> Result<(), StoreError>) -> Result<(), StoreError> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let done = write(self).and_then(|()| {
            self.connection.prepare_cached("COMMIT")?.execute([])?;
            Ok(())
        });
        // SQLite may have rolled back by itself.
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
