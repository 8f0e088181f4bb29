//! Records what the server sent to one process, in a file next to the journal of the process. From it a restarted server
//! learns whether another program has attached to the supervisor or written to the agent since.
//!
//! Ids of inputs have gaps, so the last accepted id alone proves nothing: it has to be one that was sent. The file is
//! written before the message that it is about leaves, and it is not synced: a crash of the machine ends the supervisor
//! as well.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

const LEDGER: &str = "sent";
/// What `sayso doctor` shows about processes that run.
const WARNINGS: &str = "warnings";
/// The size of an encoded [`Sent`].
const SENT: usize = 48;
/// Bytes of the file of warnings, at most.
const MOST_WARNINGS: u64 = 16 * 1024;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Sent {
    /// Our last input that was certainly accepted before `last`.
    accepted: u64,
    /// The input that `last` named as the one before it: `accepted`, or one of another program.
    previous: u64,
    /// The last input that was sent. The supervisor may not have it.
    last: u64,
    /// The last input of another program; 0: none is known.
    foreign: u64,
    /// The number of our last attachment that the supervisor confirmed.
    attachment: u64,
    /// How often the server tried to attach since. A server that is killed during a try does not know whether it was attached.
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

/// What became of an input that is still in the outbox when the server attaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputFate {
    Accepted,
    NotAccepted,
    /// Another program wrote to the agent, which hides whether this input was accepted before.
    Uncertain,
}

/// What a supervisor says about the connections that it had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AttachReport {
    pub(super) last_input: u64,
    pub(super) attachment: u64,
}

/// What happened between two attachments that should not have happened.
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
    /// `None`: the process was started by a server that kept no ledger, so nothing is known.
    sent: Option<Sent>,
}

impl InputLedger {
    /// The ledger of a process that is about to be started. One that exists is kept: the launch may be repeated.
    pub(super) fn create(dir: &Path) -> io::Result<()> {
        match private_file().create_new(true).open(dir.join(LEDGER)) {
            Ok(mut file) => file.write_all(&Sent::default().encode()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Opens the ledger of a process. One that cannot be read is like none.
    pub(super) fn open(dir: &Path) -> Self {
        let mut bytes = Vec::new();
        let opened = private_file().read(true).open(dir.join(LEDGER)).and_then(|mut file| {
            (&mut file).take(SENT as u64 + 1).read_to_end(&mut bytes)?;
            Ok(file)
        });
        Self { dir: dir.to_owned(), file: opened.ok(), sent: Sent::decode(&bytes) }
    }

    /// We are about to attach.
    pub(super) fn attaching(&mut self) {
        self.change(|sent| sent.tries += 1);
    }

    /// We are attached. Says what another program did since we were attached last.
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

    /// Whether an accepted input is one of another program. Each is reported once.
    pub(super) fn is_foreign(&mut self, id: u64) -> bool {
        let Some(Sent { accepted, previous, last, foreign, .. }) = self.sent else { return false };
        if [accepted, previous, last, foreign].contains(&id) {
            return false;
        }
        self.change(|sent| sent.foreign = id);
        true
    }

    /// An input is about to be sent after this one.
    pub(super) fn sending(&mut self, id: u64, previous: u64) {
        self.change(|sent| {
            if previous == sent.last {
                sent.accepted = previous;
            }
            (sent.previous, sent.last) = (previous, id);
        });
    }

    /// What became of an input, when `last_input` was the last one at our attachment.
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

    /// Keeps a warning for `sayso doctor`, while the process runs.
    pub(super) fn warn(&self, text: &str) {
        let kept = private_file()
            .append(true)
            .create(true)
            .open(self.dir.join(WARNINGS))
            .and_then(|mut file| if file.metadata()?.len() > MOST_WARNINGS { Ok(()) } else { writeln!(file, "{text}") });
        if let Err(error) = kept {
            tracing::warn!(%error, dir = %self.dir.display(), "cannot keep a warning about an agent");
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut Sent)) {
        let (Some(sent), Some(file)) = (&mut self.sent, &self.file) else { return };
        change(sent);
        if let Err(error) = file.write_all_at(&sent.encode(), 0) {
            tracing::warn!(%error, dir = %self.dir.display(), "cannot write what was sent to an agent");
        }
    }
}

/// Warnings about the processes of a data directory that run now, with the directory of each.
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

/// The flag that refuses symbolic links.
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
            // The server is killed before it hears of 12, and again before it hears that it is attached.
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
    fn inputs_after_one_of_another_program_are_told_apart() {
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
    fn a_ledger_is_private_and_no_link_is_followed() {
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
