//! Incremental parser for server-sent events. No I/O.

use std::collections::VecDeque;

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SseFrame {
    /// The field `id`.
    pub id: Option<String>,
    /// The field `event`; empty if the stream does not name one.
    pub event: String,
    /// The lines of the field `data`, joined with newlines.
    pub data: String,
}

/// An event exceeds the size limit of the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {limit} bytes")]
pub struct SseTooLarge {
    limit: usize,
}

/// Parses bytes into events. Memory is bounded by the limit for one event plus the bytes of one `push`.
#[derive(Debug)]
pub struct SseReader {
    /// Maximum size of one event in bytes.
    limit: usize,
    line: Vec<u8>,
    /// The last byte was a carriage return, which ends a line; a newline directly after it is part of the same line
    /// break.
    after_return: bool,
    frame: SseFrame,
    has_data: bool,
    ready: VecDeque<SseFrame>,
}

impl SseReader {
    /// Creates a reader that rejects events of more than `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, line: Vec::new(), after_return: false, frame: SseFrame::default(), has_data: false, ready: VecDeque::new() }
    }

    /// Adds received bytes. [`Self::pop`] returns the completed events.
    ///
    /// # Errors
    /// If an event exceeds the limit. The reader cannot be used after that.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), SseTooLarge> {
        for &byte in bytes {
            let continues = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            match byte {
                b'\n' if continues => {}
                b'\n' | b'\r' => self.end_line(),
                other => {
                    if self.line.len() + self.frame.data.len() >= self.limit {
                        return Err(SseTooLarge { limit: self.limit });
                    }
                    self.line.push(other);
                }
            }
        }
        Ok(())
    }

    /// The next complete event.
    pub fn pop(&mut self) -> Option<SseFrame> {
        self.ready.pop_front()
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        if line.is_empty() {
            let frame = std::mem::take(&mut self.frame);
            if std::mem::take(&mut self.has_data) {
                self.ready.push_back(frame);
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line.as_ref(), ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => self.frame.id = Some(value.to_owned()),
            "event" => value.clone_into(&mut self.frame.event),
            "data" => {
                if self.has_data {
                    self.frame.data.push('\n');
                }
                self.has_data = true;
                self.frame.data.push_str(value);
            }
            // Comments are heartbeats, and the other fields are not used.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(id: Option<&str>, event: &str, data: &str) -> SseFrame {
        SseFrame { id: id.map(str::to_owned), event: event.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn frames_are_parsed_from_arbitrary_chunks() {
        let text = ": hello\n\nid: 42\nevent: question.requested\ndata: {\"a\":\"ü\"}\n\r\n:beat\n\ndata:one\ndata: two\r\n\r\ndata\n\nid: 43\n\ndata: half";
        let wanted = [frame(Some("42"), "question.requested", "{\"a\":\"ü\"}"), frame(None, "", "one\ntwo"), frame(None, "", "")];
        for size in 1..=text.len() {
            let mut reader = SseReader::new(1024);
            for chunk in text.as_bytes().chunks(size) {
                reader.push(chunk).unwrap();
            }
            let frames: Vec<SseFrame> = std::iter::from_fn(|| reader.pop()).collect();
            assert_eq!(frames, wanted, "chunks of {size}");
        }
    }

    #[test]
    fn event_larger_than_the_limit_is_refused() {
        let refused = Err(SseTooLarge { limit: 100 });
        let mut reader = SseReader::new(100);
        assert_eq!(reader.push(&[b'x'; 100]), Ok(()));
        assert_eq!(reader.push(b"x"), refused);
        let mut reader = SseReader::new(100);
        let line = [b"data: ".as_slice(), &[b'x'; 40], b"\n"].concat();
        assert_eq!([(); 3].map(|()| reader.push(&line)), [Ok(()), Ok(()), refused]);
    }
}
