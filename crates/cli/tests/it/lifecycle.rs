//! The life cycle of the server: automatic start, status, stop, backup and uninstall.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustix::process::{Pid, Signal, kill_process};
use sayso_client::api::ask::AskStatus;
use sayso_testkit::pty::{CTRL_C, Pty};
use sayso_testkit::{PATIENCE, PROGRAM, sayso_bin, within, write_config};

use crate::support::{Person, Ran, ending, ends_well, is_running, ran};

#[tokio::test]
async fn commands_without_a_server_say_how_to_start_one() -> Result<()> {
    let person = Person::without_server()?;
    let first = person.ok(&[]).await?;
    assert!(first.lines().count() == 3 && first.contains("sayso start mock \"ask me a question\""), "{first}");
    let nothing = Ran { code: Some(1), out: String::new(), err: "No server is running.\nStart one with: sayso serve\n".into() };
    for args in [&["ls"][..], &["next"], &["status"], &["stop"], &["policy"], &["history"], &["token", "list"]] {
        assert_eq!(person.run(args).await?, nothing, "{args:?}");
    }
    assert_eq!(person.run(&["status", "--line"]).await?, Ran { code: Some(0), out: String::new(), err: String::new() });
    let doctor = person.run(&["doctor"]).await?;
    assert!(doctor.code == Some(1) && doctor.out.contains("x Server     not running\n"), "{doctor:?}");
    let logs = person.run(&["logs"]).await?;
    assert!(logs.code == Some(1) && logs.err.starts_with("There is no log at "), "{logs:?}");
    assert!(!person.data_dir().exists(), "these commands create no files");
    Ok(())
}

#[tokio::test]
async fn server_starts_automatically_with_one_message() -> Result<()> {
    let person = Person::without_server()?;
    let first = person.run(&["ask", "Which?", "--no-wait"]).await?;
    let url = person.server_file()?.url;
    let log = person.data_dir().join("logs/sayso.log");
    let said = format!("Started a server in the background at {url}\nStop it with: sayso stop. Its log: {}\n", log.display());
    assert_eq!((first.code, first.err), (Some(0), said));
    let second = person.run(&["ask", "Which?", "--no-wait"]).await?;
    assert_eq!((second.code, second.err.as_str()), (Some(0), ""));
    // The server is healthy before it has written this line.
    within("the first line of its log", async {
        while !person.ok(&["logs"]).await?.contains(&format!("listening on {url}")) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    })
    .await?;
    assert_eq!(person.ok(&["logs", "-n", "1"]).await?.lines().count(), 1);
    for file in ["sayso.db", "token", "server.json"] {
        let mode = std::fs::metadata(person.data_dir().join(file))?.permissions().mode();
        assert_eq!(mode & 0o077, 0, "only the owner can read {file}");
    }
    Ok(())
}

#[tokio::test]
async fn concurrent_commands_start_one_server() -> Result<()> {
    let person = Person::without_server()?;
    let asking: Vec<_> =
        (0..6).map(|number| tokio::spawn(ran(person.command(&["ask", &format!("Number {number}?"), "--no-wait"])))).collect();
    for asked in asking {
        let asked = asked.await??;
        assert_eq!(asked.code, Some(0), "{asked:?}");
    }
    assert_eq!(person.client()?.pending_asks().await?.data.len(), 6);
    Ok(())
}

/// A command waits for a server that another command started, and starts its own if that server never becomes ready.
#[tokio::test]
async fn server_that_dies_before_it_is_ready_is_replaced() -> Result<()> {
    let person = Person::without_server()?;
    std::fs::create_dir_all(person.data_dir())?;
    let held = std::fs::File::create(person.data_dir().join("lock"))?;
    held.lock()?;
    let asking = tokio::spawn(ran(person.command(&["ask", "Still here?", "--no-wait"])));
    let log = person.data_dir().join("logs/sayso.log");
    within("the first server to give way", async {
        while !std::fs::read_to_string(&log).is_ok_and(|log| log.contains("another Sayso server")) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    })
    .await?;
    drop(held);
    let asked = asking.await??;
    assert_eq!(asked.code, Some(0), "{asked:?}");
    assert_eq!(person.client()?.pending_asks().await?.data.len(), 1);
    Ok(())
}

#[tokio::test]
async fn server_survives_the_terminal_that_started_it() -> Result<()> {
    let person = Person::without_server()?;
    let mut terminal = person.terminal(&["start", "mock", "question"])?;
    terminal.expect("Started a server in the background at ").await?;
    terminal.expect("Select [1-2, or type your own]: ").await?;
    drop(terminal);
    let ask = person.pending().await?;
    person.ok(&["answer", &ask.id, "1"]).await?;
    assert_eq!(person.client()?.ask(&ask.id).await?.status, AskStatus::Answered);
    Ok(())
}

