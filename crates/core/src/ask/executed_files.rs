//! The files that an approved command would execute, and the digest of their content.

use serde::{Deserialize, Serialize};

use super::{Action, AskBody};
use crate::digest::{DigestFields, ShaDigest};
use crate::policy::{ExecutedCode, executed_code};

/// Distinguishes this layout from later ones.
const LAYOUT: &str = "sayso files 1";

/// One file, as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutedFile {
    /// Absolute.
    pub path: String,
    /// SHA-256 of the content. `None` if it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<ShaDigest>,
}

/// The files that the command of an approval executes, as they were when the ask was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutedFiles {
    pub files: Vec<ExecutedFile>,
    /// Whether it also executes files that are not in the list.
    pub unlisted: bool,
    /// Whether the server reads the files: it started the session, and could read them when the ask was opened.
    pub readable: bool,
}

impl ExecutedFiles {
    /// Lists the files that an ask is about, without reading them. `None` if it executes no code of the project.
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

/// The digest of the content of several files.
#[must_use]
pub fn content_digest(files: &[ExecutedFile]) -> ShaDigest {
    let mut fields = DigestFields::new(LAYOUT);
    for file in files {
        fields.text(&file.path);
        fields.maybe(file.digest.map(|digest| digest.to_string()).as_deref());
    }
    fields.finish()
}
