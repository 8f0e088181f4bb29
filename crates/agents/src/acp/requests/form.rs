//! `elicitation/create`: a form to fill in, or a URL to open.

use sayso_core::ask::{AskBody, Decision, Input, Link};
use serde_json::value::RawValue;

use super::{AcpAsk, Answer, Refusal, Reply, RequestKind};
use crate::elicitation;
use crate::json::Object;

pub(super) fn read(params: &Object<'_>, old: bool) -> Result<AcpAsk, Refusal> {
    let tool_call = params.non_blank_text("toolCallId");
    let message = params.non_blank_text("message");
    let mode = match params.non_blank_text("mode") {
        Some(mode) => mode,
        None if params.get("url").is_some() => "url".to_owned(),
        None => "form".to_owned(),
    };
    match mode.as_str() {
        "form" => {
            let schema = schema(params).ok_or_else(|| Refusal::Invalid("`requestedSchema` is missing".to_owned()))?;
            let mut questions = elicitation::questions(schema, None);
            elicitation::introduce(&mut questions, message.as_deref().unwrap_or_default());
            // Devin accepts a free-text answer instead of one of the choices.
            if params.object("_meta").is_some_and(|meta| meta.is_true("cognition.ai/allowOther")) {
                for question in &mut questions {
                    if let Input::Choice { custom, .. } = &mut question.input {
                        *custom = true;
                    }
                }
            }
            let kind = if old { RequestKind::OldForm } else { RequestKind::Form };
            Ok(AcpAsk { kind, body: AskBody::Question { questions }, tool_call, link: None })
        }
        "url" => {
            let url = params.non_blank_text("url").ok_or_else(|| Refusal::Invalid("`url` is missing".to_owned()))?;
            if !url.starts_with("https://") && !url.starts_with("http://") {
                return Err(Refusal::Invalid("only http and https addresses are shown to people".to_owned()));
            }
            let kind = if old { RequestKind::OldForm } else { RequestKind::Link };
            Ok(AcpAsk {
                kind,
                body: AskBody::Link(Link { url, message }),
                tool_call,
                link: params.non_blank_text("elicitationId"),
            })
        }
        _ => Err(Refusal::Invalid("this mode of elicitation was not advertised".to_owned())),
    }
}

fn schema<'a>(params: &Object<'a>) -> Option<&'a RawValue> {
    params.get("requestedSchema").or_else(|| params.get("schema"))
}

pub(super) fn answer(kind: RequestKind, params: &Object<'_>, decision: &Decision) -> Answer {
    match decision {
        Decision::Approved { .. } => action(kind, "accept", None).into(),
        Decision::Answered { answers, note } => {
            let Some(schema) = schema(params) else {
                return Answer::lost(cancelled(kind), "The form can no longer be read.");
            };
            let filled = elicitation::fill(schema, None, answers, note.as_deref());
            let reply = match &filled.content {
                Some(content) => action(kind, "accept", Some(content)),
                None => action(kind, "decline", None),
            };
            Answer::from(reply).with_unsaid(filled.unsaid)
        }
        Decision::Rejected { stop: false, message } | Decision::Denied { stop: false, message } => {
            Answer::from(action(kind, "decline", None)).with_unsaid_reason(message)
        }
        Decision::Rejected { .. } | Decision::Denied { .. } | Decision::Withdrawn { .. } => cancelled(kind).into(),
    }
}

pub(super) fn cancelled(kind: RequestKind) -> Reply {
    action(kind, "cancel", None)
}

/// The result: an action and the form's content. The older method nests both one level deeper.
fn action(kind: RequestKind, action: &str, content: Option<&str>) -> Reply {
    let content = content.map(|content| format!(r#","content":{content}"#)).unwrap_or_default();
    let flat = format!(r#"{{"action":"{action}"{content}}}"#);
    Reply::Result(if kind == RequestKind::OldForm { format!(r#"{{"action":{flat}}}"#) } else { flat })
}
