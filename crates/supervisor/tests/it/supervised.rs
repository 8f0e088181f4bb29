//! A supervisor in a separate process, and a server that is attached to it.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sayso_supervisor::journal::{Journal, Record, Stream};
use sayso_supervisor::protocol::{CHAINED_INPUT, Decoder, ToServer, ToSupervisor, VERSION};
use sayso_supervisor::{Entry, Line, LineAssembler, Spec};
use tempfile::TempDir;

/// Timeout for any wait on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Polls until a condition holds.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The example, which `cargo test` builds next to the tests.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.ancestors().nth(2).unwrap().join("examples/supervise");
    assert!(
        program.exists(),
        "{} is missing; build it with cargo build -p sayso-supervisor --example supervise",
        program.display()
    );
    program
}

/// A running supervisor. Its remaining processes are killed at the end of the test.
pub(crate) struct Supervised {
    pub(crate) home: TempDir,
    pub(crate) spec: Spec,
    pub(crate) process: Child,
}

impl Drop for Supervised {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A spec in a temporary directory.
pub(crate) fn spec(home: &Path, command: &[&str]) -> Spec {
    Spec {
        dir: home.join("state"),
        socket: home.join("socket"),
        directory: home.to_owned(),
        lonely: Spec::LONELY,
        line_limit: Spec::LINE_LIMIT,
        command: command.iter().map(OsString::from).collect(),
    }
}

/// The command that a server would run.
pub(crate) fn command(spec: &Spec) -> Command {
    let mut command = Command::new(program());
    command.args(spec.to_args()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

impl Supervised {
    pub(crate) fn start(agent: &[&str]) -> Self {
        Self::start_with(agent, |_| {})
    }

    /// Starts a shell script as the agent.
    pub(crate) fn shell(script: &str) -> Self {
        Self::start(&["sh", "-c", script])
    }

    pub(crate) fn start_with(agent: &[&str], change: impl FnOnce(&mut Spec)) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut spec = spec(home.path(), agent);
        change(&mut spec);
        let process = command(&spec).spawn().unwrap();
        Self { home, spec, process }
    }

    /// Starts the supervisor from a parent that ignores and blocks signals.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_with_signals_ignored_and_blocked(script: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let spec = spec(home.path(), &["sh", "-c", script]);
        let signals = "HUP,INT,QUIT,USR1,USR2,PIPE,ALRM,TERM,CHLD,TSTP,TTIN,TTOU";
        let mut command = Command::new("env");
        command.arg(format!("--ignore-signal={signals}")).arg(format!("--block-signal={signals}"));
        command.arg(program()).args(spec.to_args());
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { home, spec, process }
    }

    /// Starts a supervisor whose directory is on a disk of this size, in its own mount namespace.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_on_small_disk(script: &str, size: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let spec = spec(home.path(), &["sh", "-c", script]);
        std::fs::create_dir(&spec.dir).unwrap();
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
        command.arg(r#"mount -t tmpfs -o size="$0" tmpfs "$1" && shift && exec "$@""#).arg(size);
        command.arg(&spec.dir).arg(program()).args(spec.to_args());
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        Self { home, spec, process }
    }

    /// Attaches as soon as the supervisor listens.
    pub(crate) fn attach(&self, from: u64) -> Server {
        self.attach_as(VERSION, from)
    }

    /// Attaches like a server of this version.
    pub(crate) fn attach_as(&self, version: u32, from: u64) -> Server {
        let mut server = Server::connect(&self.spec.socket, from);
        server.send(&ToSupervisor::Hello { version, from });
        let hello = server.frame().unwrap();
        let ToServer::Hello { last_input, .. } = hello else { panic!("{hello:?}") };
        server.last_input = (version >= CHAINED_INPUT).then_some(last_input);
        server.hello = Some(hello);
        server
    }

    /// Waits for the supervisor's exit.
    pub(crate) fn exit_code(&mut self) -> i32 {
        let mut status = None;
        eventually("the supervisor ends", || {
            status = self.process.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap().code().unwrap()
    }

    /// All records on disk.
    pub(crate) fn on_disk(&self) -> Vec<(Record, u64)> {
        let mut journal = Journal::open(&self.spec.dir).unwrap();
        let mut all: Vec<(Record, u64)> = Vec::new();
        loop {
            let from = all.last().map_or(0, |(_, position)| *position);
            let records = journal.read(from, 100_000).unwrap();
            if records.is_empty() {
                return all;
            }
            all.extend(records);
        }
    }
}

/// A minimal server for tests.
pub(crate) struct Server {
    socket: UnixStream,
    decoder: Decoder<ToServer>,
    pub(crate) hello: Option<ToServer>,
    /// The predecessor of the next input. `None` to omit it, like servers of version 1.
    pub(crate) last_input: Option<u64>,
    pub(crate) assembler: LineAssembler,
    entries: VecDeque<(Entry, u64)>,
    replies: VecDeque<ToServer>,
}

impl Server {
    /// Connects without sending `Hello`.
    pub(crate) fn connect(path: &Path, from: u64) -> Self {
        let mut socket = None;
        eventually("the supervisor listens", || {
            socket = UnixStream::connect(path).ok();
            socket.is_some()
        });
        let socket = socket.unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            socket,
            decoder: Decoder::new(),
            hello: None,
            last_input: Some(0),
            assembler: LineAssembler::new(from),
            entries: VecDeque::new(),
            replies: VecDeque::new(),
        }
    }

    pub(crate) fn send(&mut self, frame: &ToSupervisor) {
        self.send_bytes(&frame.encode());
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).unwrap();
    }

    /// Fails if the supervisor has closed the connection.
    pub(crate) fn try_send_bytes(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.socket.write_all(bytes)
    }

    pub(crate) fn input(&mut self, id: u64, text: &str) {
        self.send(&ToSupervisor::Input { id, previous: self.last_input, acceptance: None, bytes: text.as_bytes().to_vec() });
        self.last_input = self.last_input.map(|_| id);
    }

    pub(crate) fn stop(&mut self, after_close: u64, after_term: u64) {
        let [after_close, after_term] = [after_close, after_term].map(Duration::from_millis);
        self.send(&ToSupervisor::Stop { after_close, after_term });
    }

    /// The next frame; `None` if the supervisor has closed the connection.
    pub(crate) fn frame(&mut self) -> Option<ToServer> {
        let mut buffer = vec![0; 65_536];
        loop {
            if let Some(frame) = self.decoder.next_frame().unwrap() {
                return Some(frame);
            }
            match self.socket.read(&mut buffer) {
                Ok(0) => return None,
                Ok(count) => self.decoder.push(&buffer[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                // A read with a timeout is interrupted when the process is stopped and continued.
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => panic!("nothing from the supervisor: {error}"),
            }
        }
    }

    fn take_in(&mut self) {
        match self.frame() {
            Some(ToServer::Record { record, position }) => {
                let entries = self.assembler.push(record, position);
                self.entries.extend(entries.into_iter().map(|entry| (entry, position)));
            }
            Some(reply) => self.replies.push_back(reply),
            None => panic!("the supervisor closed the connection"),
        }
    }

    /// The next entry, with the position after the record that completed it.
    pub(crate) fn entry(&mut self) -> (Entry, u64) {
        while self.entries.is_empty() {
            self.take_in();
        }
        self.entries.pop_front().unwrap()
    }

    /// The next stdout line.
    pub(crate) fn line(&mut self) -> String {
        match self.entry().0 {
            Entry::Line(Line { stream: Stream::Out, text, dropped: 0 }) => text,
            other => panic!("not a whole line of output: {other:?}"),
        }
    }

    pub(crate) fn reply(&mut self) -> ToServer {
        while self.replies.is_empty() {
            self.take_in();
        }
        self.replies.pop_front().unwrap()
    }
}

/// A stdout line as an entry.
pub(crate) fn out(text: &str) -> Entry {
    Entry::Line(Line { stream: Stream::Out, text: text.to_owned(), dropped: 0 })
}

/// A stderr line as an entry.
pub(crate) fn err(text: &str) -> Entry {
    Entry::Line(Line { stream: Stream::Err, text: text.to_owned(), dropped: 0 })
}

pub(crate) fn signal(name: &str, pid: u32) {
    assert!(Command::new("sh").arg("-c").arg(format!("kill -{name} {pid}")).status().unwrap().success());
}
