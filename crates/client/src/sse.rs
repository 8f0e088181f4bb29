//! Server-sent events, read from bytes as they come. No I/O; bounded.

use std::collections::VecDeque;

/// The most that one frame may hold. The server sends at most 64 KiB for an ask.
const LIMIT: usize = 1024 * 1024;

/// One frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// `id:`; absent for live-only events.
    pub(crate) id: Option<String>,
    /// `event:`, or nothing.
    pub(crate) event: String,
    /// The lines of `data:`, joined.
    pub(crate) data: String,
}

/// A frame that is larger than any that the server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {LIMIT} bytes")]
pub(crate) struct TooLarge;

/// Takes bytes, gives frames.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    line: Vec<u8>,
    /// The last byte was a carriage return, which ends a line; a newline after it belongs to it.
    after_return: bool,
    frame: Frame,
    has_data: bool,
    ready: VecDeque<Frame>,
}

impl Parser {
    /// Takes the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), TooLarge> {
        for &byte in bytes {
            let continues = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            match byte {
                b'\n' if continues => {}
                b'\n' | b'\r' => self.end_line(),
                other => {
                    if self.line.len() + self.frame.data.len() >= LIMIT {
                        return Err(TooLarge);
                    }
                    self.line.push(other);
                }
            }
        }
        Ok(())
    }

    /// The next whole frame.
    pub(crate) fn pop(&mut self) -> Option<Frame> {
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
            // Comments are heartbeats; other fields are not ours.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(id: Option<&str>, event: &str, data: &str) -> Frame {
        Frame { id: id.map(str::to_owned), event: event.to_owned(), data: data.to_owned() }
    }

    #[test]
    fn frames_are_the_same_however_the_bytes_are_cut() {
        let text = ": hello\n\nid: 42\nevent: question.requested\ndata: {\"a\":\"ü\"}\n\r\n:beat\n\ndata:one\ndata: two\r\n\r\nid: 43\n\n";
        let wanted = [frame(Some("42"), "question.requested", "{\"a\":\"ü\"}"), frame(None, "", "one\ntwo")];
        for size in 1..text.len() {
            let mut parser = Parser::default();
            for chunk in text.as_bytes().chunks(size) {
                parser.push(chunk).unwrap();
            }
            let frames: Vec<Frame> = std::iter::from_fn(|| parser.pop()).collect();
            assert_eq!(frames, wanted, "chunks of {size}");
        }
    }

    #[test]
    fn a_frame_without_end_is_refused() {
        let mut parser = Parser::default();
        assert_eq!(parser.push(&vec![b'x'; LIMIT + 1]), Err(TooLarge));
        let mut parser = Parser::default();
        let line = [b"data: ".as_slice(), &[b'x'; 1000], b"\n"].concat();
        assert!((0..LIMIT / 900).any(|_| parser.push(&line).is_err()));
    }
}
