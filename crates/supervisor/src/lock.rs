//! A lock that allows one supervisor per directory. The kernel releases the lock when the process ends for any reason,
//! so a free lock means that no supervisor is running.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::sys;

/// How long to wait for the lock. [`is_alive`] takes it briefly, and a supervisor that starts at that moment must not
/// mistake it for another supervisor.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_millis(300);

fn file(dir: &Path) -> PathBuf {
    dir.join("lock")
}

/// Opens a regular file. Symbolic links and pipes are rejected, because the agent can write to the directory.
fn regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.custom_flags(sys::NO_FOLLOW_NO_WAIT).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}

/// Locks the directory. `None` means that another supervisor held the lock for the whole `patience`.
pub(crate) fn acquire(dir: &Path, patience: Duration) -> io::Result<Option<File>> {
    let lock = regular(File::options().create(true).truncate(false).write(true).mode(0o600), &file(dir))?;
    let until = Instant::now() + patience;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(Some(lock)),
            Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(Duration::from_millis(10)),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Whether a supervisor is running for the journal in this directory.
///
/// If none is running and the journal does not end in `Exited` or `Failed`, the supervisor was killed, and the agent
/// with it.
#[must_use]
pub fn is_alive(dir: &Path) -> bool {
    // A shared lock, so that two concurrent checks do not mistake each other for a supervisor.
    regular(File::options().read(true), &file(dir))
        .is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_is_locked_once() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_alive(dir.path()));
        let lock = acquire(dir.path(), LOCK_TIMEOUT).unwrap().unwrap();
        assert!(is_alive(dir.path()));
        assert!(acquire(dir.path(), LOCK_TIMEOUT).unwrap().is_none());
        // Unlocked explicitly: a child that another test forks at this moment shares the open file.
        lock.unlock().unwrap();
        assert!(!is_alive(dir.path()));
        assert!(acquire(dir.path(), LOCK_TIMEOUT).unwrap().is_some());
    }

    #[test]
    fn lock_that_is_not_a_regular_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let victim = dir.path().join("victim");
        std::os::unix::fs::symlink(&victim, file(dir.path())).unwrap();
        assert!(acquire(dir.path(), LOCK_TIMEOUT).is_err() && !is_alive(dir.path()) && !victim.exists());
        std::fs::remove_file(file(dir.path())).unwrap();
        // Opening a pipe for reading would block until it has a writer.
        assert!(std::process::Command::new("mkfifo").arg(file(dir.path())).status().unwrap().success());
        assert!(acquire(dir.path(), LOCK_TIMEOUT).is_err() && !is_alive(dir.path()));
    }

    #[test]
    fn liveness_check_does_not_block_a_starting_supervisor() {
        let dir = tempfile::tempdir().unwrap();
        let probe = File::create(file(dir.path())).unwrap();
        probe.lock_shared().unwrap();
        let letting_go = thread::spawn(move || {
            thread::sleep(Duration::from_millis(30));
            drop(probe);
        });
        assert!(acquire(dir.path(), Duration::from_secs(30)).unwrap().is_some());
        letting_go.join().unwrap();
    }
}
