//! The link to a supervised process: through its supervisor's socket, or from the journal if the supervisor has exited.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use sayso_agents::translator::Exit;
use sayso_core::connection::{Connection, WirePosition};
use sayso_core::limits;
use sayso_store::OutboxId;
use sayso_supervisor::journal::{Journal, Stream, is_alive};
use sayso_supervisor::protocol::{ACCEPTANCE, Acceptance, CHAINED_INPUT, Decoder, ToServer, ToSupervisor, VERSION};
use sayso_supervisor::{Entry, Line, LineAssembler, Spec};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::Processes;
use super::accepted::{self, AcceptedInputs, InputKey};
use super::ledger::{AttachReport, InputFate, InputLedger, Interference};

/// How long a supervisor may take to answer.
const ANSWERS: Duration = Duration::from_secs(10);
/// How often to check for its answer.
const LOOK: Duration = Duration::from_millis(5);
/// How many bytes of an agent's stderr are kept to explain its exit.
const LAST_WORDS: usize = 2 * 1024;
/// The maximum length of a socket path on all supported systems, in bytes.
const SOCKET_PATH: usize = 103;
/// The size of a read, in bytes.
const PIECE: usize = 64 * 1024;
/// The capacity of the write queue. At most one input is in flight, so the queue never fills.
const WRITES: usize = 16;
/// How long an agent may take to exit: after stdin was closed, and after a signal.
const PATIENCE: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(3)];

const FOREIGN_INPUT: &str = "Another program, or a server of an earlier version, sent input to this agent. \
                             If you did not start it, stop the session and look at what the agent did.";

/// A message from a process or its supervisor.
#[derive(Debug)]
pub(crate) enum ProcessMessage {
    /// An output line. The output has been read up to `position`.
    Line {
        text: String,
        position: WirePosition,
    },
    Exited {
        exit: Exit,
        position: WirePosition,
    },
    /// The supervisor accepted the input with this id.
    Taken(OutboxId),
    /// The supervisor refused the input.
    Refused {
        id: OutboxId,
        message: String,
    },
    /// Another program interfered. The text is for people.
    Warning(String),
    /// All output from before the attachment has been read. Sent once.
    CaughtUp,
    /// The supervisor closed the connection.
    Closed,
}

/// Why a link could not be created.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    /// The supervisor could not be started.
    #[error("the supervisor cannot be started: {0}")]
    Start(#[source] io::Error),
    /// The supervisor did not answer.
    #[error("the supervisor of the agent does not answer")]
    Silent,
    /// The supervisor sent an invalid message.
    #[error("the supervisor of the agent sent an invalid message: {0}")]
    Garbled(String),
    /// Another process listens on the socket. Its pid is the field.
    #[error("a process of an agent (process {0}) listens on the socket of the supervisor")]
    Impostor(u32),
    /// The journal cannot be read.
    #[error("the journal of the agent cannot be read: {0}")]
    Journal(#[source] io::Error),
}

/// The first message of a supervisor.
struct SupervisorHello {
    version: u32,
    last_input: u64,
    end: u64,
    attachment: u64,
    previous_peer: u32,
}

enum Source {
    Socket {
        reader: OwnedReadHalf,
        decoder: Decoder<ToServer>,
        buffer: BytesMut,
        writer: mpsc::Sender<Vec<u8>>,
        writing: AbortHandle,
    },
    Journal {
        journal: Journal,
        at: u64,
    },
    /// Everything was read.
    Over,
}

pub(crate) struct Supervised {
    source: Source,
    lines: LineAssembler,
    ready: VecDeque<ProcessMessage>,
    last_words: String,
    /// The last input that the agent had when the server attached.
    last_input: u64,
    /// The last input that the agent accepted. `None` for a supervisor of version 1, whose inputs do not name their
    /// predecessor.
    accepted: Option<u64>,
    ledger: InputLedger,
    /// The directory of the journal.
    dir: PathBuf,
    key: InputKey,
    records_inputs: bool,
    /// Whether [`ProcessMessage::CaughtUp`] was returned.
    caught_up: bool,
    /// The position up to which output was read, and the end of the journal at the attachment.
    seen: u64,
    past: u64,
    _counted: Counted,
}

/// Counts one attached process until it is dropped.
struct Counted(Arc<watch::Sender<usize>>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|running| *running -= 1);
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        if let Source::Socket { writing, .. } = &self.source {
            writing.abort();
        }
    }
}

