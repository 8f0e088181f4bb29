//! The server as a system service, upgrades, log rotation, and a complete uninstall.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use sayso_testkit::{PROGRAM, write_config};
use serde_json::Value;
use tokio::process::Command;

use crate::support::{Person, Ran, is_running, ran};

/// A fake systemd for one service that follows the unit file.
const SYSTEMCTL: &str = r#"#!/bin/sh
echo "$*" >>"$HOME/systemctl.log"
unit=$XDG_CONFIG_HOME/systemd/user/sayso.service
alive() { [ -f "$HOME/pid" ] && grep -q '^State:[[:space:]]*[RSDTt]' "/proc/$(cat "$HOME/pid")/status" 2>/dev/null; }
start() {
    log=$(sed -n 's/^StandardOutput=append://p' "$unit")
    eval "setsid env $(sed -n 's/^Environment=//p' "$unit" | tr '\n' ' ') $(sed -n 's/^ExecStart=//p' "$unit") </dev/null >>'$log' 2>&1 &"
    echo $! >"$HOME/pid"
}
end() {
    alive && kill "$(cat "$HOME/pid")"
    while alive; do sleep 0.02; done
}
case "$2" in
show-environment | daemon-reload) ;;
is-active) alive ;;
is-enabled) [ -f "$HOME/enabled" ] ;;
enable) touch "$HOME/enabled" ;;
start) alive || start ;;
restart) end; start ;;
disable) rm -f "$HOME/enabled"; end ;;
*) exit 1 ;;
esac
"#;

/// Installs a program in a directory that comes first in `PATH`.
fn install_program(person: &Person, name: &str, text: &str) -> Result<String> {
    let dir = person.path("bin");
    std::fs::create_dir_all(&dir)?;
    let path = dir.join(name);
    std::fs::write(&path, text)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(format!("{}:{}", dir.display(), std::env::var("PATH")?))
}

/// A person whose system has a service manager.
struct Serviced {
    person: Person,
    path: String,
}

impl Serviced {
    fn new() -> Result<Self> {
        let person = Person::without_server()?;
        let path = install_program(&person, "systemctl", SYSTEMCTL)?;
        Ok(Self { person, path })
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.person.command(args);
        command.env("PATH", &self.path);
        command
    }

    async fn ok(&self, args: &[&str]) -> Result<String> {
        let ran: Ran = ran(self.command(args)).await?;
        ensure!(ran.code == Some(0), "{args:?}: {ran:?}");
        Ok(ran.out)
    }

    async fn json(&self, args: &[&str]) -> Result<Value> {
        Ok(serde_json::from_str(&self.ok(&[args, &["--json"]].concat()).await?)?)
    }

    fn unit(&self) -> PathBuf {
        self.person.path("config/systemd/user/sayso.service")
    }

    fn pid(&self) -> Result<u32> {
        Ok(std::fs::read_to_string(self.person.path("home/pid"))?.trim().parse()?)
    }
}

#[tokio::test]
async fn service_install_is_idempotent_and_replaces_a_running_server() -> Result<()> {
    let service = Serviced::new()?;
    write_config(&service.person.path(""), "")?;
    // A server that was started before, with an agent that is a separate process.
    service.person.ok(&["restart"]).await?;
    let before = service.person.server_file()?;
    let cwd = Some(service.person.project().display().to_string());
    let new = sayso_client::api::session::NewSession {
        agent: PROGRAM.to_owned(),
        prompt: Some("question".to_owned()),
        cwd,
        ..Default::default()
    };
    let mut agent = sayso_testkit::ScriptedAgent::with(&service.person.client()?, &new).await?;
    let asked = agent.asks().await?;

    let shown = service.json(&["service", "install", "--listen", "127.0.0.1:0", "--dry-run"]).await?;
    assert!(!service.unit().exists() && shown["written"] == false, "{shown}");
    let installed = service.ok(&["service", "install", "--listen", "127.0.0.1:0"]).await?;
    assert!(installed.contains("The server is running and will start when you log in."), "{installed}");
    assert_eq!(std::fs::read_to_string(service.unit())?, shown["text"].as_str().unwrap_or_default());
    let after = service.person.server_file()?;
    assert_eq!(after.pid, service.pid()?, "the service manager started this process");
    assert!(!is_running(before.pid));

    // The agent kept running.
    service.ok(&["answer", &asked.id, "1"]).await?;
    let mut watch = sayso_testkit::Watch::session(&service.person.client()?, agent.session());
    watch.until("what it received", |event| event.event.data_json().contains("You answered: SQLite.")).await?;

    let again = service.json(&["service", "install", "--listen", "127.0.0.1:0"]).await?;
    assert_eq!((&again["written"], service.person.server_file()?.pid), (&Value::Bool(false), after.pid));
    let status = service.json(&["service", "status"]).await?;
    let facts = ["installed", "enabled", "running", "isThisProgram"].map(|name| status[name].as_bool());
    assert_eq!(facts, [Some(true); 4], "{status}");
    let doctor = service.ok(&["doctor"]).await?;
    assert!(doctor.contains("✓ Service    starts when you log in\n"), "{doctor}");

    // Commands use the service manager.
    service.ok(&["restart"]).await?;
    assert!(service.pid()? != after.pid && service.person.server_file()?.pid == service.pid()?);
    service.ok(&["stop"]).await?;
    let doctor = ran(service.command(&["doctor"])).await?;
    assert!(doctor.out.contains("x Service    installed, but not running\n"), "{doctor:?}");
    service.ok(&["ask", "Which?", "--no-wait"]).await?;
    assert_eq!(service.person.server_file()?.pid, service.pid()?);
    let logged = service.ok(&["logs"]).await?;
    assert!(logged.contains("listening on "), "{logged}");

    assert!(service.ok(&["service", "remove"]).await?.starts_with("Removed: "));
    assert!(!service.unit().exists() && !is_running(service.pid()?));
    assert_eq!(service.ok(&["service", "remove"]).await?, "The service is not installed.\n");
    service.person.ok(&["restart"]).await?;
    service.person.ok(&["stop", "--all"]).await?;
    Ok(())
}

