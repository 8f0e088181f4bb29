//! Tests of the database file and its directory: damaged, newer, locked, copied and closed.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sayso_core::scope::Scope;
use sayso_core::time::Time;
use sayso_store::ops::LoadConnection;
use sayso_store::read::{
    CountRuleHits, FindUnfinishedWork, ListAsks, ListSessions, ReadEvents, ReadFeedHead, RuleHits, StatusFilter,
};
use sayso_store::{DirLock, OpenError, OutboxPayload, Store, StoreError, backup};

use crate::sqlite::World;
use crate::sqlite::conformance::plain_text::store_nul_in_every_content;
use crate::world::{MAIN, answered, ask, open, question};

/// Creates a database with content and closes it.
async fn closed() -> World {
    let world = World::new().await;
    for _ in 0..20 {
        let ask = world.open(ask(question())).await;
        world.resolve(ask.id, answered("A")).await.unwrap();
    }
    world.store.close().await;
    world
}

/// Reads everything in the directory, to detect changes.
fn contents(world: &World) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(world.dir())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.to_string_lossy().ends_with("-shm"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// PostgreSQL cannot store a text with U+0000. JSON escapes it.
#[tokio::test]
async fn no_text_of_any_column_contains_nul() {
    let world = World::new().await;
    store_nul_in_every_content(&world).await;
    world.store.close().await;
    let sqlite = rusqlite::Connection::open(world.path()).unwrap();
    let columns = "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table'";
    let mut statement = sqlite.prepare(columns).unwrap();
    let columns = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).unwrap();
    let (mut with_escape, mut with_nul) = (Vec::new(), Vec::new());
    for (table, column) in columns.map(Result::unwrap) {
        let count = |sought: &str| {
            let sql = format!(
                "SELECT count(*) FROM {table} WHERE typeof({column}) = 'text' AND instr(CAST({column} AS BLOB), {sought})"
            );
            sqlite.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap()
        };
        if count("CAST('\\u0000' AS BLOB)") > 0 {
            with_escape.push(format!("{table}.{column}"));
        }
        if count("x'00'") > 0 {
            with_nul.push(format!("{table}.{column}"));
        }
    }
    assert_eq!(with_nul, [] as [String; 0]);
    with_escape.sort();
    assert_eq!(with_escape, ["ask.body", "ask.context", "ask.outcome", "block.data", "event.data", "session.data"]);
}

#[tokio::test]
async fn newer_database_is_refused_and_not_changed() {
    let world = closed().await;
    let sqlite = rusqlite::Connection::open(world.path()).unwrap();
    sqlite.pragma_update(None, "user_version", 4711).unwrap();
    sqlite.close().unwrap();
    let before = contents(&world);
    let refused = open(world.path()).unwrap_err();
    assert!(matches!(refused, OpenError::Newer { found: 4711, known, .. } if known < 4711), "{refused:?}");
    assert!(refused.to_string().contains("newer Sayso"), "{refused}");
    assert_eq!(contents(&world), before);
}

/// Creates a database of the previous release.
pub(crate) fn previous_release(path: &Path) {
    let sqlite = rusqlite::Connection::open(path).unwrap();
    sqlite.execute_batch(include_str!("../fixtures/schema-7.sql")).unwrap();
    sqlite.close().map_err(|(_, error)| error).unwrap();
}

