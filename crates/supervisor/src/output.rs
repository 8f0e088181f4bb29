//! Reads the agent's stdout and stderr and appends them to the journal.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use crate::journal::{Record, Stream};
use crate::split::{ERR_LIMIT, Splitter};

/// Descendants of the agent can keep its pipes open after it exited. The pipes are read for this long.
const AFTER_EXIT: Duration = Duration::from_millis(500);
/// The capacity of a pipe, unless the agent changed it. All bytes that the agent wrote before it exited fit into it.
const PIPE: usize = 1024 * 1024;

/// One of the agent's output streams. The pipe is non-blocking.
#[derive(Debug)]
pub(crate) struct OutputStream {
    /// `None` at the end of the stream.
    pipe: Option<File>,
    splitter: Splitter,
}

impl OutputStream {
    fn new(stream: Stream, pipe: File, limit: usize) -> Self {
        Self { pipe: Some(pipe), splitter: Splitter::new(stream, limit) }
    }

    pub(crate) fn pipe(&self) -> Option<&File> {
        self.pipe.as_ref()
    }

    /// Reads once and appends the completed records to `batch`. Returns the number of bytes read; 0 means that no data
    /// is available, or that the stream ended.
    pub(crate) fn read(&mut self, buffer: &mut [u8], batch: &mut Vec<u8>) -> usize {
        let Some(pipe) = self.pipe.as_mut() else { return 0 };
        match pipe.read(buffer) {
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => 0,
            Ok(0) | Err(_) => {
                self.pipe = None;
                0
            }
            Ok(count) => {
                self.splitter.push(&buffer[..count], batch);
                count
            }
        }
    }

    /// Reads the remaining bytes of the pipe and ends the stream.
    fn finish(&mut self, buffer: &mut [u8], batch: &mut Vec<u8>) {
        let mut left = PIPE;
        while left > 0 {
            match self.read(buffer, batch) {
                0 => break,
                count => left = left.saturating_sub(count),
            }
        }
        self.pipe = None;
        self.splitter.finish(batch);
    }
}

/// Both output streams and the agent's exit status.
#[derive(Debug)]
pub(crate) struct AgentOutput {
    pub(crate) stdout: OutputStream,
    pub(crate) stderr: OutputStream,
    /// The exit status, and the deadline for reading the pipes.
    exit: Option<(ExitStatus, Instant)>,
    finished: bool,
}

impl AgentOutput {
    pub(crate) fn new(stdout: File, stderr: File, line_limit: usize) -> Self {
        Self {
            stdout: OutputStream::new(Stream::Out, stdout, line_limit),
            stderr: OutputStream::new(Stream::Err, stderr, ERR_LIMIT),
            exit: None,
            finished: false,
        }
    }

    pub(crate) fn exited(&mut self, status: ExitStatus, now: Instant) {
        self.exit.get_or_insert((status, now + AFTER_EXIT));
    }

    /// Whether the last record was created.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// When to call [`Self::finish`] even if the pipes are still open.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.exit.filter(|_| !self.finished).map(|(_, until)| until)
    }

    /// Creates the last records if the agent has exited and its pipes are at their end, or if the deadline has passed.
    pub(crate) fn finish(&mut self, now: Instant, buffer: &mut [u8], batch: &mut Vec<u8>) {
        let Some((status, until)) = self.exit.filter(|_| !self.finished) else { return };
        let is_open = self.stdout.pipe.is_some() || self.stderr.pipe.is_some();
        if is_open && now < until {
            return;
        }
        self.stdout.finish(buffer, batch);
        self.stderr.finish(buffer, batch);
        Record::Exited { code: status.code(), signal: status.signal() }.append_to(batch);
        self.finished = true;
    }

    /// Stops reading, because the journal no longer exists.
    pub(crate) fn abandon(&mut self) {
        self.stdout.pipe = None;
        self.stderr.pipe = None;
        self.finished = true;
    }
}
