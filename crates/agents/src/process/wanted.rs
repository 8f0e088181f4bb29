//! What a session is started with, kept by translators that may have to start it again.

use serde::{Deserialize, Serialize};

/// What the person wants the session to be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Wanted {
    pub(crate) project: String,
    pub(crate) mode: String,
    pub(crate) model: Option<String>,
    pub(crate) questions: bool,
}
