//! Connections of servers. One server is attached at a time: it receives the records of the journal and sends input.
//!
//! All sockets are non-blocking. Frames for the attached server are collected in one buffer and written when the socket
//! accepts them, so a slow server delays neither the agent nor other connections. Records that a slow server has not
//! read stay in the journal.

use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::journal::{Journal, Raw};
use crate::peer::{self, RefusedPeer};
use crate::protocol::{Decoder, Error, ToServer, ToSupervisor, VERSION, append_record};

/// Timeout for the `Hello` of a connection.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of connections without a `Hello`. Further connections are closed immediately.
const MAX_PENDING: usize = 8;
/// How many bytes of the journal are read at a time.
const CHUNK: usize = 16 * 1024;
/// Records are appended to the buffer directly while it is smaller than this. Otherwise they are read from the journal
/// later.
const BUFFERED: usize = 64 * 1024;
/// Maximum number of queued replies for a server that does not read. A server with more queued replies is disconnected.
const REPLIES: usize = 64;
/// The pause after a connection could not be accepted because of a shortage of descriptors or memory.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// A connection that has not sent `Hello`.
#[derive(Debug)]
pub(crate) struct PendingServer {
    link: FrameSocket,
    /// The process that connected; 0 if it is unknown.
    peer: u32,
    until: Instant,
}

#[derive(Debug)]
pub(crate) struct AttachedServer {
    link: FrameSocket,
    /// The number of attachments so far, including this one.
    pub(crate) number: u64,
    pub(crate) version: u32,
    /// The records up to this position were sent or are in `out`.
    position: u64,
    /// Frames that wait for the socket. The first `sent` bytes were written.
    out: Vec<u8>,
    sent: usize,
    /// The number of replies in `out`.
    replies: usize,
    /// Open while the server lags behind.
    journal: Option<Journal>,
    /// An input that waits for the previous input. The socket is not read until then.
    pub(crate) held: Option<ToSupervisor>,
    knows_of_refused_peer: bool,
}

/// A socket and its frame decoder.
#[derive(Debug)]
struct FrameSocket {
    socket: UnixStream,
    decoder: Decoder<ToSupervisor>,
}

/// The connection must be dropped. The server attaches again.
#[derive(Debug)]
pub(crate) struct Dropped;

impl From<io::Error> for Dropped {
    fn from(_: io::Error) -> Self {
        Self
    }
}

impl From<Error> for Dropped {
    fn from(_: Error) -> Self {
        Self
    }
}

impl FrameSocket {
    /// Reads the available bytes.
    fn read(&mut self, buffer: &mut [u8]) -> Result<(), Dropped> {
        match self.socket.read(buffer) {
            Ok(0) => Err(Dropped),
            Ok(count) => {
                self.decoder.push(&buffer[..count]);
                Ok(())
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => Ok(()),
            Err(_) => Err(Dropped),
        }
    }
}

impl AttachedServer {
    pub(crate) fn socket(&self) -> &UnixStream {
        &self.link.socket
    }

    /// Whether frames wait for the socket.
    pub(crate) fn is_writing(&self) -> bool {
        self.sent < self.out.len()
    }

    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<(), Dropped> {
        self.link.read(buffer)
    }

    pub(crate) fn next_frame(&mut self) -> Result<Option<ToSupervisor>, Dropped> {
        Ok(self.link.decoder.next_frame()?)
    }

    pub(crate) fn reply(&mut self, frame: &ToServer) -> Result<(), Dropped> {
        self.replies += 1;
        if self.replies > REPLIES {
            return Err(Dropped);
        }
        self.out.extend_from_slice(&frame.encode());
        Ok(())
    }

    /// Sends records that were just appended to the journal, without reading them back. `start` is the position of the
    /// first record. A server that lags behind reads them from the journal later.
    pub(crate) fn send_appended(&mut self, start: u64, batch: &[u8]) {
        if self.position != start || self.out.len() > BUFFERED {
            return;
        }
        let mut rest = batch;
        while let Some(record) = Raw::parse_first(rest) {
            rest = &rest[record.size()..];
            self.position += record.size() as u64;
            append_record(record, self.position, &mut self.out);
        }
    }

    /// Writes frames and records until the socket is full, or until the server has all records up to `end`.
    pub(crate) fn write(&mut self, dir: &std::path::Path, end: u64) -> Result<(), Dropped> {
        loop {
            while self.is_writing() {
                match self.link.socket.write(&self.out[self.sent..]) {
                    Ok(0) => return Err(Dropped),
                    Ok(count) => self.sent += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                    Err(_) => return Err(Dropped),
                }
            }
            (self.sent, self.replies) = (0, 0);
            self.out.clear();
            if self.position >= end {
                self.journal = None;
                self.out.shrink_to(CHUNK);
                return Ok(());
            }
            self.read_journal(dir)?;
        }
    }