/// Copies the rows of a database into one with only the first migrations.
fn downgrade(database: &Path, old: &Path, migrations: &[String]) {
    let sqlite = rusqlite::Connection::open(old).unwrap();
    for migration in migrations {
        sqlite.execute_batch(migration).unwrap();
    }
    sqlite.pragma_update(None, "user_version", i64::try_from(migrations.len()).unwrap()).unwrap();
    sqlite.execute("ATTACH ? AS new", [database.to_str().unwrap()]).unwrap();
    let names = |sql: &str| -> Vec<String> {
        sqlite.prepare(sql).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    for table in names("SELECT name FROM main.sqlite_schema WHERE type = 'table'") {
        let columns = names(&format!("SELECT name FROM pragma_table_info('{table}', 'main')")).join(", ");
        let copy = format!("DELETE FROM main.{table}; INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}");
        sqlite.execute_batch(&copy).unwrap();
    }
    sqlite.close().map_err(|(_, error)| error).unwrap();
}

#[tokio::test]
async fn database_of_the_previous_release_is_upgraded_with_every_row() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sayso.db");
    previous_release(&path);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (store, _) = open(path.clone()).unwrap();
    let page = store.read(ListAsks { status: StatusFilter::Any, ..ListAsks::pending(MAIN, Scope::All, 100) }).await.unwrap();
    let pending = store.read(ListAsks::pending(MAIN, Scope::All, 100)).await.unwrap();
    assert_eq!((page.rows.len(), pending.rows.len(), page.seq), (12, 9, 53));
    let sessions = ListSessions {
        workspace: MAIN,
        scope: Scope::All,
        open_only: false,
        label: None,
        id_ends_with: None,
        limit: 100,
        after: None,
    };
    let listed = store.read(sessions).await.unwrap().rows;
    assert_eq!(listed.len(), 8);
    assert!(listed.is_sorted_by_key(|(session, _)| std::cmp::Reverse(session.created_at)), "newest first");
    let words = ListAsks { words: Some("deploy WHERE".to_owned()), ..ListAsks::pending(MAIN, Scope::All, 100) };
    assert_eq!(store.read(words).await.unwrap().rows.len(), 1, "the search finds asks of the previous release");
    let unfinished = store.read(FindUnfinishedWork { workspace: MAIN }).await.unwrap();
    assert_eq!((unfinished.deadlines.len(), unfinished.kept.len()), (1, 1));
    let connection = pending.rows.iter().find_map(|ask| ask.origin.connection);
    assert!(connection.is_some());
    let mut payloads = Vec::new();
    for connection in unfinished.connections {
        let loaded = store.write(LoadConnection { workspace: MAIN, connection }).await.unwrap().unwrap();
        payloads.extend(loaded.outbox.into_iter().map(|row| match row.payload {
            OutboxPayload::Outcome { .. } => "outcome".to_owned(),
            OutboxPayload::Command(command) => command.as_str().to_owned(),
            OutboxPayload::Send { message, tried, .. } => format!("{} {tried}", message.as_str()),
        }));
    }
    let sent = [r#"{"interrupt":null}"#, r#"{"line":"a"} false"#, r#"{"line":"b"} true"#, r#"{"line":"c"} true"#];
    assert_eq!(payloads.into_iter().filter(|payload| payload != "outcome").collect::<Vec<_>>(), sent);
    let past = store.read(ReadEvents { workspace: MAIN, after: 0, session: None, limit: 100 }).await.unwrap();
    assert_eq!((past.events.len(), past.oldest, past.head), (53, 1, 53));
    store.close().await;
    for name in ["sayso.db", "sayso.before-8.db"] {
        assert_eq!(std::fs::metadata(dir.path().join(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    let kept = rusqlite::Connection::open(dir.path().join("sayso.before-8.db")).unwrap();
    assert_eq!(kept.query_row("SELECT count(*) FROM ask", [], |row| row.get::<_, i64>(0)).unwrap(), 12);
}

#[tokio::test]
async fn databases_of_every_earlier_schema_are_backed_up_and_upgraded() {
    let mut files: Vec<_> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let migrations: Vec<_> = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let dir = tempfile::tempdir().unwrap();
    let released = dir.path().join("released.db");
    previous_release(&released);
    let any = ListAsks { status: StatusFilter::Any, ..ListAsks::pending(MAIN, Scope::All, 100) };
    let rows = async |store: Store| store.read(any.clone()).await.unwrap().rows;
    let mut found = Vec::new();
    for version in 1..=migrations.len() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sayso.db");
        downgrade(&released, &path, &migrations[..version]);
        found.push(rows(open(path).unwrap().0).await);
        assert!(dir.path().join("sayso.before-8.db").is_file(), "schema {version} is backed up");
    }
    assert_eq!(found[0].len(), 12);
    assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
}

#[tokio::test]
async fn upgrade_counts_the_rules_that_decided_earlier_asks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sayso.db");
    previous_release(&path);
    let sqlite = rusqlite::Connection::open(&path).unwrap();
    let resolved: Vec<i64> = {
        let mut rows = sqlite.prepare("SELECT n FROM ask WHERE status >= 2 ORDER BY n").unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    // A rule decided two asks, and a default of the policy decided one.
    for (n, rule) in resolved.iter().zip(["docs", "docs", "approvals.policy = deny"]) {
        let set = "UPDATE ask SET opened_ms = ?1, outcome = json_set(outcome, '$.by', json_object('kind', 'policy', 'rule', ?2)) WHERE n = ?1";
        sqlite.execute(set, rusqlite::params![n, rule]).unwrap();
    }
    drop(sqlite);
    let (store, _) = open(path).unwrap();
    let rules = vec!["docs".to_owned(), "approvals.policy = deny".to_owned()];
    let counted = store.read(CountRuleHits { workspace: MAIN, rules, since: Time::from_millis(0) }).await.unwrap();
    let hits = |rule: &str, hits, last_at| RuleHits { rule: rule.to_owned(), hits, last_at };
    let last = Time::from_millis(resolved[1]);
    assert_eq!(counted, [hits("docs", 2, Some(last)), hits("approvals.policy = deny", 0, None)]);
}

#[tokio::test]
async fn upgrade_that_fails_leaves_the_old_database() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sayso.db");
    previous_release(&path);
    let sqlite = rusqlite::Connection::open(&path).unwrap();
    sqlite.execute("UPDATE ask SET body = 'not JSON' WHERE n = 3", []).unwrap();
    drop(sqlite);
    let refused = open(path.clone()).map(|_| ()).unwrap_err();
    assert!(matches!(refused, OpenError::Corrupt { .. }), "{refused:?}");
    let sqlite = rusqlite::Connection::open(&path).unwrap();
    assert_eq!(sqlite.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0)).unwrap(), 7);
    let files: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["sayso.db"]);
}

