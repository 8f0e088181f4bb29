//! Forms and links of MCP servers, which Codex forwards.

use sayso_core::ask::{AskBody, Link};

use super::state::Kind;
use crate::elicitation;
use crate::json::Object;

/// Parses a request.
///
/// # Errors
/// A description of why it cannot be shown.
pub(super) fn read(params: &Object<'_>) -> Result<(Kind, AskBody), String> {
    let message = params.non_blank_text("message");
    match params.text("mode").as_deref() {
        Some("form") | None => {
            let schema = params.get("requestedSchema").ok_or("`requestedSchema` is missing")?;
            let mut questions = elicitation::questions(schema, None);
            elicitation::introduce(&mut questions, message.as_deref().unwrap_or_default());
            Ok((Kind::Form, AskBody::Question { questions }))
        }
        Some("url") => {
            let url = params.non_blank_text("url").ok_or("`url` is missing")?;
            if !url.starts_with("https://") && !url.starts_with("http://") {
                return Err("only http and https addresses are shown to people".to_owned());
            }
            Ok((Kind::Link, AskBody::Link(Link { url, message })))
        }
        Some(_) => Err("this mode of elicitation was not advertised".to_owned()),
    }
}

/// The result with this action; `content` and `meta` are JSON text.
pub(super) fn reply(action: &str, content: &str, meta: &str) -> String {
    format!(r#"{{"action":"{action}","content":{content},"_meta":{meta}}}"#)
}