impl Supervised {
    /// Starts a supervisor with this command, unless one exists or existed, and attaches to it.
    pub(crate) async fn launch(
        processes: &Processes,
        connection: &Connection,
        key: InputKey,
        command: Vec<OsString>,
        env: BTreeMap<String, String>,
        directory: PathBuf,
    ) -> Result<Self, LinkError> {
        let dir = processes.dir_of(connection);
        processes.make_dirs(&dir).map_err(LinkError::Start)?;
        let spec = Spec {
            dir,
            socket: processes.socket_of(connection),
            directory,
            lonely: processes.lonely,
            line_limit: limits::LINE,
            command,
        };
        if spec.socket.as_os_str().len() > SOCKET_PATH {
            let message =
                format!("{} is too long for a socket; set XDG_RUNTIME_DIR to a shorter directory", spec.socket.display());
            return Err(LinkError::Start(io::Error::other(message)));
        }
        if !is_alive(&spec.dir) {
            InputLedger::create(&spec.dir).map_err(LinkError::Start)?;
            accepted::note_boot(&spec.dir).map_err(LinkError::Start)?;
            // The supervisor gets the environment of the agent, which inherits it. The environment is never written to disk. If
            // an earlier supervisor has run, the new one exits at once and the journal exists.
            let child = tokio::process::Command::new(&processes.supervisor)
                .arg("supervise")
                .args(spec.to_args())
                .env_clear()
                .envs(env)
                .current_dir("/")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
            // The supervisor outlives the server. If it exits earlier, the runtime reaps it.
            drop(child.map_err(LinkError::Start)?);
        }
        Self::reach(processes, key, &spec.dir, &spec.socket, WirePosition(0), Instant::now() + ANSWERS).await
    }

    /// Attaches to a process, starting at this position. The output of an exited process is read to its end.
    pub(crate) async fn attach(
        processes: &Processes,
        connection: &Connection,
        key: InputKey,
        from: WirePosition,
    ) -> Result<Self, LinkError> {
        let dir = processes.dir_of(connection);
        // A living supervisor already listens, but may need a moment to answer.
        let until = Instant::now() + if is_alive(&dir) { ANSWERS } else { Duration::ZERO };
        Self::reach(processes, key, &dir, &processes.socket_of(connection), from, until).await
    }

    async fn reach(
        processes: &Processes,
        key: InputKey,
        dir: &Path,
        socket: &Path,
        from: WirePosition,
        until: Instant,
    ) -> Result<Self, LinkError> {
        loop {
            if let Ok(stream) = UnixStream::connect(socket).await {
                return Self::greet(processes, key, dir, stream, from).await;
            }
            if Instant::now() >= until || has_ended(dir) {
                break;
            }
            tokio::time::sleep(LOOK).await;
        }
        if is_alive(dir) {
            return Err(LinkError::Silent);
        }
        let journal = Journal::open(dir).map_err(LinkError::Journal)?;
        Ok(Self::new(processes, key, dir, InputLedger::open(dir), Source::Journal { journal, at: from.0 }, from, u64::MAX))
    }

    fn new(
        processes: &Processes,
        key: InputKey,
        dir: &Path,
        ledger: InputLedger,
        source: Source,
        from: WirePosition,
        past: u64,
    ) -> Self {
        let running = processes.counter();
        running.send_modify(|running| *running += 1);
        Self {
            source,
            lines: LineAssembler::new(from.0),
            ready: VecDeque::new(),
            last_words: String::new(),
            last_input: 0,
            accepted: None,
            ledger,
            dir: dir.to_owned(),
            key,
            records_inputs: false,
            caught_up: from.0 >= past,
            seen: from.0,
            past,
            _counted: Counted(running),
        }
    }

    async fn greet(
        processes: &Processes,
        key: InputKey,
        dir: &Path,
        stream: UnixStream,
        from: WirePosition,
    ) -> Result<Self, LinkError> {
        let listener = stream.peer_cred().ok().and_then(|peer| peer.pid()).and_then(|pid| u32::try_from(pid).ok());
        if let Some(pid) = listener.filter(|pid| processes.is_started_by_an_agent(*pid)) {
            return Err(LinkError::Impostor(pid));
        }
        let (mut reader, mut half) = stream.into_split();
        let mut decoder = Decoder::<ToServer>::new();
        let mut buffer = BytesMut::with_capacity(PIECE);
        let silent = |_| LinkError::Silent;
        let mut ledger = InputLedger::open(dir);
        ledger.attaching();
        half.write_all(&ToSupervisor::Hello { version: VERSION, from: from.0 }.encode()).await.map_err(silent)?;
        let hello = loop {
            match decoder.next_frame().map_err(|error| LinkError::Garbled(error.to_string()))? {
                Some(ToServer::Hello { version, last_input, end, attachment, previous_peer, .. }) => {
                    break SupervisorHello { version, last_input, end, attachment, previous_peer };
                }
                Some(_) => {}
                None => {
                    let read = tokio::time::timeout(ANSWERS, reader.read_buf(&mut buffer)).await;
                    if !matches!(read, Ok(Ok(1..))) {
                        return Err(LinkError::Silent);
                    }
                    decoder.push(&buffer.split());
                }
            }
        };
        let (writer, mut writes) = mpsc::channel::<Vec<u8>>(WRITES);
        let writing = tokio::spawn(async move {
            while let Some(bytes) = writes.recv().await {
                if half.write_all(&bytes).await.is_err() {
                    break;
                }
            }
        });
        let source = Source::Socket { reader, decoder, buffer, writer, writing: writing.abort_handle() };
        let mut link = Self::new(processes, key, dir, ledger, source, from, hello.end);
        link.attached(&hello);
        link.decode().map_err(LinkError::Garbled)?;
        Ok(link)
    }

