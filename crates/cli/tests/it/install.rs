//! Two programs on one machine, programs in caches, and notifications to systemd.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use sayso_testkit::{sayso_bin, within};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::UnixDatagram;

use crate::support::{Person, ending, ran};

/// A server that says that it is older. It refuses everything but its health.
const OLDER: &str = r#"
import http.server, json, os, sys
class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b'{"status":"ok","version":"0.0.1"}'
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Health)
with open(sys.argv[1] + "/server.json", "w") as file:
    json.dump({"url": f"http://127.0.0.1:{server.server_port}", "pid": os.getpid(), "version": "0.0.1"}, file)
print("ready", flush=True)
server.serve_forever()
"#;

/// Puts an executable file of another installation there.
fn other_program(person: &Person) -> Result<PathBuf> {
    let path = person.path("other/sayso");
    std::fs::create_dir_all(person.path("other"))?;
    std::fs::write(&path, "#!/bin/sh\nexit 1\n")?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(path.canonicalize()?)
}

/// Records that the data directory belongs to a program.
fn write_owner(person: &Person, program: &Path, version: &str) -> Result<()> {
    std::fs::create_dir_all(person.data_dir())?;
    std::fs::set_permissions(person.data_dir(), std::fs::Permissions::from_mode(0o700))?;
    Ok(std::fs::write(person.data_dir().join("program.json"), json!({ "program": program, "version": version }).to_string())?)
}

fn owner(person: &Person) -> Result<Value> {
    Ok(serde_json::from_str(&std::fs::read_to_string(person.data_dir().join("program.json"))?)?)
}

/// A copy of the program in the cache of npx.
fn program_of_npx(person: &Person) -> Result<String> {
    let path = person.path("home/.npm/_npx/1f2e/node_modules/@sayso/cli-linux-x64/bin/sayso");
    std::fs::create_dir_all(path.parent().context("a directory")?)?;
    if std::fs::hard_link(sayso_bin()?, &path).is_err() {
        std::fs::copy(sayso_bin()?, &path)?;
    }
    Ok(path.to_str().context("a path")?.to_owned())
}

#[tokio::test]
async fn version_names_the_commit_or_a_development_build() -> Result<()> {
    let output = Person::without_server()?.ok(&["--version"]).await?;
    let version = format!("sayso {}", env!("CARGO_PKG_VERSION"));
    let build = output.strip_prefix(&version).context("the version")?;
    match build.strip_prefix(" (").and_then(|build| build.strip_suffix(')')) {
        Some("development build") => {}
        Some(build) => {
            let (commit, date) = build.split_once(' ').context("a commit and a date")?;
            assert!(commit.len() >= 12 && date.len() == 10 && date.split('-').count() == 3, "{output}");
        }
        // A release build outside of a repository.
        None => assert_eq!(build, "", "{output}"),
    }
    Ok(())
}

#[tokio::test]
async fn older_server_of_another_program_is_used_and_not_replaced() -> Result<()> {
    let person = Person::without_server()?;
    person.ok(&["ask", "Before?", "--no-wait"]).await?;
    person.ok(&["stop"]).await?;
    let other = other_program(&person)?;
    write_owner(&person, &other, "0.0.1")?;
    let mut older = person.program("python3", &["-c", OLDER, person.data_dir().to_str().context("a path")?]);
    let mut older = older.stdout(std::process::Stdio::piped()).spawn()?;
    let mut said = BufReader::new(older.stdout.take().context("its output")?).lines();
    assert_eq!(said.next_line().await?.as_deref(), Some("ready"));
    let before = person.server_file()?;

    let asked = person.run(&["ask", "After?", "--no-wait"]).await?;
    let note = format!(
        "The server of {other} runs the older version 0.0.1. This program uses it anyway.\nUpgrade {other}, or use it: {other} restart.",
        other = other.display()
    );
    assert!(asked.err.starts_with(&note), "{asked:?}");
    let restarted = person.run(&["restart"]).await?;
    let refused = format!("The server belongs to {} (version 0.0.1), which is not this program.\n", other.display());
    assert!(restarted.code == Some(1) && restarted.err.starts_with(&refused), "{restarted:?}");
    let doctor = person.run(&["doctor"]).await?;
    assert!(doctor.out.contains(&format!("; the server belongs to {} (version 0.0.1)\n", other.display())), "{doctor:?}");
    assert_eq!(person.server_file()?.pid, before.pid, "the same server runs");
    assert!(older.try_wait()?.is_none());
    Ok(())
}

