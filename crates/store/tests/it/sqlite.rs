//! SQLite databases for tests.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use sayso_store::Store;

use crate::world::{self, TestClock, TestDatabase, Told, open_with_clock};

#[path = "conformance/mod.rs"]
pub(crate) mod conformance;

pub(crate) type World = world::World<SqliteDatabase>;

/// A database file in a temporary directory.
#[derive(Debug)]
pub(crate) struct SqliteDatabase(tempfile::TempDir);

impl TestDatabase for SqliteDatabase {
    fn create(_: &mut TestClock) -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    async fn open(&self, clock: &TestClock) -> (Store, Arc<Mutex<Told>>) {
        open_with_clock(self.0.path().join("sayso.db"), clock).unwrap()
    }
}

impl World {
    pub(crate) fn dir(&self) -> &Path {
        self.database.0.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir().join("sayso.db")
    }
}