#[tokio::test]
async fn ctrl_c_and_stop_work_when_the_shell_ignores_and_blocks_signals() -> Result<()> {
    let person = Person::without_server()?;
    write_config(&person.path(""), "")?;
    let sayso = sayso_bin()?.display().to_string();
    let start = ["--ignore-signal", "--block-signal", &sayso, "start", PROGRAM, "question"];
    let mut terminal = Pty::spawn(person.program("env", &start))?;
    terminal.expect("Select [1-2").await?;
    let ask = person.pending().await?;
    terminal.send(CTRL_C).await?;
    terminal.expect("Interrupting. Press Ctrl-C again to exit.\n").await?;
    terminal.expect("\n> ").await?;
    assert_eq!(person.client()?.ask(&ask.id).await?.status, AskStatus::Withdrawn);
    terminal.send(CTRL_C).await?;
    ends_well(&mut terminal).await?;
    let server = person.server_file()?;
    let stopped = person.ok(&["stop", "--all"]).await?;
    assert!(stopped.starts_with("Stopped, with 1 agent."), "{stopped}");
    assert!(!is_running(server.pid));
    Ok(())
}

#[tokio::test]
async fn killed_server_is_started_again() -> Result<()> {
    let person = Person::without_server()?;
    person.ok(&["ask", "Before?", "--no-wait"]).await?;
    let before = person.server_file()?;
    kill_process(Pid::from_raw(i32::try_from(before.pid)?).context("a process id")?, Signal::KILL)?;
    let deadline = Instant::now() + PATIENCE;
    while is_running(before.pid) {
        assert!(Instant::now() < deadline, "the process does not end");
        tokio::task::yield_now().await;
    }
    let ran = person.run(&["ls"]).await?;
    assert!(ran.code == Some(1) && ran.err.starts_with("No server is running."), "{ran:?}");
    let again = person.run(&["ask", "After?", "--no-wait"]).await?;
    assert!(again.code == Some(0) && again.err.starts_with("Started a server"), "{again:?}");
    let listed = person.ok(&["ls"]).await?;
    assert!(listed.contains("Before?") && listed.contains("After?"), "{listed}");
    Ok(())
}

#[tokio::test]
async fn status_shows_address_and_pending_asks() -> Result<()> {
    let person = Person::new().await?;
    assert_eq!(person.ok(&["status", "--line"]).await?, "0 waiting");
    let (_agent, _asked) = person.mock_asks("parallel").await?;
    let (_other, _asked) = person.mock_asks("question").await?;
    let line = person.ok(&["status", "--line"]).await?;
    assert!(line.starts_with("4 waiting · "), "{line}");
    let file = person.server_file()?;
    let status = person.ok(&["status"]).await?;
    let server = format!("Server   {} (version {}, process {})\nInbox    4 waiting · ", file.url, file.version, file.pid);
    assert!(status.starts_with(&server) && status.contains("\nAgents   2 sessions open, 0 working\n"), "{status}");
    Ok(())
}

#[tokio::test]
async fn restart_keeps_the_address_and_pending_asks() -> Result<()> {
    let person = Person::without_server()?;
    person.ok(&["restart"]).await?;
    let before = person.server_file()?;
    let (_agent, asked) = person.mock_asks("question").await?;
    person.ok(&["ask", "Which?", "--no-wait"]).await?;
    assert_eq!(person.ok(&["restart"]).await?, "Restarted. Asks were kept, and agents kept running.");
    let after = person.server_file()?;
    assert!(after.url == before.url && after.pid != before.pid && !is_running(before.pid), "{before:?} {after:?}");
    assert_eq!(person.client()?.pending_asks().await?.data.len(), 2);
    person.ok(&["answer", &asked.id, "2"]).await?;
    let session = asked.session_id.unwrap();
    let mut watch = sayso_testkit::Watch::session(&person.client()?, &session);
    watch.until("what it received", |event| event.event.data_json().contains("You answered: PostgreSQL.")).await?;
    Ok(())
}

#[tokio::test]
async fn stop_ends_the_server_with_open_streams() -> Result<()> {
    let person = Person::without_server()?;
    person.ok(&["restart"]).await?;
    let pid = person.server_file()?.pid;
    let mut following = person.terminal(&["start", "mock", "question"])?;
    following.expect("Select [1-2, or type your own]: ").await?;
    let begun = Instant::now();
    let out = person.ok(&["stop"]).await?;
    assert!(begun.elapsed() <= Duration::from_secs(40), "{:?}", begun.elapsed());
    assert_eq!(out, "Stopped. Asks and outcomes are kept; start it again with: sayso serve");
    assert!(!is_running(pid));
    let again = person.run(&["stop"]).await?;
    assert!(again.code == Some(1) && again.err.starts_with("No server is running.\n"), "{again:?}");
    Ok(())
}

