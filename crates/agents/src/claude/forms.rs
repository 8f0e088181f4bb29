//! `elicitation`: an MCP server wants a form filled in or an address opened.

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

/// What an MCP server asks.
///
/// # Errors
/// What is missing, in words.
pub(super) fn read(request: &Object<'_>) -> Result<(Kind, AskBody), String> {
    let message = message(request);
    if request.text("mode").as_deref() == Some("url")
        || (request.get("requested_schema").is_none() && request.get("url").is_some())
    {
        let url = request.words("url").ok_or("there is no address to open")?;
        return Ok((Kind::Link, AskBody::Link(Link { url, message: Some(message) })));
    }
    let mut questions = elicitation::questions(schema(request), order(request).as_deref());
    if questions.is_empty() {
        return Err("nothing in the form can be shown".to_owned());
    }
    elicitation::introduce(&mut questions, &message);
    Ok((Kind::Form, AskBody::Question { questions }))
}

/// What is said above the form. A person has to know who asks.
fn message(request: &Object<'_>) -> String {
    let server = request.words("mcp_server_name").map(|name| format!("MCP server {name}"));
    match (request.words("message"), server) {
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

/// What a form is answered with.
pub(super) fn form_reply(request: Option<&Object<'_>>, given: &Outcome<'_>) -> Reply {
    let Decision::Answered { answers, note } = given.decision else { return refusal(given) };
    let Some(request) = request else { return Reply::Unknown };
    if given.by == DecidedBy::Typed && answers.len() > 1 {
        // A form has no place for a free reply: it is declined, and Claude gets the words as a message.
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

/// What a link is answered with.
pub(super) fn link_reply(given: &Outcome<'_>) -> Reply {
    match given.decision {
        Decision::Approved { .. } => Reply::Say(r#"{"action":"accept"}"#.to_owned()),
        Decision::Answered { .. } | Decision::Rejected { .. } | Decision::Denied { .. } | Decision::Withdrawn { .. } => {
            refusal(given)
        }
    }
}

/// A no, and what a person said with it. What does not fit a form or a link is a no too.
fn refusal(given: &Outcome<'_>) -> Reply {
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