    fn read_journal(&mut self, dir: &std::path::Path) -> Result<(), Dropped> {
        let journal = match &mut self.journal {
            Some(journal) => journal,
            None => self.journal.insert(Journal::open(dir)?),
        };
        for (record, after) in journal.read_raw(self.position, CHUNK)? {
            append_record(record, after, &mut self.out);
            self.position = after;
        }
        // The expected records are missing: the journal was deleted.
        if self.out.is_empty() { Err(Dropped) } else { Ok(()) }
    }
}

/// All connections of the supervisor.
#[derive(Debug)]
pub(crate) struct Servers {
    dir: PathBuf,
    listener: UnixListener,
    /// Accepting is paused until this time.
    accept_after: Option<Instant>,
    pub(crate) greeting: Vec<PendingServer>,
    pub(crate) attached: Option<AttachedServer>,
    /// The number of attachments so far.
    count: u64,
    /// The process of the last attached server; 0 if there was none or it is unknown.
    last_peer: u32,
}

/// The agent's state for the `Hello` of the supervisor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AgentStatus {
    pub(crate) pid: u32,
    pub(crate) last_input: u64,
    /// The position of the first record, and the position after the last one.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The last record was written.
    pub(crate) exited: bool,
}

impl Servers {
    pub(crate) fn new(dir: PathBuf, listener: UnixListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self { dir, listener, accept_after: None, greeting: Vec::new(), attached: None, count: 0, last_peer: 0 })
    }

    pub(crate) fn dir(&self) -> &std::path::Path {
        &self.dir
    }

    /// The listener, unless accepting is paused.
    pub(crate) fn listener(&self) -> Option<&UnixListener> {
        self.accept_after.is_none().then_some(&self.listener)
    }

    /// When [`Self::tick`] must be called.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.greeting.iter().map(|server| server.until).chain(self.accept_after).min()
    }

    /// Closes connections whose `Hello` timed out.
    pub(crate) fn tick(&mut self, now: Instant) {
        self.accept_after = self.accept_after.filter(|at| now < *at);
        self.greeting.retain(|server| now < server.until);
    }

    /// Accepts one connection. Connections from the agent's own processes are refused.
    pub(crate) fn accept(&mut self, now: Instant) {
        let socket = match self.listener.accept() {
            Ok((socket, _)) => socket,
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => return,
            Err(_) => {
                self.accept_after = Some(now + ACCEPT_RETRY);
                return;
            }
        };
        // The check precedes the limit, so that an agent cannot block the server with idle connections.
        match peer::check_peer(&socket, &self.dir) {
            Ok(peer) => {
                if self.greeting.len() < MAX_PENDING && socket.set_nonblocking(true).is_ok() {
                    let link = FrameSocket { socket, decoder: Decoder::new() };
                    self.greeting.push(PendingServer { link, peer, until: now + HELLO_TIMEOUT });
                }
            }
            Err(RefusedPeer(pid)) => self.report_refused_peer(pid),
        }
    }

    /// Reports a refused process to the attached server, at most once, because an agent can retry without limit.
    fn report_refused_peer(&mut self, pid: u32) {
        if let Some(server) = self.attached.as_mut().filter(|server| !server.knows_of_refused_peer) {
            server.knows_of_refused_peer = true;
            let _ = server.reply(&ToServer::PeerRefused { pid });
        }
    }

    /// Reads from a connection that has not sent `Hello`. If `Hello` arrives, the connection replaces the attached
    /// server. Returns whether it was attached.
    pub(crate) fn read_hello(&mut self, index: usize, buffer: &mut [u8], agent: AgentStatus) -> bool {
        let server = &mut self.greeting[index];
        let frame = server.link.read(buffer).and_then(|()| Ok(server.link.decoder.next_frame()?));
        match frame {
            Ok(None) => false,
            Ok(Some(ToSupervisor::Hello { version, from })) => {
                let PendingServer { link, peer, .. } = self.greeting.swap_remove(index);
                self.attach(link, peer, version, from, agent);
                true
            }
            Ok(Some(_)) | Err(Dropped) => {
                self.greeting.swap_remove(index);
                false
            }
        }
    }

    fn attach(&mut self, link: FrameSocket, peer: u32, version: u32, from: u64, agent: AgentStatus) {
        self.count += 1;
        let previous_peer = std::mem::replace(&mut self.last_peer, peer);
        let AgentStatus { pid, last_input, start, end, exited } = agent;
        let hello =
            ToServer::Hello { version: VERSION, last_input, end, start, pid, exited, attachment: self.count, previous_peer };
        self.attached = Some(AttachedServer {
            link,
            number: self.count,
            version,
            position: from.clamp(start, end.max(start)),
            out: hello.encode(),
            sent: 0,
            replies: 0,
            journal: None,
            held: None,
            knows_of_refused_peer: false,
        });
    }
}

impl PendingServer {
    pub(crate) fn socket(&self) -> &UnixStream {
        &self.link.socket
    }
}