#[tokio::test]
async fn second_server_on_the_same_data_directory_is_refused() -> Result<()> {
    let person = Person::new().await?;
    let pid = person.server_file()?.pid;
    let second = person.run(&["serve", "--listen", "127.0.0.1:0"]).await?;
    assert_eq!((second.code, second.out.as_str()), (Some(1), ""), "{second:?}");
    assert!(second.err.contains(&format!("another Sayso server (pid {pid}) uses ")), "{second:?}");
    Ok(())
}

#[tokio::test]
async fn doctor_reports_failed_checks() -> Result<()> {
    let person = Person::new().await?;
    std::fs::set_permissions(person.data_dir(), std::fs::Permissions::from_mode(0o700))?;
    let good = person.ok(&["doctor"]).await?;
    assert!(good.lines().count() == 11 && good.lines().all(|line| line.starts_with("✓ ")), "{good}");
    std::fs::set_permissions(person.data_dir().join("token"), std::fs::Permissions::from_mode(0o644))?;
    let mut wrong = person.command(&["doctor"]);
    wrong.env("SAYSO_TOKEN", "sayso_0000");
    let wrong = ran(wrong).await?;
    assert!(wrong.code == Some(1) && wrong.err.starts_with("2 checks failed."), "{wrong:?}");
    assert!(wrong.out.contains("x Token      other users can read ") && wrong.out.contains("x Login      "), "{wrong:?}");
    Ok(())
}

#[tokio::test]
async fn backup_can_be_restored() -> Result<()> {
    let person = Person::new().await?;
    person.ok(&["ask", "Pending?", "--no-wait"]).await?;
    let (mut agent, asked) = person.mock_asks("question").await?;
    person.ok(&["answer", &asked.id, "1"]).await?;
    agent.finished().await?;
    let copy = person.path("copy.db");
    let out = person.ok(&["backup", copy.to_str().unwrap()]).await?;
    assert!(out.starts_with("Backup written: ") && out.ends_with(" KiB)"), "{out}");
    let again = person.run(&["backup", copy.to_str().unwrap()]).await?;
    assert!(again.code == Some(1) && again.err.contains(" already exists."), "{again:?}");

    let restored = Person::without_server()?;
    std::fs::create_dir(restored.data_dir())?;
    std::fs::copy(&copy, restored.data_dir().join("sayso.db"))?;
    restored.ok(&["restart"]).await?;
    let (listed, history) = (restored.ok(&["ls"]).await?, restored.ok(&["history"]).await?);
    assert!(listed.contains("Pending?") && listed.lines().count() == 1, "{listed}");
    assert!(history.contains(ending(&asked.id)) && history.contains("\"SQLite\""), "{history}");
    Ok(())
}

#[tokio::test]
async fn uninstall_removes_the_listed_files() -> Result<()> {
    let person = Person::without_server()?;
    person.write_policy("# mine\n")?;
    person.ok(&["ask", "Which?", "--no-wait"]).await?;
    let pid = person.server_file()?.pid;
    let program = person.path("home/.local/bin/sayso");
    std::fs::create_dir_all(program.parent().unwrap())?;
    std::fs::write(&program, "")?;
    let refused = person.run_with_input(&["uninstall"], "n\n").await?;
    assert!(refused.code == Some(1) && refused.err.starts_with("Nothing was removed."), "{refused:?}");
    assert!(program.exists() && is_running(pid));

    let mut terminal = person.terminal(&["uninstall"])?;
    let shown = terminal.expect("Remove it? [y/n]: ").await?;
    assert!(shown.contains("  ~/.local/bin/sayso\n") && shown.contains("This will be kept (--purge removes it):\n"), "{shown}");
    terminal.line("y").await?;
    terminal.expect("Removed.").await?;
    ends_well(&mut terminal).await?;
    assert!(!program.exists() && !is_running(pid) && person.data_dir().join("sayso.db").exists());

    std::fs::write(person.data_dir().join("notes.txt"), "mine")?;
    let purged = person.ok(&["uninstall", "--yes", "--purge"]).await?;
    assert!(purged.ends_with("Removed."), "{purged}");
    let left: Vec<_> = std::fs::read_dir(person.data_dir())?.map(|entry| Ok(entry?.file_name())).collect::<Result<_>>()?;
    assert_eq!(left, ["notes.txt"], "foreign files are kept");
    assert!(!person.path("config/sayso").exists());
    assert_eq!(person.ok(&["uninstall", "--yes", "--purge"]).await?, "There is nothing to remove.");
    Ok(())
}

#[tokio::test]
async fn bash_completions_work() -> Result<()> {
    let person = Person::without_server()?;
    let script = person.path("completions.bash");
    std::fs::write(&script, person.ok(&["completions", "bash"]).await?)?;
    let line = "source \"$0\"; COMP_WORDS=(sayso sn); COMP_CWORD=1; _sayso sayso sn sayso; echo \"${COMPREPLY[*]}\"";
    let output = tokio::process::Command::new("bash").args(["--norc", "-c", line]).arg(&script).output().await?;
    assert_eq!(String::from_utf8(output.stdout)?, "snooze\n");
    Ok(())
}
