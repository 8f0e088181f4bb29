//! The protocol between server and supervisor: frames and their encoding, without sockets or threads.
//!
//! # Frames
//!
//! A frame is one byte for its kind, four bytes for the length of its payload (little-endian), and the payload. Both
//! sides skip unknown kinds and ignore trailing payload bytes, so that a new server works with an old supervisor. New
//! versions only add kinds and fields.
//!
//! # Attaching
//!
//! The server speaks first: `Hello` with the position to stream from. The supervisor replies with its own `Hello`,
//! whatever the server's version is, and then streams records from that position. One server is attached at a time: the
//! next server that sends `Hello` replaces it.
//!
//! # Input
//!
//! An input carries an id and, since version 2, the id of the previously accepted input. The supervisor accepts an
//! input only after the input that it names, and closes the connection otherwise: another program has written in
//! between, and the next `Hello` tells the server the id of the last input. An id is accepted once: `Taken` follows
//! after the bytes were written to the agent. If the same id arrives again, the supervisor replies `Taken` without
//! writing. One input is written at a time. Until it is finished, the next input and all frames after it stay unread. If the
//! server sends each input after the reply to the previous one, `Stop` is therefore never delayed.
//!
//! Since version 3, an input may carry an [`Acceptance`]. The supervisor appends it to the journal as
//! [`Record::Accepted`] before the agent receives the first byte. A server that was killed before it committed that it
//! sent an input finds the record when it reads the journal again.
//!
//! A server of version 1 does not name the previous input. Its ids only increase, and an id that is not greater than
//! the last one counts as taken.

mod decoder;

use std::fmt;
use std::time::Duration;

use crate::journal::Record;
pub use decoder::Decoder;

/// The protocol version of this build.
pub const VERSION: u32 = 3;
/// Maximum size of one input in bytes.
pub const INPUT_LIMIT: usize = 32 * 1024 * 1024;

/// The start of every `Hello`, which identifies the protocol.
const MAGIC: [u8; 8] = *b"sayso/sv";
/// The size of a frame's header in bytes.
const HEADER: usize = 5;

/// Frames that the server sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToSupervisor {
    /// The first frame of a connection.
    Hello {
        /// The server's protocol version.
        version: u32,
        /// The position to stream from: a committed position, or 0.
        from: u64,
    },
    /// Bytes for the agent's stdin.
    Input {
        id: u64,
        /// The id of the last accepted input that the server knows; 0 before the first. `None` if the server has
        /// version 1.
        previous: Option<u64>,
        /// If set, the journal records the acceptance of the input. Requires `previous`.
        acceptance: Option<Acceptance>,
        /// The bytes, which are written unchanged.
        bytes: Vec<u8>,
    },
    /// Records before this position are no longer needed.
    Trim {
        /// A committed position.
        to: u64,
    },
    /// Stop the agent: close its input, wait, send SIGTERM, wait, and send SIGKILL to the whole process tree.
    Stop {
        /// How long the agent may take to exit after its input was closed.
        after_close: Duration,
        /// How long the agent may take to exit after SIGTERM.
        after_term: Duration,
    },
}

/// The metadata of an input that the journal keeps. It does not contain the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acceptance {
    /// The position up to which the server had read the agent's output when it created this input.
    pub after: u64,
    /// A keyed digest of the bytes; only the server has the key.
    pub digest: [u8; 16],
}

/// Frames that the supervisor sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToServer {
    /// The reply to the server's `Hello`.
    Hello {
        /// The supervisor's protocol version.
        version: u32,
        /// The id of the last input that was written to the agent; 0 before the first.
        last_input: u64,
        /// The position after the last record at this time.
        end: u64,
        /// The first position that was not trimmed. Streaming starts here if the requested position is earlier.
        start: u64,
        /// The id of the agent's process and process group.
        pid: u32,
        /// The last record is in the journal; no record follows `end`.
        exited: bool,
        /// The number of attachments so far, including this one. 0 if the supervisor has version 1.
        attachment: u64,
        /// The process that was attached before; 0 if there was none or it is unknown.
        previous_peer: u32,
    },
    /// The next record of the journal.
    Record {
        record: Record,
        /// The position after the record.
        position: u64,
    },
    /// This input and all earlier ones were written.
    Taken { id: u64 },
    /// The agent's input is closed, so neither this input nor a later one can be written.
    Refused { id: u64, message: String },
    /// A process of the agent, or of another user, tried to connect and was refused. Sent once per attachment.
    PeerRefused {
        /// The process; 0 if it is unknown.
        pid: u32,
    },
}

