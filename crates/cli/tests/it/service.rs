//! The server as a service of the system, upgrades, the log that does not grow, and taking everything away again.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use sayso_testkit::{PROGRAM, write_config};
use serde_json::Value;
use tokio::process::Command;

use crate::support::{Person, Ran, is_running, ran};

/// A systemd of one service: it does what the unit says.
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

/// A program of this name that comes before all others.
fn put(person: &Person, name: &str, text: &str) -> Result<String> {
    let dir = person.path("bin");
    std::fs::create_dir_all(&dir)?;
    let path = dir.join(name);
    std::fs::write(&path, text)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    Ok(format!("{}:{}", dir.display(), std::env::var("PATH")?))
}

/// A person whose system has a service manager, and their commands.
struct Serviced {
    person: Person,
    path: String,
}

impl Serviced {
    fn new() -> Result<Self> {
        let person = Person::without_server()?;
        let path = put(&person, "systemctl", SYSTEMCTL)?;
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
async fn a_service_is_installed_once_and_the_server_goes_over_into_it() -> Result<()> {
    let service = Serviced::new()?;
    write_config(&service.person.path(""), "")?;
    // A server that was started before, with an agent that is a process of its own.
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
    assert!(installed.contains("The server runs and starts again when you log in."), "{installed}");
    assert_eq!(std::fs::read_to_string(service.unit())?, shown["text"].as_str().unwrap_or_default());
    let after = service.person.server_file()?;
    assert_eq!(after.pid, service.pid()?, "the service manager's");
    assert!(!is_running(before.pid));

    // The agent did not notice.
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

    // What people type works as before: the service manager does it.
    service.ok(&["restart"]).await?;
    assert!(service.pid()? != after.pid && service.person.server_file()?.pid == service.pid()?);
    service.ok(&["stop"]).await?;
    let doctor = ran(service.command(&["doctor"])).await?;
    assert!(doctor.out.contains("x Service    is installed, but does not run\n"), "{doctor:?}");
    service.ok(&["ask", "Which?", "--no-wait"]).await?;
    assert_eq!(service.person.server_file()?.pid, service.pid()?);
    let logged = service.ok(&["logs"]).await?;
    assert!(logged.contains("listening on "), "{logged}");

    assert!(service.ok(&["service", "remove"]).await?.starts_with("Removed: "));
    assert!(!service.unit().exists() && !is_running(service.pid()?));
    assert_eq!(service.ok(&["service", "remove"]).await?, "It is not installed.\n");
    service.person.ok(&["restart"]).await?;
    service.person.ok(&["stop", "--all"]).await?;
    Ok(())
}

#[tokio::test]
async fn without_a_service_manager_it_is_said_what_to_run() -> Result<()> {
    let person = Person::without_server()?;
    let path = put(&person, "systemctl", "#!/bin/sh\necho 'Failed to connect to bus' >&2\nexit 1\n")?;
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
    assert!(status.out.contains("Starts   unknown here\n"), "{status:?}");
    let removed = run(&["service", "remove"]).await?;
    assert!(removed.out.ends_with("\n  systemctl --user disable --now sayso.service\n"), "{removed:?}");
    assert!(!person.path("config/systemd/user/sayso.service").exists());
    Ok(())
}

#[tokio::test]
async fn a_service_that_starts_another_program_is_named() -> Result<()> {
    let service = Serviced::new()?;
    service.ok(&["service", "install", "--listen", "127.0.0.1:0"]).await?;
    let unit = std::fs::read_to_string(service.unit())?;
    let program = sayso_testkit::sayso_bin()?;
    std::fs::write(service.unit(), unit.replace(program.to_str().context("a path")?, "/opt/old/sayso"))?;
    let doctor = ran(service.command(&["doctor"])).await?;
    assert!(doctor.out.contains("x Service    starts /opt/old/sayso, which is not this program\n"), "{doctor:?}");
    service.ok(&["service", "remove"]).await?;
    Ok(())
}

/// A server that says that it is older.
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
async fn a_newer_program_takes_the_place_of_an_older_server() -> Result<()> {
    use tokio::io::{AsyncBufReadExt as _, BufReader};
    let person = Person::without_server()?;
    // The database of the older one stays.
    person.ok(&["ask", "Before?", "--no-wait"]).await?;
    person.ok(&["stop"]).await?;
    let mut older = person.program("python3", &["-c", OLDER, person.data_dir().to_str().context("a path")?]);
    let mut older = older.stdout(std::process::Stdio::piped()).spawn()?;
    let mut said = BufReader::new(older.stdout.take().context("it says something")?).lines();
    assert_eq!(said.next_line().await?.as_deref(), Some("ready"));
    let before = person.server_file()?;

    let doctor = person.run(&["doctor"]).await?;
    assert!(doctor.out.contains("x Version    the server has 0.0.1, this program "), "{doctor:?}");
    let asked = person.run(&["ask", "After?", "--no-wait"]).await?;
    assert_eq!(asked.code, Some(0), "{asked:?}");
    assert!(asked.err.starts_with("The server is of the older version 0.0.1; it is started again. Agents go on.\n"), "{asked:?}");
    let after = person.server_file()?;
    assert!(after.version == env!("CARGO_PKG_VERSION") && after.pid != before.pid, "{after:?}");
    let listed = person.ok(&["ls"]).await?;
    assert!(listed.contains("Before?") && listed.contains("After?"), "{listed}");
    older.wait().await?;
    Ok(())
}

#[tokio::test]
async fn the_log_is_moved_aside_and_read_across() -> Result<()> {
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
    assert!(aside.starts_with(&old), "nothing is lost");
    let now = std::fs::read_to_string(&log)?;
    assert!(now.len() < 10_000 && now.contains("stopping"), "{now}");
    assert_eq!(std::fs::metadata(&log)?.permissions().mode() & 0o077, 0);
    let count = now.lines().count() + aside.lines().count() - old.lines().count() + 1;
    let shown = person.ok(&["logs", "-n", &count.to_string()]).await?;
    assert!(shown.starts_with("the last old line\n") && shown.ends_with("stopping"), "{shown}");
    Ok(())
}

#[tokio::test]
async fn a_log_that_is_followed_goes_on_when_it_is_moved_aside() -> Result<()> {
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

/// Every file below a directory, without what `is_foreign` knows.
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
async fn afterwards_nothing_of_ours_is_left_and_nothing_of_others_is_gone() -> Result<()> {
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
    assert_eq!(files(&person.path(""))?, all, "only shown");
    assert_eq!((plan["changed"].as_array().map(Vec::len), &plan["done"]), (Some(4), &Value::Bool(false)), "{plan}");
    let pid = service.pid()?;
    let shown = service.ok(&["uninstall", "--purge", "--yes"]).await?;
    assert!(shown.contains("Our entries will be taken out of:\n") && shown.ends_with("Removed.\n"), "{shown}");
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
