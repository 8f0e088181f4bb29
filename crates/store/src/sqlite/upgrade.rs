//! Upgrades a database of an earlier version. The rows are copied into a new file, which replaces the old one at the end. The
//! old file is kept under another name. A failure at any point leaves the old file in place.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use sayso_core::id::RunId;

use super::migrate::{connect, create};
use super::statements::{Statements, TableWriter};
use super::store::{open_error, store_error};
use crate::columns::decode::{self, ask_columns};
use crate::columns::encode::add_ask;
use crate::columns::row_bytes::RowChanges;
use crate::columns::table::Table;
use crate::columns::value::column;
use crate::error::{OpenError, StoreError};
use crate::event::{EventKind, WorkspaceId};

/// The schema changes before the copy. Databases of all earlier versions are first upgraded to the last of them.
const EARLIER: [&str; 7] = [
    include_str!("../../migrations/0001_house.sql"),
    include_str!("../../migrations/0002_external.sql"),
    include_str!("../../migrations/0003_kept.sql"),
    include_str!("../../migrations/0004_device.sql"),
    include_str!("../../migrations/0005_runs.sql"),
    include_str!("../../migrations/0006_notes.sql"),
    include_str!("../../migrations/0007_attached.sql"),
];

/// Progress is logged after this many asks.
const PROGRESS: usize = 10_000;

pub(super) fn upgrade(old: Connection, path: &Path, found: i64) -> Result<(), OpenError> {
    let failed = |error| open_error(path, error);
    tracing::info!(from = found, "upgrading the database");
    apply_earlier(&old, found).map_err(failed)?;
    // The kept file must contain everything, without a write-ahead log.
    old.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE;").map_err(failed)?;
    drop(old);
    let new = path.with_extension("upgrade");
    let copied = copy(path, &new);
    if let Err(error) = copied {
        let _ = fs::remove_file(&new);
        return Err(error);
    }
    replace(path, &new).map_err(|source| OpenError::Io { path: path.to_owned(), source })
}

fn apply_earlier(old: &Connection, found: i64) -> rusqlite::Result<()> {
    let done = usize::try_from(found).unwrap_or(0);
    old.execute_batch("BEGIN IMMEDIATE")?;
    for migration in &EARLIER[done.min(EARLIER.len())..] {
        old.execute_batch(migration)?;
    }
    old.pragma_update(None, "user_version", i64::try_from(EARLIER.len()).unwrap_or(i64::MAX))?;
    old.execute_batch("COMMIT")
}

/// Replaces the old file by the new one, and keeps the old one under another name.
fn replace(path: &Path, new: &Path) -> std::io::Result<()> {
    let kept = free_name(path);
    // Earlier versions may have created the file with wider permissions.
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    // Unlike a rename, `hard_link` never replaces an existing file.
    fs::hard_link(path, &kept)?;
    fs::rename(new, path)?;
    if let Some(dir) = path.parent() {
        fs::File::open(dir)?.sync_all()?;
    }
    tracing::info!(backup = %kept.display(), "database upgraded");
    Ok(())
}

/// Returns `before-8.db`, or a name with a number if that file exists.
fn free_name(path: &Path) -> PathBuf {
    let is_free = |name: &Path| name.symlink_metadata().is_err();
    let first = path.with_extension("before-8.db");
    if is_free(&first) {
        return first;
    }
    (2..).map(|number| path.with_extension(format!("before-8-{number}.db"))).find(|name| is_free(name)).unwrap_or(first)
}

fn copy(path: &Path, new: &Path) -> Result<(), OpenError> {
    match fs::remove_file(new) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(source) => return Err(OpenError::Io { path: new.to_owned(), source }),
    }
    let db = connect(new)?;
    let failed = |error| open_error(path, error);
    create(&db).map_err(failed)?;
    db.execute("ATTACH DATABASE ?1 AS old", [path.to_string_lossy()]).map_err(failed)?;
    db.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
    let stored = |error| store_error(path, error);
    copy_plain(&db).map_err(failed)?;
    copy_sessions(&db).map_err(failed)?;
    copy_runs(&db).map_err(stored)?;
    copy_asks(&db).map_err(stored)?;
    count_rule_hits(&db).map_err(failed)?;
    compare_counts(&db).map_err(stored)?;
    db.execute_batch("COMMIT").map_err(failed)?;
    db.close().map_err(|(_, error)| failed(error))
}

