//! One server per data directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::error::OpenError;

/// The exclusive lock of a data directory. Dropping it releases the lock.
#[derive(Debug)]
pub struct DirLock {
    file: File,
}

impl DirLock {
    /// Locks the directory.
    ///
    /// # Errors
    /// When another process holds the lock, or the lock file cannot be opened.
    pub fn acquire(dir: &Path) -> Result<Self, OpenError> {
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

/// Opens or creates the lock file. Refuses a symbolic link, because the file is truncated later.
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
    /// Unlocks explicitly, because closing the file may not release the lock: a child process that another thread has just
    /// forked shares the open file, and with it the lock, until it executes its program.
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
        let held = DirLock::acquire(dir.path()).unwrap();
        let inherited = held.file.try_clone().unwrap();
        drop(held);
        DirLock::acquire(dir.path()).unwrap();
        drop(inherited);
    }
}
