//! PostgreSQL servers. The tests of this binary share one that listens only on a socket in its own directory.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The user of the server if the tests run as root, because PostgreSQL refuses to run as root.
const SERVER_USER: u32 = 65_534;

/// Waits until the test process ends, for any reason, and then stops the server and deletes its directory.
const KEEPER: &str = r#"
"$1/postgres" -D "$2/data" >"$2/log" 2>&1 &
server=$!
cat >/dev/null
kill -INT $server
wait $server
rm -rf "$2"
"#;

#[derive(Debug)]
pub(crate) struct Cluster {
    dir: PathBuf,
    /// Its standard input ends with this process.
    _keeper: Child,
}

impl Cluster {
    /// Returns the server of this binary. The first call starts it.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(|| Self::start(5432, |_| vec!["listen_addresses = ''".to_owned()]))
    }

    /// The directory of the socket.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn address_in(dir: &str) -> String {
        format!("postgres:///postgres?user=sayso&host={dir}")
    }

    /// Starts a server. `prepare` gets its directory of data, writes further files, and returns lines for `postgresql.conf`.
    pub(crate) fn start(port: u16, prepare: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let bin = programs();
        let dir = directory(is_root());
        let mut initdb = as_server_user(&bin.join("initdb"), &dir);
        initdb.args(["--username=sayso", "--auth=trust", "--encoding=UTF8", "--no-sync", "--pgdata"]).arg(dir.join("data"));
        let made = initdb.output().unwrap();
        assert!(made.status.success(), "initdb failed: {}", String::from_utf8_lossy(&made.stderr));
        let mut settings = prepare(&dir.join("data"));
        let common = ["fsync = off", "max_connections = 500", "shared_buffers = 32MB", "max_wal_size = 256MB"];
        settings.extend(common.map(str::to_owned));
        settings.extend([format!("port = {port}"), format!("unix_socket_directories = '{}'", dir.display())]);
        let mut file = fs::OpenOptions::new().append(true).open(dir.join("data/postgresql.conf")).unwrap();
        file.write_all(settings.join("\n").as_bytes()).unwrap();
        let keeper = keep(KEEPER, &dir, &[&bin, &dir]);
        let cluster = Self { dir, _keeper: keeper };
        cluster.wait_until_ready(&bin, port);
        cluster
    }

    fn wait_until_ready(&self, bin: &Path, port: u16) {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let mut ready = Command::new(bin.join("pg_isready"));
            ready.arg("--quiet").arg("--host").arg(&self.dir).args(["--port", &port.to_string()]);
            if ready.status().unwrap().success() {
                return;
            }
            if Instant::now() > until {
                let log = fs::read_to_string(self.dir.join("log")).unwrap_or_default();
                let _ = writeln!(std::io::stderr(), "{log}");
                panic!("PostgreSQL did not start");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Prepares a command that runs as the user of the server.
pub(crate) fn as_server_user(program: &Path, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).env("LC_ALL", "C.UTF-8");
    if is_root() {
        command.uid(SERVER_USER).gid(SERVER_USER);
    }
    command
}

/// Writes a file that only the user of the server can read.
pub(crate) fn write_private(path: &Path, content: &str) {
    fs::write(path, content).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    if is_root() {
        chown(path, Some(SERVER_USER), Some(SERVER_USER)).unwrap();
    }
}

/// Runs a script that waits for the end of its standard input, which ends with this process.
pub(crate) fn keep(script: &str, dir: &Path, arguments: &[&Path]) -> Child {
    let mut keeper = as_server_user(Path::new("sh"), dir);
    keeper.args(["-c", script, "keeper"]).args(arguments).stdin(Stdio::piped());
    // Signals for the tests, for example from a terminal, must not end it first.
    keeper.process_group(0).spawn().unwrap()
}

/// Finds the newest PostgreSQL of Debian.
fn programs() -> PathBuf {
    let versions =
        fs::read_dir("/usr/lib/postgresql").map(|versions| versions.flatten().map(|version| version.path().join("bin")));
    let mut found: Vec<_> = versions.into_iter().flatten().filter(|bin| bin.join("initdb").exists()).collect();
    found.sort();
    found.pop().expect("PostgreSQL is not installed; run scripts/need.sh test")
}

/// Creates a directory that the user of the server owns and can reach. Other users may not be able to enter a temporary
/// directory of root.
fn directory(is_root: bool) -> PathBuf {
    let mut builder = tempfile::Builder::new();
    builder.prefix("sayso-postgres.");
    if !is_root {
        return builder.tempdir().unwrap().keep();
    }
    let shared = if Path::new("/dev/shm").exists() { "/dev/shm" } else { "/tmp" };
    let dir = builder.tempdir_in(shared).unwrap().keep();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
    chown(&dir, Some(SERVER_USER), Some(SERVER_USER)).unwrap();
    dir
}