/// Flipped bytes anywhere in the first pages are detected, and the database is not recreated.
#[tokio::test]
async fn damaged_database_is_refused_and_not_changed() {
    let sound = closed().await;
    let bytes = std::fs::read(sound.path()).unwrap();
    // The header, the schema, and pages of tables. Free space can change without harm, so long ranges are flipped.
    for (at, length) in [(0, 16), (100, 60), (16, 84), (4096, 200), (8192, 200), (3 * 4096, 200)] {
        let mut damaged = bytes.clone();
        assert!(at + length < damaged.len(), "the database is too small for this test");
        damaged[at..at + length].iter_mut().for_each(|byte| *byte = !*byte);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sayso.db");
        std::fs::write(&path, &damaged).unwrap();
        let refused = open(path.clone()).map(|_| ()).unwrap_err();
        assert!(matches!(refused, OpenError::Corrupt { .. }), "at {at}: {refused:?}");
        assert!(refused.to_string().contains("it was not changed"), "{refused}");
        assert_eq!(std::fs::read(&path).unwrap(), damaged, "at {at}");
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sayso.db");
    std::fs::write(&path, "this is a text and not a database, and it is longer than one hundred bytes in any case\n".repeat(9))
        .unwrap();
    assert!(matches!(open(path).map(|_| ()).unwrap_err(), OpenError::Corrupt { .. }));
}

/// A large database is not checked completely at every start, but its small, needed tables are.
#[tokio::test]
async fn truncated_database_is_refused() {
    let sound = closed().await;
    let bytes = std::fs::read(sound.path()).unwrap();
    for pages in [1, 2, 5] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sayso.db");
        std::fs::write(&path, &bytes[..pages * 4096]).unwrap();
        let refused = open(path).map(|_| ()).unwrap_err();
        assert!(matches!(refused, OpenError::Corrupt { .. }), "{pages} pages: {refused:?}");
    }
}

/// A damaged page of a large database is not detected at the start. Operations that need it fail, and others work.
#[tokio::test]
async fn damaged_page_fails_only_operations_that_need_it() {
    let world = World::new().await;
    let asks: Vec<_> = (0..700)
        .map(|number| {
            let mut ask = ask(question());
            std::sync::Arc::make_mut(&mut ask.context).context = Some(format!("needle {number}. ").repeat(200));
            ask
        })
        .collect();
    for ask in &asks {
        world.open(ask.clone()).await;
    }
    world.store.close().await;
    let path = world.path();
    let mut bytes = std::fs::read(&path).unwrap();
    let needle = b"needle 350. needle 350. ";
    let at = bytes.windows(needle.len()).position(|window| window == needle).unwrap();
    let page = at / 2048 * 2048;
    bytes[page..page + 2048].fill(0xff);
    std::fs::write(&path, &bytes).unwrap();
    let (store, _) = open(path).unwrap();
    let get = |ask: sayso_core::id::AskId| sayso_store::read::GetAsk { workspace: MAIN, ask, scope: Scope::All };
    let unreadable = store.read(get(asks[350].id)).await;
    assert!(unreadable.is_err(), "{unreadable:?}");
    let answer = crate::world::resolve(asks[350].id, answered("A"));
    assert!(store.write(answer).await.is_err());
    assert_eq!(store.read(get(asks[10].id)).await.unwrap().as_ref(), Some(&asks[10]));
    store.write(crate::world::resolve(asks[10].id, answered("A"))).await.unwrap().unwrap();
    let new = ask(question());
    let open_ask = sayso_store::ops::OpenAsk {
        workspace: MAIN,
        scope: Scope::All,
        ask: Box::new(new.clone()),
        key: None,
        max_pending: 1_000,
    };
    store.write(open_ask).await.unwrap();
    assert_eq!(store.read(get(new.id)).await.unwrap(), Some(new));
}

