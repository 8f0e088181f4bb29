//! Appends records to a journal and deletes segments that the server no longer needs.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use super::{SEGMENT, segment_path};

/// The journal's directory was deleted, so its records can no longer be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DirectoryDeleted;

/// Storage of segments. Tests simulate a full disk.
pub(crate) trait Disk {
    /// Creates the segment that starts at an offset. Later writes append to it.
    fn begin(&mut self, start: u64) -> io::Result<()>;
    /// Writes a prefix of `bytes` and returns its length.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Deletes a segment. A segment that does not exist is not an error.
    fn remove(&mut self, start: u64) -> io::Result<()>;
    /// Whether the directory of the journal still exists.
    fn exists(&self) -> bool;
}

/// Appends batches of whole records.
///
/// Appending never blocks on a full disk. Bytes that do not fit stay in memory until [`Writer::flush`] succeeds. The caller
/// stops reading from the agent while [`Writer::is_blocked`], so the memory is bounded and the agent waits as well.
#[derive(Debug)]
pub(crate) struct Writer<D> {
    disk: D,
    /// The start offsets of the remaining segments; never empty.
    segments: VecDeque<u64>,
    end: u64,
    /// Batches that are not completely on disk. The first `written` bytes are on disk.
    unwritten: Vec<u8>,
    written: usize,
}

impl<D: Disk> Writer<D> {
    /// Creates a journal; fails if one already exists.
    pub(crate) fn create(mut disk: D) -> io::Result<Self> {
        disk.begin(0)?;
        Ok(Self { disk, segments: VecDeque::from([0]), end: 0, unwritten: Vec::new(), written: 0 })
    }

    /// The first position that was not trimmed.
    pub(crate) fn start(&self) -> u64 {
        self.segments.front().copied().unwrap_or(0)
    }

    /// The position after the last record on disk.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Whether the disk rejected bytes. Call [`Self::flush`] from time to time.
    pub(crate) fn is_blocked(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// Appends `batch`, or as much of it as the disk has room for.
    pub(crate) fn append(&mut self, batch: &[u8]) -> Result<(), DirectoryDeleted> {
        if self.is_blocked() {
            self.unwritten.extend_from_slice(batch);
            return Ok(());
        }
        let written = self.write(batch);
        if written < batch.len() {
            self.unwritten.extend_from_slice(&batch[written..]);
            self.written = written;
            return self.check_directory();
        }
        self.end += batch.len() as u64;
        Ok(())
    }

    /// Retries the writes that the disk rejected.
    pub(crate) fn flush(&mut self) -> Result<(), DirectoryDeleted> {
        if !self.is_blocked() {
            return Ok(());
        }
        let unwritten = std::mem::take(&mut self.unwritten);
        let written = self.write(&unwritten);
        self.written += written;
        if written < unwritten.len() {
            self.unwritten = unwritten[written..].to_vec();
            return self.check_directory();
        }
        self.end += self.written as u64;
        self.written = 0;
        Ok(())
    }

    /// Deletes the segments that end at or before a position, never the last one.
    pub(crate) fn trim(&mut self, to: u64) {
        while let (Some(&first), Some(&second)) = (self.segments.front(), self.segments.get(1)) {
            // A failed deletion is retried by the next trim.
            if second > to || self.disk.remove(first).is_err() {
                return;
            }
            self.segments.pop_front();
        }
    }

    /// Writes until the disk rejects bytes, and returns how many bytes were written.
    fn write(&mut self, bytes: &[u8]) -> usize {
        let segment = self.segments.back().copied().unwrap_or(0);
        // A batch starts a new segment only if nothing of the batch is in the last one.
        if self.written == 0 && self.end - segment >= SEGMENT {
            if self.disk.begin(self.end).is_err() {
                return 0;
            }
            self.segments.push_back(self.end);
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.disk.write(rest) {
                Ok(0) => break,
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        bytes.len() - rest.len()
    }

    fn check_directory(&self) -> Result<(), DirectoryDeleted> {
        if self.disk.exists() { Ok(()) } else { Err(DirectoryDeleted) }
    }
}

/// Segments stored as files in the supervisor's directory.
#[derive(Debug)]
pub(crate) struct Files {
    dir: PathBuf,
    file: Option<File>,
}

impl Files {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir, file: None }
    }
}

impl Disk for Files {
    fn begin(&mut self, start: u64) -> io::Result<()> {
        let path = segment_path(&self.dir, start);
        self.file = Some(File::options().write(true).create_new(true).mode(0o600).open(path)?);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().map_or(Ok(0), |file| file.write(bytes))
    }

