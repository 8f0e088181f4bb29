//! The records of a journal and their encoding.

/// Maximum length of a line's piece in one record, in bytes.
pub const PIECE: usize = 64 * 1024;

/// One of the agent's two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Stdout, which carries the agent's protocol.
    Out,
    /// Stderr, which carries diagnostics for people.
    Err,
}

/// One record of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A piece of a stdout line; it ends in `
    /// ` if the line does.
    Out(Vec<u8>),
    /// A piece of a stderr line; it ends in `
    /// ` if the line does.
    Err(Vec<u8>),
    /// The current line was too long, and the end of it was dropped.
    Cut {
        stream: Stream,
        /// The number of dropped bytes before the newline.
        dropped: u64,
    },
    /// An input was accepted. The record precedes the first byte that is written to the agent, so the agent may not
    /// have received the input if no record follows.
    Accepted {
        id: u64,
        /// The position up to which the server had read when it created the input. This differs from the position of
        /// the record.
        after: u64,
        /// The server's digest of the input.
        digest: [u8; 16],
    },
    /// The agent could not be started. No record follows.
    Failed(String),
    /// The agent exited. No record follows.
    Exited {
        /// The exit code, if the agent was not killed by a signal.
        code: Option<i32>,
        /// The signal that killed the agent, if any.
        signal: Option<i32>,
    },
}

/// A record of a known kind with an invalid payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

const OUT: u8 = 1;
const ERR: u8 = 2;
const CUT: u8 = 3;
const FAILED: u8 = 4;
const EXITED: u8 = 5;
const ACCEPTED: u8 = 6;

/// An unparsed record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Raw<'a> {
    pub(crate) kind: u8,
    pub(crate) payload: &'a [u8],
}

impl<'a> Raw<'a> {
    /// The size of a record's header in bytes.
    pub(crate) const HEADER: usize = 5;

    pub(crate) fn piece(stream: Stream, payload: &'a [u8]) -> Self {
        let kind = match stream {
            Stream::Out => OUT,
            Stream::Err => ERR,
        };
        Self { kind, payload }
    }

    /// The first record in `bytes`, unless it is incomplete.
    pub(crate) fn parse_first(bytes: &'a [u8]) -> Option<Self> {
        let length = Self::payload_length(bytes)?;
        let payload = bytes.get(Self::HEADER..Self::HEADER + length)?;
        Some(Self { kind: bytes[0], payload })
    }

    /// The payload length in a header.
    pub(crate) fn payload_length(bytes: &[u8]) -> Option<usize> {
        let (_kind, rest) = bytes.split_first()?;
        let length = rest.first_chunk::<4>()?;
        usize::try_from(u32::from_le_bytes(*length)).ok()
    }

    /// Whether the record concerns inputs: an acceptance, or an end after which no input is accepted.
    pub(crate) fn is_about_inputs(&self) -> bool {
        matches!(self.kind, ACCEPTED | EXITED | FAILED)
    }

    /// The size of the record in the journal, in bytes.
    pub(crate) fn size(&self) -> usize {
        Self::HEADER + self.payload.len()
    }

    pub(crate) fn append_to(&self, bytes: &mut Vec<u8>) {
        let length = u32::try_from(self.payload.len()).unwrap_or(u32::MAX);
        bytes.push(self.kind);
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(self.payload);
    }
}

impl Record {
    /// The kind and the payload.
    pub(crate) fn to_parts(&self) -> (u8, Vec<u8>) {
        match self {
            Self::Out(bytes) => (OUT, bytes.clone()),
            Self::Err(bytes) => (ERR, bytes.clone()),
            Self::Cut { stream, dropped } => {
                let mut payload = vec![match stream {
                    Stream::Out => OUT,
                    Stream::Err => ERR,
                }];
                payload.extend_from_slice(&dropped.to_le_bytes());
                (CUT, payload)
            }
            Self::Accepted { id, after, digest } => (ACCEPTED, [&id.to_le_bytes()[..], &after.to_le_bytes(), digest].concat()),
            Self::Failed(text) => (FAILED, text.clone().into_bytes()),
            Self::Exited { code, signal } => {
                let mut payload = vec![u8::from(code.is_some()) | (u8::from(signal.is_some()) << 1)];
                payload.extend_from_slice(&code.unwrap_or(0).to_le_bytes());
                payload.extend_from_slice(&signal.unwrap_or(0).to_le_bytes());
                (EXITED, payload)
            }
        }
    }

