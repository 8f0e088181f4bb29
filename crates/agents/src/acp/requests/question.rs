//! `_sandboxagent/session/request_question`: one question, with options as pairs of id and label.

use sayso_core::ask::{AskBody, Decision, Input, Question, QuestionOption};
use serde_json::json;

use super::question_list::{Named, option};
use super::{AcpAsk, Answer, Refusal, Reply, RequestKind};
use crate::json::Object;

pub(super) fn read(params: &Object<'_>) -> Result<AcpAsk, Refusal> {
    let text = params.non_blank_text("prompt").ok_or_else(|| Refusal::Invalid("`prompt` is missing".to_owned()))?;
    let listed = params.list("options").unwrap_or_default();
    let options: Vec<QuestionOption> = listed.iter().filter_map(|raw| option(raw, Named::ById)).collect();
    if options.len() < listed.len() {
        return Err(Refusal::Invalid("an option is neither a text, nor a pair of id and label, nor an object".to_owned()));
    }
    let input = if options.is_empty() {
        Input::Text { secret: false }
    } else {
        Input::Choice { options, multiple: params.is_true("multiple"), custom: params.is_true("custom") }
    };
    let question = Question {
        key: "0".to_owned(),
        header: params.non_blank_text("header"),
        text,
        input,
        required: true,
        response_schema: None,
    };
    let body = AskBody::Question { questions: vec![question] };
    Ok(AcpAsk { kind: RequestKind::Question, body, tool_call: params.non_blank_text("toolCallId"), link: None })
}

pub(super) fn answer(decision: &Decision) -> Answer {
    match decision {
        Decision::Answered { answers, note } => {
            Answer::of(&json!({ "status": "answered", "answers": answers })).with_unsaid(note.clone())
        }
        Decision::Rejected { message, .. } | Decision::Denied { message, .. } => {
            Answer::of(&json!({ "status": "rejected" })).with_unsaid_reason(message)
        }
        Decision::Withdrawn { .. } | Decision::Approved { .. } => Reply::Cancelled.into(),
    }
}
