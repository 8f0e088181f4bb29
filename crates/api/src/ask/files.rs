//! The files that the command of an approval executes.

use sayso_core::ask as core;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The code of the project that a command executes, as far as its words name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutedCode {
    /// Absolute paths, at most eight.
    pub files: Vec<String>,
    /// Whether it also executes files that are not in the list: of a build tool, or with a name that the shell computes.
    #[serde(default)]
    pub unlisted: bool,
    /// Whether the server reads the files: only in sessions that it started.
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

/// The files of an ask as they are now. Only for tokens that may answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskFiles {
    /// SHA-256 over all files. Send it as `contentDigest` with the approval. Absent if the server does not read the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The files, in the order of `executes`. Files that do not exist are left out if another one of the same name does.
    pub files: Vec<AskFile>,
    /// Whether the command also executes files that are not in the list.
    #[serde(default)]
    pub unlisted: bool,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AskFile {
    /// Absolute.
    pub path: String,
    /// The beginning of the content, up to 16 KiB. Absent if the file is not text, or is not available: outside of the project,
    /// behind a link, larger than 1 MiB, or not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether `text` leaves something out.
    #[serde(default)]
    pub truncated: bool,
    /// Bytes of the whole content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// SHA-256 of the whole content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}
