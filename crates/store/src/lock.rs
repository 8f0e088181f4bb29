//! One server per data directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::error::OpenError;

/// Holds the data directory as long as it lives.
#[derive(Debug)]
pub struct DirLock {
    file: File,
}

impl DirLock {
    /// Takes the directory.
    ///
    /// # Errors
    /// When another process has it, or the lock file cannot be used.
    pub fn take(dir: &Path) -> Result<Self, OpenError> {
        let path = dir.join("lock");
        let io = |source| OpenError::Io { path: path.clone(), source };
        let mut file = open_lock(&path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                let _ = file.read_to_string(&mut pid);
                let pid = if pid.trim().is_empty() { "unknown".to_owned() } else { pid.trim().to_owned() };
                return Err(OpenError::Locked { dir: dir.to_owned(), pid });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        file.set_len(0).map_err(io)?;
        file.rewind().map_err(io)?;
        writeln!(file, "{}", std::process::id()).map_err(io)?;
        Ok(Self { file })
    }
}

/// Opens the lock file, or creates it. The file is truncated later, so a link to another file is refused.
fn open_lock(path: &Path) -> io::Result<File> {
    let no_follow = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(no_follow);
    let not_a_file = || io::Error::other("it is not a regular file; remove it and start Sayso again");
    let opened = options.open(path);
    if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        return Err(not_a_file());
    }
    let file = opened?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_a_file()) }
}

impl Drop for DirLock {
    /// Closing the file would not be enough: a child process that another thread has just forked holds the same open file
    /// until it executes its program, and with it the lock.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_is_released_while_a_forked_child_still_holds_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let held = DirLock::take(dir.path()).unwrap();
        let inherited = held.file.try_clone().unwrap();
        drop(held);
        DirLock::take(dir.path()).unwrap();
        drop(inherited);
    }
}