    fn remove(&mut self, start: u64) -> io::Result<()> {
        match fs::remove_file(segment_path(&self.dir, start)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn exists(&self) -> bool {
        self.dir.try_exists().unwrap_or(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::segments;

    /// A disk with little room.
    #[derive(Default)]
    struct SmallDisk {
        segments: Vec<(u64, Vec<u8>)>,
        room: usize,
        files: usize,
        deleted: bool,
    }

    impl Disk for SmallDisk {
        fn begin(&mut self, start: u64) -> io::Result<()> {
            if self.files == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.files -= 1;
            self.segments.push((start, Vec::new()));
            Ok(())
        }

        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.room == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let count = bytes.len().min(self.room);
            self.room -= count;
            self.segments.last_mut().unwrap().1.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn remove(&mut self, start: u64) -> io::Result<()> {
            self.segments.retain(|(segment, _)| *segment != start);
            Ok(())
        }

        fn exists(&self) -> bool {
            !self.deleted
        }
    }

    #[test]
    fn full_disk_neither_loses_nor_repeats_bytes() {
        let mut writer = Writer::create(SmallDisk { files: 1, room: 10, ..SmallDisk::default() }).unwrap();
        let batches: Vec<Vec<u8>> = (0..50_u8).map(|n| vec![n; usize::from(n)]).collect();
        for (batch, more) in batches.iter().zip([7, 0, 100].into_iter().cycle()) {
            let end = writer.end();
            writer.append(batch).unwrap();
            assert!(!writer.is_blocked() || writer.end() == end);
            writer.disk.room += more;
            writer.flush().unwrap();
        }
        writer.disk.room = usize::MAX;
        writer.flush().unwrap();
        let all = batches.concat();
        assert_eq!((writer.end(), writer.is_blocked()), (all.len() as u64, false));
        assert_eq!(writer.disk.segments, [(0, all)]);
    }

    #[test]
    fn segment_that_cannot_be_created_blocks_the_batch() {
        let mut writer = Writer::create(SmallDisk { files: 1, room: usize::MAX / 2, ..SmallDisk::default() }).unwrap();
        let large = vec![7; usize::try_from(SEGMENT).unwrap()];
        writer.append(&large).unwrap();
        writer.append(b"ne").unwrap();
        writer.append(b"xt").unwrap();
        assert_eq!((writer.is_blocked(), writer.end()), (true, SEGMENT));
        writer.disk.files = 1;
        writer.flush().unwrap();
        assert_eq!((writer.is_blocked(), writer.end()), (false, SEGMENT + 4));
        assert_eq!(writer.disk.segments, [(0, large), (SEGMENT, b"next".to_vec())]);
    }

    #[test]
    fn batch_on_a_full_disk_fails_when_the_directory_is_deleted() {
        let mut writer = Writer::create(SmallDisk { files: 1, room: 3, ..SmallDisk::default() }).unwrap();
        assert_eq!(writer.append(b"four"), Ok(()));
        assert_eq!((writer.flush(), writer.end()), (Ok(()), 0));
        writer.disk.deleted = true;
        assert_eq!((writer.flush(), writer.end()), (Err(DirectoryDeleted), 0));
    }

    #[test]
    fn trim_deletes_whole_segments_but_never_the_last() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(Files::new(dir.path().to_owned())).unwrap();
        let large = vec![7; usize::try_from(SEGMENT).unwrap()];
        for _ in 0..3 {
            writer.append(&large).unwrap();
        }
        let names = || segments(dir.path()).unwrap();
        writer.trim(SEGMENT - 1);
        assert_eq!((names(), writer.start()), (vec![0, SEGMENT, 2 * SEGMENT], 0));
        writer.trim(SEGMENT);
        assert_eq!((names(), writer.start()), (vec![SEGMENT, 2 * SEGMENT], SEGMENT));
        writer.trim(u64::MAX);
        assert_eq!((names(), writer.start()), (vec![2 * SEGMENT], 2 * SEGMENT));
    }

    #[test]
    fn files_are_private_and_never_overwritten() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(Files::new(dir.path().to_owned())).unwrap();
        writer.append(b"record").unwrap();
        let path = segment_path(dir.path(), 0);
        assert_eq!(std::fs::read(&path).unwrap(), b"record");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(Writer::create(Files::new(dir.path().to_owned())).is_err());
    }
}
