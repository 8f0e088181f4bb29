//! What server and supervisor say to each other. Frames and their bytes; no sockets, no threads.
//!
//! A frame is a byte for its kind, four for the length of its payload (little-endian), and the
//! payload. Both sides skip kinds that they do not know and ignore what follows the fields that they
//! know, so that a new server works with an old supervisor. A version is only ever added to.
//!
//! The server speaks first: `Hello` with the position to stream from. The supervisor replies with its
//! own `Hello`, whatever the server's version, and then streams records from that position on. One
//! server is attached at a time: the next one that says hello replaces it.
//!
//! Input carries an id, and since version 2 the id of the input that was accepted before it. The supervisor
//! accepts an input only after the one that it names, and closes the connection otherwise: another program
//! has written in between, and the next `Hello` shows the server which input that was. An id is taken once:
//! `Taken` comes after its bytes were written to the agent, and again, without writing, for the same id.
//! One input is written at a time, and while one is under way the next is not read, and nothing behind it.
//! So a server sends the next input after the reply to the last, and then `Stop` always gets through.
//!
//! Since version 3 an input may carry an [`Acceptance`]. The supervisor appends it to the journal as
//! [`Record::Accepted`] before the agent gets the first byte. A server that was killed before it committed that
//! it sent an input finds the record when it reads the journal again.
//!
//! A server of version 1 names no earlier input. Its ids only grow, and an id that is not larger than the
//! last counts as taken.

mod decoder;

use std::fmt;
use std::time::Duration;

use crate::journal::Record;
pub use decoder::Decoder;

/// The version that this build speaks.
pub const VERSION: u32 = 3;
/// How many bytes one input may have.
pub const INPUT_LIMIT: usize = 32 * 1024 * 1024;

/// What a hello starts with, so that neither side takes something else for the other.
const MAGIC: [u8; 8] = *b"sayso/sv";
/// The bytes before a payload.
const HEADER: usize = 5;

/// From the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToSupervisor {
    /// The first frame.
    Hello {
        /// The server's version.
        version: u32,
        /// Where to stream from: a position that was committed, or 0.
        from: u64,
    },
    /// Bytes for the agent.
    Input {
        id: u64,
        /// The input that the server knows to be the last accepted one; 0 before the first. `None`: a server of
        /// version 1.
        previous: Option<u64>,
        /// If set, the journal records that the input was accepted. Needs `previous`.
        acceptance: Option<Acceptance>,
        /// Written as they are, all of them.
        bytes: Vec<u8>,
    },
    /// What is behind this position is not needed any more.
    Trim {
        /// A position that was committed.
        to: u64,
    },
    /// End the agent: close its input, wait, ask it to terminate, wait, kill it with all that it started.
    Stop {
        /// How long it may take to end by itself after its input was closed.
        after_close: Duration,
        /// How long it may take to end after it was asked to.
        after_term: Duration,
    },
}

/// The part of an input that the journal keeps. It does not contain the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acceptance {
    /// The position up to which the server had read the agent's output when it made this input.
    pub after: u64,
    /// A digest of the bytes with a key that only the server has.
    pub digest: [u8; 16],
}

/// From the supervisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToServer {
    /// The reply to a hello.
    Hello {
        /// The supervisor's version.
        version: u32,
        /// The last input that was written to the agent; 0 before the first.
        last_input: u64,
        /// The position after the last record so far.
        end: u64,
        /// The first position that was not trimmed away. Streaming starts here if it was asked to
        /// start before.
        start: u64,
        /// The agent's process, and its process group.
        pid: u32,
        /// The last record is in the journal; nothing will follow `end`.
        exited: bool,
        /// How many connections were attached so far, with this one. 0: a supervisor of version 1.
        attachment: u64,
        /// The process that was attached before this one; 0 if none was, or if it is not known.
        previous_peer: u32,
    },
    /// The next record.
    Record {
        /// What it says.
        record: Record,
        /// The position after it.
        position: u64,
    },
    /// This input and all before it were written.
    Taken {
        /// Whose.
        id: u64,
    },
    /// This input cannot be written, nor any after it: the agent's input is closed.
    Refused {
        /// Whose.
        id: u64,
        /// Why.
        message: String,
    },
    /// A process of the agent, or of another user, tried to connect and was refused. Sent once per attachment.
    PeerRefused {
        /// The process; 0 if it is not known.
        pid: u32,
    },
}

/// The version whose inputs name the input before.
pub const CHAINED_INPUT: u32 = 2;
/// The version whose inputs may carry an [`Acceptance`].
pub const ACCEPTANCE: u32 = 3;

/// Bytes that are not the protocol. The connection cannot be used any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// A frame announces more than any has.
    TooLong {
        /// Its kind.
        kind: u8,
        /// What it announces.
        length: usize,
    },
    /// The payload of a frame does not read.
    Malformed {
        /// Its kind.
        kind: u8,
    },
    /// A hello from somebody else.
    Stranger,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { kind, length } => write!(out, "a frame of kind {kind} announces {length} bytes"),
            Self::Malformed { kind } => write!(out, "a frame of kind {kind} does not read"),
            Self::Stranger => write!(out, "the other side is not Sayso"),
        }
    }
}

impl std::error::Error for Error {}

/// What a [`Decoder`] makes of bytes.
pub trait Frame: Sized {
    /// No payload is longer.
    const LIMIT: usize;

    /// Reads a payload. `Ok(None)`: a kind that we do not know.
    ///
    /// # Errors
    /// When the payload is not what its kind promises.
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
    /// Its bytes.
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
                let acceptance = Acceptance { after: fields.u64()?, digest: fields.take()? };
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
    /// Its bytes.
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

/// Appends the frame of a record that is on its way from disk to socket, without a copy of its own.
pub(crate) fn append_record(record: crate::journal::Raw<'_>, position: u64, bytes: &mut Vec<u8>) {
    append_frame(RECORD, &[&position.to_le_bytes(), &[record.kind], record.payload], bytes);
}

impl Frame for ToServer {
    /// Much more than any record needs.
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
                    // A supervisor of version 1 ends here.
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

/// Takes fields off the front of a payload.
struct Fields<'a> {
    kind: u8,
    rest: &'a [u8],
}

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (field, rest) = self.rest.split_first_chunk().ok_or(Error::Malformed { kind: self.kind })?;
        self.rest = rest;
        Ok(*field)
    }

    fn magic(&mut self) -> Result<(), Error> {
        if self.take().is_ok_and(|magic| magic == MAGIC) { Ok(()) } else { Err(Error::Stranger) }
    }

    fn u8(&mut self) -> Result<u8, Error> {
        Ok(u8::from_le_bytes(self.take()?))
    }

    fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn u64(&mut self) -> Result<u64, Error> {
        Ok(u64::from_le_bytes(self.take()?))
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
