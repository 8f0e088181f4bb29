//! Reads files at paths that agents and projects choose.
//!
//! Such a path can be a FIFO without a writer, a device, a file of many gigabytes, or on a file system that does not
//! respond. [`read_small_file`] opens without waiting and reads a limited number of bytes of regular files only.
//! [`read_apart`] runs such reads on a few separate threads with a deadline, so that a read that never ends blocks neither
//! the runtime nor the shutdown of the server.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Take};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path};
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, openat};
use tokio::sync::{Semaphore, oneshot};

/// Maximum number of concurrent reads. A read that never ends occupies a slot.
const PLACES: usize = 8;
static FREE: Semaphore = Semaphore::const_new(PLACES);
/// Time limit for waiting for a slot and reading, together.
const DEADLINE: Duration = Duration::from_secs(2);

/// Reads the text of a regular file of at most `limit` bytes.
///
/// # Errors
/// If the file does not exist, is not a regular file, is larger, or is not UTF-8.
pub fn read_small_file(path: &Path, limit: u64) -> io::Result<String> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut text = String::new();
    read_regular(&file, limit, |file| file.read_to_string(&mut text))?;
    Ok(text)
}

/// Reads a regular file of at most `limit` bytes inside a directory. No component of the path below `root` may be a symbolic
/// link, so that the path cannot lead elsewhere.
///
/// # Errors
/// If the file does not exist, is outside `root`, is behind a link, is not a regular file, or is larger.
pub(crate) fn read_beneath(root: &Path, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let outside = || io::Error::new(ErrorKind::InvalidInput, "not inside the directory");
    let mut names = Vec::new();
    for component in path.strip_prefix(root).map_err(|_| outside())?.components() {
        let Component::Normal(name) = component else { return Err(outside()) };
        names.push(name);
    }
    let (file, directories) = names.split_last().ok_or_else(outside)?;
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut directory = openat(CWD, root, flags | OFlags::DIRECTORY, Mode::empty())?;
    for name in directories {
        directory = openat(&directory, *name, flags | OFlags::DIRECTORY, Mode::empty())?;
    }
    let file = File::from(openat(&directory, *file, flags | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty())?);
    let mut bytes = Vec::new();
    read_regular(&file, limit, |file| file.read_to_end(&mut bytes))?;
    Ok(bytes)
}

/// Reads a regular file with `read`, which gets at most one byte more than `limit`.
fn read_regular(file: &File, limit: u64, read: impl FnOnce(&mut Take<&File>) -> io::Result<usize>) -> io::Result<()> {
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    if read(&mut file.take(limit.saturating_add(1)))? as u64 > limit {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("larger than {limit} bytes")));
    }
    Ok(())
}

/// Runs a read on a separate thread. `None` if it does not end in time.
pub(crate) async fn read_apart<T: Send + 'static>(read: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    read_apart_within(&FREE, DEADLINE, read).await
}

async fn read_apart_within<T: Send + 'static>(
    free: &'static Semaphore,
    deadline: Duration,
    read: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let done = async {
        let place = free.acquire().await.ok()?;
        let (send, done) = oneshot::channel();
        // Not a thread of the runtime, which waits for all of its threads when the server stops.
        let started = std::thread::Builder::new().name("sayso-project".to_owned()).spawn(move || {
            let _ = send.send(read());
            drop(place);
        });
        started.ok()?;
        done.await.ok()
    };
    tokio::time::timeout(deadline, done).await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::{Arc, Mutex, mpsc};

    use super::*;

    /// Uses the program, because macOS lacks `mkfifoat`.
    fn make_fifo(path: &Path) {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[test]
    fn only_small_regular_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("small"), "main").unwrap();
        fs::write(path("binary"), [0xff, 0xfe]).unwrap();
        fs::File::create(path("huge")).unwrap().set_len(3 << 30).unwrap();
        make_fifo(&path("fifo"));
        std::os::unix::fs::symlink("/dev/zero", path("device")).unwrap();
        fs::create_dir(path("directory")).unwrap();

        assert_eq!(read_small_file(&path("small"), 4).unwrap(), "main");
        let kind = |name: &str, limit| read_small_file(&path(name), limit).unwrap_err().kind();
        assert_eq!(kind("small", 3), ErrorKind::FileTooLarge);
        assert_eq!(kind("huge", 1024), ErrorKind::FileTooLarge);
        assert_eq!(kind("binary", 1024), ErrorKind::InvalidData);
        assert_eq!(kind("fifo", 1024), ErrorKind::InvalidInput);
        assert_eq!(kind("device", 1024), ErrorKind::InvalidInput);
        assert_eq!(kind("directory", 1024), ErrorKind::InvalidInput);
        assert_eq!(kind("missing", 1024), ErrorKind::NotFound);
    }

    #[test]
    fn only_files_beneath_a_directory_are_read_without_links() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("project");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/x.sh"), [b'#', 0xff]).unwrap();
        fs::write(dir.path().join("secret"), "secret").unwrap();
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, root.join(name)).unwrap();
        link("../secret", "linked");
        link("a", "directory");
        link("a/b/x.sh", "inside");
        std::os::unix::fs::symlink("project", dir.path().join("other")).unwrap();
        fs::hard_link(root.join("a/b/x.sh"), root.join("a/hard")).unwrap();
        make_fifo(&root.join("fifo"));

        let read = |path: &str| read_beneath(&root, &root.join(path), 2).map_err(|error| error.kind());
        assert_eq!(read("a/b/x.sh"), Ok(vec![b'#', 0xff]));
        assert_eq!(read("./a//b/x.sh"), Ok(vec![b'#', 0xff]));
        assert_eq!(read("a/hard"), Ok(vec![b'#', 0xff]));
        assert_eq!(read("a/missing"), Err(ErrorKind::NotFound));
        assert_eq!(read("fifo"), Err(ErrorKind::InvalidInput));
        for path in ["", ".", "../secret", "a/../a/b/x.sh", "/etc/hostname"] {
            assert_eq!(read(path), Err(ErrorKind::InvalidInput), "{path}");
        }
        for path in ["linked", "directory/b/x.sh", "inside", "a"] {
            assert!(read(path).is_err(), "{path}");
        }
        assert_eq!(read_beneath(&root, &root.join("a/b/x.sh"), 1).unwrap_err().kind(), ErrorKind::FileTooLarge);
        let other = dir.path().join("other");
        assert!(read_beneath(&other, &other.join("a/b/x.sh"), 2).is_err());
    }

    #[tokio::test]
    async fn reads_that_never_end_take_no_more_than_their_places() {
        static FREE: Semaphore = Semaphore::const_new(2);
        let (wake, sleeping) = mpsc::channel::<()>();
        let sleeping = Arc::new(Mutex::new(sleeping));
        for _ in 0..4 {
            let sleeping = Arc::clone(&sleeping);
            let sleep = move || sleeping.lock().unwrap().recv().is_ok();
            assert_eq!(read_apart_within(&FREE, Duration::from_millis(1), sleep).await, None);
        }
        assert_eq!(FREE.available_permits(), 0);
        drop(wake);
        assert_eq!(read_apart_within(&FREE, DEADLINE, || 7).await, Some(7));
    }
}
