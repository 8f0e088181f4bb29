//! `elicitation`: an MCP server requests a form or a URL to open.

use sayso_core::ask::{AskBody, Decision, Link};
use serde_json::value::RawValue;

use super::outcome::{Reply, Words};
use super::state::Kind;
use crate::elicitation;
use crate::json::{Object, text};
use crate::text::{own_words, said_later};
use crate::translator::{DecidedBy, Outcome};

const DECLINE: &str = r#"{"action":"decline"}"#;
const CANCEL: &str = r#"{"action":"cancel"}"#;

/// Parses the request of an MCP server.
///
/// # Errors
/// A description of the missing field.
pub(super) fn read(request: &Object<'_>) -> Result<(Kind, AskBody), String> {
    let message = message(request);
    if request.text("mode").as_deref() == Some("url")
        || (request.get("requested_schema").is_none() && request.get("url").is_some())
    {
        let url = request.non_blank_text("url").ok_or("there is no address to open")?;
        return Ok((Kind::Link, AskBody::Link(Link { url, message: Some(message) })));
    }
    let mut questions = elicitation::questions(schema(request), order(request).as_deref());
    if questions.is_empty() {
        return Err("nothing in the form can be shown".to_owned());
    }
    elicitation::introduce(&mut questions, &message);
    Ok((Kind::Form, AskBody::Question { questions }))
}

/// The text above the form. It names the server, because people need to know who asks.
fn message(request: &Object<'_>) -> String {
    let server = request.non_blank_text("mcp_server_name").map(|name| format!("MCP server {name}"));
    match (request.non_blank_text("message"), server) {
        (Some(message), Some(server)) => format!("{message} (from the {server})"),
        (Some(message), None) => message,
        (None, Some(server)) => format!("The {server} asks this."),
        (None, None) => "An MCP server asks this.".to_owned(),
    }
}

fn schema<'a>(request: &Object<'a>) -> &'a RawValue {
    request.get("requested_schema").unwrap_or(RawValue::NULL)
}

fn order(request: &Object<'_>) -> Option<Vec<String>> {
    request.list("property_order").map(|names| names.into_iter().filter_map(text).collect())
}

/// The response to a form.
pub(super) fn form_reply(request: Option<&Object<'_>>, given: &Outcome<'_>) -> Reply {
    let Decision::Answered { answers, note } = given.decision else { return refuse(given) };
    let Some(request) = request else { return Reply::Unknown };
    if given.by == DecidedBy::Typed && answers.len() > 1 {
        // A form has no field for a free-text reply: the form is declined, and Claude receives the text as a message.
        let words = answers.iter().flatten().next().cloned().unwrap_or_default();
        return Reply::SayAndTell(DECLINE.to_owned(), Words::Typed(words));
    }
    let filled = elicitation::fill(schema(request), order(request).as_deref(), answers, note.as_deref());
    let payload = match filled.content {
        Some(content) => format!(r#"{{"action":"accept","content":{content}}}"#),
        None => DECLINE.to_owned(),
    };
    Reply::with(payload, filled.unsaid)
}

/// The response to a link.
pub(super) fn link_reply(given: &Outcome<'_>) -> Reply {
    match given.decision {
        Decision::Approved { .. } => Reply::Say(r#"{"action":"accept"}"#.to_owned()),
        Decision::Answered { .. } | Decision::Rejected { .. } | Decision::Denied { .. } | Decision::Withdrawn { .. } => {
            refuse(given)
        }
    }
}

/// A rejection with the person's message. Decisions that do not match a form or link are rejections as well.
fn refuse(given: &Outcome<'_>) -> Reply {
    match given.decision {
        Decision::Rejected { stop: true, .. } | Decision::Denied { stop: true, .. } | Decision::Withdrawn { .. } => {
            Reply::Say(CANCEL.to_owned())
        }
        Decision::Rejected { message, .. } | Decision::Denied { message, .. } => {
            let words = own_words(message).filter(|_| given.by.is_person());
            Reply::with(DECLINE.to_owned(), words.map(|words| said_later(given.decision, None, &words)))
        }
        Decision::Approved { .. } | Decision::Answered { .. } => Reply::Say(DECLINE.to_owned()),
    }
}
