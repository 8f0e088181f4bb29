//! Saying something to people without asking.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ask::ExternalSession;

/// Something that people should know, and that needs no answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewNotice {
    /// The words.
    pub text: String,
    /// Who says it; the token's name if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The session of an agent that a person runs themselves. It is made when it is not known yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<ExternalSession>,
}
