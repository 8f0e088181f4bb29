//! Describes outcomes to the model. Answers, denials, timeouts and withdrawals read differently.

use rmcp::model::{CallToolResult, ContentBlock};
use sayso_api::ask::{Ask, AskStatus, Outcome, ShownAnswer};
use sayso_core::ask::Decision;
use sayso_core::raw::Raw;
use sayso_core::texts;
use serde_json::{Value, json};

const STOP: &str = "The user wants you to stop here and wait for their next message.";

/// Builds a failed result with an explanation.
pub(super) fn failure(words: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(words)])
}

/// Builds a result with text.
pub(super) fn text(words: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(words)])
}

/// Builds the result for an ask.
pub(super) fn result(ask: &Ask) -> CallToolResult {
    let Some(outcome) = &ask.outcome else { return pending(&ask.id) };
    let words = outcome.message.as_deref().unwrap_or_default();
    match outcome.status {
        AskStatus::Answered => answered(outcome),
        AskStatus::Approved => text("The user approved it."),
        AskStatus::Rejected | AskStatus::Denied if outcome.stop => failure(&format!("{words}\n{STOP}")),
        AskStatus::Rejected | AskStatus::Denied => failure(words),
        AskStatus::Withdrawn => failure(&format!("The question was withdrawn without an answer. {words}")),
        AskStatus::Pending => pending(&ask.id),
    }
}

fn answered(outcome: &Outcome) -> CallToolResult {
    let mut said = json!({ "status": "answered", "answers": entries(outcome) });
    if let Some(note) = &outcome.note {
        said["note"] = Value::String(note.clone());
    }
    CallToolResult::structured(said)
}

/// Builds the result for a pending ask, with the instruction how to continue.
fn pending(id: &str) -> CallToolResult {
    CallToolResult::structured(json!({
        "status": "pending",
        "id": id,
        "next": "The question is still open. Call get_answer with this id and wait, and do not go on without the answer.",
    }))
}

fn entries(outcome: &Outcome) -> Vec<Vec<String>> {
    let entries = |answer: &ShownAnswer| match answer {
        ShownAnswer::Entries(entries) => entries.clone(),
        ShownAnswer::Secret { .. } => Vec::new(),
    };
    outcome.answers.iter().flatten().map(entries).collect()
}

/// Converts the decision for agents that expect their own format. An ask without an outcome is not approved.
pub(super) fn decision(ask: &Ask) -> Decision {
    let Some(outcome) = &ask.outcome else { return Decision::Withdrawn { reason: texts::WITHDRAWN_CALLER_GONE.to_owned() } };
    let message = outcome.message.clone().unwrap_or_default();
    match outcome.status {
        AskStatus::Answered => Decision::Answered { answers: entries(outcome), note: outcome.note.clone() },
        AskStatus::Approved => Decision::Approved { choice: outcome.choice.clone(), input: outcome.input.as_ref().map(Raw::of) },
        AskStatus::Rejected => Decision::Rejected { message, stop: outcome.stop },
        AskStatus::Denied => Decision::Denied { message, stop: outcome.stop },
        AskStatus::Withdrawn | AskStatus::Pending => Decision::Withdrawn { reason: message },
    }
}
