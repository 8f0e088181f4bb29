//! The files that the command of an approval executes.

use sayso_core::ask as core;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The project files that a command executes, as far as the command line names them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutedCode {
    /// Absolute paths, at most eight.
    pub files: Vec<String>,
    /// Whether the command also executes files that the list cannot name, such as files of a build tool or names computed by
    /// the shell.
    #[serde(default)]
    pub unlisted: bool,
    /// Whether the server can read the files. It reads files only for sessions that it started.
    #[serde(default)]
    pub readable: bool,
}

impl From<&core::ExecutedFiles> for ExecutedCode {
    fn from(executed: &core::ExecutedFiles) -> Self {
        Self {
            files: executed.files.iter().map(|file| file.path.clone()).collect(),
            unlisted: executed.unlisted,
            readable: executed.readable,
        }
    }
}

/// The current content of the files that an ask executes. Only tokens that may answer can read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskFiles {
    /// Digest of all files. Send it as `contentDigest` with the approval. Absent if the server does not read the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The files, in the order of `executes`. A missing file is left out if a file of the same name exists elsewhere in the
    /// list.
    pub files: Vec<AskFile>,
    /// Whether the command also executes files that are not in the list.
    #[serde(default)]
    pub unlisted: bool,
}

/// The content of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskFile {
    /// The absolute path.
    pub path: String,
    /// The first 16 KiB of the content. Absent if the file is not text, does not exist, is outside of the project, is reached
    /// through a link or is larger than 1 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether `text` is incomplete.
    #[serde(default)]
    pub truncated: bool,
    /// The size of the complete file in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// BLAKE3 hash of the complete file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}
