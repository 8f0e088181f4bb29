//! What the threads share about output: how far the journal goes, and which server is attached.
//!
//! The pump tells how far it has written, and the streamer of the attached server waits here for more. It
//! is the only one that writes to the server's socket, so a slow server holds up nobody else.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::journal::segment_path;
use crate::protocol::{ToServer, VERSION};

/// How many replies may wait for a server that does not read. One that has so many open and still sends
/// more is cut off: it does not follow the protocol.
const REPLIES: usize = 64;

#[derive(Debug)]
pub(crate) struct Hub {
    dir: PathBuf,
    state: Mutex<HubState>,
    changed: Condvar,
}

#[derive(Debug)]
struct HubState {
    /// The position after the last record.
    end: u64,
    /// Where the segments start that are left.
    segments: VecDeque<u64>,
    /// The last record is written.
    finished: bool,
    attached: Option<ServerLink>,
    /// How many servers were ever attached; the number of the last one.
    servers: u64,
}

#[derive(Debug)]
struct ServerLink {
    server: u64,
    socket: UnixStream,
    /// What is to be sent before the next record.
    replies: VecDeque<Vec<u8>>,
}

/// What a streamer has to send.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Work {
    Replies(VecDeque<Vec<u8>>),
    Records,
    /// Another server is attached, or none.
    Replaced,
}

impl Hub {
    pub(crate) fn new(dir: PathBuf) -> Self {
        let state = HubState { end: 0, segments: VecDeque::from([0]), finished: false, attached: None, servers: 0 };
        Self { dir, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// No code that holds the lock can panic half-way through a change, so a poisoned one is as good.
    fn state(&self) -> MutexGuard<'_, HubState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The journal goes up to here now, and its last segment starts there.
    pub(crate) fn appended(&self, end: u64, segment: u64) {
        let mut state = self.state();
        state.end = end;
        if state.segments.back() != Some(&segment) {
            state.segments.push_back(segment);
        }
        self.changed.notify_all();
    }

    /// Nothing will follow.
    pub(crate) fn finish(&self) {
        self.state().finished = true;
    }

    /// Attaches a server in place of the one before, whose socket is closed. The hello is its first
    /// reply; `from` becomes a position that can be streamed from. Returns the server's number, and
    /// where to stream from.
    pub(crate) fn attach(&self, socket: UnixStream, from: u64, last_input: u64, pid: u32) -> (u64, u64) {
        let mut state = self.state();
        state.servers += 1;
        let server = state.servers;
        let start = state.segments.front().copied().unwrap_or(0);
        let (end, exited) = (state.end, state.finished);
        let hello = ToServer::Hello { version: VERSION, last_input, end, start, pid, exited };
        let attached = ServerLink { server, socket, replies: VecDeque::from([hello.encode()]) };
        if let Some(before) = state.attached.replace(attached) {
            close(&before.socket);
        }
        self.changed.notify_all();
        (server, from.clamp(start, end.max(start)))
    }

    /// Lets a server go, unless it was replaced already.
    pub(crate) fn detach(&self, server: u64) {
        let mut state = self.state();
        if state.attached.as_ref().is_some_and(|attached| attached.server == server) {
            if let Some(attached) = state.attached.take() {
                close(&attached.socket);
            }
            self.changed.notify_all();
        }
    }

    pub(crate) fn is_attached(&self, server: u64) -> bool {
        self.state().attached.as_ref().is_some_and(|attached| attached.server == server)
    }

    /// Sends a frame to whoever is attached. Without anybody it is dropped: the next hello says it.
    pub(crate) fn reply(&self, frame: &ToServer) {
        let mut state = self.state();
        let Some(attached) = state.attached.as_mut() else { return };
        if attached.replies.len() >= REPLIES {
            close(&attached.socket);
            return;
        }
        attached.replies.push_back(frame.encode());
        self.changed.notify_all();
    }

    /// Waits until there is something to send to a server that has everything up to `position`.
    pub(crate) fn next(&self, server: u64, position: u64) -> Work {
        let mut state = self.state();
        loop {
            let end = state.end;
            match state.attached.as_mut() {
                Some(attached) if attached.server == server => {
                    if !attached.replies.is_empty() {
                        return Work::Replies(std::mem::take(&mut attached.replies));
                    }
                }
                Some(_) | None => return Work::Replaced,
            }
            if end > position {
                return Work::Records;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Deletes the segments that are wholly behind a position, never the last one.
    pub(crate) fn trim(&self, to: u64) {
        let mut state = self.state();
        while let (Some(&first), Some(&second)) = (state.segments.front(), state.segments.get(1)) {
            if second > to {
                return;
            }
            match fs::remove_file(segment_path(&self.dir, first)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // It is tried again with the next trim.
                Err(_) => return,
            }
            state.segments.pop_front();
        }
    }
}

/// Wakes both threads that use the socket. It may be closed already.
fn close(socket: &UnixStream) {
    let _ = socket.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn pair() -> (UnixStream, UnixStream) {
        UnixStream::pair().unwrap()
    }

    #[test]
    fn the_next_server_replaces_the_one_before() {
        let hub = Hub::new(PathBuf::new());
        let ((first, _theirs), (second, _others)) = (pair(), pair());
        assert_eq!(hub.attach(first, 0, 0, 7), (1, 0));
        assert_eq!(hub.attach(second, 0, 0, 7), (2, 0));
        assert_eq!(hub.next(1, 0), Work::Replaced);
        hub.detach(1);
        assert!(hub.is_attached(2));
        let hello = ToServer::Hello { version: VERSION, last_input: 0, end: 0, start: 0, pid: 7, exited: false };
        assert_eq!(hub.next(2, 0), Work::Replies([hello.encode()].into()));
        hub.appended(10, 0);
        assert_eq!(hub.next(2, 0), Work::Records);
        hub.reply(&ToServer::Taken { id: 3 });
        assert_eq!(hub.next(2, 10), Work::Replies([ToServer::Taken { id: 3 }.encode()].into()));
        hub.detach(2);
        assert_eq!(hub.next(2, 0), Work::Replaced);
    }

    #[test]
    fn a_server_that_never_reads_its_replies_is_cut_off() {
        use std::io::Read;
        let hub = Hub::new(PathBuf::new());
        let (ours, mut theirs) = pair();
        hub.attach(ours, 0, 0, 7);
        for id in 0..100 {
            hub.reply(&ToServer::Taken { id });
        }
        assert_eq!(theirs.read(&mut [0; 8]).unwrap(), 0);
    }

    #[test]
    fn segments_behind_a_position_are_deleted_but_never_the_last() {
        let dir = tempfile::tempdir().unwrap();
        let names = |dir: &Path| crate::journal::segments(dir).unwrap();
        let hub = Hub::new(dir.path().to_owned());
        for start in [0, 100, 200] {
            fs::write(segment_path(dir.path(), start), b"").unwrap();
            hub.appended(start + 50, start);
        }
        hub.trim(99);
        assert_eq!(names(dir.path()), [0, 100, 200]);
        hub.trim(100);
        assert_eq!(names(dir.path()), [100, 200]);
        let (ours, _theirs) = pair();
        assert_eq!(hub.attach(ours, 0, 0, 7), (1, 100));
        hub.trim(u64::MAX);
        assert_eq!(names(dir.path()), [200]);
        let (ours, _theirs) = pair();
        assert_eq!(hub.attach(ours, 999, 0, 7), (2, 250));
    }
}