    /// Compares the supervisor's report about its connections with the ledger.
    fn attached(&mut self, hello: &SupervisorHello) {
        let SupervisorHello { version, last_input, attachment, previous_peer, .. } = *hello;
        self.last_input = last_input;
        if version < CHAINED_INPUT {
            return;
        }
        self.accepted = Some(last_input);
        self.records_inputs = version >= ACCEPTANCE;
        let Interference { attached, wrote } = self.ledger.attached(AttachReport { last_input, attachment });
        if attached {
            self.warn(format!(
                "Another program (process {previous_peer}) connected to the supervisor of this agent instead of this server. \
                 If you did not start it, stop the session and look at what the agent did."
            ));
        }
        if wrote {
            self.warn(FOREIGN_INPUT.to_owned());
        }
    }

    fn warn(&mut self, text: String) {
        tracing::warn!(text, "another program interfered with a supervisor");
        self.ledger.warn(&text);
        self.ready.push_back(ProcessMessage::Warning(text));
    }

    /// Returns whether an input from before the attachment was accepted.
    pub(crate) fn fate_of(&self, id: OutboxId) -> InputFate {
        let id = self.wire_id(id);
        match self.accepted {
            Some(_) => self.ledger.fate_of(id, self.last_input),
            None if id <= self.last_input => InputFate::Accepted,
            None => InputFate::NotAccepted,
        }
    }

    /// Returns whether output from before the attachment has not been read yet.
    pub(crate) fn has_past(&self) -> bool {
        !self.caught_up || !self.ready.is_empty()
    }

    /// Returns whether [`Self::next`] would return immediately.
    pub(crate) fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Writes to the agent's stdin, in the order of ids and each id once.
    pub(crate) fn input(&mut self, id: OutboxId, acceptance: Option<Acceptance>, bytes: Vec<u8>) {
        let id = self.wire_id(id);
        if let Some(previous) = self.accepted {
            self.ledger.sending(id, previous);
        }
        self.write(&ToSupervisor::Input { id, previous: self.accepted, acceptance, bytes });
    }

    /// Returns the id of a row in the supervisor protocol. Supervisors of earlier versions use the row itself.
    fn wire_id(&self, row: OutboxId) -> u64 {
        if self.records_inputs { self.key.wire_id(row) } else { row.0.unsigned_abs() }
    }

    fn row_of(&self, wire_id: u64) -> OutboxId {
        if self.records_inputs { InputKey::row(wire_id) } else { OutboxId(i64::try_from(wire_id).unwrap_or(i64::MAX)) }
    }

    pub(crate) fn digest_of(&self, row: OutboxId, bytes: &[u8]) -> [u8; 16] {
        self.key.digest(row, bytes)
    }

    /// Returns whether the supervisor records accepted inputs in the journal.
    pub(crate) fn records_inputs(&self) -> bool {
        self.records_inputs
    }

    /// Returns the inputs that the supervisor accepted, starting at a position.
    pub(crate) async fn accepted_inputs(&self, from: WirePosition) -> AcceptedInputs {
        let dir = self.dir.clone();
        let is_over = matches!(self.source, Source::Journal { .. });
        let read = move || AcceptedInputs::read(&dir, from, is_over);
        tokio::task::spawn_blocking(read).await.unwrap_or_default()
    }

    /// Tells the supervisor that output before this position is no longer needed.
    pub(crate) fn trim(&self, to: WirePosition) {
        self.write(&ToSupervisor::Trim { to: to.0 });
    }

    /// Stops the agent: closes stdin, then signals all its processes, then kills them.
    pub(crate) fn stop(&self) {
        let [after_close, after_term] = PATIENCE;
        self.write(&ToSupervisor::Stop { after_close, after_term });
    }

