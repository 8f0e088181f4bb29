//! Reads the agent's output and appends it to the journal, in one thread that owns both pipes and the
//! writer. When the disk is full the writer waits, so nothing is read, so the agent waits.

use std::io::{self, PipeReader, Read};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use crate::hub::Hub;
use crate::journal::{Disk, Gone, Record, Stream, Writer};
use crate::split::{ERR_LIMIT, Splitter};
use crate::sys;

/// How much is read at once.
const READ: usize = 32 * 1024;
/// What the agent started may keep its pipes open after it ended. So long they are listened to.
const AFTERWARDS: Duration = Duration::from_millis(500);
/// A pipe holds no more than this unless the system was told otherwise: what the agent itself wrote
/// before it ended is within it.
const PIPE: usize = 1024 * 1024;

/// The agent's output on its way to the journal.
#[derive(Debug)]
pub(crate) struct Pump<'a, D> {
    writer: Writer<D>,
    hub: &'a Hub,
    buffer: Vec<u8>,
    batch: Vec<u8>,
}

/// How the end of the agent is told: the status, and a pipe that is at its end when it was sent.
#[derive(Debug)]
pub(crate) struct Exit {
    pub(crate) status: Receiver<ExitStatus>,
    pub(crate) woken: PipeReader,
}

/// One of the agent's streams, until its end.
struct Source<R> {
    pipe: Option<R>,
    splitter: Splitter,
}

impl<R: Read + AsFd> Source<R> {
    fn new(stream: Stream, pipe: R, limit: usize) -> Self {
        Self { pipe: Some(pipe), splitter: Splitter::new(stream, limit) }
    }
}

impl<'a, D: Disk> Pump<'a, D> {
    pub(crate) fn new(writer: Writer<D>, hub: &'a Hub) -> Self {
        Self { writer, hub, buffer: vec![0; READ], batch: Vec::new() }
    }

    /// Writes that the agent could not be started.
    pub(crate) fn fail(mut self, message: String) -> Result<(), Gone> {
        Record::Failed(message).append_to(&mut self.batch);
        self.flush()?;
        self.hub.finish();
        Ok(())
    }

    /// Pumps until the agent has ended and its pipes are read; the exit is the last record.
    pub(crate) fn run(
        mut self,
        stdout: impl Read + AsFd,
        stderr: impl Read + AsFd,
        line_limit: usize,
        exit: Exit,
    ) -> Result<(), Gone> {
        let mut out = Source::new(Stream::Out, stdout, line_limit);
        let mut err = Source::new(Stream::Err, stderr, ERR_LIMIT);
        let status = loop {
            let ready = [out.fd(), err.fd(), Some(exit.woken.as_fd())];
            let [out_ready, err_ready, exited] = wait(ready, None);
            if out_ready {
                self.read(&mut out)?;
            }
            if err_ready {
                self.read(&mut err)?;
            }
            if exited {
                break exit.status.recv().unwrap_or_default();
            }
        };
        let until = Instant::now() + AFTERWARDS;
        while (out.pipe.is_some() || err.pipe.is_some()) && Instant::now() < until {
            let [out_ready, err_ready] = wait([out.fd(), err.fd()], Some(until.saturating_duration_since(Instant::now())));
            if out_ready {
                self.read(&mut out)?;
            }
            if err_ready {
                self.read(&mut err)?;
            }
        }
        // A full disk may have taken all of that time.
        self.read_rest(&mut out)?;
        self.read_rest(&mut err)?;
        out.splitter.finish(&mut self.batch);
        err.splitter.finish(&mut self.batch);
        Record::Exited { code: status.code(), signal: status.signal() }.append_to(&mut self.batch);
        self.flush()?;
        self.hub.finish();
        Ok(())
    }

    fn read(&mut self, source: &mut Source<impl Read>) -> Result<usize, Gone> {
        let Some(pipe) = source.pipe.as_mut() else { return Ok(0) };
        let count = match pipe.read(&mut self.buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(0),
            Err(_) => 0,
        };
        if count == 0 {
            source.pipe = None;
        }
        source.splitter.push(&self.buffer[..count], &mut self.batch);
        self.flush()?;
        Ok(count)
    }

    /// Reads what the pipe holds, without waiting for more.
    fn read_rest(&mut self, source: &mut Source<impl Read + AsFd>) -> Result<(), Gone> {
        let mut left = PIPE;
        while source.pipe.is_some() && left > 0 && wait([source.fd()], Some(Duration::ZERO)) == [true] {
            left = left.saturating_sub(self.read(source)?.max(1));
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Gone> {
        if !self.batch.is_empty() {
            self.writer.append(&self.batch)?;
            self.batch.clear();
            self.hub.appended(self.writer.end(), self.writer.segment());
        }
        Ok(())
    }
}

impl<R: AsFd> Source<R> {
    fn fd(&self) -> Option<std::os::fd::BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }
}

/// Waiting can fail only for want of kernel memory; then it is tried again.
fn wait<const N: usize>(fds: [Option<std::os::fd::BorrowedFd<'_>>; N], timeout: Option<Duration>) -> [bool; N] {
    sys::readable(fds, timeout).unwrap_or_else(|_| {
        std::thread::sleep(Duration::from_millis(10));
        [false; N]
    })
}
