//! What taking our entries out does not bring back by itself: that there was no file, or an empty list where
//! we put something. It is remembered until the change is taken back, and used only if the file is still
//! exactly what we wrote.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::file::write_private;
use crate::failure::Failure;

/// How to take a change back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Undo {
    path: PathBuf,
    /// The hash of what we wrote.
    after: String,
    /// What was there; nothing if there was no file.
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

/// Remembers, or forgets.
pub(super) fn keep(dir: &Path, path: &Path, undo: Option<Undo>) -> Result<(), Failure> {
    let note = note(dir, path);
    match undo {
        Some(undo) => {
            let text = serde_json::to_string(&undo).map_err(|error| Failure::caused("The change cannot be noted", &error))?;
            write_private(&note, &text)
        }
        None => {
            let _ = fs::remove_file(note);
            Ok(())
        }
    }
}

/// What was there before our change, if this is exactly what we wrote.
pub(super) fn take_back(dir: &Path, path: &Path, now: Option<&str>) -> Option<Option<String>> {
    let undo: Undo = serde_json::from_str(&fs::read_to_string(note(dir, path)).ok()?).ok()?;
    (undo.path == path && undo.after == hash(now?)).then_some(undo.before)
}