/// Copies the tables whose rows do not change.
fn copy_plain(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(
        "DELETE FROM workspace;
         INSERT INTO workspace (id, name, last_seq, last_outbox) SELECT id, name, last_seq, last_outbox FROM old.workspace;
         INSERT INTO connection (workspace, id, kind, agent, epoch, position, wire, state, wake_ms)
             SELECT workspace, id, kind, agent, epoch, position, wire, state, wake_ms FROM old.connection;
         INSERT INTO event (workspace, seq, at_ms, kind, session, ask, run, data)
             SELECT workspace, seq, at_ms, kind, session, ask, run, data FROM old.event ORDER BY workspace, seq;
         INSERT INTO block (workspace, id, session, seq, data) SELECT workspace, id, session, seq, data FROM old.block ORDER BY seq;
         INSERT INTO outbox (workspace, id, connection, session, kind, ask, body, tried)
             SELECT workspace, id, connection, session, CASE WHEN kind > 4 THEN kind - 2 ELSE kind END, ask, body, kind > 4
             FROM old.outbox;
         INSERT INTO secret (workspace, ask, answers) SELECT workspace, ask, answers FROM old.secret;
         INSERT INTO idempotency (workspace, token, route, key, fingerprint, target, at_ms)
             SELECT workspace, token, route, key, fingerprint, target, at_ms FROM old.idempotency;
         INSERT INTO token (workspace, id, hash, role, actor, scope, created_ms, expires_ms, revoked_ms, device)
             SELECT workspace, id, hash, role, actor, scope, created_ms, expires_ms, revoked_ms, device FROM old.token;
         INSERT INTO login_code (workspace, hash, role, actor, expires_ms)
             SELECT workspace, hash, role, actor, expires_ms FROM old.login_code;
         INSERT INTO grant_rule (workspace, id, until_ms, data) SELECT workspace, id, until_ms, data FROM old.grant_rule;
         INSERT INTO setting (workspace, key, value) SELECT workspace, key, value FROM old.setting;
         INSERT INTO trust (workspace, path, hash, at_ms) SELECT workspace, path, hash, at_ms FROM old.trust;
         INSERT INTO external (workspace, token, agent, native_id, session)
             SELECT workspace, token, agent, native_id, session FROM old.external;
         INSERT INTO note (workspace, ask, channel, state, attempts, due_ms, message)
             SELECT workspace, ask, channel, state, attempts, due_ms, message FROM old.note;
         INSERT INTO push (workspace, token, endpoint, public_key, auth)
             SELECT workspace, token, endpoint, public_key, auth FROM old.push;",
    )
}

/// Copies sessions, with the `seq` of the event that created each. If that event was deleted by retention, the session is older
/// than all stored events and gets a negative number, in the old order.
fn copy_sessions(db: &Connection) -> rusqlite::Result<()> {
    db.execute(
        "INSERT INTO session (workspace, id, seq, connection, ended, updated_ms, data)
             SELECT workspace, id,
                 coalesce((SELECT min(seq) FROM old.event e WHERE e.session = s.id AND e.kind = ?1),
                          n - (SELECT max(n) + 1 FROM old.session)),
                 connection, ended, updated_ms, data
             FROM old.session s",
        [EventKind::SessionCreated as i64],
    )?;
    Ok(())
}

fn copy_runs(db: &Connection) -> Result<(), StoreError> {
    let mut runs = db.prepare("SELECT id, n - (SELECT max(n) + 1 FROM old.run) FROM old.run")?;
    let mut started = db.prepare("SELECT min(seq) FROM old.event WHERE run = ?1 AND kind = ?2")?;
    let mut insert = db.prepare(
        "INSERT INTO run (workspace, id, seq, over, version, updated_ms, data)
             SELECT workspace, id, ?2, over, version, updated_ms, data FROM old.run WHERE id = ?1",
    )?;
    let mut rows = runs.query([])?;
    while let Some(row) = rows.next()? {
        let id = RunId::from_bytes(column(row, 0)?);
        let seq: Option<i64> = started.query_row(params![id.as_bytes(), EventKind::RunStarted as i64], |row| row.get(0))?;
        insert.execute(params![id.as_bytes(), seq.map_or_else(|| column(row, 1), Ok)?])?;
    }
    db.execute_batch(
        "INSERT INTO run_step (workspace, run, position, session, ask, data)
             SELECT r.workspace, s.run, s.position, s.session, s.ask, s.data FROM old.run_step s JOIN old.run r ON r.id = s.run",
    )?;
    Ok(())
}

/// Copies asks by decoding and encoding them, because some of their fields become columns.
fn copy_asks(db: &Connection) -> Result<(), StoreError> {
    let statements = Statements::new();
    let mut tables = TableWriter::new(db, &statements);
    let total: i64 = db.query_row("SELECT count(*) FROM old.ask", [], |row| row.get(0))?;
    let mut asks = db.prepare(concat!("SELECT ", ask_columns!(""), ", workspace FROM old.ask ORDER BY n"))?;
    let mut rows = asks.query([])?;
    let mut copied = 0_usize;
    while let Some(row) = rows.next()? {
        let workspace = WorkspaceId(column(row, decode::ASK_WIDTH)?);
        let ask = decode::ask(row, 0)?;
        let mut changes = RowChanges::default();
        add_ask(&mut changes, workspace, &ask)?;
        for change in changes.iter() {
            tables.write(changes.bytes(), *change, None)?;
        }
        copied += 1;
        if copied.is_multiple_of(PROGRESS) {
            tracing::info!(copied, total, "upgrading asks");
        }
    }
    Ok(())
}

/// Counts the rule hits of asks, which earlier versions did not store. The outcome of an ask names the rule that decided it. A
/// default of the policy, for example `questions.policy = "ask"`, is not a rule.
fn count_rule_hits(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(
        "INSERT OR IGNORE INTO rule_hit (workspace, rule, at_ms, ask)
             SELECT workspace, outcome ->> '$.by.rule', opened_ms, id FROM ask
             WHERE status >= 2 AND outcome ->> '$.by.kind' = 'policy' AND outcome ->> '$.by.rule' NOT LIKE '%.policy = %'",
    )
}

fn compare_counts(db: &Connection) -> Result<(), StoreError> {
    // Earlier versions have no rule hits and no groups.
    let is_new = |table: &Table| matches!(table, Table::RuleHit | Table::Group | Table::GroupState);
    for table in Table::ALL.into_iter().filter(|table| !is_new(table)) {
        let name = table.name();
        let (old, new): (i64, i64) =
            db.query_row(&format!("SELECT (SELECT count(*) FROM old.{name}), (SELECT count(*) FROM main.{name})"), [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        if old != new {
            let detail = format!("{new} of {old} rows of {name} were copied");
            return Err(StoreError::Unreadable { what: "database of an earlier version", detail });
        }
    }
    Ok(())
}
