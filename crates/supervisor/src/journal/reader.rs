//! Reads a journal during and after its creation. The supervisor streams records with it, and the server reads the
//! remaining records with it after the supervisor has exited.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::record::{Raw, Record};
use super::{segment_path, segments};

/// Maximum payload size of a record in any version. A larger length is not a record.
const LONGEST: usize = 1024 * 1024;

/// Size of the reads of [`Journal::scan`] in bytes.
const SCAN: usize = 256 * 1024;

/// What a journal contains about inputs.
#[derive(Debug, PartialEq, Eq)]
pub struct Scan {
    /// The accepted inputs: the id, the position that the server had read, and the digest.
    pub accepted: Vec<(u64, u64, [u8; 16])>,
    /// Whether the journal contains its last record.
    pub has_ended: bool,
    /// Whether it ends with an incomplete record.
    pub is_torn: bool,
}

/// A reader of a journal.
#[derive(Debug)]
pub struct Journal {
    dir: PathBuf,
    open: Option<Segment>,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct Segment {
    start: u64,
    file: File,
}

impl Journal {
    /// Opens the journal in a supervisor's directory. A directory without journal files is an empty journal.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn open(dir: &Path) -> io::Result<Self> {
        fs::read_dir(dir)?;
        Ok(Self { dir: dir.to_owned(), open: None, buffer: Vec::new() })
    }

    /// The first position that was not trimmed.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn start(&self) -> io::Result<u64> {
        Ok(segments(&self.dir)?.first().copied().unwrap_or(0))
    }

    /// Reads records from a position, about `max_bytes` of them but at least one, each with the position after it. An
    /// empty result means that there are no more records at the moment. Incomplete records are not returned, and
    /// unknown kinds are skipped. If the position was trimmed, reading starts at the first position that was not.
    ///
    /// # Errors
    /// If files cannot be read, or if `from` is not between two records.
    pub fn read(&mut self, from: u64, max_bytes: usize) -> io::Result<Vec<(Record, u64)>> {
        let mut records = Vec::new();
        let mut position = from;
        while records.is_empty() {
            let before = position;
            for (raw, after) in self.read_raw(position, max_bytes)? {
                position = after;
                let record = Record::from_parts(raw.kind, raw.payload.to_vec()).map_err(|_| not_a_record(before))?;
                records.extend(record.map(|record| (record, after)));
            }
            if position == before {
                break;
            }
        }
        Ok(records)
    }

    /// Reads all records from a position and summarizes those about inputs.
    ///
    /// # Errors
    /// If files cannot be read, or if `from` is not between two records.
    pub fn scan(&mut self, from: u64) -> io::Result<Scan> {
        let mut scan = Scan { accepted: Vec::new(), has_ended: false, is_torn: false };
        let mut position = from;
        loop {
            let before = position;
            for (raw, after) in self.read_raw(position, SCAN)? {
                position = after;
                if raw.is_about_inputs() {
                    match Record::from_parts(raw.kind, raw.payload.to_vec()).map_err(|_| not_a_record(before))? {
                        Some(Record::Accepted { id, after, digest }) => scan.accepted.push((id, after, digest)),
                        Some(Record::Exited { .. } | Record::Failed(_)) => scan.has_ended = true,
                        Some(Record::Out(_) | Record::Err(_) | Record::Cut { .. }) | None => {}
                    }
                }
            }
            if position == before {
                break;
            }
        }
        scan.is_torn = self.length()? > position;
        Ok(scan)
    }

    /// The position after the last byte, even if the last record is incomplete.
    fn length(&self) -> io::Result<u64> {
        match segments(&self.dir)?.last() {
            Some(start) => Ok(start + fs::metadata(segment_path(&self.dir, *start))?.len()),
            None => Ok(0),
        }
    }

    /// Like [`Journal::read`], but without parsing the payloads, and with one reused buffer.
    pub(crate) fn read_raw(&mut self, from: u64, max_bytes: usize) -> io::Result<RawRecords<'_>> {
        let mut from = from;
        loop {
            if self.open.as_ref().is_none_or(|segment| segment.start > from) {
                self.open = find(&self.dir, from)?;
            }
            let Some(segment) = &self.open else { return Ok(RawRecords::none()) };
            from = from.max(segment.start);
            let offset = from - segment.start;
            let mut wanted = max_bytes.max(Raw::HEADER);
            let mut filled = fill(&mut self.buffer, &segment.file, offset, wanted)?;
            if let Some(length) = Raw::payload_length(&self.buffer[..filled]) {
                if length > LONGEST {
                    return Err(not_a_record(from));
                }
                wanted = Raw::HEADER + length;
                if filled < wanted && wanted > max_bytes {
                    filled = fill(&mut self.buffer, &segment.file, offset, wanted)?;
                }
            }
            if filled > 0 {
                return Ok(RawRecords { bytes: &self.buffer[..filled], position: from });
            }
            // This segment ends at or before `from`; the next segment, if any, contains it.
            match find(&self.dir, from)? {
                Some(next) if next.start > segment.start => self.open = Some(next),
                Some(_) | None => return Ok(RawRecords::none()),
            }
        }
    }
}