/// The first version whose inputs name the previous input.
pub const CHAINED_INPUT: u32 = 2;
/// The first version whose inputs may carry an [`Acceptance`].
pub const ACCEPTANCE: u32 = 3;

/// A protocol violation. The connection can no longer be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// The length of a frame exceeds the limit.
    TooLong {
        kind: u8,
        /// The length in the frame's header, in bytes.
        length: usize,
    },
    /// The payload of a frame is invalid.
    Malformed { kind: u8 },
    /// The `Hello` of a different protocol.
    Stranger,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { kind, length } => write!(out, "frame of kind {kind} is too long: {length} bytes"),
            Self::Malformed { kind } => write!(out, "frame of kind {kind} is malformed"),
            Self::Stranger => write!(out, "the peer is not Sayso"),
        }
    }
}

impl std::error::Error for Error {}

/// A kind of frames that a [`Decoder`] parses.
pub trait Frame: Sized {
    /// Maximum payload size in bytes.
    const LIMIT: usize;

    /// Parses a payload. `Ok(None)` is an unknown kind.
    ///
    /// # Errors
    /// If the payload is invalid for its kind.
    fn decode(kind: u8, payload: Vec<u8>) -> Result<Option<Self>, Error>;
}

const HELLO: u8 = 1;
const INPUT: u8 = 2;
const TRIM: u8 = 3;
const STOP: u8 = 4;
const CHAINED: u8 = 5;
const RECORDED: u8 = 6;
const RECORD: u8 = 2;
const TAKEN: u8 = 3;
const REFUSED: u8 = 4;
const PEER_REFUSED: u8 = 5;

impl ToSupervisor {
    /// The frame as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Hello { version, from } => frame(HELLO, &[&MAGIC, &version.to_le_bytes(), &from.to_le_bytes()]),
            Self::Input { id, previous: None, bytes, .. } => frame(INPUT, &[&id.to_le_bytes(), bytes]),
            Self::Input { id, previous: Some(previous), acceptance: None, bytes } => {
                frame(CHAINED, &[&id.to_le_bytes(), &previous.to_le_bytes(), bytes])
            }
            Self::Input { id, previous: Some(previous), acceptance: Some(Acceptance { after, digest }), bytes } => {
                frame(RECORDED, &[&id.to_le_bytes(), &previous.to_le_bytes(), &after.to_le_bytes(), digest, bytes])
            }
            Self::Trim { to } => frame(TRIM, &[&to.to_le_bytes()]),
            Self::Stop { after_close, after_term } => frame(STOP, &[&milliseconds(*after_close), &milliseconds(*after_term)]),
        }
    }
}

impl Frame for ToSupervisor {
    const LIMIT: usize = INPUT_LIMIT + 64;

    fn decode(kind: u8, mut payload: Vec<u8>) -> Result<Option<Self>, Error> {
        let mut fields = Fields { kind, rest: &payload };
        let frame = match kind {
            HELLO => {
                fields.magic()?;
                Self::Hello { version: fields.u32()?, from: fields.u64()? }
            }
            INPUT => {
                let id = fields.u64()?;
                payload.drain(..size_of::<u64>());
                Self::Input { id, previous: None, acceptance: None, bytes: payload }
            }
            CHAINED => {
                let (id, previous) = (fields.u64()?, fields.u64()?);
                payload.drain(..2 * size_of::<u64>());
                Self::Input { id, previous: Some(previous), acceptance: None, bytes: payload }
            }
            RECORDED => {
                let (id, previous) = (fields.u64()?, fields.u64()?);
                let acceptance = Acceptance { after: fields.u64()?, digest: fields.read_array()? };
                payload.drain(..3 * size_of::<u64>() + acceptance.digest.len());
                Self::Input { id, previous: Some(previous), acceptance: Some(acceptance), bytes: payload }
            }
            TRIM => Self::Trim { to: fields.u64()? },
            STOP => {
                Self::Stop { after_close: Duration::from_millis(fields.u64()?), after_term: Duration::from_millis(fields.u64()?) }
            }
            _ => return Ok(None),
        };
        Ok(Some(frame))
    }
}

