//! The start settings of a session, kept by translators that may have to start it again.

use serde::{Deserialize, Serialize};

/// The start settings of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartSettings {
    pub(crate) project: String,
    pub(crate) mode: String,
    pub(crate) model: Option<String>,
    pub(crate) questions: bool,
}
