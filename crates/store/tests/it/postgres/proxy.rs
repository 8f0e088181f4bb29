//! A proxy between a store and PostgreSQL that cuts connections at a chosen point.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Notify;

/// The file name of PostgreSQL's socket.
const SOCKET: &str = ".s.PGSQL.5432";

/// How the proxy treats connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Mode {
    Pass,
    /// Cuts the connection before the next COMMIT. Then changes to `Pass`.
    CutBeforeCommit,
    /// Drops the reply of the next COMMIT. Then changes to `Pass`.
    CutAfterCommit,
    /// Like `CutAfterCommit`, but then changes to `Refuse`.
    CutAndRefuse,
    /// New connections are closed at once.
    Refuse,
    /// What clients send is dropped.
    Swallow,
}

impl Mode {
    fn from_number(number: u8) -> Self {
        [Self::CutBeforeCommit, Self::CutAfterCommit, Self::CutAndRefuse, Self::Refuse, Self::Swallow]
            .into_iter()
            .find(|mode| *mode as u8 == number)
            .unwrap_or(Self::Pass)
    }
}

/// Accepts connections until it is dropped.
pub(super) struct Proxy {
    mode: Arc<AtomicU8>,
    dir: tempfile::TempDir,
    accepting: tokio::task::JoinHandle<()>,
}

impl Proxy {
    pub(super) fn start(server: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join(SOCKET)).unwrap();
        let mode = Arc::new(AtomicU8::new(Mode::Pass as u8));
        let (server, current) = (server.join(SOCKET), Arc::clone(&mode));
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if Mode::from_number(current.load(Ordering::SeqCst)) != Mode::Refuse {
                    let server = UnixStream::connect(&server).await.unwrap();
                    tokio::spawn(relay(client, server, Arc::clone(&current)));
                }
            }
        });
        Self { mode, dir, accepting }
    }

    pub(super) fn dir(&self) -> String {
        self.dir.path().to_string_lossy().into_owned()
    }

    pub(super) fn set(&self, mode: Mode) {
        self.mode.store(mode as u8, Ordering::SeqCst);
    }

    pub(super) fn mode(&self) -> Mode {
        Mode::from_number(self.mode.load(Ordering::SeqCst))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn relay(client: UnixStream, server: UnixStream, mode: Arc<AtomicU8>) {
    let (mut from_client, to_client) = client.into_split();
    let (from_server, mut to_server) = server.into_split();
    let lost = Arc::new(LostReply::default());
    let replies = tokio::spawn(relay_replies(from_server, to_client, Arc::clone(&lost)));
    let mut is_startup = true;
    while let Some(message) = read_message(&mut from_client, &mut is_startup).await {
        let mode_now = Mode::from_number(mode.load(Ordering::SeqCst));
        let (takes_place, next) = match mode_now {
            Mode::Swallow => continue,
            _ if message != b"Q\0\0\0\x0bCOMMIT\0" => (None, mode_now),
            Mode::Pass | Mode::Refuse => (None, mode_now),
            Mode::CutBeforeCommit => (Some(false), Mode::Pass),
            Mode::CutAfterCommit => (Some(true), Mode::Pass),
            Mode::CutAndRefuse => (Some(true), Mode::Refuse),
        };
        lost.next.store(takes_place == Some(true), Ordering::SeqCst);
        if takes_place != Some(false) && to_server.write_all(&message).await.is_err() {
            break;
        }
        if let Some(takes_place) = takes_place {
            if takes_place {
                lost.came.notified().await;
            }
            mode.store(next as u8, Ordering::SeqCst);
            break;
        }
    }
    // Both sockets close when their last half is dropped.
    replies.abort();
}

/// A reply that is not passed on.
#[derive(Default)]
struct LostReply {
    next: AtomicBool,
    came: Notify,
}

async fn relay_replies(mut from_server: OwnedReadHalf, mut to_client: OwnedWriteHalf, lost: Arc<LostReply>) {
    let mut replies = vec![0; 16 * 1024];
    while let Ok(count) = from_server.read(&mut replies).await {
        if count > 0 && lost.next.load(Ordering::SeqCst) {
            lost.came.notify_one();
            return;
        }
        if count == 0 || to_client.write_all(&replies[..count]).await.is_err() {
            return;
        }
    }
}

/// Reads a message: type, length and content. The first message of a connection has no type.
async fn read_message(from: &mut OwnedReadHalf, is_startup: &mut bool) -> Option<Vec<u8>> {
    let head = if std::mem::take(is_startup) { 0 } else { 1 };
    let mut message = vec![0; head + 4];
    from.read_exact(&mut message).await.ok()?;
    let length = u32::from_be_bytes(message[head..].try_into().ok()?) as usize;
    let start = message.len();
    message.resize(head + length, 0);
    from.read_exact(&mut message[start..]).await.ok()?;
    Some(message)
}