#[tokio::test]
async fn newer_program_upgrades_no_database_of_another_until_a_person_says_so() -> Result<()> {
    let person = Person::without_server()?;
    let other = other_program(&person)?;
    write_owner(&person, &other, "0.0.1")?;
    for args in [&["ask", "Which?", "--no-wait"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let refused = person.run(args).await?;
        assert!(refused.code == Some(1) && refused.err.contains("could not use it any more.\nUpgrade "), "{refused:?}");
        assert!(refused.err.ends_with("To use this program from now on: sayso restart --take-over\n"), "{refused:?}");
    }
    assert!(!person.data_dir().join("sayso.db").exists());
    person.ok(&["restart", "--take-over"]).await?;
    let ours = json!({ "program": sayso_bin()?.canonicalize()?, "version": env!("CARGO_PKG_VERSION") });
    assert_eq!(owner(&person)?, ours);
    person.ok(&["ask", "Which?", "--no-wait"]).await?;
    Ok(())
}

#[tokio::test]
async fn program_that_was_removed_owns_nothing() -> Result<()> {
    let person = Person::without_server()?;
    let other = other_program(&person)?;
    write_owner(&person, &other, "0.0.1")?;
    std::fs::remove_file(&other)?;
    person.ok(&["ask", "Which?", "--no-wait"]).await?;
    assert_eq!(owner(&person)?["version"], env!("CARGO_PKG_VERSION"));
    Ok(())
}

#[tokio::test]
async fn program_in_a_cache_starts_a_server_but_is_written_nowhere() -> Result<()> {
    let person = Person::without_server()?;
    let npx = program_of_npx(&person)?;
    for args in [&["connect", "claude", "--yes"][..], &["service", "install"], &["restart", "--take-over"]] {
        let refused = ran(person.program(&npx, args)).await?;
        assert!(refused.code == Some(1) && refused.err.contains(" is in the cache of npx, which may remove it"), "{refused:?}");
        assert!(refused.err.ends_with("Install Sayso first, then run this again with the installed program.\n"), "{refused:?}");
    }
    assert!(!person.path("home/.claude").exists() && !person.path("config/systemd").exists());
    let asked = ran(person.program(&npx, &["ask", "Which?", "--no-wait"])).await?;
    assert_eq!(asked.code, Some(0), "{asked:?}");
    assert!(!person.data_dir().join("program.json").exists(), "a program in a cache owns nothing");
    let doctor = ran(person.program(&npx, &["doctor"])).await?;
    assert!(doctor.out.contains("run from the cache of npx, not installed\n"), "{doctor:?}");
    ran(person.program(&npx, &["stop"])).await?;
    Ok(())
}

#[tokio::test]
async fn server_reports_to_systemd_that_it_is_ready_and_that_it_answers() -> Result<()> {
    let person = Person::without_server()?;
    let path = person.path("run/notify");
    let socket = UnixDatagram::bind(&path)?;
    let mut command = person.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut server = command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "20000").spawn()?;
    let mut messages = Vec::new();
    within("three messages", async {
        let mut bytes = [0; 64];
        while messages.len() < 3 {
            let length = socket.recv(&mut bytes).await?;
            messages.push(String::from_utf8(bytes[..length].to_vec())?);
        }
        Ok(())
    })
    .await?;
    assert_eq!(messages, ["READY=1", "WATCHDOG=1", "WATCHDOG=1"]);
    person.ok(&["stop"]).await?;
    server.wait().await?;
    Ok(())
}

