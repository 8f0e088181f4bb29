//! Limits the log of a background server to a few files of a few megabytes.
//!
//! The server logs to standard error, as other programs do. If that is the log file, this module rotates the file and
//! redirects standard output and error to a new one, so that everything is logged, including panic messages.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Maximum size of one file, in bytes.
const LIMIT: u64 = 5 * 1024 * 1024;
/// Number of rotated files to keep.
const KEPT: usize = 3;

/// A writer to standard error that rotates the log file.
#[derive(Debug)]
pub(crate) struct RotatingLog {
    rotation: Option<Rotation>,
}

impl RotatingLog {
    /// Enables rotation if standard error is this file.
    pub(crate) fn new(path: &Path) -> Self {
        let is_ours = match (fs::metadata(path), rustix::fs::fstat(io::stderr())) {
            (Ok(file), Ok(stderr)) => (file.dev(), file.ino()) == (stderr.st_dev, stderr.st_ino),
            (Err(_), _) | (_, Err(_)) => false,
        };
        Self { rotation: is_ours.then(|| Rotation::of(path)) }
    }
}

impl Write for RotatingLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(rotation) = &mut self.rotation
            && rotation.is_full()
        {
            // If the disk is full, no new file can be created and logging continues in the old file.
            if let Ok(file) = rotation.next() {
                let _ = rustix::stdio::dup2_stderr(&file);
                let _ = rustix::stdio::dup2_stdout(&file);
            }
        }
        let written = io::stderr().write(bytes)?;
        if let Some(rotation) = &mut self.rotation {
            rotation.written += u64::try_from(written).unwrap_or(0);
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Path of the log file and the bytes written to it.
#[derive(Debug)]
struct Rotation {
    path: PathBuf,
    written: u64,
}

impl Rotation {
    fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), written: fs::metadata(path).map_or(0, |data| data.len()) }
    }

    fn is_full(&self) -> bool {
        self.written >= LIMIT
    }

    /// Renames the existing files and creates a new one.
    fn next(&mut self) -> io::Result<File> {
        // If this fails, it is tried again after another `LIMIT` bytes.
        self.written = 0;
        for number in (1..KEPT).rev() {
            let _ = fs::rename(older(&self.path, number), older(&self.path, number + 1));
        }
        fs::rename(&self.path, older(&self.path, 1))?;
        OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)
    }
}

/// Path of the file that was rotated this many times.
fn older(path: &Path, number: usize) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    PathBuf::from(name)
}

/// Lists the existing files of a log, oldest first.
pub(crate) fn files(path: &Path) -> Vec<PathBuf> {
    let all = (1..=KEPT).rev().map(|number| older(path, number)).chain([path.to_owned()]);
    all.filter(|path| path.is_file()).collect()
}

/// Maximum total size of a log, in bytes.
pub(crate) const fn most() -> u64 {
    // The line that exceeds the limit of a file is still written to it.
    LIMIT * (KEPT as u64 + 1) + LIMIT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_deletes_the_oldest_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sayso.log");
        assert!(files(&path).is_empty());
        let mut rotation = Rotation::of(&path);
        for number in 1..=6 {
            fs::write(&path, format!("{number}")).unwrap();
            rotation.written = LIMIT;
            assert!(rotation.is_full());
            rotation.next().unwrap();
            assert!(!rotation.is_full());
        }
        let texts: Vec<String> = files(&path).iter().map(|path| fs::read_to_string(path).unwrap()).collect();
        assert_eq!(texts, ["4", "5", "6", ""]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4);
    }

    #[test]
    fn log_is_not_rotated_if_stderr_is_another_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sayso.log");
        fs::write(&path, "").unwrap();
        assert!(RotatingLog::new(&path).rotation.is_none(), "the standard error of this test is another file");
    }
}
