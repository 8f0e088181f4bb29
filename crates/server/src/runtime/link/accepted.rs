//! Reads from the journal of a process which inputs it accepted.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use sayso_core::connection::WirePosition;
use sayso_store::OutboxId;
use sayso_supervisor::journal::Journal;
use sha2::{Digest as _, Sha256};

/// The file next to the journal that identifies the boot during which the process was started.
const BOOT: &str = "boot";

/// How many bits of an input's id are derived from the key.
const SALT_BITS: u32 = 20;

/// Derives ids and digests of the inputs for one process. The key belongs to the server, so no other program can predict the id
/// of an input, and no one can find a short answer by trying digests.
#[derive(Debug, Clone)]
pub(crate) struct InputKey(pub(crate) [u8; 32]);

impl InputKey {
    /// Returns the id of a row in the supervisor protocol. Ids increase with rows.
    pub(super) fn wire_id(&self, row: OutboxId) -> u64 {
        let digest = self.digest(row, b"id");
        let salt = u64::from(u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]]) >> (32 - SALT_BITS));
        (row.0.unsigned_abs() << SALT_BITS) | salt
    }

    pub(super) fn row(wire_id: u64) -> OutboxId {
        OutboxId((wire_id >> SALT_BITS).cast_signed())
    }

    pub(crate) fn digest(&self, row: OutboxId, bytes: &[u8]) -> [u8; 16] {
        let digest = Sha256::new().chain_update(self.0).chain_update(row.0.to_le_bytes()).chain_update(bytes).finalize();
        let mut short = [0; 16];
        short.copy_from_slice(&digest[..16]);
        short
    }
}

/// An input that a supervisor accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AcceptedInput {
    pub(crate) row: OutboxId,
    /// The position up to which the translator had read when it produced the input.
    pub(crate) after: u64,
    pub(crate) digest: [u8; 16],
}

/// The inputs that a journal lists.
#[derive(Debug, Default)]
pub(crate) struct AcceptedInputs {
    pub(crate) inputs: Vec<AcceptedInput>,
    /// Whether the journal lists every accepted input. It may not if it cannot be read, if its last record is incomplete, or if
    /// the machine was restarted, because journals are not synced to disk.
    pub(crate) is_complete: bool,
}

impl AcceptedInputs {
    /// Reads the journal in a supervisor's directory, starting at a position. `is_over`: the supervisor has exited.
    pub(super) fn read(dir: &Path, from: WirePosition, is_over: bool) -> Self {
        match Journal::open(dir).and_then(|mut journal| journal.scan(from.0)) {
            Ok(scan) => {
                let inputs = scan.accepted.into_iter();
                let inputs = inputs.map(|(id, after, digest)| AcceptedInput { row: InputKey::row(id), after, digest });
                let is_complete = !is_over || scan.has_ended || (!scan.is_torn && is_of_this_boot(dir));
                Self { inputs: inputs.collect(), is_complete }
            }
            Err(error) => {
                tracing::warn!(%error, dir = %dir.display(), "cannot read the accepted inputs of an agent");
                Self::default()
            }
        }
    }
}

/// Records the boot during which a process is started.
pub(super) fn note_boot(dir: &Path) -> io::Result<()> {
    let Some(boot) = boot_id() else { return Ok(()) };
    let mut file = fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(dir.join(BOOT))?;
    file.write_all(boot.as_bytes())
}

fn is_of_this_boot(dir: &Path) -> bool {
    boot_id().is_some_and(|boot| fs::read_to_string(dir.join(BOOT)).is_ok_and(|noted| noted == boot))
}

/// Identifies the current boot of the machine. `None` if the system provides no such id.
fn boot_id() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_on_the_wire_grow_with_rows_and_depend_on_the_key() {
        let (key, other) = (InputKey([1; 32]), InputKey([2; 32]));
        let ids: Vec<u64> = (1..1000).map(|row| key.wire_id(OutboxId(row))).collect();
        assert!(ids.is_sorted());
        assert!(ids.iter().zip(1..).all(|(id, row)| InputKey::row(*id) == OutboxId(row)));
        let guessed = ids.iter().zip(1..).filter(|(id, row)| other.wire_id(OutboxId(*row)) == **id).count();
        assert!(guessed <= 1, "{guessed}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn journal_of_an_earlier_boot_is_complete_only_with_its_end() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("journal-00000000000000000000"), b"").unwrap();
        let is_complete = |is_over| AcceptedInputs::read(dir.path(), WirePosition(0), is_over).is_complete;
        assert_eq!((is_complete(false), is_complete(true)), (true, false));
        note_boot(dir.path()).unwrap();
        assert!(is_complete(true));
        fs::write(dir.path().join(BOOT), "another boot").unwrap();
        assert!(!is_complete(true));
        // A torn record.
        note_boot(dir.path()).unwrap();
        fs::write(dir.path().join("journal-00000000000000000000"), b"\x01\xff").unwrap();
        assert!(!is_complete(true));
    }
}
