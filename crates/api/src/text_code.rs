//! The code of a text that Sayso wrote, for clients that show it in another language.

use std::collections::BTreeMap;

use sayso_core::text_code;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The code and the parameters of a text that Sayso wrote. Clients that do not know the code show the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TextCode {
    /// The identifier of the sentence, for example `no_rule_allows`. docs/api.md lists the codes.
    pub code: String,
    /// The values in the sentence by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
}

impl TextCode {
    /// The code of a text. `None` if a person or an agent wrote the text.
    #[must_use]
    pub fn of(text: &str) -> Option<Self> {
        let found = text_code::TextCode::of(text)?;
        let params = found.params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Some(Self { code: found.code.to_owned(), params })
    }
}