/// The last segment that starts at or before a position, otherwise the first segment; `None` if there are no segments.
fn find(dir: &Path, from: u64) -> io::Result<Option<Segment>> {
    loop {
        let starts = segments(dir)?;
        let Some(&start) = starts.iter().rev().find(|start| **start <= from).or(starts.first()) else { return Ok(None) };
        match File::open(segment_path(dir, start)) {
            Ok(file) => return Ok(Some(Segment { start, file })),
            // The segment was trimmed concurrently: search again.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads up to `wanted` bytes at an offset and returns how many were read.
fn fill(buffer: &mut Vec<u8>, file: &File, offset: u64, wanted: usize) -> io::Result<usize> {
    if buffer.len() < wanted {
        buffer.resize(wanted, 0);
    }
    let mut filled = 0;
    while filled < wanted {
        match file.read_at(&mut buffer[filled..wanted], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn not_a_record(position: u64) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("no journal record at {position}"))
}

/// An iterator over records, each with the position after it.
#[derive(Debug)]
pub(crate) struct RawRecords<'a> {
    bytes: &'a [u8],
    position: u64,
}

impl RawRecords<'_> {
    fn none() -> Self {
        Self { bytes: &[], position: 0 }
    }
}

impl<'a> Iterator for RawRecords<'a> {
    type Item = (Raw<'a>, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let raw = Raw::parse_first(self.bytes)?;
        self.bytes = &self.bytes[raw.size()..];
        self.position += raw.size() as u64;
        Some((raw, self.position))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Files, SEGMENT, Writer};
    use super::*;

    fn line(number: u8, length: usize) -> Record {
        Record::Out([vec![number; length], vec![b'\n']].concat())
    }

    fn append(writer: &mut Writer<Files>, record: &Record) -> u64 {
        let mut bytes = Vec::new();
        record.append_to(&mut bytes);
        writer.append(&bytes).unwrap();
        writer.end()
    }

    fn read_all(journal: &mut Journal, from: u64, max_bytes: usize) -> Vec<(Record, u64)> {
        let mut all: Vec<(Record, u64)> = Vec::new();
        loop {
            let from = all.last().map_or(from, |(_, position)| *position);
            let records = journal.read(from, max_bytes).unwrap();
            if records.is_empty() {
                return all;
            }
            all.extend(records);
        }
    }

    #[test]
    fn reading_resumes_at_every_position_of_every_segment() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(Files::new(dir.path().to_owned())).unwrap();
        let written: Vec<(Record, u64)> = (100..200)
            .map(|number| {
                let record = line(number, 40_000);
                let position = append(&mut writer, &record);
                (record, position)
            })
            .collect();
        assert_eq!(segments(dir.path()).unwrap().len(), 4);
        let mut journal = Journal::open(dir.path()).unwrap();
        for max_bytes in [0, 1, 39_000, 100_000, 10_000_000] {
            assert!(read_all(&mut journal, 0, max_bytes) == written, "{max_bytes}");
        }
        // Forwards and backwards, with one reader that keeps the last segment open.
        for index in [99, 3, 60, 61, 0, 98] {
            assert_eq!(journal.read(written[index].1, 1).unwrap().first(), written.get(index + 1), "{index}");
        }
        assert_eq!(journal.read(writer.end() + 1_000_000, 1).unwrap(), []);
    }

    #[test]
    fn trimmed_records_are_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(Files::new(dir.path().to_owned())).unwrap();
        append(&mut writer, &line(1, usize::try_from(SEGMENT).unwrap()));
        let start = writer.end();
        let after = append(&mut writer, &line(2, 3));
        fs::remove_file(segment_path(dir.path(), 0)).unwrap();
        let mut journal = Journal::open(dir.path()).unwrap();
        assert_eq!(journal.start().unwrap(), start);
        assert_eq!(journal.read(0, 1).unwrap(), [(line(2, 3), after)]);
    }

    #[test]
    fn torn_last_record_is_ignored_until_complete() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(Files::new(dir.path().to_owned())).unwrap();
        let first = append(&mut writer, &line(1, 3));
        let mut torn = Vec::new();
        Record::Exited { code: Some(0), signal: None }.append_to(&mut torn);
        let mut journal = Journal::open(dir.path()).unwrap();
        for byte in &torn {
            assert_eq!(journal.read(0, 100).unwrap(), [(line(1, 3), first)]);
            assert_eq!(journal.read(first, 100).unwrap(), []);
            writer.append(&[*byte]).unwrap();
        }
        assert_eq!(journal.read(first, 100).unwrap(), [(Record::Exited { code: Some(0), signal: None }, writer.end())]);
    }

    #[test]
    fn scan_finds_accepted_inputs_the_end_and_torn_records() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(Files::new(dir.path().to_owned())).unwrap();
        let first = append(&mut writer, &Record::Accepted { id: 1, after: 0, digest: [1; 16] });
        for _ in 0..30 {
            append(&mut writer, &line(1, 40_000));
        }
        append(&mut writer, &Record::Accepted { id: 7, after: first, digest: [7; 16] });
        let scan = |from| Journal::open(dir.path()).unwrap().scan(from).unwrap();
        let accepted = vec![(1, 0, [1; 16]), (7, first, [7; 16])];
        assert_eq!(scan(0), Scan { accepted: accepted.clone(), has_ended: false, is_torn: false });
        assert_eq!(scan(first).accepted, accepted[1..]);
        let mut exited = Vec::new();
        Record::Exited { code: Some(0), signal: None }.append_to(&mut exited);
        writer.append(&exited[..3]).unwrap();
        assert_eq!(scan(0), Scan { accepted: accepted.clone(), has_ended: false, is_torn: true });
        writer.append(&exited[3..]).unwrap();
        assert_eq!(scan(0), Scan { accepted, has_ended: true, is_torn: false });
    }

    #[test]
    fn unknown_kinds_are_skipped_even_without_other_records() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(Files::new(dir.path().to_owned())).unwrap();
        for _ in 0..100 {
            let mut bytes = Vec::new();
            Raw { kind: 99, payload: b"from the future" }.append_to(&mut bytes);
            writer.append(&bytes).unwrap();
        }
        let end = append(&mut writer, &line(1, 3));
        let mut journal = Journal::open(dir.path()).unwrap();
        assert_eq!(journal.read(0, 50).unwrap(), [(line(1, 3), end)]);
    }

    #[test]
    fn position_inside_a_record_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Journal::open(dir.path()).unwrap().read(0, 1).unwrap(), []);
        assert!(Journal::open(&dir.path().join("missing")).is_err());
        let mut writer = Writer::create(Files::new(dir.path().to_owned())).unwrap();
        append(&mut writer, &Record::Out(vec![255; 20]));
        let error = Journal::open(dir.path()).unwrap().read(7, 1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