#[tokio::test]
async fn install_without_a_service_manager_prints_the_commands_to_run() -> Result<()> {
    let person = Person::without_server()?;
    let path = install_program(&person, "systemctl", "#!/bin/sh\necho 'Failed to connect to bus' >&2\nexit 1\n")?;
    let run = |args: &'static [&'static str]| {
        let mut command = person.command(args);
        command.env("PATH", &path);
        ran(command)
    };
    let installed = run(&["service", "install"]).await?;
    assert_eq!(installed.code, Some(0), "{installed:?}");
    assert!(
        installed.out.ends_with("systemctl --user enable sayso.service\n  systemctl --user restart sayso.service\n"),
        "{installed:?}"
    );
    let status = run(&["service", "status"]).await?;
    assert!(status.out.contains("Starts   unknown\n"), "{status:?}");
    let removed = run(&["service", "remove"]).await?;
    assert!(removed.out.ends_with("\n  systemctl --user disable --now sayso.service\n"), "{removed:?}");
    assert!(!person.path("config/systemd/user/sayso.service").exists());
    Ok(())
}

#[tokio::test]
async fn doctor_reports_a_service_for_another_program() -> Result<()> {
    let service = Serviced::new()?;
    service.ok(&["service", "install", "--listen", "127.0.0.1:0"]).await?;
    let unit = std::fs::read_to_string(service.unit())?;
    let program = sayso_testkit::sayso_bin()?;
    std::fs::write(service.unit(), unit.replace(program.to_str().context("a path")?, "/opt/old/sayso"))?;
    let doctor = ran(service.command(&["doctor"])).await?;
    assert!(doctor.out.contains("x Service    starts /opt/old/sayso instead of this program\n"), "{doctor:?}");
    service.ok(&["service", "remove"]).await?;
    Ok(())
}

/// A server that reports an older version.
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

#[tokio::test]
async fn newer_program_replaces_an_older_server() -> Result<()> {
    use tokio::io::{AsyncBufReadExt as _, BufReader};
    let person = Person::without_server()?;
    // The database of the older server is kept.
    person.ok(&["ask", "Before?", "--no-wait"]).await?;
    person.ok(&["stop"]).await?;
    let mut older = person.program("python3", &["-c", OLDER, person.data_dir().to_str().context("a path")?]);
    let mut older = older.stdout(std::process::Stdio::piped()).spawn()?;
    let mut said = BufReader::new(older.stdout.take().context("no output")?).lines();
    assert_eq!(said.next_line().await?.as_deref(), Some("ready"));
    let before = person.server_file()?;

    let doctor = person.run(&["doctor"]).await?;
    assert!(doctor.out.contains("x Version    the server is version 0.0.1, this program is "), "{doctor:?}");
    let asked = person.run(&["ask", "After?", "--no-wait"]).await?;
    assert_eq!(asked.code, Some(0), "{asked:?}");
    assert!(
        asked.err.starts_with("The server is running the older version 0.0.1. Restarting it; agents keep running.\n"),
        "{asked:?}"
    );
    let after = person.server_file()?;
    assert!(after.version == env!("CARGO_PKG_VERSION") && after.pid != before.pid, "{after:?}");
    let listed = person.ok(&["ls"]).await?;
    assert!(listed.contains("Before?") && listed.contains("After?"), "{listed}");
    older.wait().await?;
    Ok(())
}

