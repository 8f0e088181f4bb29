//! Tests that rows of earlier versions are parsed and rendered as they were then.

use std::collections::BTreeSet;
use std::path::Path;

use sayso_api::event::Event;
use sayso_core::time::Time;
use sayso_store::read::ReadEvents;
use sayso_store::{Commit, Store, StoreOptions, WorkspaceId, probe};

use super::frame::Frame;

const ROWS: &str = include_str!("stored_by_0_1.sql");
/// The frames of version 0.1.0 for these rows, with the codes of texts that later versions add.
const STREAM: &str = include_str!("stored_by_0_1.txt");

fn open(path: &Path) -> Store {
    Store::open(&StoreOptions::new(path.to_owned()), || Time::from_millis(0), |_: Commit| {}).unwrap()
}

/// Creates a database of version 0.1. Opening it upgrades it, which must not change its events.
fn database_of_version_0_1(path: &Path) {
    let migrations = concat!(env!("CARGO_MANIFEST_DIR"), "/../store/migrations");
    let mut files: Vec<_> = std::fs::read_dir(migrations).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in &files {
        probe::run_sql(path, &std::fs::read_to_string(file).unwrap()).unwrap();
    }
    probe::run_sql(path, &format!("PRAGMA user_version = {}", files.len())).unwrap();
    probe::run_sql(path, ROWS).unwrap();
}

#[tokio::test]
async fn rows_of_version_0_1_render_byte_for_byte() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("sayso.db");
    database_of_version_0_1(&path);
    let page = ReadEvents { workspace: WorkspaceId::MAIN, after: 0, session: None, limit: 1000 };
    let events = open(&path).read(page).await.unwrap().events;
    let rendered: Vec<u8> = events.into_iter().flat_map(|event| Frame::stored(event).native().to_vec()).collect();
    assert_eq!(String::from_utf8(rendered).unwrap(), STREAM);
}

#[test]
fn stored_rows_cover_every_stored_event() {
    let names: BTreeSet<&str> = STREAM.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    let stored: BTreeSet<&str> = Event::NAMES.iter().copied().filter(|name| *name != "message.delta").collect();
    assert_eq!(names, stored);
}
