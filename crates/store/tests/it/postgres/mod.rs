//! PostgreSQL databases for tests: one schema each, on a shared server.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use sayso_store::{PostgresOptions, SecretKey, Store};
use tokio_postgres::NoTls;

use self::cluster::Cluster;
use crate::world::{self, TestClock, TestDatabase, Told, entropy, remember};

mod cluster;
#[path = "../conformance/mod.rs"]
mod conformance;
mod faults;
mod network;
mod pooler;
mod proxy;
mod secrets;

/// Returns the options of a store with the key that all tests use.
fn options(url: &str) -> PostgresOptions {
    PostgresOptions::parse(url, key("a"), None).unwrap()
}

fn key(digit: &str) -> SecretKey {
    SecretKey::parse(&digit.repeat(64)).unwrap()
}

pub(crate) type World = world::World<PostgresDatabase>;

/// A schema with a separate clock: a function that shadows PostgreSQL's and reads the time of a test.
#[derive(Debug)]
pub(crate) struct PostgresDatabase {
    cluster: &'static Cluster,
    schema: String,
    clock: PathBuf,
}

impl TestDatabase for PostgresDatabase {
    fn create(clock: &mut TestClock) -> Self {
        let cluster = Cluster::shared();
        let schema = format!("test_{}", u64::from_be_bytes(entropy()[2..].try_into().unwrap()));
        let file = cluster.dir().join(&schema);
        clock.also_in(file.clone());
        Self { cluster, schema, clock: file }
    }

    async fn open(&self, _: &TestClock) -> (Store, Arc<Mutex<Told>>) {
        self.create_schema().await;
        self.connect(&self.address()).await
    }
}

impl PostgresDatabase {
    /// Returns the directory of the server's socket.
    pub(crate) fn dir(&self) -> &Path {
        self.cluster.dir()
    }

    pub(crate) async fn connect(&self, address: &str) -> (Store, Arc<Mutex<Told>>) {
        let told = Arc::new(Mutex::new(Told::default()));
        let options = options(address);
        (Store::connect(options, remember(&told)).await.unwrap(), told)
    }

    pub(crate) fn address(&self) -> String {
        self.address_in(&self.cluster.dir().to_string_lossy())
    }

    /// Returns the address of the database through a socket in another directory.
    pub(crate) fn address_in(&self, dir: &str) -> String {
        format!("{}&options=-c%20search_path%3D{},pg_catalog", Cluster::address_in(dir), self.schema)
    }

    /// Connects directly, without the store.
    pub(crate) async fn client(&self) -> tokio_postgres::Client {
        let (client, connection) = tokio_postgres::connect(&self.address(), NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    async fn create_schema(&self) {
        let Self { schema, clock, .. } = self;
        let sql = format!(
            "CREATE SCHEMA IF NOT EXISTS {schema};
             CREATE OR REPLACE FUNCTION {schema}.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
                 $$ SELECT to_timestamp(pg_read_file('{}')::numeric / 1000) $$",
            clock.display()
        );
        self.client().await.batch_execute(&sql).await.unwrap();
    }
}
