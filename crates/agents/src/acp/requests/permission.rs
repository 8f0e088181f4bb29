//! `session/request_permission`: an approval, or questions in the form of one.
//!
//! Options are selected by kind. An option of an unknown kind is offered to people by its name, and is only selected by
//! a person.

use std::collections::BTreeMap;

use sayso_core::ask::{Approval, AskBody, Choice, Decision, Input, Link, Question, QuestionOption};
use sayso_core::limits;
use sayso_core::raw::Raw;
use serde_json::json;

use super::question_list::{self, Named};
use super::{AcpAsk, Answer, Refusal, Reply, RequestKind};
use crate::acp::tool_call::{ToolCallInfo, ToolCalls};
use crate::json::Object;

/// Names of tools that only ask questions.
const ASKING_TOOLS: [&str; 3] = ["ask_user_question", "AskUserQuestion", "ask_user"];
const NO_SUCH_OPTION: &str = "The agent offers no option for this decision, so the request was cancelled.";

/// One option that the agent offers.
struct Offer {
    id: String,
    name: String,
    kind: String,
}

/// The options of a request; `None` if an option has no id.
fn offers(params: &Object<'_>) -> Option<Vec<Offer>> {
    let list = params.list("options")?;
    let offer = |raw| {
        let option = Object::of(raw)?;
        let id = option.text("optionId")?;
        let name = option.non_blank_text("name").unwrap_or_else(|| id.clone());
        Some(Offer { id, name, kind: option.text("kind").unwrap_or_default() })
    };
    list.into_iter().map(offer).collect()
}

pub(super) fn read(params: &Object<'_>, calls: &ToolCalls) -> Result<AcpAsk, Refusal> {
    let offers = offers(params).filter(|offers| !offers.is_empty());
    let offers = offers.ok_or_else(|| Refusal::Invalid("`options` is missing or cannot be read".to_owned()))?;
    let tool_call = params.object("toolCall").or_else(|| params.object("subject")?.object("toolCall"));
    let update = tool_call.unwrap_or_default();
    let id = update.non_blank_text("toolCallId");
    let known = id.as_deref().and_then(|id| calls.get(id));
    let call = ToolCallInfo::merge_update(known, id.clone().unwrap_or_default(), &update);
    let asked = |kind, body| Ok(AcpAsk { kind, body, tool_call: id.clone(), link: None });

    if let Some(question) = as_question(&offers, &call) {
        return asked(RequestKind::PermissionAsQuestion, AskBody::Question { questions: vec![question] });
    }
    if let Some(questions) = with_questions(&update, &call) {
        return asked(RequestKind::PermissionWithAnswers, AskBody::Question { questions });
    }
    if let Some(url) = call.link() {
        return asked(RequestKind::Permission, AskBody::Link(Link { url, message: Some(call.title()) }));
    }
    let title = match update.non_blank_text("title").or_else(|| params.non_blank_text("title")) {
        Some(said) if call.title() == "Use a tool" => limits::head(&said, limits::NAME).to_owned(),
        _ => call.title(),
    };
    let body = AskBody::Approval(Approval {
        tool: call.tool(),
        action: call.action(),
        title,
        input: call.input().cloned().unwrap_or_else(|| Raw::of(&())),
        preview: call.preview(),
        choices: choices(&offers),
        editable: false,
        allowed_decisions: None,
        input_schema: None,
        reason: call.reason(),
    });
    asked(RequestKind::Permission, body)
}

/// The approving options other than the plain one, exactly as the agent offers them.
fn choices(offers: &[Offer]) -> Vec<Choice> {
    let plain = plain_allow(offers).map(|offer| offer.id.as_str());
    let other_yes = |offer: &&Offer| offer.kind == "allow_always" || (Some(offer.id.as_str()) != plain && !is_no(&offer.kind));
    offers.iter().filter(other_yes).map(|offer| Choice { id: offer.id.clone(), label: offer.name.clone() }).collect()
}

/// Whether a kind is a rejection, including kinds of later protocol versions.
fn is_no(kind: &str) -> bool {
    ["reject", "deny", "decline", "cancel"].iter().any(|no| kind.starts_with(no))
}

fn plain_allow(offers: &[Offer]) -> Option<&Offer> {
    let of = |kind: &str| offers.iter().find(|offer| offer.kind == kind);
    of("allow_once").or_else(|| of("allow_always"))
}

/// The option that rejects the call and lets the agent continue, if there is one. Some agents also offer one that stops
/// the turn, named cancel or abort.
fn find_rejection(offers: &[Offer]) -> Option<&Offer> {
    let rank = |offer: &&Offer| {
        let once = offer.kind == "reject_once";
        let id = offer.id.to_ascii_lowercase();
        let soft = ["decline", "reject", "deny"].iter().any(|word| id.starts_with(word));
        let hard = ["cancel", "abort", "stop"].iter().any(|word| id.starts_with(word));
        (!once, !soft, hard)
    };
    offers.iter().filter(|offer| offer.kind == "reject_once" || offer.kind == "reject_always").min_by_key(rank)
}