    pub(crate) fn append_to(&self, bytes: &mut Vec<u8>) {
        let (kind, payload) = self.to_parts();
        Raw { kind, payload: &payload }.append_to(bytes);
    }

    /// Parses a record. `Ok(None)` is a kind of a newer supervisor. Trailing payload bytes of a newer version are
    /// ignored.
    pub(crate) fn from_parts(kind: u8, payload: Vec<u8>) -> Result<Option<Self>, Malformed> {
        let record = match kind {
            OUT => Self::Out(payload),
            ERR => Self::Err(payload),
            CUT => Self::cut(&payload).ok_or(Malformed)?,
            ACCEPTED => Self::accepted(&payload).ok_or(Malformed)?,
            FAILED => Self::Failed(String::from_utf8_lossy(&payload).into_owned()),
            EXITED => Self::exited(&payload).ok_or(Malformed)?,
            _ => return Ok(None),
        };
        Ok(Some(record))
    }

    fn cut(payload: &[u8]) -> Option<Self> {
        let (stream, rest) = payload.split_first()?;
        let stream = match *stream {
            OUT => Stream::Out,
            ERR => Stream::Err,
            _ => return None,
        };
        Some(Self::Cut { stream, dropped: u64::from_le_bytes(*rest.first_chunk()?) })
    }

    fn accepted(payload: &[u8]) -> Option<Self> {
        let (id, rest) = payload.split_first_chunk()?;
        let (after, rest) = rest.split_first_chunk()?;
        let digest = *rest.first_chunk()?;
        Some(Self::Accepted { id: u64::from_le_bytes(*id), after: u64::from_le_bytes(*after), digest })
    }

    fn exited(payload: &[u8]) -> Option<Self> {
        let (flags, rest) = payload.split_first()?;
        let (code, rest) = rest.split_first_chunk()?;
        let (code, signal) = (i32::from_le_bytes(*code), i32::from_le_bytes(*rest.first_chunk()?));
        Some(Self::Exited { code: (flags & 1 != 0).then_some(code), signal: (flags & 2 != 0).then_some(signal) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_round_trip() {
        let records = [
            Record::Out(b"hello\n".to_vec()),
            Record::Out(Vec::new()),
            Record::Err(vec![0, 255, b'\n']),
            Record::Cut { stream: Stream::Out, dropped: u64::MAX },
            Record::Cut { stream: Stream::Err, dropped: 1 },
            Record::Accepted { id: 1, after: u64::MAX, digest: [7; 16] },
            Record::Failed("cannot start agent: no such file".to_owned()),
            Record::Exited { code: Some(-1), signal: None },
            Record::Exited { code: None, signal: Some(9) },
            Record::Exited { code: None, signal: None },
        ];
        let mut bytes = Vec::new();
        for record in &records {
            record.append_to(&mut bytes);
        }
        let mut rest = bytes.as_slice();
        let mut read = Vec::new();
        while let Some(raw) = Raw::parse_first(rest) {
            read.push(Record::from_parts(raw.kind, raw.payload.to_vec()).unwrap().unwrap());
            rest = &rest[raw.size()..];
        }
        assert_eq!(read, records);
        assert_eq!(rest, b"");
    }

    #[test]
    fn incomplete_record_is_not_parsed() {
        let mut bytes = Vec::new();
        Record::Out(b"hello\n".to_vec()).append_to(&mut bytes);
        for length in 0..bytes.len() {
            assert_eq!(Raw::parse_first(&bytes[..length]), None);
        }
    }

    #[test]
    fn unknown_kinds_are_skipped_and_short_payloads_refused() {
        assert_eq!(Record::from_parts(200, vec![1, 2]), Ok(None));
        assert_eq!(Record::from_parts(CUT, vec![1, 2]), Err(Malformed));
        assert_eq!(Record::from_parts(CUT, [vec![9], vec![0; 8]].concat()), Err(Malformed));
        assert_eq!(Record::from_parts(EXITED, vec![1, 0, 0]), Err(Malformed));
        assert_eq!(Record::from_parts(ACCEPTED, vec![0; 31]), Err(Malformed));
        let grown = [vec![1], 7_i32.to_le_bytes().to_vec(), vec![0; 4], b"more".to_vec()].concat();
        assert_eq!(Record::from_parts(EXITED, grown), Ok(Some(Record::Exited { code: Some(7), signal: None })));
    }
}
