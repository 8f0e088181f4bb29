//! The server's side of the supervisor: accepts connections, reads what the server sends, and streams the
//! journal to it.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use crate::hub::{Hub, Work};
use crate::input::{Inputs, Submitted};
use crate::journal::Journal;
use crate::life::{Event, Grace};
use crate::protocol::{Decoder, ToSupervisor, append_record};
use crate::run::{Message, spawn};
use crate::sys;

/// How long a connection may take to say hello.
const HELLO: Duration = Duration::from_secs(5);
/// How many connections there may be at once: one that is attached, one that replaces it, and some
/// that will never say hello. One more is closed at once.
const CONNECTIONS: usize = 8;
/// How much is read from the socket, and from the journal, at once.
const CHUNK: usize = 16 * 1024;

/// What every connection needs.
#[derive(Debug)]
pub(crate) struct AttachContext {
    pub(crate) dir: PathBuf,
    pub(crate) hub: Arc<Hub>,
    pub(crate) inputs: Arc<Inputs>,
    pub(crate) main: SyncSender<Message>,
    /// The agent's process.
    pub(crate) pid: u32,
}

/// Accepts connections for ever.
pub(crate) fn accept(listener: &UnixListener, context: AttachContext) {
    let context = Arc::new(context);
    let open = Arc::new(AtomicUsize::new(0));
    loop {
        let Ok((socket, _)) = listener.accept() else {
            // Out of descriptors or memory, for now.
            std::thread::sleep(Duration::from_millis(100));
            continue;
        };
        if open.load(Ordering::Relaxed) >= CONNECTIONS {
            continue;
        }
        open.fetch_add(1, Ordering::Relaxed);
        let (context, open_there) = (Arc::clone(&context), Arc::clone(&open));
        let spawned = spawn("connection", move || {
            // Whatever went wrong, the connection is dropped and the server connects again.
            let _ = serve(&context, socket);
            open_there.fetch_sub(1, Ordering::Relaxed);
        });
        if spawned.is_err() {
            open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Serves one connection until it ends.
fn serve(context: &Arc<AttachContext>, mut socket: UnixStream) -> io::Result<()> {
    socket.set_read_timeout(Some(HELLO))?;
    let mut frames = Frames { decoder: Decoder::new(), buffer: vec![0; CHUNK] };
    let Some(ToSupervisor::Hello { version: _, from }) = frames.next(&mut socket)? else { return Ok(()) };
    socket.set_read_timeout(None)?;

    let journal = Journal::open(&context.dir)?;
    let stream = socket.try_clone()?;
    let (server, from) = context.hub.attach(socket.try_clone()?, from, context.inputs.last(), context.pid);
    context.tell(Event::Attached(server));
    let streaming = {
        let context = Arc::clone(context);
        spawn("stream", move || {
            // When the server cannot be written to, reading ends too, and that is where it is let go.
            let _ = stream_to(&context.hub, server, stream, journal, from);
            context.hub.detach(server);
        })
    };
    let read = streaming.and_then(|_| read_from(context, server, &mut frames, &mut socket));
    context.hub.detach(server);
    context.tell(Event::Detached(server));
    read
}

fn read_from(context: &AttachContext, server: u64, frames: &mut Frames, socket: &mut UnixStream) -> io::Result<()> {
    while let Some(frame) = frames.next(socket)? {
        match frame {
            ToSupervisor::Hello { .. } => return Ok(()),
            ToSupervisor::Input { id, bytes } => {
                let is_wanted = || context.hub.is_attached(server) && !sys::is_hung_up(socket.as_fd());
                match context.inputs.submit(id, bytes, is_wanted) {
                    Submitted::UnderWay => {}
                    Submitted::Reply(reply) => context.hub.reply(&reply),
                    Submitted::Abandoned => return Ok(()),
                }
            }
            ToSupervisor::Trim { to } => context.hub.trim(to),
            ToSupervisor::Stop { after_close, after_term } => context.tell(Event::Stop(Grace { after_close, after_term })),
        }
    }
    Ok(())
}

/// Writes replies and records until the server is replaced or gone. The journal is read through the page
/// cache, so what a slow server has not read yet costs no memory here.
fn stream_to(hub: &Hub, server: u64, mut socket: UnixStream, mut journal: Journal, from: u64) -> io::Result<()> {
    let mut position = from;
    let mut bytes = Vec::new();
    loop {
        match hub.next(server, position) {
            Work::Replies(replies) => bytes.extend(replies.into_iter().flatten()),
            Work::Records => {
                for (record, after) in journal.read_raw(position, CHUNK)? {
                    append_record(record, after, &mut bytes);
                    position = after;
                }
                if bytes.is_empty() {
                    // The journal was deleted under us.
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Work::Replaced => return Ok(()),
        }
        socket.write_all(&bytes)?;
        bytes.clear();
    }
}

impl AttachContext {
    /// The main thread reads until the process ends, so that nobody is left to tell is no loss.
    fn tell(&self, event: Event) {
        let _ = self.main.send(Message::Life(event));
    }
}

/// Frames from a socket.
struct Frames {
    decoder: Decoder<ToSupervisor>,
    buffer: Vec<u8>,
}

impl Frames {
    /// The next frame; `None` when the server has closed the connection.
    fn next(&mut self, socket: &mut UnixStream) -> io::Result<Option<ToSupervisor>> {
        loop {
            if let Some(frame) = self.decoder.next_frame().map_err(io::Error::other)? {
                return Ok(Some(frame));
            }
            match socket.read(&mut self.buffer) {
                Ok(0) => return Ok(None),
                Ok(count) => self.decoder.push(&self.buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
