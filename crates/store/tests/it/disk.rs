//! Tests with a full disk and a read-only disk. Both are real: the test runs itself again inside a separate mount namespace and
//! mounts a small tmpfs there, so it needs no privileges.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use sayso_core::scope::Scope;
use sayso_store::ops::{CollectOutcome, OpenAsk, OpenAskResult};
use sayso_store::read::{ListAsks, ReadFeedHead};
use sayso_store::{OpenError, Store, StoreError};

use crate::files::previous_release;
use crate::secrets::{VALUE, files_with_it, no_file_has_it};
use crate::world::{MAIN, answered, ask, open, question, resolve, secret};

/// The mount point. Set for the inner run.
const INSIDE: &str = "SAYSO_STORE_TEST_MOUNT";

/// Returns the mount point in the inner run. Otherwise runs the test with this name inside and checks its result.
fn inside(test: &str) -> Option<PathBuf> {
    if let Some(dir) = std::env::var_os(INSIDE) {
        return Some(dir.into());
    }
    let dir = tempfile::tempdir().unwrap();
    let this = std::env::current_exe().unwrap();
    let run = |namespace: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare.args(namespace).arg(&this).args(["--exact", test, "--nocapture"]).env(INSIDE, dir.path());
        unshare.output().unwrap_or_else(|error| panic!("unshare (of util-linux) is needed: {error}"))
    };
    // For root a mount namespace is enough; other users become root of a user namespace.
    let root = Command::new("unshare").args(["--mount", "true"]).status().is_ok_and(|status| status.success());
    let namespace: &[&str] = if root { &["--mount"] } else { &["--map-root-user", "--mount"] };
    let output = run(namespace);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    None
}

fn mount(arguments: &[&str], dir: &Path) {
    let status = Command::new("mount").args(arguments).arg(dir).status().unwrap();
    assert!(status.success(), "mount {arguments:?}");
}

fn opening(title: &str) -> OpenAsk {
    let mut ask = ask(question());
    Arc::make_mut(&mut ask.context).context = Some(title.repeat(64));
    OpenAsk { workspace: MAIN, scope: Scope::All, ask: Box::new(ask), key: None, max_pending: 1_000_000 }
}

async fn pending(store: &Store) -> usize {
    store.read(ListAsks::pending(MAIN, Scope::All, 100_000)).await.unwrap().rows.len()
}

#[test]
fn full_disk_refuses_writes_without_loss_and_recovers() {
    let Some(dir) = inside("disk::full_disk_refuses_writes_without_loss_and_recovers") else { return };
    mount(&["-t", "tmpfs", "-o", "size=4m", "tmpfs"], &dir);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (store, told) = open(dir.join("sayso.db")).unwrap();
        let OpenAskResult::Ask(first) = store.write(opening("first")).await.unwrap() else { panic!("not opened") };
        // Leaves some room, fills the rest with another file, and then writes until the disk is full.
        let ballast = dir.join("ballast");
        std::fs::write(&ballast, vec![1; 2 * 1024 * 1024]).unwrap();
        let mut taken = 1;
        let full = loop {
            match store.write(opening("an ask that takes some room")).await {
                Ok(_) => taken += 1,
                Err(error) => break error,
            }
            assert!(taken < 100_000, "the disk never gets full");
        };
        assert!(matches!(full, StoreError::Full), "{full:?}");
        // Refused asks are not stored, accepted ones are, and reading works.
        assert_eq!(pending(&store).await, taken);
        assert_eq!(told.lock().unwrap().events.len(), taken, "refused operations are not announced");
        for _ in 0..20 {
            let refused = store.write(opening("once more, and larger than any hole that is left")).await;
            if refused.is_ok() {
                taken += 1;
            }
        }
        assert_eq!(pending(&store).await, taken);
        // There is room again. The same store continues without being reopened.
        std::fs::remove_file(&ballast).unwrap();
        store.write(opening("room again")).await.unwrap();
        taken += 1;
        store.write(resolve(first.id, answered("A"))).await.unwrap().unwrap();
        assert_eq!(pending(&store).await, taken - 1);
        let seqs: Vec<i64> = told.lock().unwrap().events.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (1..=i64::try_from(taken + 1).unwrap()).collect::<Vec<_>>(), "no gap where it was full");
        store.close().await;
        drop(store);
        let sqlite = rusqlite::Connection::open(dir.join("sayso.db")).unwrap();
        let health: String = sqlite.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(health, "ok");
        drop(sqlite);
        let (store, _) = open(dir.join("sayso.db")).unwrap();
        assert_eq!(pending(&store).await, taken - 1);
    });
}

/// Concurrent operations on a full disk are all refused without hanging, and work again afterwards.
#[test]
fn every_caller_of_a_refused_batch_gets_the_error() {
    let Some(dir) = inside("disk::every_caller_of_a_refused_batch_gets_the_error") else { return };
    mount(&["-t", "tmpfs", "-o", "size=4m", "tmpfs"], &dir);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (store, _) = open(dir.join("sayso.db")).unwrap();
        let ballast = dir.join("ballast");
        fill(&ballast);
        let burst = |store: Store| async move {
            let calls: Vec<_> = (0..64)
                .map(|_| {
                    let store = store.clone();
                    tokio::spawn(async move { store.write(opening("an ask that takes a lot of room, sixty-four times")).await })
                })
                .collect();
            let mut results = Vec::new();
            for call in calls {
                results.push(call.await.unwrap());
            }
            results
        };
        let refused = burst(store.clone()).await;
        assert!(refused.iter().all(|result| matches!(result, Err(StoreError::Full))), "{refused:?}");
        assert_eq!(store.read(ReadFeedHead { workspace: MAIN }).await.unwrap(), 0);
        std::fs::remove_file(&ballast).unwrap();
        assert!(burst(store.clone()).await.iter().all(Result::is_ok));
        assert_eq!(store.read(ReadFeedHead { workspace: MAIN }).await.unwrap(), 64);
    });
}

