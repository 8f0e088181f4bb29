//! Records in a file next to the journal what the server sent to a process. From it, a restarted server learns whether another
//! program has attached to the supervisor or written to the agent.
//!
//! Ids of inputs have gaps, so the last accepted id alone proves nothing: it has to be an id that the server sent. The file is
//! written before the corresponding message is sent. It is not synced, because a crash of the machine ends the supervisor as
//! well.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

const LEDGER: &str = "sent";
/// The file with warnings about running processes, for `sayso doctor`.
const WARNINGS: &str = "warnings";
/// The size of an encoded [`Sent`].
const SENT: usize = 48;
/// The maximum size of the file with warnings, in bytes.
const MOST_WARNINGS: u64 = 16 * 1024;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Sent {
    /// The last input of this server that was certainly accepted before `last`.
    accepted: u64,
    /// The input that `last` named as its predecessor: `accepted`, or one of another program.
    previous: u64,
    /// The last input that was sent. The supervisor may not have received it.
    last: u64,
    /// The last input of another program, or 0 if none is known.
    foreign: u64,
    /// The number of this server's last attachment that the supervisor confirmed.
    attachment: u64,
    /// How often the server has tried to attach since. A server that is killed during an attempt does not know whether it was
    /// attached.
    tries: u64,
}

impl Sent {
    fn encode(self) -> [u8; SENT] {
        let mut bytes = [0; SENT];
        let numbers = [self.accepted, self.previous, self.last, self.foreign, self.attachment, self.tries];
        for (field, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            field.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (fields, []) = bytes.as_chunks::<8>() else { return None };
        let fields: [[u8; 8]; SENT / 8] = fields.try_into().ok()?;
        let [accepted, previous, last, foreign, attachment, tries] = fields.map(u64::from_le_bytes);
        Some(Self { accepted, previous, last, foreign, attachment, tries })
    }
}

/// Whether an input in the outbox was accepted, as known when the server attaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputFate {
    Accepted,
    NotAccepted,
    /// Another program wrote to the agent, so it is unknown whether this input was accepted before.
    Uncertain,
}

/// A supervisor's report about its earlier connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AttachReport {
    pub(super) last_input: u64,
    pub(super) attachment: u64,
}

/// Interference of other programs between two attachments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Interference {
    /// Another program was attached.
    pub(super) attached: bool,
    /// Another program wrote to the agent.
    pub(super) wrote: bool,
}

#[derive(Debug)]
pub(super) struct InputLedger {
    dir: PathBuf,
    file: Option<File>,
    /// `None` if the process was started by a server that kept no ledger, so nothing is known.
    sent: Option<Sent>,
}

