//! A model of a disk with a volatile cache, and of the files that a power loss can leave.
//!
//! The data of a file is durable after a sync of the file. Before that, each write may be lost, or only some of its sectors may
//! reach the disk, in any order. Names are durable after a sync of the directory. Before that, the file system keeps a prefix
//! of the changes, as journaling file systems do.

use std::collections::{BTreeMap, HashMap};

use super::random::Random;
use super::trace::{ACKS, Files, Record, Trace};

/// A disk writes sectors atomically. Old disks have the first size, flash the second.
const SECTORS: [usize; 2] = [512, 4096];

#[derive(Debug, Clone)]
enum DataChange {
    Write { offset: usize, bytes: Vec<u8> },
    Truncate(usize),
}

impl DataChange {
    fn apply(&self, data: &mut Vec<u8>) {
        match self {
            Self::Write { offset, bytes } => write(data, *offset, bytes),
            Self::Truncate(length) => data.resize(*length, 0),
        }
    }
}

fn write(data: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if data.len() < end {
        data.resize(end, 0);
    }
    data[offset..end].copy_from_slice(bytes);
}

#[derive(Debug, Default)]
struct FileModel {
    durable: Vec<u8>,
    pending: Vec<DataChange>,
}

#[derive(Debug, Clone)]
enum NameChange {
    Set(String, usize),
    Remove(String),
    Move(String, String),
}

fn change_name(names: &mut BTreeMap<String, usize>, change: &NameChange) {
    match change {
        NameChange::Set(name, file) => {
            names.insert(name.clone(), *file);
        }
        NameChange::Remove(name) => {
            names.remove(name);
        }
        NameChange::Move(from, to) => {
            let file = names.remove(from).unwrap();
            names.insert(to.clone(), file);
        }
    }
}

/// The syncs that the disk performs. A disk that ignores some shows that the test detects it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syncs {
    All,
    None,
    /// All syncs except those of files with this suffix.
    Except(&'static str),
}

#[derive(Debug)]
pub(super) struct DiskModel {
    files: Vec<FileModel>,
    by_inode: HashMap<u64, usize>,
    /// The names of files as the workload sees them.
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    pending_names: Vec<NameChange>,
    syncs: Syncs,
    acks: Vec<u8>,
}

/// The damage by a power loss.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Damage {
    pub(super) dropped: usize,
    pub(super) torn: usize,
}

impl DiskModel {
    pub(super) fn new(trace: &Trace, syncs: Syncs) -> Self {
        let mut disk = Self {
            files: Vec::new(),
            by_inode: HashMap::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            pending_names: Vec::new(),
            syncs,
            acks: Vec::new(),
        };
        for (name, inode, bytes) in &trace.before {
            let file = disk.create(*inode);
            disk.files[file].durable.clone_from(bytes);
            disk.names.insert(name.clone(), file);
        }
        disk.durable_names = disk.names.clone();
        disk
    }

    fn create(&mut self, inode: u64) -> usize {
        self.files.push(FileModel::default());
        self.by_inode.insert(inode, self.files.len() - 1);
        self.files.len() - 1
    }

    /// Applies one call of the workload.
    pub(super) fn perform(&mut self, record: &Record) {
        match record {
            Record::Create { inode, name } => {
                let file = self.create(*inode);
                self.rename(NameChange::Set(name.clone(), file));
            }
            Record::Write { inode, bytes, .. } if self.names.get(ACKS) == self.by_inode.get(inode) => self.acks.extend(bytes),
            Record::Write { inode, offset, bytes } => {
                self.change(*inode, DataChange::Write { offset: *offset, bytes: bytes.clone() });
            }
            Record::Truncate { inode, length } => self.change(*inode, DataChange::Truncate(*length)),
            Record::Sync { inode } => self.sync(*inode),
            Record::Rename { from, to } => self.rename(NameChange::Move(from.clone(), to.clone())),
            Record::Link { from, to } => self.rename(NameChange::Set(to.clone(), self.names[from])),
            Record::Unlink { name } => self.rename(NameChange::Remove(name.clone())),
            Record::SyncDir => {
                if self.syncs != Syncs::None {
                    self.durable_names = self.names.clone();
                    self.pending_names.clear();
                }
            }
        }
    }

    fn change(&mut self, inode: u64, change: DataChange) {
        let file = self.by_inode[&inode];
        self.files[file].pending.push(change);
    }

    fn rename(&mut self, change: NameChange) {
        change_name(&mut self.names, &change);
        self.pending_names.push(change);
    }

    fn sync(&mut self, inode: u64) {
        let file = self.by_inode[&inode];
        let ignored = match self.syncs {
            Syncs::All => false,
            Syncs::None => true,
            Syncs::Except(end) => self.names.iter().any(|(name, named)| *named == file && name.ends_with(end)),
        };
        if ignored {
            return;
        }
        let file = &mut self.files[file];
        for change in file.pending.drain(..) {
            change.apply(&mut file.durable);
        }
    }

    /// Returns the acknowledgements so far.
    pub(super) fn acks(&self) -> &str {
        std::str::from_utf8(&self.acks).unwrap()
    }

    /// Returns the files without a power loss.
    pub(super) fn contents(&self) -> Files {
        let content = |file: &usize| {
            let mut data = self.files[*file].durable.clone();
            self.files[*file].pending.iter().for_each(|change| change.apply(&mut data));
            data
        };
        self.files_named(&self.names, content)
    }

    /// Returns the files after a power loss at this point.
    pub(super) fn lose_power(&self, random: &mut Random) -> (Files, Damage) {
        let mut damage = Damage::default();
        let mut names = self.durable_names.clone();
        let kept = random.below(self.pending_names.len() + 1);
        self.pending_names[..kept].iter().for_each(|change| change_name(&mut names, change));
        damage.dropped += self.pending_names.len() - kept;
        let content = |file: &usize| self.files[*file].lose_power(random, &mut damage);
        let files = self.files_named(&names, content);
        (files, damage)
    }

    fn files_named(&self, names: &BTreeMap<String, usize>, mut content: impl FnMut(&usize) -> Vec<u8>) -> Files {
        let data = names.iter().filter(|(name, _)| *name != ACKS && !name.ends_with("-shm"));
        data.map(|(name, file)| (name.clone(), content(file))).collect()
    }
}

impl FileModel {
    fn lose_power(&self, random: &mut Random, damage: &mut Damage) -> Vec<u8> {
        let mut data = self.durable.clone();
        let sector = SECTORS[random.below(SECTORS.len())];
        // Everything is lost, everything has reached the disk, or something in between.
        let (lost, torn) = [(100, 0), (0, 0), (50, 25), (10, 10), (80, 20)][random.below(5)];
        for change in &self.pending {
            if random.percent(lost) {
                damage.dropped += 1;
            } else if let (DataChange::Write { offset, bytes }, true) = (change, random.percent(torn)) {
                damage.torn += 1;
                tear(&mut data, *offset, bytes, sector, random);
            } else {
                change.apply(&mut data);
            }
        }
        data
    }
}

/// Writes a random part of the sectors.
fn tear(data: &mut Vec<u8>, offset: usize, bytes: &[u8], sector: usize, random: &mut Random) {
    let mut start = 0;
    while start < bytes.len() {
        let end = bytes.len().min(start + sector - (offset + start) % sector);
        if random.percent(50) {
            write(data, offset + start, &bytes[start..end]);
        }
        start = end;
    }
}