pub(super) fn answer(params: &Object<'_>, decision: &Decision) -> Answer {
    let offers = offers(params).unwrap_or_default();
    match decision {
        Decision::Approved { choice: None, .. } => selected(plain_allow(&offers)),
        Decision::Approved { choice: Some(id), .. } => {
            selected(offers.iter().find(|offer| offer.id == *id && !is_no(&offer.kind)))
        }
        Decision::Denied { message, .. } | Decision::Rejected { message, .. } => refused(&offers).with_unsaid_reason(message),
        Decision::Withdrawn { .. } => cancelled().into(),
        Decision::Answered { .. } => Answer::lost(cancelled(), NO_SUCH_OPTION),
    }
}

fn selected(offer: Option<&Offer>) -> Answer {
    match offer {
        Some(offer) => Answer::of(&select(offer)),
        None => Answer::lost(cancelled(), NO_SUCH_OPTION),
    }
}

fn select(offer: &Offer) -> serde_json::Value {
    json!({ "outcome": { "outcome": "selected", "optionId": offer.id } })
}

/// A rejection. Without a rejecting option, the request is cancelled, which does not allow the call either.
fn refused(offers: &[Offer]) -> Answer {
    find_rejection(offers).map_or_else(|| cancelled().into(), |offer| Answer::of(&select(offer)))
}

pub(super) fn cancelled() -> Reply {
    Reply::of(&json!({ "outcome": { "outcome": "cancelled" } }))
}

/// The position that an option id encodes, if it belongs to a question: Kimi writes `q0_opt_2`.
fn option_of_question(id: &str) -> Option<usize> {
    let (question, option) = id.strip_prefix('q')?.split_once("_opt_")?;
    question.parse::<usize>().ok()?;
    option.parse().ok()
}

/// The single question whose options are the options of the request.
fn as_question(offers: &[Offer], call: &ToolCallInfo) -> Option<Question> {
    let options: Vec<QuestionOption> = offers
        .iter()
        .filter(|offer| option_of_question(&offer.id).is_some())
        .map(|offer| QuestionOption { value: offer.id.clone(), label: offer.name.clone(), description: None, preview: None })
        .collect();
    if options.is_empty() {
        return None;
    }
    let listed = call.questions().and_then(|list| question_list::read(&list, Named::ByLabel, false));
    let first = listed.and_then(|questions| questions.into_iter().next());
    let described = |at: usize| first.as_ref().and_then(|question| question.options().get(at)?.description.clone());
    let options = options
        .into_iter()
        .map(|option| {
            let description = option_of_question(&option.value).and_then(described);
            QuestionOption { description, ..option }
        })
        .collect();
    let text = first.as_ref().map(|question| question.text.clone()).or_else(|| call.texts()).unwrap_or_else(|| call.title());
    let header = first.and_then(|question| question.header);
    Some(Question {
        key: "0".to_owned(),
        header,
        text,
        input: Input::Choice { options, multiple: false, custom: false },
        required: true,
        response_schema: None,
    })
}

/// Questions inside the tool call of a permission request. Only tools that do nothing but ask are read this way,
/// because the answer also approves the call.
fn with_questions(update: &Object<'_>, call: &ToolCallInfo) -> Option<Vec<Question>> {
    let meta = update.object("_meta").unwrap_or_default();
    let asks = meta.non_blank_text("qwenInteractionKind").as_deref() == Some("user_question")
        || ASKING_TOOLS.contains(&call.tool().as_str())
        || call.kind() == Some("think");
    if !asks {
        return None;
    }
    question_list::read(&call.questions()?, Named::ByLabel, true)
}

/// The outcome with answers keyed by the position of the question.
pub(super) fn answer_with_answers(params: &Object<'_>, decision: &Decision) -> Answer {
    let offers = offers(params).unwrap_or_default();
    match decision {
        Decision::Answered { answers, note } => match plain_allow(&offers) {
            Some(offer) => {
                let given = answers.iter().enumerate().filter(|(_, entries)| !entries.is_empty());
                let given: BTreeMap<String, String> = given.map(|(at, entries)| (at.to_string(), entries.join(", "))).collect();
                let mut reply = select(offer);
                reply["answers"] = json!(given);
                Answer::of(&reply).with_unsaid(note.clone())
            }
            None => Answer::lost(cancelled(), NO_SUCH_OPTION),
        },
        Decision::Rejected { message, .. } | Decision::Denied { message, .. } => refused(&offers).with_unsaid_reason(message),
        Decision::Withdrawn { .. } => cancelled().into(),
        Decision::Approved { .. } => Answer::lost(cancelled(), NO_SUCH_OPTION),
    }
}

/// The outcome that selects the chosen option.
pub(super) fn answer_by_option(params: &Object<'_>, decision: &Decision) -> Answer {
    let offers = offers(params).unwrap_or_default();
    match decision {
        Decision::Answered { answers, note } => {
            let chosen = answers.first().and_then(|entries| entries.first());
            selected(offers.iter().find(|offer| Some(&offer.id) == chosen)).with_unsaid(note.clone())
        }
        Decision::Rejected { message, .. } | Decision::Denied { message, .. } => refused(&offers).with_unsaid_reason(message),
        Decision::Withdrawn { .. } => cancelled().into(),
        Decision::Approved { .. } => Answer::lost(cancelled(), NO_SUCH_OPTION),
    }
}
