//! Remembers file content that removing our entries cannot restore, for example that the file did not exist, or that a
//! list was empty. A record is used only if the file still has exactly the content that we wrote, and is deleted after
//! disconnecting.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::file::write_private;
use crate::failure::Failure;

/// The original content of a file that we changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Undo {
    path: PathBuf,
    /// Hash of the content that we wrote.
    after: String,
    /// Original content; `None` if the file did not exist.
    before: Option<String>,
}

impl Undo {
    pub(super) fn of(path: &Path, after: &str, before: Option<String>) -> Self {
        Self { path: path.to_owned(), after: hash(after), before }
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn note(dir: &Path, path: &Path) -> PathBuf {
    dir.join(format!("{}.json", hash(&path.to_string_lossy())))
}

/// Stores the record of a file, or deletes it for `None`.
pub(super) fn keep(dir: &Path, path: &Path, undo: Option<Undo>) -> Result<(), Failure> {
    let note = note(dir, path);
    match undo {
        Some(undo) => {
            let text = serde_json::to_string(&undo).map_err(|error| Failure::caused("Cannot remember the change", &error))?;
            write_private(&note, &text)
        }
        None => {
            let _ = fs::remove_file(note);
            Ok(())
        }
    }
}

/// Returns the original content, if the file still has exactly the content that we wrote.
pub(super) fn take_back(dir: &Path, path: &Path, now: Option<&str>) -> Option<Option<String>> {
    let undo: Undo = serde_json::from_str(&fs::read_to_string(note(dir, path)).ok()?).ok()?;
    (undo.path == path && undo.after == hash(now?)).then_some(undo.before)
}