impl ToServer {
    /// The frame as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Hello { version, last_input, end, start, pid, exited, attachment, previous_peer } => {
                let numbers = [last_input, end, start].map(|number| number.to_le_bytes()).concat();
                let known_to_all = [&version.to_le_bytes()[..], &numbers, &pid.to_le_bytes(), &[u8::from(*exited)]].concat();
                frame(HELLO, &[&MAGIC, &known_to_all, &attachment.to_le_bytes(), &previous_peer.to_le_bytes()])
            }
            Self::Record { record, position } => {
                let (kind, payload) = record.to_parts();
                frame(RECORD, &[&position.to_le_bytes(), &[kind], &payload])
            }
            Self::Taken { id } => frame(TAKEN, &[&id.to_le_bytes()]),
            Self::Refused { id, message } => frame(REFUSED, &[&id.to_le_bytes(), message.as_bytes()]),
            Self::PeerRefused { pid } => frame(PEER_REFUSED, &[&pid.to_le_bytes()]),
        }
    }
}

/// Appends the frame of a record that is copied from disk to a socket, without another copy of the record.
pub(crate) fn append_record(record: crate::journal::Raw<'_>, position: u64, bytes: &mut Vec<u8>) {
    append_frame(RECORD, &[&position.to_le_bytes(), &[record.kind], record.payload], bytes);
}

impl Frame for ToServer {
    /// Larger than any record.
    const LIMIT: usize = 2 * 1024 * 1024;

    fn decode(kind: u8, mut payload: Vec<u8>) -> Result<Option<Self>, Error> {
        let mut fields = Fields { kind, rest: &payload };
        let frame = match kind {
            HELLO => {
                fields.magic()?;
                Self::Hello {
                    version: fields.u32()?,
                    last_input: fields.u64()?,
                    end: fields.u64()?,
                    start: fields.u64()?,
                    pid: fields.u32()?,
                    exited: fields.u8()? != 0,
                    // `Hello` of a supervisor of version 1 ends here.
                    attachment: fields.u64().unwrap_or(0),
                    previous_peer: fields.u32().unwrap_or(0),
                }
            }
            RECORD => {
                let (position, of) = (fields.u64()?, fields.u8()?);
                payload.drain(..size_of::<u64>() + 1);
                let Some(record) = Record::from_parts(of, payload).map_err(|_| Error::Malformed { kind })? else {
                    return Ok(None);
                };
                Self::Record { record, position }
            }
            TAKEN => Self::Taken { id: fields.u64()? },
            PEER_REFUSED => Self::PeerRefused { pid: fields.u32()? },
            REFUSED => Self::Refused { id: fields.u64()?, message: String::from_utf8_lossy(fields.rest).into_owned() },
            _ => return Ok(None),
        };
        Ok(Some(frame))
    }
}

/// Reads fields from the front of a payload.
struct Fields<'a> {
    kind: u8,
    rest: &'a [u8],
}

impl Fields<'_> {
    fn read_array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (field, rest) = self.rest.split_first_chunk().ok_or(Error::Malformed { kind: self.kind })?;
        self.rest = rest;
        Ok(*field)
    }

    fn magic(&mut self) -> Result<(), Error> {
        if self.read_array().is_ok_and(|magic| magic == MAGIC) { Ok(()) } else { Err(Error::Stranger) }
    }

    fn u8(&mut self) -> Result<u8, Error> {
        Ok(u8::from_le_bytes(self.read_array()?))
    }

    fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.read_array()?))
    }

    fn u64(&mut self) -> Result<u64, Error> {
        Ok(u64::from_le_bytes(self.read_array()?))
    }
}

fn frame(kind: u8, parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    append_frame(kind, parts, &mut bytes);
    bytes
}

fn append_frame(kind: u8, parts: &[&[u8]], bytes: &mut Vec<u8>) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    bytes.reserve(HEADER + length);
    bytes.push(kind);
    bytes.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    for part in parts {
        bytes.extend_from_slice(part);
    }
}

fn milliseconds(time: Duration) -> [u8; 8] {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).to_le_bytes()
}
