//! The log of a server in the background: it never grows beyond a few files of a few megabytes.
//!
//! The server writes to its standard error, as every program does. When that is the log file, this moves it aside
//! in time and points standard output and error at a new one, so that nothing is lost, not even the words of a panic.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::sys;

/// How long one file may be.
const LIMIT: u64 = 5 * 1024 * 1024;
/// How many older ones are kept.
const KEPT: usize = 3;

/// Standard error, with a file behind it that is moved aside in time.
#[derive(Debug)]
pub(crate) struct RotatingLog {
    rotation: Option<Rotation>,
}

impl RotatingLog {
    /// Looks whether standard error is this file.
    pub(crate) fn new(path: &Path) -> Self {
        Self { rotation: sys::is_stderr(path).then(|| Rotation::of(path)) }
    }
}

impl Write for RotatingLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(rotation) = &mut self.rotation
            && rotation.is_full()
        {
            // A disk that takes no new file has no room for the words either; the old one goes on.
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

/// How full the file is.
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

    /// Moves the files on and makes a new one.
    fn next(&mut self) -> io::Result<File> {
        // Tried again only after as much more, if it fails.
        self.written = 0;
        for number in (1..KEPT).rev() {
            let _ = fs::rename(older(&self.path, number), older(&self.path, number + 1));
        }
        fs::rename(&self.path, older(&self.path, 1))?;
        OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)
    }
}

/// The file that was moved aside this many times.
fn older(path: &Path, number: usize) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    PathBuf::from(name)
}

/// All files of a log that are there, the oldest first.
pub(crate) fn files(path: &Path) -> Vec<PathBuf> {
    let all = (1..=KEPT).rev().map(|number| older(path, number)).chain([path.to_owned()]);
    all.filter(|path| path.is_file()).collect()
}

/// How much a log may take in all.
pub(crate) const fn most() -> u64 {
    // The line that fills a file is written whole.
    LIMIT * (KEPT as u64 + 1) + LIMIT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_move_on_and_the_oldest_goes() {
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
    fn a_log_elsewhere_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sayso.log");
        fs::write(&path, "").unwrap();
        assert!(RotatingLog::new(&path).rotation.is_none(), "the standard error of this test is another file");
    }
}
