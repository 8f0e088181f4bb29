//! Parses frames from a byte stream that arrives in arbitrary chunks.

use std::marker::PhantomData;

use super::{Error, Frame, HEADER};

/// A payload longer than this takes over the whole buffer instead of being copied.
const LARGE: usize = 64 * 1024;

/// Parses frames. The buffer holds at most one frame and the bytes that were pushed after it. After an error, the
/// connection must be dropped.
#[derive(Debug)]
pub struct Decoder<F> {
    buffer: Vec<u8>,
    /// How many bytes of the buffer were already returned as frames.
    used: usize,
    frames: PhantomData<fn() -> F>,
}

impl<F: Frame> Default for Decoder<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: Frame> Decoder<F> {
    #[must_use]
    pub fn new() -> Self {
        Self { buffer: Vec::new(), used: 0, frames: PhantomData }
    }

    /// Adds received bytes. Take all frames with [`Self::next_frame`] before the next push.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.used);
        self.used = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete frame of a known kind.
    ///
    /// # Errors
    /// If the bytes violate the protocol.
    pub fn next_frame(&mut self) -> Result<Option<F>, Error> {
        while let Some((kind, payload)) = self.next_payload()? {
            if let Some(frame) = F::decode(kind, payload)? {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    fn next_payload(&mut self) -> Result<Option<(u8, Vec<u8>)>, Error> {
        let bytes = &self.buffer[self.used..];
        let Some((&[kind, a, b, c, d], rest)) = bytes.split_first_chunk::<HEADER>() else { return Ok(None) };
        let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        if length > F::LIMIT {
            return Err(Error::TooLong { kind, length });
        }
        let Some(payload) = rest.get(..length) else { return Ok(None) };
        if length <= LARGE {
            let payload = payload.to_vec();
            self.used += HEADER + length;
            return Ok(Some((kind, payload)));
        }
        // A large input must not be in memory twice, and must not leave a large buffer behind.
        let behind = self.buffer.split_off(self.used + HEADER + length);
        let mut payload = std::mem::replace(&mut self.buffer, behind);
        payload.drain(..self.used + HEADER);
        self.used = 0;
        Ok(Some((kind, payload)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Acceptance, INPUT_LIMIT, ToServer, ToSupervisor, VERSION, append_frame};
    use super::*;
    use crate::journal::{Record, Stream};
    use std::time::Duration;

    fn to_supervisor() -> Vec<ToSupervisor> {
        vec![
            ToSupervisor::Hello { version: VERSION, from: u64::MAX },
            ToSupervisor::Input { id: 1, previous: None, acceptance: None, bytes: Vec::new() },
            ToSupervisor::Input { id: 2, previous: Some(u64::MAX), acceptance: None, bytes: b"line\n\0\xff".to_vec() },
            ToSupervisor::Input { id: 3, previous: Some(2), acceptance: None, bytes: vec![7; 3 * LARGE] },
            ToSupervisor::Input {
                id: 4,
                previous: Some(3),
                acceptance: Some(Acceptance { after: 99, digest: [8; 16] }),
                bytes: b"line\n".to_vec(),
            },
            ToSupervisor::Trim { to: 42 },
            ToSupervisor::Stop { after_close: Duration::from_millis(1500), after_term: Duration::ZERO },
        ]
    }

    fn to_server() -> Vec<ToServer> {
        let record = |record| ToServer::Record { record, position: 77 };
        vec![
            ToServer::Hello {
                version: 9,
                last_input: 1,
                end: 2,
                start: 3,
                pid: 4,
                exited: true,
                attachment: 5,
                previous_peer: 6,
            },
            record(Record::Out(b"line\n".to_vec())),
            record(Record::Err(vec![b'x'; LARGE])),
            record(Record::Cut { stream: Stream::Err, dropped: 5 }),
            record(Record::Failed("cannot start".to_owned())),
            record(Record::Exited { code: None, signal: Some(15) }),
            record(Record::Accepted { id: 7, after: 8, digest: [9; 16] }),
            ToServer::Taken { id: u64::MAX },
            ToServer::Refused { id: 6, message: "the agent closed its input".to_owned() },
            ToServer::PeerRefused { pid: 8 },
        ]
    }

    fn decode<F: Frame>(bytes: &[u8], chunk: usize) -> Result<Vec<F>, Error> {
        let mut decoder = Decoder::new();
        let mut frames = Vec::new();
        for part in bytes.chunks(chunk) {
            decoder.push(part);
            while let Some(frame) = decoder.next_frame()? {
                frames.push(frame);
            }
        }
        Ok(frames)
    }

    #[test]
    fn frames_round_trip_in_arbitrary_chunks() {
        let bytes: Vec<u8> = to_supervisor().iter().flat_map(ToSupervisor::encode).collect();
        for chunk in [1000, 4096, 65_536, bytes.len()] {
            assert!(decode::<ToSupervisor>(&bytes, chunk) == Ok(to_supervisor()), "{chunk}");
        }
        let bytes: Vec<u8> = to_server().iter().flat_map(ToServer::encode).collect();
        for chunk in [13, 1000, 65_536, bytes.len()] {
            assert!(decode::<ToServer>(&bytes, chunk) == Ok(to_server()), "{chunk}");
        }
        let small = ToSupervisor::Trim { to: 3 }.encode();
        assert_eq!(decode::<ToSupervisor>(&small, 1), Ok(vec![ToSupervisor::Trim { to: 3 }]));
    }

    #[test]
    fn newer_frames_and_fields_are_skipped() {
        let mut bytes = Vec::new();
        append_frame(200, &[b"a kind that we do not know"], &mut bytes);
        append_frame(3, &[&5_u64.to_le_bytes(), b"a field that we do not know"], &mut bytes);
        assert_eq!(decode::<ToSupervisor>(&bytes, 7), Ok(vec![ToSupervisor::Trim { to: 5 }]));
        let mut bytes = Vec::new();
        append_frame(2, &[&9_u64.to_le_bytes(), &[99], b"a record that we do not know"], &mut bytes);
        append_frame(3, &[&5_u64.to_le_bytes()], &mut bytes);
        assert_eq!(decode::<ToServer>(&bytes, 7), Ok(vec![ToServer::Taken { id: 5 }]));
    }

    #[test]
    fn hello_of_a_version_1_supervisor_is_parsed() {
        let numbers = [1_u64, 2, 3].map(u64::to_le_bytes).concat();
        let mut bytes = Vec::new();
        append_frame(1, &[b"sayso/sv", &1_u32.to_le_bytes(), &numbers, &4_u32.to_le_bytes(), &[0]], &mut bytes);
        let hello = ToServer::Hello {
            version: 1,
            last_input: 1,
            end: 2,
            start: 3,
            pid: 4,
            exited: false,
            attachment: 0,
            previous_peer: 0,
        };
        assert_eq!(decode::<ToServer>(&bytes, 64), Ok(vec![hello]));
    }

    #[test]
    fn foreign_protocol_is_an_error() {
        let frame = |kind, payload: &[u8]| {
            let mut bytes = Vec::new();
            append_frame(kind, &[payload], &mut bytes);
            bytes
        };
        assert_eq!(decode::<ToSupervisor>(&frame(1, b"GET / HTTP/1.1 and more"), 64), Err(Error::Stranger));
        assert_eq!(decode::<ToSupervisor>(&frame(1, b"short"), 64), Err(Error::Stranger));
        assert_eq!(decode::<ToSupervisor>(&frame(1, b"sayso/sv\0"), 64), Err(Error::Malformed { kind: 1 }));
        assert_eq!(decode::<ToSupervisor>(&frame(2, b"1234567"), 64), Err(Error::Malformed { kind: 2 }));
        assert_eq!(decode::<ToSupervisor>(&frame(5, b"123456781234567"), 64), Err(Error::Malformed { kind: 5 }));
        assert_eq!(decode::<ToServer>(&frame(2, b"12345678"), 64), Err(Error::Malformed { kind: 2 }));
        let length = INPUT_LIMIT + 65;
        let header = [&[2][..], &u32::try_from(length).unwrap().to_le_bytes()].concat();
        assert_eq!(decode::<ToSupervisor>(&header, 64), Err(Error::TooLong { kind: 2, length }));
    }

    #[test]
    fn random_bytes_never_panic() {
        // A deterministic random generator: the same bytes in every run.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[3]
        };
        let good: Vec<u8> = to_server().iter().flat_map(ToServer::encode).take(600).collect();
        for _ in 0..5000 {
            let mut bytes = good.clone();
            for _ in 0..3 {
                let at = (usize::from(random()) << 8 | usize::from(random())) % bytes.len();
                bytes[at] = random();
            }
            let chunk = usize::from(random()) + 1;
            let _ = decode::<ToServer>(&bytes, chunk);
            let _ = decode::<ToSupervisor>(&bytes, chunk);
        }
    }

    #[test]
    fn large_input_leaves_no_large_buffer() {
        let mut decoder = Decoder::<ToSupervisor>::new();
        let bytes = [
            ToSupervisor::Input { id: 1, previous: None, acceptance: None, bytes: vec![1; 8 * LARGE] }.encode(),
            ToSupervisor::Trim { to: 1 }.encode(),
        ]
        .concat();
        decoder.push(&bytes);
        assert!(matches!(decoder.next_frame(), Ok(Some(ToSupervisor::Input { id: 1, bytes, .. })) if bytes.len() == 8 * LARGE));
        assert!(decoder.buffer.capacity() < LARGE);
        assert_eq!(decoder.next_frame(), Ok(Some(ToSupervisor::Trim { to: 1 })));
    }
}
