//! Notices: messages to people that need no answer.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ask::ExternalSession;

/// Sends people a message that needs no answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewNotice {
    /// The text of the notice.
    pub text: String,
    /// The name of the sender. Defaults to the name of the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The session of an agent that a person runs in their own terminal or editor. Created if it does not exist yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<ExternalSession>,
}
