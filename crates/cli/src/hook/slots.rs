//! Coordinates the hook processes of this machine with one locked file per waiting hook. The files number equal calls,
//! so that each call has its own ask. Hooks that run after a tool call use the files to find out whether any ask is
//! pending.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::FlockOperation;
use sayso_client::Paths;

use super::short_hash;

/// Maximum number of equal calls of one session that wait at the same time.
const MOST: usize = 64;

/// The directory of slot files, seen by one session.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    dir: PathBuf,
    session: String,
}

/// The slot of one waiting hook. Its file is removed on drop.
#[derive(Debug)]
pub(super) struct Slot {
    path: PathBuf,
    file: File,
    /// Number of this call among equal calls.
    pub(super) number: usize,
}

/// Returns the number that distinguishes equal calls. A hook without a slot uses its process id instead, so that it
/// never shares an ask with an equal call.
pub(super) fn call_number(slot: Option<&Slot>) -> String {
    slot.map_or_else(|| format!("process-{}", std::process::id()), |slot| slot.number.to_string())
}

impl Slots {
    pub(super) fn of(paths: &Paths, session: &str) -> Self {
        Self { dir: paths.runtime_dir().join("hooks"), session: short_hash(session) }
    }

    /// Takes the next free number for this call. Another hook for the same call, which is started with another
    /// command, gets the same number, so that both wait for one ask.
    pub(super) fn reserve(&self, paths: &Paths, call: &str, called: &str) -> Option<Slot> {
        paths.make_runtime_dir().ok()?;
        fs::create_dir_all(&self.dir).ok()?;
        let called = short_hash(called);
        (0..MOST).find_map(|number| {
            let path = self.dir.join(format!("{}-{call}-{number}-{called}", self.session));
            let file = File::options().create(true).append(true).open(&path).ok()?;
            rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
            let slot = Slot { path, file, number };
            // Another process may have removed the file between opening and locking.
            slot.is_there().then_some(slot)
        })
    }

    /// Lists the files of this session whose names continue with this prefix, oldest first.
    fn files(&self, begins: &str) -> Vec<PathBuf> {
        let begins = format!("{}-{begins}", self.session);
        let mut found: Vec<(SystemTime, PathBuf)> = fs::read_dir(&self.dir)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&begins))
            .map(|entry| (entry.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH), entry.path()))
            .collect();
        found.sort();
        found.into_iter().map(|(_, path)| path).collect()
    }

    /// Returns true if a hook of this session is waiting.
    pub(super) fn any(&self) -> bool {
        !self.files("").is_empty()
    }

    /// Records that a call has finished. Returns true if a hook was waiting for it. That hook stops waiting, even if
    /// the server cannot be reached.
    pub(super) fn done(&self, call: &str) -> bool {
        let (decided, waiting): (Vec<PathBuf>, Vec<PathBuf>) =
            self.files(&format!("{call}-")).into_iter().partition(|path| path.extension().is_some());
        // This call was decided here and ran. The waiting hook belongs to an equal call.
        if let Some(mark) = decided.first() {
            let _ = fs::remove_file(mark);
            return false;
        }
        let Some(oldest) = waiting.first() else { return false };
        let number = |path: &Path| path.file_name()?.to_str()?.rsplit('-').nth(1).map(str::to_owned);
        let over = number(oldest);
        for path in waiting.iter().filter(|path| number(path) == over) {
            let _ = fs::remove_file(path);
        }
        true
    }

    /// Stops all waiting hooks of this session.
    pub(super) fn all_done(&self) {
        for path in self.files("") {
            let _ = fs::remove_file(path);
        }
    }

    /// Records that this call was allowed here and will run. When it finishes, it must not be confused with an equal
    /// call that is still waiting.
    pub(super) fn decided(&self, call: &str, slot: &Slot) {
        let waiting = self.files(&format!("{call}-")).into_iter().filter(|path| path.extension().is_none() && *path != slot.path);
        if waiting.count() > 0 {
            let _ = File::create(slot.path.with_extension("decided"));
        }
    }
}

impl Slot {
    /// Returns true while this hook should wait, that is, while its file exists.
    pub(super) fn is_there(&self) -> bool {
        let here = self.file.metadata().map(|data| (data.dev(), data.ino()));
        let there = fs::metadata(&self.path).map(|data| (data.dev(), data.ino()));
        matches!((here, there), (Ok(here), Ok(there)) if here == there)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if self.is_there() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sayso_client::Environment;

    fn place() -> (tempfile::TempDir, Paths) {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_str().unwrap().to_owned();
        let paths = Paths::new(&Environment::from_pairs([("HOME", &home), ("XDG_RUNTIME_DIR", &home)]), None).unwrap();
        (dir, paths)
    }

    #[test]
    fn equal_calls_get_numbers_and_two_hooks_of_one_call_share_one() {
        let (_dir, paths) = place();
        let slots = Slots::of(&paths, "s-1");
        assert!(!slots.any());
        let first = slots.reserve(&paths, "aa", "sayso").unwrap();
        let second = slots.reserve(&paths, "aa", "sayso").unwrap();
        let twin = slots.reserve(&paths, "aa", "/usr/bin/sayso").unwrap();
        let other = slots.reserve(&paths, "bb", "sayso").unwrap();
        assert_eq!([first.number, second.number, twin.number, other.number], [0, 1, 0, 0]);
        assert!(slots.any() && !Slots::of(&paths, "s-2").any());
        drop(first);
        assert_eq!(slots.reserve(&paths, "aa", "sayso").unwrap().number, 0, "the number is free again");
    }

    #[test]
    fn finished_call_stops_its_waiting_hooks() {
        let (_dir, paths) = place();
        let slots = Slots::of(&paths, "s-1");
        let reserve = |call: &str, called: &str| slots.reserve(&paths, call, called).unwrap();
        let (first, second) = (reserve("aa", "sayso"), reserve("aa", "sayso"));
        let twin = reserve("aa", "other");
        let modified = |slot: &Slot, seconds: u64| {
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            slot.file.set_modified(time).unwrap();
        };
        modified(&first, 1);
        modified(&twin, 2);
        modified(&second, 3);
        assert!(!slots.done("cc"));
        assert!(slots.done("aa"));
        assert_eq!([first.is_there(), twin.is_there(), second.is_there()], [false, false, true]);
        slots.all_done();
        assert!(!second.is_there() && !slots.any());
    }

    #[test]
    fn call_decided_here_does_not_stop_an_equal_waiting_call() {
        let (_dir, paths) = place();
        let slots = Slots::of(&paths, "s-1");
        let (first, second) = (slots.reserve(&paths, "aa", "sayso").unwrap(), slots.reserve(&paths, "aa", "sayso").unwrap());
        slots.decided("aa", &first);
        drop(first);
        assert!(!slots.done("aa"), "the first one ran");
        assert!(second.is_there());
        assert!(slots.done("aa"), "now the second one ran, decided in the terminal");
        let alone = slots.reserve(&paths, "aa", "sayso").unwrap();
        slots.decided("aa", &alone);
        drop(alone);
        assert!(!slots.any(), "no files remain");
    }
}