/// Commits continue, the log keeps what does not fit into the database, and the checkpoint is repeated when there is room.
#[test]
fn full_disk_during_a_checkpoint_loses_nothing() {
    let Some(dir) = inside("disk::full_disk_during_a_checkpoint_loses_nothing") else { return };
    mount(&["-t", "tmpfs", "-o", "size=12m", "tmpfs"], &dir);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (store, _) = open(dir.join("sayso.db")).unwrap();
        let mut hidden = ask(secret());
        hidden.origin.native_id = Some("hidden".to_owned());
        let id = hidden.id;
        let open_hidden =
            OpenAsk { workspace: MAIN, scope: Scope::All, ask: Box::new(hidden), key: None, max_pending: 1_000_000 };
        store.write(open_hidden).await.unwrap();
        store.write(resolve(id, answered(VALUE))).await.unwrap().unwrap();
        // Fills the log with more pages than the disk has room for.
        for _ in 0..300 {
            store.write(opening("an ask that takes some room")).await.unwrap();
        }
        let taken = pending(&store).await;
        let (ballast, spare) = (dir.join("ballast"), dir.join("spare"));
        std::fs::write(&spare, vec![1; 128 * 1024]).unwrap();
        fill(&ballast);
        std::fs::remove_file(&spare).unwrap();
        // Deleting the secret requests a truncation, which needs room in the database.
        store.write(CollectOutcome { workspace: MAIN, ask: id }).await.unwrap();
        assert!(!files_with_it(&dir).is_empty(), "the truncation must not have room yet");
        assert_eq!(pending(&store).await, taken);
        std::fs::remove_file(&ballast).unwrap();
        no_file_has_it(&dir).await;
        store.write(opening("room again")).await.unwrap();
        assert_eq!(pending(&store).await, taken + 1);
        store.close().await;
        drop(store);
        assert!(sayso_store::probe::is_sound(&dir.join("sayso.db")).unwrap());
        let (store, _) = open(dir.join("sayso.db")).unwrap();
        assert_eq!(pending(&store).await, taken + 1);
    });
}

#[test]
fn full_disk_during_an_upgrade_keeps_the_old_database() {
    let Some(dir) = inside("disk::full_disk_during_an_upgrade_keeps_the_old_database") else { return };
    mount(&["-t", "tmpfs", "-o", "size=2m", "tmpfs"], &dir);
    let path = dir.join("sayso.db");
    previous_release(&path);
    let before = std::fs::read(&path).unwrap();
    let (ballast, spare) = (dir.join("ballast"), dir.join("spare"));
    // Leaves room for the first pages of the new file only.
    std::fs::write(&spare, vec![1; 300 * 1024]).unwrap();
    fill(&ballast);
    std::fs::remove_file(&spare).unwrap();
    let refused = open(path.clone()).map(|_| ()).unwrap_err();
    assert!(matches!(refused, OpenError::Full { .. }), "{refused:?}");
    let mut left: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["ballast", "sayso.db"]);
    assert!(std::fs::read(&path).unwrap()[100..] == before[100..], "only counters of the header may change");
    std::fs::remove_file(&ballast).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (store, _) = open(path).unwrap();
        assert_eq!(pending(&store).await, 9);
    });
}

/// Fills the disk completely.
fn fill(path: &Path) {
    use std::io::Write;
    let mut file = std::fs::File::create(path).unwrap();
    let mut size = 64 * 1024;
    while size > 0 {
        if file.write(&vec![1; size]).is_err() {
            size /= 2;
        }
    }
}

#[test]
fn open_on_a_full_disk_reports_the_full_disk() {
    let Some(dir) = inside("disk::open_on_a_full_disk_reports_the_full_disk") else { return };
    mount(&["-t", "tmpfs", "-o", "size=1m", "tmpfs"], &dir);
    fill(&dir.join("ballast"));
    let refused = open(dir.join("sayso.db")).map(|_| ()).unwrap_err();
    assert!(matches!(refused, OpenError::Full { .. }), "{refused:?}");
    assert!(refused.to_string().contains("full"), "{refused}");
}

#[test]
fn read_only_database_is_refused() {
    let Some(dir) = inside("disk::read_only_database_is_refused") else { return };
    mount(&["-t", "tmpfs", "-o", "size=8m", "tmpfs"], &dir);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (store, _) = open(dir.join("sayso.db")).unwrap();
        store.write(opening("first")).await.unwrap();
        store.close().await;
    });
    // Changes the mount and not the file system, because a user namespace permits only that.
    mount(&["-o", "remount,ro,bind"], &dir);
    let refused = open(dir.join("sayso.db")).map(|_| ()).unwrap_err();
    assert!(matches!(refused, OpenError::ReadOnly { .. }), "{refused:?}");
    assert!(refused.to_string().contains("cannot be written"), "{refused}");
    let refused = open(dir.join("another.db")).map(|_| ()).unwrap_err();
    assert!(matches!(refused, OpenError::ReadOnly { .. }), "a new one: {refused:?}");
}
