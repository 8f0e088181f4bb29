//! Permissions and owners of the server's files.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use anyhow::Result;
use sayso_testkit::PROGRAM;

use crate::processes::World;
use crate::support::{Person, ran};

fn mode(path: &Path) -> Result<u32> {
    Ok(std::fs::metadata(path)?.permissions().mode() & 0o777)
}

#[tokio::test]
async fn backup_is_readable_by_its_owner_only_and_follows_no_link() -> Result<()> {
    let person = Person::new().await?;
    let copy = person.path("copy.db");
    person.ok(&["backup", copy.to_str().unwrap()]).await?;
    assert_eq!(mode(&copy)?, 0o600);
    let (link, target) = (person.path("link.db"), person.path("target.db"));
    symlink(&target, &link)?;
    let refused = person.run(&["backup", link.to_str().unwrap()]).await?;
    assert!(refused.code == Some(1) && refused.err.contains("link.db already exists."), "{refused:?}");
    assert!(!target.exists() && link.is_symlink());
    Ok(())
}

#[tokio::test]
async fn data_directory_that_others_can_read_is_closed_with_a_message() -> Result<()> {
    let person = Person::without_server()?;
    std::fs::create_dir(person.data_dir())?;
    std::fs::set_permissions(person.data_dir(), std::fs::Permissions::from_mode(0o755))?;
    let first = person.run(&["ask", "Which?", "--no-wait"]).await?;
    assert_eq!(first.code, Some(0), "{first:?}");
    let message =
        format!("Other users of this machine could read {}. Sayso changed its mode to 700.", person.data_dir().display());
    assert!(first.err.contains(&message), "{first:?}");
    assert_eq!(mode(&person.data_dir())?, 0o700);
    let again = person.run(&["restart"]).await?;
    assert!(again.code == Some(0) && !again.err.contains("could read"), "{again:?}");
    Ok(())
}

#[tokio::test]
async fn data_directory_of_another_user_is_refused() -> Result<()> {
    let person = Person::without_server()?;
    // A directory of another user: root, or uid 65534 if the test runs as root.
    let other = person.path("other");
    let data_dir = if rustix::process::geteuid().is_root() {
        std::fs::create_dir(&other)?;
        std::os::unix::fs::chown(&other, Some(65_534), None)?;
        other.to_str().unwrap()
    } else {
        "/usr"
    };
    let refused = person.run(&["serve", "--listen", "127.0.0.1:0", "--data-dir", data_dir]).await?;
    assert!(refused.code == Some(1) && refused.err.contains("it belongs to another user"), "{refused:?}");
    Ok(())
}

#[tokio::test]
async fn lock_file_that_is_a_link_is_refused_and_its_target_kept() -> Result<()> {
    let person = Person::without_server()?;
    std::fs::create_dir(person.data_dir())?;
    let victim = person.path("victim");
    std::fs::write(&victim, "mine")?;
    symlink(&victim, person.data_dir().join("lock"))?;
    let refused = person.run(&["serve", "--listen", "127.0.0.1:0"]).await?;
    assert!(refused.code == Some(1) && refused.err.contains("lock"), "{refused:?}");
    assert!(refused.err.contains("it is not a regular file; remove it"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&victim)?, "mine");
    Ok(())
}

#[tokio::test]
async fn uninstalling_one_instance_leaves_the_agents_of_another_reachable() -> Result<()> {
    let mut world = World::with("").await?;
    let mut agent = world.start(PROGRAM, "question").await?;
    let asked = agent.asks().await?;
    // Another instance of the same person, which shares the directory of sockets.
    let other = world.dir.path().join("other");
    let mut asking = world.server.command()?;
    asking.env("SAYSO_DATA_DIR", &other).args(["ask", "Which?", "--no-wait"]);
    let asking = ran(asking).await?;
    assert_eq!(asking.code, Some(0), "{asking:?}");
    let mut removing = world.server.command()?;
    removing.env("SAYSO_DATA_DIR", &other).args(["uninstall", "--yes"]);
    let removed = ran(removing).await?;
    assert!(removed.code == Some(0) && !other.join("server.json").exists(), "{removed:?}");
    world.server.kill9().await?;
    world.server.start_again().await?;
    world.answer(&asked, "SQLite").await?;
    assert_eq!(agent.finished().await?, "You answered: SQLite.");
    world.close().await
}
