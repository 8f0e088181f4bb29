//! Opens the files that a power loss left, and compares the content of the store with its acknowledgements.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use sayso_core::ask::{Ask, AskState, Delivery};
use sayso_core::id::{AskId, ConnectionId};
use sayso_core::scope::Scope;
use sayso_store::ops::LoadConnection;
use sayso_store::read::{FindUnfinishedWork, ListAsks, ReadEvents, StatusFilter};
use sayso_store::{EventPayload, OutboxPayload, Store, StoreOptions};

use super::acks::{Acknowledged, asked_hash, decision_hash};
use crate::world::{MAIN, at};

/// Returns the number of checked asks, or the first error.
pub(super) fn check(dir: &Path, acks: &Acknowledged) -> Result<usize, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let path = dir.join("sayso.db");
        let store = Store::open(&StoreOptions::new(&path), || at(60), |_| {}).map_err(|error| format!("not opened: {error}"))?;
        let asks = stored_asks(&store).await?;
        acknowledged_is_stored(&asks, acks)?;
        feed_agrees_with_asks(&store, &asks, acks).await?;
        outbox_agrees_with_asks(&store, &asks, acks).await?;
        store.close().await;
        file_is_sound(&path)?;
        forgotten_is_nowhere(dir, acks)?;
        Ok(asks.len())
    })
}

/// Reads all asks. Each one must occur once.
pub(super) async fn stored_asks(store: &Store) -> Result<HashMap<AskId, Ask>, String> {
    let all = ListAsks { status: StatusFilter::Any, ..ListAsks::pending(MAIN, Scope::All, 1_000_000) };
    let rows = store.read(all).await.map_err(|error| format!("asks: {error}"))?.rows;
    let count = rows.len();
    let asks: HashMap<_, _> = rows.into_iter().map(|ask| (ask.id, ask)).collect();
    if asks.len() == count { Ok(asks) } else { Err(format!("{count} rows for {} asks", asks.len())) }
}

fn acknowledged_is_stored(asks: &HashMap<AskId, Ask>, acks: &Acknowledged) -> Result<(), String> {
    for (id, hash) in &acks.opened {
        let ask = asks.get(id).ok_or_else(|| format!("ask {id} is lost"))?;
        if asked_hash(ask) != *hash {
            return Err(format!("ask {id} changed"));
        }
    }
    for (id, hash) in &acks.resolved {
        let outcome = asks.get(id).and_then(Ask::outcome).ok_or_else(|| format!("the outcome of {id} is lost"))?;
        if decision_hash(&outcome.decision) != *hash {
            return Err(format!("the outcome of {id} changed"));
        }
    }
    for id in &acks.delivered {
        let state = asks.get(id).map(|ask| &ask.state);
        if !matches!(state, Some(AskState::Resolved { delivery: Delivery::Delivered, .. })) {
            return Err(format!("the delivery of {id} is lost"));
        }
    }
    Ok(())
}

/// Checks that the feed has no gaps and announces each ask and each outcome once.
async fn feed_agrees_with_asks(store: &Store, asks: &HashMap<AskId, Ask>, acks: &Acknowledged) -> Result<(), String> {
    let query = ReadEvents { workspace: MAIN, after: 0, session: None, limit: 1_000_000 };
    let past = store.read(query).await.map_err(|error| format!("events: {error}"))?;
    let seqs: Vec<_> = past.events.iter().map(|event| event.seq).collect();
    if seqs != (1..=past.head).collect::<Vec<_>>() {
        return Err("the feed has a gap".to_owned());
    }
    if past.head < acks.published {
        return Err(format!("event {} was published and is lost", acks.published));
    }
    let (mut requested, mut resolved) = (Vec::new(), Vec::new());
    for event in past.events {
        match event.payload {
            EventPayload::AskRequested(ask) => requested.push(ask.id),
            EventPayload::AskResolved(ask) => resolved.push(ask.id),
            _ => {}
        }
    }
    let ended: HashSet<_> = asks.values().filter(|ask| ask.outcome().is_some()).map(|ask| ask.id).collect();
    each_once(requested, &asks.keys().copied().collect(), "requested")?;
    each_once(resolved, &ended, "resolved")
}

/// Checks that an outcome is in the outbox if and only if it is not delivered.
async fn outbox_agrees_with_asks(store: &Store, asks: &HashMap<AskId, Ask>, acks: &Acknowledged) -> Result<(), String> {
    let failed = |error| format!("outbox: {error}");
    let mut connections: HashSet<ConnectionId> = asks.values().filter_map(|ask| ask.origin.connection).collect();
    connections.extend(store.read(FindUnfinishedWork { workspace: MAIN }).await.map_err(failed)?.connections);
    let mut waiting = Vec::new();
    for connection in connections {
        let loaded = store.write(LoadConnection { workspace: MAIN, connection }).await.map_err(failed)?;
        for row in loaded.ok_or("an ask without its connection")?.outbox {
            match row.payload {
                OutboxPayload::Outcome { ask, .. } => waiting.push(ask.id),
                OutboxPayload::Send { ask, .. } => waiting.extend(ask),
                OutboxPayload::Command(_) => {}
            }
        }
    }
    let queued = |ask: &&Ask| matches!(ask.state, AskState::Resolved { delivery: Delivery::Queued, .. });
    let ours = |id: &AskId| !acks.earlier.contains(id);
    waiting.retain(ours);
    let undelivered = asks.values().filter(queued).filter(|ask| ask.origin.connection.is_some()).map(|ask| ask.id);
    let undelivered = undelivered.filter(ours).collect();
    each_once(waiting, &undelivered, "in the outbox")
}

fn each_once(found: Vec<AskId>, expected: &HashSet<AskId>, what: &str) -> Result<(), String> {
    let count = found.len();
    let found: HashSet<_> = found.into_iter().collect();
    if count != found.len() {
        return Err(format!("an ask is {what} twice"));
    }
    let differing: Vec<_> = found.symmetric_difference(expected).collect();
    if differing.is_empty() { Ok(()) } else { Err(format!("{what}, or missing there: {differing:?}")) }
}

fn file_is_sound(path: &Path) -> Result<(), String> {
    let sqlite = rusqlite::Connection::open(path).unwrap();
    let health = sqlite.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
    match health.as_deref() {
        Ok("ok") => Ok(()),
        Ok(other) => Err(other.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn forgotten_is_nowhere(dir: &Path, acks: &Acknowledged) -> Result<(), String> {
    if acks.forgotten.is_empty() {
        return Ok(());
    }
    // All values start with the same letter.
    let ends: HashSet<&[u8]> = acks.forgotten.iter().map(|value| &value.as_bytes()[1..]).collect();
    for (name, bytes) in super::trace::read_files(dir) {
        for rest in bytes.split(|byte| *byte == b's').filter(|rest| rest.starts_with(b"ecret-")) {
            if ends.iter().any(|end| rest.starts_with(end)) {
                return Err(format!("a deleted secret is in {name}"));
            }
        }
    }
    Ok(())
}
