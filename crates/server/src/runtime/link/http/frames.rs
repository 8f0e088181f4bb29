//! Server-sent events, read from bytes as they come. Only their data counts.

use sayso_core::limits;

/// Takes bytes, gives the data of whole events.
#[derive(Debug, Default)]
pub(super) struct Frames {
    line: Vec<u8>,
    /// The last byte was a carriage return, which ends a line; a newline after it belongs to it.
    after_return: bool,
    data: Option<String>,
}

/// An event that is larger than anything an agent may say at once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

impl Frames {
    /// Takes the next bytes; gives the events that are complete with them.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLarge> {
        let mut events = Vec::new();
        for &byte in bytes {
            let continues = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            match byte {
                b'\n' if continues => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                other => {
                    if self.line.len() + self.data.as_ref().map_or(0, String::len) >= limits::LINE {
                        return Err(TooLarge);
                    }
                    self.line.push(other);
                }
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.data.take();
        }
        let line = String::from_utf8_lossy(&line);
        let (field, value) = line.split_once(':').unwrap_or((line.as_ref(), ""));
        if field == "data" {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_whole_however_the_bytes_come() {
        let text = ": hello\r\ndata: {\"ä\":1}\r\n\r\nevent: x\nid: 7\ndata:one\ndata: two\n\ndata\n\nid: 8\n\ndata: half";
        let wanted = ["{\"ä\":1}", "one\ntwo", ""];
        assert_eq!(Frames::default().push(text.as_bytes()).unwrap(), wanted);
        let mut frames = Frames::default();
        let events: Vec<String> = text.as_bytes().iter().flat_map(|byte| frames.push(&[*byte]).unwrap()).collect();
        assert_eq!(events, wanted);
    }

    #[test]
    fn an_event_has_a_limit() {
        let mut frames = Frames::default();
        let piece = vec![b'x'; 1024 * 1024];
        let taken = (0..20).take_while(|_| frames.push(&piece).is_ok()).count();
        assert_eq!(taken, limits::LINE / piece.len());
        assert_eq!(frames.push(b"x"), Err(TooLarge));
    }
}