#[tokio::test]
async fn logs_are_rotated_and_read_across_files() -> Result<()> {
    let person = Person::without_server()?;
    let log = person.data_dir().join("logs/sayso.log");
    std::fs::create_dir_all(log.parent().context("a directory")?)?;
    let mut old = "an old line\n".repeat(5 * 1024 * 1024 / 12 + 1);
    old.push_str("the last old line\n");
    std::fs::write(&log, &old)?;
    std::fs::set_permissions(&log, std::fs::Permissions::from_mode(0o600))?;
    person.ok(&["restart"]).await?;
    person.ok(&["stop"]).await?;
    let aside = std::fs::read_to_string(person.data_dir().join("logs/sayso.log.1"))?;
    assert!(aside.starts_with(&old), "no line is lost");
    let now = std::fs::read_to_string(&log)?;
    assert!(now.len() < 10_000 && now.contains("stopping"), "{now}");
    assert_eq!(std::fs::metadata(&log)?.permissions().mode() & 0o077, 0);
    let count = now.lines().count() + aside.lines().count() - old.lines().count() + 1;
    let shown = person.ok(&["logs", "-n", &count.to_string()]).await?;
    assert!(shown.starts_with("the last old line\n") && shown.ends_with("stopping"), "{shown}");
    Ok(())
}

#[tokio::test]
async fn followed_log_continues_after_a_rotation() -> Result<()> {
    let person = Person::without_server()?;
    let log = person.data_dir().join("logs/sayso.log");
    std::fs::create_dir_all(log.parent().context("a directory")?)?;
    std::fs::write(&log, "begins\n")?;
    let mut terminal = person.terminal(&["logs", "-f"])?;
    terminal.expect("begins").await?;
    let mut old = std::fs::OpenOptions::new().append(true).open(&log)?;
    std::fs::rename(&log, log.with_extension("log.1"))?;
    old.write_all(b"the end of the old one\n")?;
    std::fs::write(&log, "the start of the new one\n")?;
    terminal.expect("the end of the old one").await?;
    terminal.expect("the start of the new one").await?;
    Ok(())
}

/// Lists all files below a directory.
fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() { found.extend(files(&path)?) } else { found.push(path) }
    }
    found.sort();
    Ok(found)
}

#[tokio::test]
async fn uninstall_removes_all_own_files_and_no_foreign_ones() -> Result<()> {
    let service = Serviced::new()?;
    let person = &service.person;
    write_config(&person.path(""), "")?;
    let foreign = [
        ("home/.claude/settings.json", "{ \"model\": \"opus\" }\n"),
        ("home/.codex/config.toml", "model = \"x\"\n"),
        ("home/project/opencode.json", "{}\n"),
        ("config/systemd/user/other.service", "[Service]\n"),
        ("data/notes.txt", "mine\n"),
    ];
    for (name, text) in foreign {
        std::fs::create_dir_all(person.path(name).parent().context("a directory")?)?;
        std::fs::write(person.path(name), text)?;
    }
    let before = files(&person.path(""))?;
    service.ok(&["service", "install", "--listen", "127.0.0.1:0"]).await?;
    for args in [&["claude"][..], &["codex"], &["opencode", "--scope", "project"]] {
        service.ok(&[&["connect"], args, &["--yes"]].concat()).await?;
    }
    let cwd = Some(person.project().display().to_string());
    let new = sayso_client::api::session::NewSession {
        agent: PROGRAM.to_owned(),
        prompt: Some("question".to_owned()),
        cwd,
        ..Default::default()
    };
    sayso_testkit::ScriptedAgent::with(&person.client()?, &new).await?.asks().await?;

    let all = files(&person.path(""))?;
    let plan = service.json(&["uninstall", "--purge", "--dry-run"]).await?;
    assert_eq!(files(&person.path(""))?, all, "a dry run changes nothing");
    assert_eq!((plan["changed"].as_array().map(Vec::len), &plan["done"]), (Some(4), &Value::Bool(false)), "{plan}");
    let pid = service.pid()?;
    let shown = service.ok(&["uninstall", "--purge", "--yes"]).await?;
    assert!(shown.contains("Entries of Sayso will be removed from:\n") && shown.ends_with("Removed.\n"), "{shown}");
    assert!(!is_running(pid));

    let ours = [person.path("config/sayso/config.toml")];
    let helpers = [person.path("home/pid"), person.path("home/systemctl.log")];
    let left: Vec<PathBuf> = files(&person.path(""))?.into_iter().filter(|path| !helpers.contains(path)).collect();
    let expected: Vec<PathBuf> = before.into_iter().filter(|path| !ours.contains(path) && !helpers.contains(path)).collect();
    assert_eq!(left, expected);
    for (name, text) in foreign {
        assert_eq!(std::fs::read_to_string(person.path(name))?, text, "{name}");
    }
    Ok(())
}
