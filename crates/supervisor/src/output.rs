//! The agent's standard output and error, on their way to the journal.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use crate::journal::{Record, Stream};
use crate::split::{ERR_LIMIT, Splitter};

/// Children of the agent may keep its pipes open after it ended. The pipes are read for this long.
const AFTER_EXIT: Duration = Duration::from_millis(500);
/// The capacity of a pipe, unless the agent changed it. Bytes that the agent wrote before it ended are within it.
const PIPE: usize = 1024 * 1024;

/// One of the agent's streams. The pipe is non-blocking.
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

    /// Reads once and appends the records that the bytes complete to `batch`. Returns how many bytes were read; 0 means
    /// that there is nothing to read now, or ever.
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

    /// Reads the rest of the pipe, and ends the stream.
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

/// Both streams, and the exit of the agent.
#[derive(Debug)]
pub(crate) struct AgentOutput {
    pub(crate) stdout: OutputStream,
    pub(crate) stderr: OutputStream,
    /// How the agent ended, and until when its pipes are read.
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

    /// Whether the last record was made.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// When to call [`Self::finish`] although the pipes are still open.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.exit.filter(|_| !self.finished).map(|(_, until)| until)
    }

    /// Makes the last records if the agent has ended and its pipes are at their end, or were open for long enough.
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

    /// Stops reading: there is no journal any more.
    pub(crate) fn abandon(&mut self) {
        self.stdout.pipe = None;
        self.stderr.pipe = None;
        self.finished = true;
    }
}
