//! Cursor's own methods. They nest the outcome one level deeper; Cursor treats a flat outcome as cancelled.

use sayso_core::ask::{Action, Approval, AskBody, Decision, Preview};
use sayso_core::raw::Raw;
use serde_json::json;

use super::question_list::{self, Named};
use super::{AcpAsk, Answer, Refusal, Reply, RequestKind};
use crate::json::{Fields, Object};
use crate::text::own_words;

pub(super) fn read_questions(params: &Object<'_>) -> Result<AcpAsk, Refusal> {
    let list = params.list("questions").filter(|list| !list.is_empty());
    let questions = list.and_then(|list| question_list::read(&list, Named::ById, false));
    let mut questions = questions.ok_or_else(|| Refusal::Invalid("`questions` cannot be read".to_owned()))?;
    if let (Some(title), Some(first)) = (params.non_blank_text("title"), questions.first_mut()) {
        first.header.get_or_insert(title);
    }
    let body = AskBody::Question { questions };
    Ok(AcpAsk { kind: RequestKind::CursorQuestion, body, tool_call: params.non_blank_text("toolCallId"), link: None })
}

pub(super) fn answer_questions(params: &Object<'_>, decision: &Decision) -> Answer {
    match decision {
        Decision::Answered { answers, note } => {
            let list = params.list("questions").unwrap_or_default();
            let questions = question_list::read(&list, Named::ById, false).unwrap_or_default();
            let answers: Vec<_> = questions
                .iter()
                .zip(answers)
                .map(|(question, chosen)| json!({ "questionId": question.key, "selectedOptionIds": chosen }))
                .collect();
            Answer::of(&json!({ "outcome": { "outcome": "answered", "answers": answers } })).with_unsaid(note.clone())
        }
        Decision::Rejected { message, .. } | Decision::Denied { message, .. } => {
            Answer::of(&json!({ "outcome": { "outcome": "skipped", "reason": message } }))
        }
        Decision::Withdrawn { .. } | Decision::Approved { .. } => cancelled().into(),
    }
}

pub(super) fn read_plan(params: &Object<'_>) -> Result<AcpAsk, Refusal> {
    let plan = params.non_blank_text("plan").ok_or_else(|| Refusal::Invalid("`plan` is missing".to_owned()))?;
    let text = match params.non_blank_text("overview") {
        Some(overview) => format!("{overview}\n\n{plan}"),
        None => plan,
    };
    let title = params.non_blank_text("name").unwrap_or_else(|| "Start with this plan?".to_owned());
    Ok(AcpAsk {
        kind: RequestKind::CursorPlan,
        body: plan_ask("create_plan", title, text, params),
        tool_call: params.non_blank_text("toolCallId"),
        link: None,
    })
}

/// An approval of a plan, for agents with a dedicated plan method.
pub(super) fn plan_ask(tool: &str, title: String, text: String, params: &Object<'_>) -> AskBody {
    let input = Fields(params.fields().collect());
    AskBody::Approval(Approval {
        tool: tool.to_owned(),
        action: Action::Plan,
        title,
        input: Raw::of(&input),
        preview: Some(Preview::Plan { text }),
        choices: Vec::new(),
        editable: false,
        allowed_decisions: None,
        input_schema: None,
        reason: None,
    })
}

pub(super) fn answer_plan(decision: &Decision) -> Answer {
    match decision {
        Decision::Approved { .. } => Answer::of(&json!({ "outcome": { "outcome": "accepted" } })),
        Decision::Denied { message, .. } | Decision::Rejected { message, .. } => match own_words(message) {
            Some(reason) => Answer::of(&json!({ "outcome": { "outcome": "rejected", "reason": reason } })),
            None => Answer::of(&json!({ "outcome": { "outcome": "rejected" } })),
        },
        Decision::Withdrawn { .. } | Decision::Answered { .. } => cancelled().into(),
    }
}

pub(super) fn cancelled() -> Reply {
    Reply::of(&json!({ "outcome": { "outcome": "cancelled" } }))
}