#[tokio::test]
async fn second_server_on_a_directory_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let held = DirLock::acquire(dir.path()).unwrap();
    let refused = DirLock::acquire(dir.path()).unwrap_err();
    let OpenError::Locked { pid, .. } = &refused else { panic!("{refused:?}") };
    assert_eq!(pid, &std::process::id().to_string());
    assert!(refused.to_string().contains("sayso stop"), "{refused}");
    drop(held);
    DirLock::acquire(dir.path()).unwrap();
}

#[test]
fn lock_file_that_is_a_link_is_refused_and_its_target_kept() {
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    std::fs::write(&victim, "mine").unwrap();
    for target in [&victim, &dir.path().join("missing")] {
        std::os::unix::fs::symlink(target, dir.path().join("lock")).unwrap();
        assert!(matches!(DirLock::acquire(dir.path()), Err(OpenError::Io { .. })), "{}", target.display());
        std::fs::remove_file(dir.path().join("lock")).unwrap();
    }
    assert_eq!((std::fs::read_to_string(&victim).unwrap().as_str(), dir.path().join("missing").exists()), ("mine", false));
}

#[tokio::test]
async fn database_is_readable_only_by_its_owner() {
    let world = closed().await;
    assert_eq!(std::fs::metadata(world.path()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn backup_during_writes_is_complete() {
    let world = World::new().await;
    let first = world.open(ask(question())).await;
    let copy = world.dir().join("copy.db");
    let writer = {
        let store = world.store.clone();
        tokio::spawn(async move {
            for _ in 0..50 {
                let open = sayso_store::ops::OpenAsk {
                    workspace: MAIN,
                    scope: sayso_core::scope::Scope::All,
                    ask: Box::new(ask(question())),
                    key: None,
                    max_pending: 1_000,
                };
                store.write(open).await.unwrap();
            }
        })
    };
    backup(&world.path(), &copy).unwrap();
    assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    writer.await.unwrap();
    assert!(backup(&world.path(), &copy).is_err(), "nothing is written over");
    let (link, target) = (world.dir().join("link.db"), world.dir().join("target.db"));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    assert!(backup(&world.path(), &link).is_err() && !target.exists() && link.is_symlink(), "no link is followed");
    let (store, _) = open(copy).unwrap();
    let get = sayso_store::read::GetAsk { workspace: MAIN, ask: first.id, scope: sayso_core::scope::Scope::All };
    assert_eq!(store.read(get).await.unwrap(), Some(first));
    let head = store.read(ReadFeedHead { workspace: MAIN }).await.unwrap();
    assert!((1..=51).contains(&head));
}

#[tokio::test]
async fn closed_store_refuses_writes() {
    let world = closed().await;
    let refused = world.store.write(crate::world::resolve(ask(question()).id, answered("A"))).await;
    assert!(matches!(refused, Err(StoreError::Closed)));
    assert!(
        !world.dir().join("sayso.db-wal").exists() || std::fs::metadata(world.dir().join("sayso.db-wal")).unwrap().len() == 0
    );
}

#[tokio::test]
async fn queued_operations_are_committed_on_close() {
    let world = World::new().await;
    let mut asks = Vec::new();
    let mut calls = Vec::new();
    for _ in 0..100 {
        let ask = ask(question());
        asks.push(ask.id);
        let store = world.store.clone();
        let open = sayso_store::ops::OpenAsk {
            workspace: MAIN,
            scope: sayso_core::scope::Scope::All,
            ask: Box::new(ask),
            key: None,
            max_pending: 1_000,
        };
        calls.push(tokio::spawn(async move { store.write(open).await }));
    }
    tokio::task::yield_now().await;
    world.store.close().await;
    let mut taken = 0;
    for call in calls {
        match call.await.unwrap() {
            Ok(_) => taken += 1,
            Err(StoreError::Closed) => {}
            Err(error) => panic!("{error}"),
        }
    }
    let world = world.reopen().await;
    assert_eq!(world.store.read(ReadFeedHead { workspace: MAIN }).await.unwrap(), taken);
}
