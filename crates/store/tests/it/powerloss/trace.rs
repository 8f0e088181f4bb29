//! Runs a workload in a separate process and records its changes to the files of a directory.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of a directory by name.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// A call that changed or synced a file.
#[derive(Debug)]
pub(super) enum Record {
    Create { inode: u64, name: String },
    Write { inode: u64, offset: usize, bytes: Vec<u8> },
    Truncate { inode: u64, length: usize },
    Sync { inode: u64 },
    Rename { from: String, to: String },
    Link { from: String, to: String },
    Unlink { name: String },
    SyncDir,
}

/// The recorded calls of a workload.
#[derive(Debug)]
pub(super) struct Trace {
    /// The durable files at the start, with their inodes.
    pub(super) before: Vec<(String, u64, Vec<u8>)>,
    pub(super) records: Vec<Record>,
    /// The files at the end.
    pub(super) after: Files,
}

impl Trace {
    /// Counts the restarts of the write-ahead log, which write its header.
    pub(super) fn log_starts(&self) -> usize {
        let header = |record: &&Record| matches!(record, Record::Write { offset: 0, bytes, .. } if bytes.len() == 32);
        self.records.iter().filter(header).count()
    }
}

/// The file to which the workload appends a line for each acknowledgement.
pub(super) const ACKS: &str = "acks";
/// The name of the workload, in the process that runs it.
const WORKLOAD: &str = "SAYSO_POWERLOSS_WORKLOAD";
const DIR: &str = "SAYSO_RECORD_DIR";
/// The size of a record's header.
const HEADER: usize = 1 + 8 + 8 + 4;

/// Returns the workload that this process has to run, and its directory.
pub(super) fn inside() -> Option<(String, PathBuf)> {
    Some((std::env::var(WORKLOAD).ok()?, std::env::var_os(DIR)?.into()))
}

/// SQLite rebuilds its shared memory at every start, so it is not recorded.
fn is_recorded(name: &str) -> bool {
    !name.ends_with("-shm")
}

/// Creates a directory in memory if possible. Syncs are recorded and need not wait for a disk.
pub(super) fn fast_dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

pub(super) fn read_files(dir: &Path) -> Files {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .filter(|(name, _)| is_recorded(name))
        .collect()
}

pub(super) fn write_files(dir: &Path, files: &Files) {
    for (name, bytes) in files {
        std::fs::write(dir.join(name), bytes).unwrap();
    }
}

/// Compiles the recorder, with the compiler that SQLite also needs.
fn recorder(dir: &Path) -> PathBuf {
    let library = dir.join("recorder.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/powerloss/recorder.c");
    let arguments = ["-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-o"];
    let status = Command::new("cc").args(arguments).arg(&library).arg(source).arg("-ldl").status().unwrap();
    assert!(status.success(), "cc {source}");
    library
}

/// Runs the workload with this name on these files. `test` is the test that calls [`inside`].
pub(super) fn record(test: &str, workload: &str, files: &Files) -> Trace {
    let outer = fast_dir();
    let dir = outer.path().canonicalize().unwrap().join("data");
    std::fs::create_dir(&dir).unwrap();
    write_files(&dir, files);
    let before = files
        .iter()
        .map(|(name, bytes)| (name.clone(), std::fs::metadata(dir.join(name)).unwrap().ino(), bytes.clone()))
        .collect();
    let trace = outer.path().join("trace");
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(WORKLOAD, workload)
        .env(DIR, &dir)
        .env("SAYSO_RECORD_TO", &trace)
        .env("LD_PRELOAD", recorder(outer.path()))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    Trace { before, records: parse(&std::fs::read(&trace).unwrap()), after: read_files(&dir) }
}

fn parse(mut bytes: &[u8]) -> Vec<Record> {
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    let mut records = Vec::new();
    while let Some((header, rest)) = bytes.split_at_checked(HEADER) {
        let (inode, offset) = (number(&header[1..9]), usize::try_from(number(&header[9..17])).unwrap());
        let length = u32::from_le_bytes(header[17..].try_into().unwrap()) as usize;
        let content = rest[..length].to_vec();
        bytes = &rest[length..];
        let text = || String::from_utf8(content.clone()).unwrap();
        let names = || text().split_once('\n').map(|(from, to)| (from.to_owned(), to.to_owned())).unwrap();
        records.push(match header[0] {
            1 => Record::Create { inode, name: text() },
            2 => Record::Write { inode, offset, bytes: content },
            3 => Record::Truncate { inode, length: offset },
            4 => Record::Sync { inode },
            5 => {
                let (from, to) = names();
                Record::Rename { from, to }
            }
            6 => {
                let (from, to) = names();
                Record::Link { from, to }
            }
            7 => Record::Unlink { name: text() },
            8 => Record::SyncDir,
            other => panic!("a record of kind {other}"),
        });
    }
    records
}
