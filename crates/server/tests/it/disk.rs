//! A full disk: callers get 507, agents wait, nothing is lost, and the server recovers without a restart. The test re-executes
//! itself in a mount namespace, where it mounts a small tmpfs.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::world::{World, id, question};

/// Set for the inner run; names the directory to mount on.
const INSIDE: &str = "SAYSO_SERVER_TEST_MOUNT";

/// The mount point, if this is the inner run. Else runs the test of this name inside and checks it.
fn inside(test: &str) -> Option<PathBuf> {
    if let Some(dir) = std::env::var_os(INSIDE) {
        return Some(dir.into());
    }
    let dir = tempfile::tempdir().unwrap();
    // Root needs only a mount namespace; other users also need a user namespace in which they are root.
    let root = Command::new("unshare").args(["--mount", "true"]).status().is_ok_and(|status| status.success());
    let namespace: &[&str] = if root { &["--mount"] } else { &["--map-root-user", "--mount"] };
    let mut unshare = Command::new("unshare");
    unshare.args(namespace).arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]).env(INSIDE, dir.path());
    let output = unshare.output().unwrap_or_else(|error| panic!("unshare (of util-linux) is needed: {error}"));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    None
}

/// Fills the file system until no byte is free.
fn fill(path: &Path) {
    let mut file = std::fs::File::create(path).unwrap();
    let mut size = 64 * 1024;
    while size > 0 {
        if file.write(&vec![1; size]).is_err() {
            size /= 2;
        }
    }
}

#[test]
fn full_disk_returns_507_until_space_is_free() {
    let Some(dir) = inside("disk::full_disk_returns_507_until_space_is_free") else { return };
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=6m", "tmpfs"]).arg(&dir).status().unwrap();
    assert!(mounted.success());
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let data = dir.join("data");
        let world = World::with(|setup| setup.options.data_dir = data).await;
        let (mut agent, ask) = world.start_ask("question 2 times").await;
        let mine = world.open_ask(question()).await;
        let ballast = dir.join("ballast");
        fill(&ballast);
        // Free space inside the log is used first.
        let mut taken = 0;
        loop {
            let mut large = question();
            large["context"] = json!("x".repeat(8_000));
            let reply = world.admin.post("/v1/asks", large).await;
            if reply.status == 507 {
                reply.problem(507, "storage_full");
                break;
            }
            reply.expect(201);
            taken += 1;
            assert!(taken < 2_000, "the disk never gets full");
        }
        fill(&ballast);
        let refused = world.admin.answer(&id(&mine), json!([["x".repeat(20_000)]])).await;
        refused.problem(507, "storage_full");
        assert_eq!(world.ask(&id(&mine)).await, mine, "reading goes on, and nothing changed");
        world
            .admin
            .post("/v1/sessions", json!({ "agent": "mock", "prompt": "x".repeat(20_000) }))
            .await
            .problem(507, "storage_full");
        // After space is freed, the server recovers without a restart.
        std::fs::remove_file(&ballast).unwrap();
        world.admin.answer(&id(&mine), json!([["SQLite"]])).await.expect(200);
        world.admin.answer(&id(&ask), json!([["PostgreSQL"]])).await.expect(200);
        let second = agent.asks().await.unwrap();
        world.admin.answer(&second.id, json!([["SQLite"]])).await.expect(200);
        assert_eq!(agent.finished().await.unwrap(), "Asked 2 times. The last time: You answered: SQLite.");
        let pending = world.admin.get("/v1/asks?status=pending&limit=500").await.expect(200);
        assert_eq!(pending["pending"], taken, "only accepted asks are stored");
    });
}
