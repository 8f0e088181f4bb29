//! The files that an approved command would execute, and the digest of their content.

use serde::{Deserialize, Serialize};

use super::{Action, AskBody};
use crate::digest::{DigestFields, FileHash, ShaDigest};
use crate::policy::{ExecutedCode, executed_code};

/// Distinguishes digests of this layout from those of later ones.
const LAYOUT: &str = "sayso files 1";

/// A file, as it was when the server read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutedFile {
    /// The absolute path.
    pub path: String,
    /// `None` if the file could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<FileHash>,
}

/// The files that the command of an approval executes, as they were when the ask was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutedFiles {
    pub files: Vec<ExecutedFile>,
    /// Whether the command also executes files that are not listed.
    pub unlisted: bool,
    /// Whether the server compares the files: it started the session and could read them when the ask was opened.
    pub readable: bool,
}

impl ExecutedFiles {
    /// Lists the files that an ask would execute, without reading them. `None` if it executes no code of the project.
    #[must_use]
    pub fn of(body: &AskBody, project: Option<&str>, home: Option<&str>) -> Option<Self> {
        let AskBody::Approval(approval) = body else { return None };
        let Action::Run { command } = &approval.action else { return None };
        let directory = approval.directory().filter(|cwd| cwd.starts_with('/')).or(project)?;
        let ExecutedCode { files, unlisted } = executed_code(command, directory, home);
        let file = |path| ExecutedFile { path, digest: None };
        let executed = Self { files: files.into_iter().map(file).collect(), unlisted, readable: false };
        (unlisted || !executed.files.is_empty()).then_some(executed)
    }
}

/// Computes one digest of the content of several files.
#[must_use]
pub fn content_digest(files: &[ExecutedFile]) -> ShaDigest {
    let mut fields = DigestFields::new(LAYOUT);
    for file in files {
        fields.text(&file.path);
        fields.maybe(file.digest.map(|digest| digest.to_string()).as_deref());
    }
    fields.finish()
}