impl InputLedger {
    /// Creates the ledger of a process that is about to be started. An existing ledger is kept, because the launch may be
    /// repeated.
    pub(super) fn create(dir: &Path) -> io::Result<()> {
        match private_file().create_new(true).open(dir.join(LEDGER)) {
            Ok(mut file) => file.write_all(&Sent::default().encode()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Opens the ledger of a process. An unreadable ledger counts as missing.
    pub(super) fn open(dir: &Path) -> Self {
        let mut bytes = Vec::new();
        let opened = private_file().read(true).open(dir.join(LEDGER)).and_then(|mut file| {
            (&mut file).take(SENT as u64 + 1).read_to_end(&mut bytes)?;
            Ok(file)
        });
        Self { dir: dir.to_owned(), file: opened.ok(), sent: Sent::decode(&bytes) }
    }

    /// Records that the server is about to attach.
    pub(super) fn attaching(&mut self) {
        self.change(|sent| sent.tries += 1);
    }

    /// Records that the server is attached. Returns what other programs did since its last attachment.
    pub(super) fn attached(&mut self, report: AttachReport) -> Interference {
        let AttachReport { last_input, attachment } = report;
        let Some(sent) = self.sent else {
            let known = Sent { accepted: last_input, previous: last_input, last: last_input, attachment, ..Sent::default() };
            self.sent = Some(known);
            self.file = private_file().create(true).truncate(true).open(self.dir.join(LEDGER)).ok();
            self.change(|_| {});
            return Interference::default();
        };
        self.change(|sent| (sent.attachment, sent.tries) = (attachment, 0));
        let attached = attachment > sent.attachment.saturating_add(sent.tries);
        Interference { attached, wrote: self.is_foreign(last_input) }
    }

    /// Returns whether an accepted input came from another program. Each is reported once.
    pub(super) fn is_foreign(&mut self, id: u64) -> bool {
        let Some(Sent { accepted, previous, last, foreign, .. }) = self.sent else { return false };
        if [accepted, previous, last, foreign].contains(&id) {
            return false;
        }
        self.change(|sent| sent.foreign = id);
        true
    }

    /// Records that an input is about to be sent after `previous`.
    pub(super) fn sending(&mut self, id: u64, previous: u64) {
        self.change(|sent| {
            if previous == sent.last {
                sent.accepted = previous;
            }
            (sent.previous, sent.last) = (previous, id);
        });
    }

    /// Returns whether an input was accepted, if `last_input` was the last input at the attachment.
    pub(super) fn fate_of(&self, id: u64, last_input: u64) -> InputFate {
        let Some(Sent { accepted, previous, last, .. }) = self.sent else { return InputFate::NotAccepted };
        if id <= accepted || (id <= last && last_input == last) {
            InputFate::Accepted
        } else if id == last && last_input != previous {
            InputFate::Uncertain
        } else {
            InputFate::NotAccepted
        }
    }

    /// Stores a warning for `sayso doctor` while the process runs.
    pub(super) fn warn(&self, text: &str) {
        let kept = private_file()
            .append(true)
            .create(true)
            .open(self.dir.join(WARNINGS))
            .and_then(|mut file| if file.metadata()?.len() > MOST_WARNINGS { Ok(()) } else { writeln!(file, "{text}") });
        if let Err(error) = kept {
            tracing::warn!(%error, dir = %self.dir.display(), "cannot store a warning about an agent");
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut Sent)) {
        let (Some(sent), Some(file)) = (&mut self.sent, &self.file) else { return };
        change(sent);
        if let Err(error) = file.write_all_at(&sent.encode(), 0) {
            tracing::warn!(%error, dir = %self.dir.display(), "cannot write the ledger of an agent");
        }
    }
}

/// Returns the warnings about running processes of a data directory, with the directory of each process.
#[must_use]
pub fn agent_warnings(data_dir: &Path) -> Vec<String> {
    let below = |dir: PathBuf| std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let processes = below(data_dir.join("agents")).flat_map(below);
    processes.flat_map(|dir| warnings_of(&dir)).collect()
}

fn warnings_of(dir: &Path) -> Vec<String> {
    let mut text = String::new();
    let read = OpenOptions::new().read(true).custom_flags(no_follow()).open(dir.join(WARNINGS));
    let _ = read.and_then(|file| file.take(2 * MOST_WARNINGS).read_to_string(&mut text));
    text.lines().map(str::to_owned).collect()
}

fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600).custom_flags(no_follow());
    options
}

/// Returns the `open` flag that refuses symbolic links.
fn no_follow() -> i32 {
    OFlags::NOFOLLOW.bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Interference = Interference { attached: false, wrote: false };

    fn report(last_input: u64, attachment: u64) -> AttachReport {
        AttachReport { last_input, attachment }
    }

    /// A ledger after the inputs 7 and 12; the supervisor confirmed 7 and one attachment.
    fn after_7_and_12(dir: &Path) -> InputLedger {
        InputLedger::create(dir).unwrap();
        let mut ledger = InputLedger::open(dir);
        ledger.attaching();
        assert_eq!(ledger.attached(report(0, 1)), NOTHING);
        ledger.sending(7, 0);
        ledger.sending(12, 7);
        // The launch is repeated.
        InputLedger::create(dir).unwrap();
        InputLedger::open(dir)
    }

    fn fates(ledger: &InputLedger, last_input: u64) -> [InputFate; 3] {
        [7, 12, 15].map(|id| ledger.fate_of(id, last_input))
    }

    #[test]
    fn inputs_of_a_killed_server_are_its_own() {
        for (last_input, of_12) in [(7, InputFate::NotAccepted), (12, InputFate::Accepted)] {
            let dir = tempfile::tempdir().unwrap();
            // The server is killed before it learns that 12 was accepted, and again before it learns that it is attached.
            after_7_and_12(dir.path()).attaching();
            let mut ledger = InputLedger::open(dir.path());
            ledger.attaching();
            assert_eq!(ledger.attached(report(last_input, 3)), NOTHING);
            assert_eq!(fates(&ledger, last_input), [InputFate::Accepted, of_12, InputFate::NotAccepted]);
        }
    }

    #[test]
    fn another_program_is_noticed_once() {
        for (found, attached, wrote) in
            [(report(12, 3), true, false), (report(8, 2), false, true), (report(u64::MAX, 3), true, true)]
        {
            let dir = tempfile::tempdir().unwrap();
            let mut ledger = after_7_and_12(dir.path());
            ledger.attaching();
            assert_eq!(ledger.attached(found), Interference { attached, wrote }, "{found:?}");
            let of_12 = if wrote { InputFate::Uncertain } else { InputFate::Accepted };
            let expected = [InputFate::Accepted, of_12, InputFate::NotAccepted];
            assert_eq!(fates(&ledger, found.last_input), expected, "{found:?}");
            let mut next = InputLedger::open(dir.path());
            next.attaching();
            let again = AttachReport { attachment: found.attachment + 1, ..found };
            assert_eq!((next.attached(again), fates(&next, found.last_input)), (NOTHING, expected), "{found:?}");
        }
    }

    #[test]
    fn inputs_of_other_programs_are_distinguished() {
        let dir = tempfile::tempdir().unwrap();
        let mut ledger = after_7_and_12(dir.path());
        assert!(ledger.is_foreign(u64::MAX) && !ledger.is_foreign(u64::MAX) && !ledger.is_foreign(12));
        ledger.sending(15, u64::MAX);
        assert_eq!(ledger.fate_of(15, u64::MAX), InputFate::NotAccepted);
        assert_eq!(ledger.fate_of(15, 15), InputFate::Accepted);
        assert_eq!(ledger.fate_of(15, 99), InputFate::Uncertain);
    }

    #[test]
    fn nothing_is_claimed_about_a_process_of_a_server_without_a_ledger() {
        let dir = tempfile::tempdir().unwrap();
        let mut ledger = InputLedger::open(dir.path());
        ledger.attaching();
        assert_eq!(ledger.attached(report(40, 9)), NOTHING);
        assert_eq!(ledger.fate_of(40, 40), InputFate::Accepted);
        let mut next = InputLedger::open(dir.path());
        assert_eq!(next.sent, Some(Sent { accepted: 40, previous: 40, last: 40, attachment: 9, ..Sent::default() }));
        next.attaching();
        assert_eq!(next.attached(report(41, 10)), Interference { attached: false, wrote: true });
    }

    #[test]
    fn ledger_is_private_and_follows_no_symbolic_link() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        InputLedger::create(dir.path()).unwrap();
        assert_eq!(std::fs::metadata(dir.path().join(LEDGER)).unwrap().permissions().mode() & 0o777, 0o600);
        let victim = dir.path().join("victim");
        std::fs::write(&victim, "mine").unwrap();
        std::os::unix::fs::symlink(&victim, dir.path().join(WARNINGS)).unwrap();
        InputLedger::open(dir.path()).warn("text");
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
    }
}
