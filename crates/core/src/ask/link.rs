//! Please open this address.

use serde::{Deserialize, Serialize};

use crate::limits::{self, LimitExceeded};

/// An address that the agent wants a person to open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    /// The whole address.
    pub url: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Link {
    pub(crate) fn check_limits(&self) -> Result<(), LimitExceeded> {
        limits::check("the address", self.url.len(), limits::TEXT)?;
        limits::check("the message", self.message.as_ref().map_or(0, String::len), limits::TEXT)
    }
}
