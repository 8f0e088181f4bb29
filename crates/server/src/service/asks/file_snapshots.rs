//! Reads the files that an approved command would execute, and remembers what people were shown.
//!
//! Files are read only inside the project, without following links, and up to 1 MiB. Snapshots are kept in memory for two
//! reasons: a card can show the difference between the file that a person saw and the current one, and an unchanged file is
//! compared with its snapshot instead of being hashed again.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use sayso_agents::diff::file_diff;
use sayso_core::ask::{Ask, ExecutedFile, ExecutedFiles, FileDiff, content_digest};
use sayso_core::digest::{FileHash, ShaDigest};
use sayso_core::id::AskId;

use crate::small_file::{read_apart, read_beneath};

/// Maximum size of a file, in bytes.
const MAX_FILE: u64 = 1024 * 1024;
/// Maximum total size of all snapshots, in bytes. The oldest are dropped first.
const MAX_REMEMBERED: usize = 32 * 1024 * 1024;

/// One file at one moment.
#[derive(Debug)]
pub(crate) struct FileSnapshot {
    pub(crate) file: ExecutedFile,
    /// `None` if it could not be read.
    pub(crate) bytes: Option<Vec<u8>>,
}

/// The files of one ask at one moment.
#[derive(Debug)]
pub(crate) struct FileSnapshots {
    pub(crate) digest: ShaDigest,
    pub(crate) files: Vec<FileSnapshot>,
}

impl FileSnapshots {
    /// Reads the files. Blocks on the file system.
    fn read(project: &Path, paths: &[String], known: Option<&Self>) -> Self {
        let read = |path: &String| {
            let bytes = read_beneath(project, Path::new(path), MAX_FILE).ok();
            let known = known.and_then(|known| known.files.iter().find(|earlier| earlier.file.path == *path));
            let digest = match (&bytes, known) {
                (Some(bytes), Some(FileSnapshot { file, bytes: Some(earlier) })) if bytes == earlier => file.digest,
                (Some(bytes), _) => Some(FileHash::of_bytes(bytes)),
                (None, _) => None,
            };
            FileSnapshot { file: ExecutedFile { path: path.clone(), digest }, bytes }
        };
        let files: Vec<FileSnapshot> = paths.iter().map(read).collect();
        let listed: Vec<ExecutedFile> = files.iter().map(|snapshot| snapshot.file.clone()).collect();
        Self { digest: content_digest(&listed), files }
    }

    /// Returns the diffs since an earlier snapshot. Invalid UTF-8 is replaced.
    pub(crate) fn changes_since(&self, earlier: &Self) -> Vec<FileDiff> {
        let text = |snapshot: &FileSnapshot| {
            snapshot.bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
        };
        let pairs = self.files.iter().zip(&earlier.files);
        let changed = pairs.filter(|(now, before)| now.file != before.file);
        changed
            .map(|(now, before)| FileDiff { path: now.file.path.clone(), diff: file_diff(&text(before), &text(now)) })
            .collect()
    }

    fn size(&self) -> usize {
        self.files.iter().map(|file| file.file.path.len() + file.bytes.as_ref().map_or(0, Vec::len)).sum()
    }
}

/// The snapshots of recent asks.
#[derive(Debug, Default)]
pub(crate) struct SnapshotMemory(Mutex<VecDeque<(AskId, Arc<FileSnapshots>)>>);

impl SnapshotMemory {
    /// Returns the snapshot of an ask with this digest; without a digest, its latest one.
    pub(crate) fn find(&self, ask: AskId, digest: Option<ShaDigest>) -> Option<Arc<FileSnapshots>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits =
            |(of, snapshot): &&(AskId, Arc<FileSnapshots>)| *of == ask && digest.is_none_or(|digest| snapshot.digest == digest);
        known.iter().rev().find(fits).map(|(_, snapshot)| Arc::clone(snapshot))
    }

    fn remember(&self, ask: AskId, snapshot: &Arc<FileSnapshots>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(of, earlier)| *of != ask || earlier.digest != snapshot.digest);
        known.push_back((ask, Arc::clone(snapshot)));
        let mut size: usize = known.iter().map(|(_, snapshot)| snapshot.size()).sum();
        while size > MAX_REMEMBERED && known.len() > 1 {
            size -= known.pop_front().map_or(0, |(_, snapshot)| snapshot.size());
        }
    }

    /// Reads the files of an ask as they are now. `None` if the file system does not respond.
    pub(crate) async fn read(&self, ask: AskId, project: &str, executed: &ExecutedFiles) -> Option<Arc<FileSnapshots>> {
        let known = self.find(ask, None);
        let project = Path::new(project).to_owned();
        let paths: Vec<String> = executed.files.iter().map(|file| file.path.clone()).collect();
        let read = move || FileSnapshots::read(&project, &paths, known.as_deref());
        let snapshot = Arc::new(read_apart(read).await?);
        self.remember(ask, &snapshot);
        Some(snapshot)
    }

    /// Reads the files of an ask that is pending, if the server may read them.
    pub(crate) async fn read_for(&self, ask: &Ask) -> Option<Arc<FileSnapshots>> {
        let executed = ask.context.executes.as_ref().filter(|executed| executed.readable)?;
        self.read(ask.id, ask.context.project.as_deref()?, executed).await
    }
}
