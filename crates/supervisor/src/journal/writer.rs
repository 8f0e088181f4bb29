//! Appends to a journal. One thread owns the writer.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use super::{SEGMENT, segment_path};

/// How long to wait before trying again what the disk refused.
const AGAIN: Duration = Duration::from_millis(200);

/// The journal's directory was deleted: nobody will ever read what would be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gone;

/// Where segments are written. Tests have one that is full.
pub(crate) trait Disk {
    /// Begins the segment that starts at an offset; what follows goes there.
    fn begin(&mut self, start: u64) -> io::Result<()>;
    /// Writes a beginning of `bytes`, and tells how much.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Waits before the next try.
    fn pause(&mut self) -> Result<(), Gone>;
}

/// Appends batches of whole records.
#[derive(Debug)]
pub(crate) struct Writer<D> {
    disk: D,
    segment: u64,
    end: u64,
}

impl<D: Disk> Writer<D> {
    /// Begins a journal that does not exist yet.
    pub(crate) fn create(mut disk: D) -> io::Result<Self> {
        disk.begin(0)?;
        Ok(Self { disk, segment: 0, end: 0 })
    }

    /// The position after the last record.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Where the last segment starts.
    pub(crate) fn segment(&self) -> u64 {
        self.segment
    }

    /// Appends all of `batch`, however long the disk takes to have room for it. The caller does not
    /// read the agent's pipes meanwhile, so the agent waits too, and nothing is lost.
    ///
    /// What was written before the disk refused stays: it is the beginning of this batch, and the rest
    /// follows it.
    pub(crate) fn append(&mut self, batch: &[u8]) -> Result<(), Gone> {
        while self.end - self.segment >= SEGMENT {
            match self.disk.begin(self.end) {
                Ok(()) => self.segment = self.end,
                Err(_) => self.disk.pause()?,
            }
        }
        let mut rest = batch;
        while !rest.is_empty() {
            match self.disk.write(rest) {
                Ok(0) => self.disk.pause()?,
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => self.disk.pause()?,
            }
        }
        self.end += batch.len() as u64;
        Ok(())
    }
}

/// Segments as files in the supervisor's directory.
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

    fn pause(&mut self) -> Result<(), Gone> {
        thread::sleep(AGAIN);
        match self.dir.try_exists() {
            Ok(false) => Err(Gone),
            Ok(true) | Err(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with so much room; each pause frees some more, until the directory is gone.
    #[derive(Default)]
    struct Small {
        segments: Vec<(u64, Vec<u8>)>,
        room: usize,
        files: usize,
        frees: usize,
        pauses: usize,
        gone_after: Option<usize>,
    }

    impl Disk for Small {
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

        fn pause(&mut self) -> Result<(), Gone> {
            self.pauses += 1;
            self.room += self.frees;
            self.files += usize::from(self.pauses.is_multiple_of(3));
            if self.gone_after == Some(self.pauses) { Err(Gone) } else { Ok(()) }
        }
    }

    #[test]
    fn a_full_disk_is_waited_for_and_nothing_is_lost_or_doubled() {
        let disk = Small { files: 1, room: 10, frees: 7, ..Small::default() };
        let mut writer = Writer::create(disk).unwrap();
        let batches: Vec<Vec<u8>> = (0..50_u8).map(|n| vec![n; usize::from(n)]).collect();
        for batch in &batches {
            writer.append(batch).unwrap();
        }
        let all = batches.concat();
        assert_eq!(writer.end(), all.len() as u64);
        assert_eq!(writer.disk.segments, [(0, all)]);
        assert!(writer.disk.pauses > 100, "{}", writer.disk.pauses);
    }

    #[test]
    fn a_segment_that_cannot_be_begun_is_waited_for() {
        let disk = Small { files: 1, room: usize::MAX / 2, ..Small::default() };
        let mut writer = Writer::create(disk).unwrap();
        let large = vec![7; usize::try_from(SEGMENT).unwrap()];
        writer.append(&large).unwrap();
        writer.append(b"next").unwrap();
        assert_eq!((writer.segment(), writer.end(), writer.disk.pauses), (SEGMENT, SEGMENT + 4, 3));
        assert_eq!(writer.disk.segments, [(0, large), (SEGMENT, b"next".to_vec())]);
    }

    #[test]
    fn waiting_ends_when_the_directory_is_gone() {
        let disk = Small { files: 1, room: 3, gone_after: Some(5), ..Small::default() };
        let mut writer = Writer::create(disk).unwrap();
        assert_eq!(writer.append(b"four"), Err(Gone));
        assert_eq!((writer.end(), writer.disk.pauses), (0, 5));
    }

    #[test]
    fn files_are_private_and_never_written_over() {
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
