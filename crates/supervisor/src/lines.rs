//! Reassembles lines from records. Only the server uses this module.

use crate::journal::{Record, Stream};

/// A line of the agent's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The stream that it was written to.
    pub stream: Stream,
    /// The text without its newline. Invalid UTF-8 is replaced; NUL is kept.
    pub text: String,
    /// The number of bytes that were dropped at the end because the line was too long.
    pub dropped: u64,
}

/// The result of one or more records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A complete line.
    Line(Line),
    /// An input was accepted; see [`Record::Accepted`].
    Accepted { id: u64, after: u64, digest: [u8; 16] },
    /// The agent could not be started. No entry follows.
    Failed(String),
    /// The agent exited. No entry follows.
    Exited {
        /// The exit code, if the agent was not killed by a signal.
        code: Option<i32>,
        /// The signal that killed the agent, if any.
        signal: Option<i32>,
    },
}

/// Joins the pieces of lines, and tracks which positions are safe to commit.
///
/// A server that commits [`position`](Self::position) in the same transaction as the entries returned by
/// [`push`](Self::push) processes each stdout line exactly once and in full, across any number of crashes. Stderr lines
/// are processed at least once: a stderr line that was written between the pieces of a stdout line longer than 64 KiB
/// can be repeated.
#[derive(Debug)]
pub struct LineAssembler {
    out: Partial,
    err: Partial,
    position: u64,
}

/// An incomplete line.
#[derive(Debug, Default)]
struct Partial {
    bytes: Vec<u8>,
    dropped: u64,
}

impl LineAssembler {
    /// Creates an assembler for records that are read from `position`.
    #[must_use]
    pub fn new(position: u64) -> Self {
        Self { out: Partial::default(), err: Partial::default(), position }
    }

    /// The last position at which neither stream has an incomplete line. After a record that ends a stdout line, it is
    /// the position after that record.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Adds a record with the position after it, and returns the completed entries: at most one, except that the exit
    /// also completes lines without a newline.
    pub fn push(&mut self, record: Record, position: u64) -> Vec<Entry> {
        let entries = match record {
            Record::Out(bytes) => self.out.push(Stream::Out, bytes).into_iter().collect(),
            Record::Err(bytes) => self.err.push(Stream::Err, bytes).into_iter().collect(),
            Record::Cut { stream, dropped } => {
                match stream {
                    Stream::Out => self.out.dropped += dropped,
                    Stream::Err => self.err.dropped += dropped,
                }
                Vec::new()
            }
            Record::Accepted { id, after, digest } => vec![Entry::Accepted { id, after, digest }],
            Record::Failed(text) => vec![Entry::Failed(text)],
            Record::Exited { code, signal } => {
                let left = [self.out.end(Stream::Out), self.err.end(Stream::Err)];
                left.into_iter().flatten().chain([Entry::Exited { code, signal }]).collect()
            }
        };
        if self.out.is_empty() && self.err.is_empty() {
            self.position = position;
        }
        entries
    }
}

impl Partial {
    fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.dropped == 0
    }

    fn push(&mut self, stream: Stream, mut bytes: Vec<u8>) -> Option<Entry> {
        let whole = bytes.pop_if(|last| *last == b'\n').is_some();
        if self.bytes.is_empty() {
            self.bytes = bytes;
        } else {
            self.bytes.append(&mut bytes);
        }
        whole.then(|| self.take_line(stream))
    }

    fn end(&mut self, stream: Stream) -> Option<Entry> {
        (!self.is_empty()).then(|| self.take_line(stream))
    }

    fn take_line(&mut self, stream: Stream) -> Entry {
        let Self { bytes, dropped } = std::mem::take(self);
        let text = String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Entry::Line(Line { stream, text, dropped })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn out(bytes: &[u8]) -> Record {
        Record::Out(bytes.to_vec())
    }

    fn err(bytes: &[u8]) -> Record {
        Record::Err(bytes.to_vec())
    }

    fn line(stream: Stream, text: &str, dropped: u64) -> Entry {
        Entry::Line(Line { stream, text: text.to_owned(), dropped })
    }

    /// Records at 10, 20, …, with the entries that they complete and the position that is safe to commit.
    fn run(records: Vec<Record>) -> Vec<(Vec<Entry>, u64)> {
        let mut assembler = LineAssembler::new(0);
        (1..).map(|n| n * 10).zip(records).map(|(at, record)| (assembler.push(record, at), assembler.position())).collect()
    }

    #[test]
    fn complete_lines_can_be_committed_immediately() {
        let exited = Record::Exited { code: Some(0), signal: None };
        assert_eq!(
            run(vec![out(b"one\n"), err(b"two\r\n"), out(b"\n"), exited]),
            [
                (vec![line(Stream::Out, "one", 0)], 10),
                (vec![line(Stream::Err, "two\r", 0)], 20),
                (vec![line(Stream::Out, "", 0)], 30),
                (vec![Entry::Exited { code: Some(0), signal: None }], 40),
            ]
        );
    }

    #[test]
    fn position_stays_before_an_incomplete_line() {
        assert_eq!(
            run(vec![out(b"a\n"), out(b"b\xe2\x82"), err(b"x\n"), out(b"\xac"), out(b"\n"), err(b"y\n")]),
            [
                (vec![line(Stream::Out, "a", 0)], 10),
                (vec![], 10),
                (vec![line(Stream::Err, "x", 0)], 10),
                (vec![], 10),
                (vec![line(Stream::Out, "b€", 0)], 50),
                (vec![line(Stream::Err, "y", 0)], 60),
            ]
        );
    }

    #[test]
    fn truncated_line_has_the_number_of_dropped_bytes() {
        let cut = |stream, dropped| Record::Cut { stream, dropped };
        assert_eq!(
            run(vec![out(b"ab"), cut(Stream::Out, 7), out(b"\n"), cut(Stream::Err, 2), err(b"\n")]),
            [
                (vec![], 0),
                (vec![], 0),
                (vec![line(Stream::Out, "ab", 7)], 30),
                (vec![], 30),
                (vec![line(Stream::Err, "", 2)], 50)
            ]
        );
    }

    #[test]
    fn exit_completes_lines_without_newline() {
        let exited = Record::Exited { code: None, signal: Some(9) };
        assert_eq!(
            run(vec![out(b"a\0\xff"), err(b"b"), exited]).pop().unwrap(),
            (
                vec![
                    line(Stream::Out, "a\0\u{fffd}", 0),
                    line(Stream::Err, "b", 0),
                    Entry::Exited { code: None, signal: Some(9) }
                ],
                30
            )
        );
        assert_eq!(run(vec![Record::Failed("no".to_owned())]), [(vec![Entry::Failed("no".to_owned())], 10)]);
    }
}
