//! Cuts the agent's output into records at newlines. Pure: bytes in, the bytes of records out.

use crate::journal::{PIECE, Raw, Record, Stream};

/// Maximum length of a stderr line. Such a line fits into one record, which keeps it contiguous in the journal.
pub(crate) const ERR_LIMIT: usize = PIECE;

/// Splits one of the agent's streams.
///
/// A line is held back until it is complete or fills a record. A partial line would be useless to the server, and
/// holding it back ensures that a prompt without a newline does not prevent the server from committing later positions.
#[derive(Debug)]
pub(crate) struct Splitter {
    stream: Stream,
    limit: usize,
    /// The end of the current line that is not in a record yet.
    held: Vec<u8>,
    /// How many bytes of the current line were kept, both in records and in `held`.
    kept: usize,
    /// How many bytes of the current line were dropped.
    dropped: u64,
}

impl Splitter {
    pub(crate) fn new(stream: Stream, limit: usize) -> Self {
        Self { stream, limit, held: Vec::new(), kept: 0, dropped: 0 }
    }

    /// Adds output of the agent, and appends the completed records to `batch`.
    pub(crate) fn push(&mut self, bytes: &[u8], batch: &mut Vec<u8>) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            match part.strip_suffix(b"\n") {
                Some(rest) => {
                    self.keep_bytes(rest, batch);
                    self.end_line(batch);
                }
                None => self.keep_bytes(part, batch),
            }
        }
    }

    /// Ends the stream: an incomplete line is written as it is.
    pub(crate) fn finish(&mut self, batch: &mut Vec<u8>) {
        self.flush(batch);
        self.append_cut(batch);
        self.kept = 0;
    }

    fn keep_bytes(&mut self, bytes: &[u8], batch: &mut Vec<u8>) {
        let (mut kept, dropped) = bytes.split_at(bytes.len().min(self.limit - self.kept));
        self.kept += kept.len();
        self.dropped += dropped.len() as u64;
        while !kept.is_empty() {
            if self.held.len() == PIECE {
                self.flush(batch);
            }
            let (fits, rest) = kept.split_at(kept.len().min(PIECE - self.held.len()));
            self.held.extend_from_slice(fits);
            kept = rest;
        }
    }

    fn end_line(&mut self, batch: &mut Vec<u8>) {
        if self.dropped > 0 || self.held.len() == PIECE {
            self.flush(batch);
            self.append_cut(batch);
        }
        self.held.push(b'\n');
        self.flush(batch);
        self.kept = 0;
    }

    fn flush(&mut self, batch: &mut Vec<u8>) {
        if !self.held.is_empty() {
            Raw::piece(self.stream, &self.held).append_to(batch);
            self.held.clear();
        }
    }

    fn append_cut(&mut self, batch: &mut Vec<u8>) {
        if self.dropped > 0 {
            Record::Cut { stream: self.stream, dropped: self.dropped }.append_to(batch);
            self.dropped = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(batch: &[u8]) -> Vec<Record> {
        let mut rest = batch;
        let mut records = Vec::new();
        while let Some(raw) = Raw::parse_first(rest) {
            records.extend(Record::from_parts(raw.kind, raw.payload.to_vec()).unwrap());
            rest = &rest[raw.size()..];
        }
        assert_eq!(rest, b"", "a record was not whole");
        records
    }

    fn split(limit: usize, chunks: &[&[u8]]) -> Vec<Record> {
        let mut splitter = Splitter::new(Stream::Out, limit);
        let mut batch = Vec::new();
        for chunk in chunks {
            splitter.push(chunk, &mut batch);
        }
        splitter.finish(&mut batch);
        records(&batch)
    }

    fn out(bytes: &[u8]) -> Record {
        Record::Out(bytes.to_vec())
    }

    #[test]
    fn line_becomes_one_record_for_any_chunks() {
        let lines = [out(b"one\n"), out(b"\n"), out(b"two\0\xff\n"), out(b"rest")];
        assert_eq!(split(100, &[b"one\n\ntwo\0\xff\nrest"]), lines);
        assert_eq!(split(100, &[b"o", b"ne", b"\n", b"\ntw", b"o\0\xff\nre", b"st"]), lines);
    }

    #[test]
    fn incomplete_line_is_held_back() {
        let mut splitter = Splitter::new(Stream::Err, 100);
        let mut batch = Vec::new();
        splitter.push(b"one\ntwo", &mut batch);
        assert_eq!(records(&batch), [Record::Err(b"one\n".to_vec())]);
    }

    #[test]
    fn long_line_is_split_into_pieces() {
        let long = vec![b'x'; 2 * PIECE];
        assert_eq!(
            split(3 * PIECE, &[&long, b"\nnext\n"]),
            [out(&long[..PIECE]), out(&long[..PIECE]), out(b"\n"), out(b"next\n")]
        );
        assert_eq!(split(3 * PIECE, &[&long[..PIECE - 1], b"\n"]), [out(&[&long[..PIECE - 1], b"\n"].concat())]);
        assert_eq!(split(3 * PIECE, &[&long[..=PIECE], b"\n"]), [out(&long[..PIECE]), out(b"x\n")]);
    }

    #[test]
    fn line_over_the_limit_is_truncated_and_keeps_its_newline() {
        let cut = |dropped| Record::Cut { stream: Stream::Out, dropped };
        assert_eq!(split(3, &[b"abc\nabcd\nab\n"]), [out(b"abc\n"), out(b"abc"), cut(1), out(b"\n"), out(b"ab\n")]);
        assert_eq!(split(3, &[b"ab", b"cd", b"efg", b"h\nok\n"]), [out(b"abc"), cut(5), out(b"\n"), out(b"ok\n")]);
        assert_eq!(split(3, &[b"abcdef"]), [out(b"abc"), cut(3)]);
        assert_eq!(split(0, &[b"a\n\n"]), [cut(1), out(b"\n"), out(b"\n")]);
    }

    #[test]
    fn pieces_of_a_stderr_line_stay_contiguous() {
        let mut splitter = Splitter::new(Stream::Err, ERR_LIMIT);
        let mut batch = Vec::new();
        for _ in 0..5 {
            splitter.push(&[b'x'; 40_000], &mut batch);
            assert_eq!(batch, b"");
        }
        splitter.push(b"\n", &mut batch);
        let cut = Record::Cut { stream: Stream::Err, dropped: 200_000 - ERR_LIMIT as u64 };
        assert_eq!(records(&batch), [Record::Err(vec![b'x'; ERR_LIMIT]), cut, Record::Err(b"\n".to_vec())]);
    }
}