/// Runs the server in a network of its own. The first line of input turns its loopback interface off, the second one on.
#[cfg(target_os = "linux")]
const SERVER_WITHOUT_LOOPBACK: &str = r#"
ip link set lo up
"$0" serve --listen 127.0.0.1:0 &
for state in down up; do
    read line
    ip link set lo $state
    echo $state
done
wait
"#;

#[cfg(target_os = "linux")]
#[tokio::test]
async fn server_that_does_not_respond_sends_no_watchdog_message() -> Result<()> {
    use std::time::Duration;

    use tokio::io::AsyncWriteExt as _;

    let person = Person::without_server()?;
    let path = person.path("run/notify");
    let socket = UnixDatagram::bind(&path)?;
    let is_root = person.program("unshare", &["--net", "true"]).status().await?.success();
    let mut args = vec!["--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", SERVER_WITHOUT_LOOPBACK];
    if !is_root {
        args.insert(0, "--map-root-user");
    }
    let program = sayso_bin()?;
    args.push(program.to_str().context("a path")?);
    let mut server = person.program("unshare", &args);
    server.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut server = server.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "20000").spawn()?;
    let mut keys = server.stdin.take().context("its input")?;
    let mut said = BufReader::new(server.stdout.take().context("its output")?).lines();
    let mut bytes = [0; 64];
    within("three messages", async {
        for _ in 0..3 {
            socket.recv(&mut bytes).await?;
        }
        Ok(())
    })
    .await?;

    keys.write_all(b"\n").await?;
    within("the interface to go down", async {
        while said.next_line().await?.as_deref() != Some("down") {}
        Ok(())
    })
    .await?;
    while socket.try_recv(&mut bytes).is_ok() {}
    // The response to a check that was already under way can still arrive.
    let mut late = 0;
    while tokio::time::timeout(Duration::from_millis(500), socket.recv(&mut bytes)).await.is_ok() {
        late += 1;
        assert!(late <= 2, "the server sends messages without a response");
    }

    keys.write_all(b"\n").await?;
    within("the server to respond again", async { Ok(socket.recv(&mut bytes).await?) }).await?;
    Ok(())
}

#[tokio::test]
async fn shells_complete_pending_asks_and_sessions() -> Result<()> {
    let person = Person::new().await?;
    let id = person.ok(&["ask", "Which database?", "--option", "SQLite", "--no-wait"]).await?;
    let complete = |words: &[&str]| {
        let mut command = person.command(&[&["--"][..], words].concat());
        let index = (words.len() - 1).to_string();
        command.env("SAYSO_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index).env("_CLAP_IFS", "\n");
        ran(command)
    };
    let offered = complete(&["sayso", "answer", ""]).await?;
    let ids: Vec<&str> = offered.out.lines().filter(|line| !line.starts_with('-')).collect();
    assert_eq!(ids, [&id[id.len() - 4..]], "{offered:?}");
    let (agent, _) = person.mock_asks("question").await?;
    for command in ["show", "message", "stop", "log"] {
        let offered = complete(&["sayso", "sessions", command, ""]).await?;
        let ids: Vec<&str> = offered.out.lines().filter(|line| !line.starts_with('-')).collect();
        assert_eq!(ids, [ending(agent.session())], "{command}: {offered:?}");
    }
    let commands = complete(&["sayso", "ans"]).await?;
    assert_eq!(commands.out.trim(), "answer");
    let script = person.ok(&["completions", "bash"]).await?;
    assert!(script.contains("SAYSO_COMPLETE=") && script.contains("complete "), "{script}");
    Ok(())
}

#[tokio::test]
async fn manual_pages_cover_every_command() -> Result<()> {
    let person = Person::without_server()?;
    let directory = person.path("man1");
    person.ok(&["man", directory.to_str().context("a path")?]).await?;
    for (page, text) in [("sayso.1", "Your agents act on your say"), ("sayso-answer.1", "Answer a question")] {
        assert!(std::fs::read_to_string(directory.join(page))?.contains(text), "{page}");
    }
    Ok(())
}
