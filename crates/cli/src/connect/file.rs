//! Reads and writes one configuration file of an agent: atomically, with its mode, and through symbolic links.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use sayso_server::read_small_file;
use similar::TextDiff;

use crate::failure::Failure;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileChange {
    pub(super) path: PathBuf,
    /// `None` if the file does not exist.
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

impl FileChange {
    /// Creates a change if the texts differ.
    pub(super) fn of(path: &Path, before: Option<String>, after: Option<String>) -> Option<Self> {
        (before != after).then(|| Self { path: path.to_owned(), before, after })
    }

    /// Formats the change as a unified diff.
    pub(super) fn diff(&self) -> String {
        let shown = |text: &Option<String>| match text {
            Some(_) => self.path.display().to_string(),
            None => "/dev/null".to_owned(),
        };
        let (old, new) = (self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default());
        let diff = TextDiff::from_lines(old, new);
        diff.unified_diff().context_radius(3).header(&shown(&self.before), &shown(&self.after)).to_string()
    }

    /// Writes the change, unless the file was modified since it was read.
    pub(super) fn write(&self) -> Result<(), Failure> {
        if read(&self.path)? != self.before {
            return Err(Failure::new(format!(
                "{} was changed by another program in the meantime, so it was not modified.",
                self.path.display()
            ))
            .then("Run the same command again."));
        }
        let failed = |error: std::io::Error| Failure::io(&format!("Cannot write {}", self.path.display()), &error);
        match &self.after {
            None => fs::remove_file(&self.path).map_err(failed),
            Some(text) => {
                if let Some(parent) = self.path.parent() {
                    fs::create_dir_all(parent).map_err(failed)?;
                }
                // Some people keep these files elsewhere and link to them. The link must survive.
                let real = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
                let mode = fs::metadata(&real).map(|data| data.permissions().mode() & 0o7777).ok();
                replace(&real, text, mode).map_err(failed)
            }
        }
    }
}

/// Limit for a configuration file, in bytes. A project may contain any file.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Reads a file; `None` if it does not exist.
pub(super) fn read(path: &Path) -> Result<Option<String>, Failure> {
    match read_small_file(path, LARGEST) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            Err(Failure::new(format!("{} is not a text file, so it was not modified.", path.display())))
        }
        Err(error) => Err(Failure::io(&format!("Cannot read {}", path.display()), &error)),
    }
}

/// Writes a file that only this user can read.
pub(super) fn write_private(path: &Path, text: &str) -> Result<(), Failure> {
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| replace(path, text, Some(0o600)));
    written.map_err(|error| Failure::io(&format!("Cannot write {}", path.display()), &error))
}

/// Replaces a file atomically.
fn replace(path: &Path, text: &str, mode: Option<u32>) -> std::io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.sayso-{}", std::process::id()));
    let written = (|| {
        // Created with the mode of the old file, because the content may be private.
        let mut options = OpenOptions::new();
        let mut file: File = options.write(true).create_new(true).mode(mode.unwrap_or(0o644)).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        if let Some(mode) = mode {
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_keeps_mode_and_symbolic_link() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, "a\n").unwrap();
        fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let change = FileChange::of(&link, Some("a\n".into()), Some("a\nb\n".into())).unwrap();
        assert!(change.diff().ends_with("@@ -1 +1,2 @@\n a\n+b\n"), "{}", change.diff());
        change.write().unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "a\nb\n");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(link.is_symlink());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary file remains");
        assert!(change.write().is_err(), "the file differs from the diff that was shown");
    }

    #[test]
    fn files_are_created_and_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/er/file");
        let made = FileChange::of(&path, None, Some("x\n".into())).unwrap();
        assert!(made.diff().starts_with("--- /dev/null\n+++ "));
        made.write().unwrap();
        FileChange::of(&path, Some("x\n".into()), None).unwrap().write().unwrap();
        assert!(!path.exists());
        assert_eq!(FileChange::of(&path, None, None), None);
    }
}