    fn write(&self, message: &ToSupervisor) {
        if let Source::Socket { writer, .. } = &self.source
            && writer.try_send(message.encode()).is_err()
        {
            tracing::debug!("supervisor does not read its socket; closing");
        }
    }

    /// Waits for the next message. Cancel safe.
    pub(crate) async fn next(&mut self) -> ProcessMessage {
        loop {
            if let Some(said) = self.ready.pop_front() {
                return said;
            }
            if !self.caught_up && self.seen >= self.past {
                self.caught_up = true;
                return ProcessMessage::CaughtUp;
            }
            match &mut self.source {
                Source::Socket { reader, decoder, buffer, .. } => {
                    match reader.read_buf(buffer).await {
                        Ok(0) | Err(_) => return ProcessMessage::Closed,
                        Ok(_) => decoder.push(&buffer.split()),
                    }
                    if let Err(message) = self.decode() {
                        tracing::error!(message, "invalid message from a supervisor");
                        return ProcessMessage::Closed;
                    }
                }
                // A short blocking read of a recently written file. It happens only after a supervisor died.
                Source::Journal { journal, at } => match journal.read(*at, PIECE) {
                    Ok(records) if records.is_empty() => self.end("its supervisor was killed"),
                    Ok(records) => {
                        if let Some((_, after)) = records.last() {
                            *at = *after;
                        }
                        for (record, position) in records {
                            self.record(record, position);
                        }
                    }
                    Err(error) => self.end(&format!("its reply cannot be parsed: {error}")),
                },
                Source::Over => std::future::pending().await,
            }
        }
    }

    /// Moves all decoded messages to the queue.
    fn decode(&mut self) -> Result<(), String> {
        loop {
            let Source::Socket { decoder, .. } = &mut self.source else { return Ok(()) };
            match decoder.next_frame().map_err(|error| error.to_string())? {
                None => return Ok(()),
                Some(ToServer::Record { record, position }) => self.record(record, position),
                Some(ToServer::Taken { id }) => {
                    self.accepted = self.accepted.map(|_| id);
                    // The input may have been in flight when the server attached.
                    if self.accepted.is_some() && self.ledger.is_foreign(id) {
                        self.warn(FOREIGN_INPUT.to_owned());
                    } else {
                        self.ready.push_back(ProcessMessage::Taken(self.row_of(id)));
                    }
                }
                Some(ToServer::Refused { id, message }) => {
                    self.ready.push_back(ProcessMessage::Refused { id: self.row_of(id), message })
                }
                Some(ToServer::PeerRefused { pid }) => self.warn(format!(
                    "A program that the agent started (process {pid}) tried to connect to the supervisor of this agent. \
                     It was refused."
                )),
                Some(ToServer::Hello { .. }) => {}
            }
        }
    }

    fn record(&mut self, record: sayso_supervisor::journal::Record, position: u64) {
        self.seen = position;
        for entry in self.lines.push(record, position) {
            let position = WirePosition(self.lines.position());
            match entry {
                Entry::Line(Line { stream: Stream::Out, text, dropped }) => {
                    let text = if dropped == 0 { text } else { format!("{text}[{dropped} bytes omitted]") };
                    self.ready.push_back(ProcessMessage::Line { text, position });
                }
                Entry::Line(Line { stream: Stream::Err, text, .. }) => {
                    self.last_words.push_str(&text);
                    self.last_words.push('\n');
                    if self.last_words.len() > 2 * LAST_WORDS {
                        self.last_words = limits::tail(&self.last_words, LAST_WORDS).to_owned();
                    }
                }
                // `accepted_inputs` has read the entries that matter.
                Entry::Accepted { .. } => {}
                Entry::Failed(message) => self.exited(Exit { code: None, signal: None, message }, position),
                Entry::Exited { code, signal } => {
                    let message = limits::tail(self.last_words.trim(), LAST_WORDS).to_owned();
                    self.exited(Exit { code, signal, message }, position);
                }
            }
        }
    }

    fn exited(&mut self, exit: Exit, position: WirePosition) {
        self.source = Source::Over;
        self.caught_up = true;
        self.ready.push_back(ProcessMessage::Exited { exit, position });
    }

    /// Records that the process ended and that its exit status is unknown.
    fn end(&mut self, message: &str) {
        let position = WirePosition(self.lines.position());
        self.exited(Exit { code: None, signal: None, message: message.to_owned() }, position);
    }
}

/// Returns whether a supervisor has run here and has exited.
fn has_ended(dir: &Path) -> bool {
    !is_alive(dir) && Journal::open(dir).and_then(|mut journal| journal.read(0, 1)).is_ok_and(|records| !records.is_empty())
}

#[cfg(test)]
mod tests;
