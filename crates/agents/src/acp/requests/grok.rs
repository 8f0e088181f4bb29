//! Grok's own methods. Answers are keyed by the text of the question.

use sayso_core::ask::{AskBody, Decision};
use serde_json::json;

use super::cursor::plan_ask;
use super::question_list::{self, Named};
use super::{AcpAsk, Answer, Refusal, Reply, RequestKind};
use crate::json::{Fields, Object};
use crate::text::own_words;

/// The label that marks a free-text answer; the text itself goes into a note.
const OTHER: &str = "Other";

/// The parameters, which some versions wrap in an object together with the method name.
fn unwrapped<'a>(params: &Object<'a>) -> Object<'a> {
    params.object("params").unwrap_or_else(|| params.clone())
}

pub(super) fn read_questions(params: &Object<'_>) -> Result<AcpAsk, Refusal> {
    let params = unwrapped(params);
    let list = params.list("questions").filter(|list| !list.is_empty());
    let questions = list.and_then(|list| question_list::read(&list, Named::ByLabel, true));
    let questions = questions.ok_or_else(|| Refusal::Invalid("`questions` cannot be read".to_owned()))?;
    let body = AskBody::Question { questions };
    Ok(AcpAsk { kind: RequestKind::GrokQuestion, body, tool_call: params.non_blank_text("toolCallId"), link: None })
}

pub(super) fn answer_questions(params: &Object<'_>, decision: &Decision) -> Answer {
    let Decision::Answered { answers, note } = decision else {
        return match decision {
            Decision::Rejected { message, .. } | Decision::Denied { message, .. } => {
                Answer::of(&json!({ "outcome": "skip_interview", "partial_answers": {} })).with_unsaid_reason(message)
            }
            Decision::Withdrawn { .. } | Decision::Approved { .. } | Decision::Answered { .. } => cancelled_questions().into(),
        };
    };
    let list = unwrapped(params).list("questions").unwrap_or_default();
    let questions = question_list::read(&list, Named::ByLabel, true).unwrap_or_default();
    let (mut chosen, mut notes) = (Vec::new(), Vec::new());
    for (question, entries) in questions.iter().zip(answers).filter(|(_, entries)| !entries.is_empty()) {
        let offered = |entry: &String| question.options().iter().any(|option| option.value == *entry);
        let own: Vec<&str> = entries.iter().filter(|entry| !offered(entry)).map(String::as_str).collect();
        let mut labels: Vec<&str> = entries.iter().filter(|entry| offered(entry)).map(String::as_str).collect();
        if !own.is_empty() {
            labels.push(OTHER);
            notes.push((question.text.as_str(), json!({ "notes": own.join("\n") })));
        }
        chosen.push((question.text.as_str(), labels));
    }
    let mut unsaid = note.clone();
    // A note needs a chosen option: attach it to the first question that has no note yet.
    if let Some(words) = &unsaid
        && let Some((text, _)) = chosen.iter().find(|(text, _)| notes.iter().all(|(noted, _)| noted != text))
    {
        notes.push((text, json!({ "notes": words })));
        unsaid = None;
    }
    let reply = Fields(vec![
        ("outcome", json!("accepted")),
        ("answers", json!(chosen.into_iter().collect::<std::collections::BTreeMap<_, _>>())),
        ("annotations", json!(notes.into_iter().collect::<std::collections::BTreeMap<_, _>>())),
    ]);
    Answer::of(&reply).with_unsaid(unsaid)
}

pub(super) fn read_plan(params: &Object<'_>) -> Result<AcpAsk, Refusal> {
    let params = unwrapped(params);
    let text = ["planContent", "plan"].into_iter().find_map(|name| params.non_blank_text(name)).unwrap_or_default();
    let title = "Start with this plan?".to_owned();
    let body = plan_ask("exit_plan_mode", title, text, &params);
    Ok(AcpAsk { kind: RequestKind::GrokPlan, body, tool_call: params.non_blank_text("toolCallId"), link: None })
}

pub(super) fn answer_plan(decision: &Decision) -> Answer {
    match decision {
        Decision::Approved { .. } => Answer::of(&json!({ "outcome": "approved" })),
        // `cancelled` continues planning with the person's feedback; `abandoned` drops the plan.
        Decision::Denied { message, stop: false } | Decision::Rejected { message, stop: false } => match own_words(message) {
            Some(feedback) => Answer::of(&json!({ "outcome": "cancelled", "feedback": feedback })),
            None => Answer::of(&json!({ "outcome": "cancelled" })),
        },
        Decision::Denied { .. } | Decision::Rejected { .. } | Decision::Withdrawn { .. } | Decision::Answered { .. } => {
            cancelled_plan().into()
        }
    }
}

pub(super) fn cancelled_questions() -> Reply {
    Reply::of(&json!({ "outcome": "cancelled" }))
}

pub(super) fn cancelled_plan() -> Reply {
    Reply::of(&json!({ "outcome": "abandoned" }))
}
