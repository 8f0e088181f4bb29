//! Who waits for which call, among the hooks of this machine: a file per waiting hook, locked while it
//! waits. It numbers equal calls, so that each has an ask of its own, and it tells the hooks that run
//! after every tool whether anything waits at all.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::FlockOperation;
use sayso_client::Paths;

use super::short_hash;

/// Equal calls of one session that wait at the same time.
const MOST: usize = 64;

/// The place of the files.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    dir: PathBuf,
    session: String,
}

/// The place of one hook that waits. It is given back when this is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    path: PathBuf,
    file: File,
    /// Which of the equal calls this is.
    pub(super) number: usize,
}

/// The number that tells this call from equal ones. A hook that found no slot waits all the same: its process id is used in
/// for the number, so that it never shares an ask with an equal call.
pub(super) fn call_number(slot: Option<&Slot>) -> String {
    slot.map_or_else(|| format!("process-{}", std::process::id()), |slot| slot.number.to_string())
}

impl Slots {
    /// The slots of one session of an agent.
    pub(super) fn of(paths: &Paths, session: &str) -> Self {
        Self { dir: paths.runtime_dir().join("hooks"), session: short_hash(session) }
    }

    /// Takes the next free number for this call. A hook that is called in another way for the same
    /// call takes the same number, so that both wait for one ask.
    pub(super) fn take(&self, paths: &Paths, call: &str, called: &str) -> Option<Slot> {
        paths.make_runtime_dir().ok()?;
        fs::create_dir_all(&self.dir).ok()?;
        let called = short_hash(called);
        (0..MOST).find_map(|number| {
            let path = self.dir.join(format!("{}-{call}-{number}-{called}", self.session));
            let file = File::options().create(true).append(true).open(&path).ok()?;
            rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
            let slot = Slot { path, file, number };
            // Somebody may have removed it between opening and locking.
            slot.is_there().then_some(slot)
        })
    }

    /// The files of this session whose names go on like this, the oldest first.
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

    /// Whether a hook of this session waits.
    pub(super) fn any(&self) -> bool {
        !self.files("").is_empty()
    }

    /// A call is over. Tells whether it is one that a hook still waits for; that hook waits no longer,
    /// even if the server cannot be told.
    pub(super) fn done(&self, call: &str) -> bool {
        let (decided, waiting): (Vec<PathBuf>, Vec<PathBuf>) =
            self.files(&format!("{call}-")).into_iter().partition(|path| path.extension().is_some());
        // One that was decided here ran, and an equal one still waits.
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

    /// Nothing of this session is waited for any more.
    pub(super) fn all_done(&self) {
        for path in self.files("") {
            let _ = fs::remove_file(path);
        }
    }

    /// This call was allowed here and will run. If an equal one waits, that one must not be taken for it
    /// when it is over.
    pub(super) fn decided(&self, call: &str, slot: &Slot) {
        let waiting = self.files(&format!("{call}-")).into_iter().filter(|path| path.extension().is_none() && *path != slot.path);
        if waiting.count() > 0 {
            let _ = File::create(slot.path.with_extension("decided"));
        }
    }
}

impl Slot {
    /// Whether this hook is still to wait: nobody has removed its file.
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
    fn equal_calls_are_numbered_and_two_hooks_of_one_call_are_one() {
        let (_dir, paths) = place();
        let slots = Slots::of(&paths, "s-1");
        assert!(!slots.any());
        let first = slots.take(&paths, "aa", "sayso").unwrap();
        let second = slots.take(&paths, "aa", "sayso").unwrap();
        let twin = slots.take(&paths, "aa", "/usr/bin/sayso").unwrap();
        let other = slots.take(&paths, "bb", "sayso").unwrap();
        assert_eq!([first.number, second.number, twin.number, other.number], [0, 1, 0, 0]);
        assert!(slots.any() && !Slots::of(&paths, "s-2").any());
        drop(first);
        assert_eq!(slots.take(&paths, "aa", "sayso").unwrap().number, 0, "it is free again");
    }

    #[test]
    fn what_is_over_is_waited_for_no_longer() {
        let (_dir, paths) = place();
        let slots = Slots::of(&paths, "s-1");
        let take = |call: &str, called: &str| slots.take(&paths, call, called).unwrap();
        let (first, second) = (take("aa", "sayso"), take("aa", "sayso"));
        let twin = take("aa", "other");
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
    fn a_call_that_was_decided_here_does_not_end_its_equal() {
        let (_dir, paths) = place();
        let slots = Slots::of(&paths, "s-1");
        let (first, second) = (slots.take(&paths, "aa", "sayso").unwrap(), slots.take(&paths, "aa", "sayso").unwrap());
        slots.decided("aa", &first);
        drop(first);
        assert!(!slots.done("aa"), "the first one ran");
        assert!(second.is_there());
        assert!(slots.done("aa"), "now the second one ran, decided in the terminal");
        let alone = slots.take(&paths, "aa", "sayso").unwrap();
        slots.decided("aa", &alone);
        drop(alone);
        assert!(!slots.any(), "nothing is left behind");
    }
}
