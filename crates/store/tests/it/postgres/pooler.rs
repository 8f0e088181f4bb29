//! Stores behind PgBouncer in transaction mode, which gives each transaction another connection to the server. Runs a part of
//! the conformance suite there.

use std::fs;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use sayso_store::Store;

use super::PostgresDatabase;
use super::cluster::{Cluster, as_server_user, keep, write_private};
use super::faults::{assert_feed, opening, seqs, told_up_to};
use crate::world::{self, TestClock, TestDatabase, Told};

#[path = "../conformance/asks.rs"]
mod asks;
#[path = "../conformance/batches.rs"]
mod batches;
#[path = "../conformance/feed.rs"]
mod feed;
#[path = "../conformance/sessions.rs"]
mod sessions;

const PROGRAM: &str = "/usr/sbin/pgbouncer";

/// Waits until the test process ends, for any reason, and then stops the pooler.
const KEEPER: &str = r#"
"$1" "$2/pgbouncer.ini" >"$2/log" 2>&1 &
pooler=$!
cat >/dev/null
kill -TERM $pooler
wait $pooler
"#;

/// A pooler in front of the shared server. It listens only on a socket in its own directory.
struct Pooler {
    dir: PathBuf,
    /// Its standard input ends with this process.
    _keeper: Child,
}

impl Pooler {
    /// Returns the pooler of this binary. The first call starts it.
    fn shared() -> &'static Self {
        static SHARED: OnceLock<Pooler> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    fn start() -> Self {
        assert!(Path::new(PROGRAM).exists(), "PgBouncer is not installed; run scripts/need.sh test");
        let server = Cluster::shared().dir();
        let dir = server.join("pooler");
        let made = as_server_user(Path::new("mkdir"), server).arg(&dir).status().unwrap();
        assert!(made.success());
        // Connections to the server are used in turn, so that the transactions of a client do not meet on one of them.
        let settings = format!(
            "[databases]\n* = host={}\n[pgbouncer]\nlisten_addr =\nunix_socket_dir = {}\nlisten_port = 5432\nauth_type = trust\n\
             auth_file = {}\nauth_user = sayso\npool_mode = transaction\nmax_client_conn = 1000\ndefault_pool_size = 4\n\
             server_round_robin = 1\nserver_idle_timeout = 2\n",
            server.display(),
            dir.display(),
            dir.join("users").display(),
        );
        write_private(&dir.join("pgbouncer.ini"), &settings);
        write_private(&dir.join("users"), "\"sayso\" \"\"\n");
        let keeper = keep(KEEPER, &dir, &[Path::new(PROGRAM), &dir]);
        let until = Instant::now() + Duration::from_secs(60);
        while UnixStream::connect(dir.join(".s.PGSQL.5432")).is_err() {
            let log = fs::read_to_string(dir.join("log")).unwrap_or_default();
            assert!(Instant::now() < until, "PgBouncer did not start: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { dir, _keeper: keeper }
    }
}

type World = world::World<PooledDatabase>;

/// A schema with a user of the same name, because a pooler passes no `options` to the server.
#[derive(Debug)]
struct PooledDatabase(PostgresDatabase);

impl PooledDatabase {
    fn address(&self) -> String {
        format!("postgres:///postgres?user={}&host={}", self.0.schema, Pooler::shared().dir.display())
    }
}

impl TestDatabase for PooledDatabase {
    fn create(clock: &mut TestClock) -> Self {
        Self(PostgresDatabase::create(clock))
    }

    async fn open(&self, _: &TestClock) -> (Store, Arc<Mutex<Told>>) {
        self.0.create_schema().await;
        let name = &self.0.schema;
        // The function of the test's clock reads a file, which needs a superuser.
        let sql = format!(
            "DO $$ BEGIN CREATE ROLE {name} SUPERUSER LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
             ALTER ROLE {name} SET search_path = {name}, pg_catalog"
        );
        self.0.client().await.batch_execute(&sql).await.unwrap();
        self.0.connect(&self.address()).await
    }
}

/// LISTEN does not work here, so each store finds the commits of the other one by looking for them.
#[tokio::test(flavor = "multi_thread")]
async fn two_stores_receive_all_commits() {
    let world = World::new().await;
    let (other, told) = world.database.0.connect(&world.database.address()).await;
    for _ in 0..10 {
        let calls = [opening(&world.store), opening(&other), opening(&world.store)];
        for call in calls {
            call.await.unwrap().unwrap();
        }
    }
    for told in [&world.told, &told] {
        told_up_to(told, 30).await;
        assert_feed(&world, &seqs(told)).await;
    }
    other.close().await;
}

/// The pooler stays connected to the client while its connections to the server are killed.
#[tokio::test(flavor = "multi_thread")]
async fn store_works_again_after_the_connections_of_the_pooler_were_killed() {
    let world = World::new().await;
    let admin = world.database.0.client().await;
    let kill =
        format!("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = '{}'", world.database.0.schema);
    for _ in 0..3 {
        opening(&world.store).await.unwrap().unwrap();
        admin.batch_execute(&kill).await.unwrap();
    }
    opening(&world.store).await.unwrap().unwrap();
    told_up_to(&world.told, 4).await;
    assert_feed(&world, &seqs(&world.told)).await;
}
