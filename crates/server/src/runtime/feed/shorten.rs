//! The payload of an ask's event, and how it is shortened when it is too large for a frame.
//!
//! There are three steps, each applied only if the previous one was not enough. The first removes content that a person needs
//! but a list does not (previews, input, context). The second cuts long texts. The third removes lists. The result is small by
//! construction. `GET /v1/asks/{id}` always returns the complete ask.

use sayso_api::ask as wire;
use sayso_api::event::AskEvent;
use sayso_core::ask::{Approval, Ask, AskBody, AskContext, AskState, Decision, Input};
use sayso_core::limits;
use sayso_core::raw::Raw;

/// The maximum length of a text after the second step, in bytes.
const CUT: usize = 1024;
/// The maximum length of a text after the third step, in bytes.
const CUT_SHORT: usize = 256;

/// The steps after [`without_bulk`], in order.
pub(super) const STEPS: [fn(&mut AskEvent); 3] = [|_| {}, cut_texts, drop_lists];

/// The first step, before anything large is copied or parsed.
pub(super) fn without_bulk(ask: &Ask) -> Ask {
    let body = match &*ask.body {
        AskBody::Question { questions } => {
            let mut questions = questions.clone();
            for question in &mut questions {
                question.response_schema = None;
                if let Input::Choice { options, .. } = &mut question.input {
                    options.iter_mut().for_each(|option| option.preview = None);
                }
            }
            AskBody::Question { questions }
        }
        AskBody::Approval(approval) => AskBody::Approval(Approval {
            tool: approval.tool.clone(),
            action: approval.action.clone(),
            title: approval.title.clone(),
            input: Raw::of(&serde_json::Map::new()),
            preview: None,
            choices: approval.choices.clone(),
            editable: approval.editable,
            allowed_decisions: approval.allowed_decisions.clone(),
            input_schema: None,
            reason: approval.reason.clone(),
        }),
        AskBody::Link(link) => AskBody::Link(link.clone()),
    };
    let mut state = ask.state.clone();
    if let AskState::Resolved { outcome, .. } = &mut state
        && let Decision::Approved { input, .. } = &mut outcome.decision
    {
        *input = None;
    }
    let mut context = AskContext::clone(&ask.context);
    context.context = None;
    Ask {
        id: ask.id,
        origin: ask.origin.clone(),
        body: body.into(),
        context: context.into(),
        policy: ask.policy.clone(),
        opened_at: ask.opened_at,
        snoozed_until: ask.snoozed_until,
        state,
        raw: None,
    }
}

/// The second step: cuts long texts and removes duplicates.
fn cut_texts(data: &mut AskEvent) {
    let ask = &mut data.ask;
    cut_names(ask, CUT);
    for question in &mut ask.questions {
        cut(&mut question.text, CUT);
        cut_some(&mut question.header, CUT);
        // A cut value would be a wrong value, so options are kept whole or removed.
        let whole = |option: &wire::QuestionOption| {
            option.label.len() <= CUT_SHORT && option.value.as_ref().is_none_or(|value| value.len() <= CUT_SHORT)
        };
        if !question.options.iter().all(whole) {
            question.options.clear();
        }
        question.options.iter_mut().for_each(|option| option.description = None);
        question.preselected = None;
    }
    if let Some(approval) = &mut ask.approval {
        cut_some(&mut approval.command, 4 * CUT);
        approval.paths.truncate(32);
        approval.paths.iter_mut().for_each(|path| cut(path, CUT_SHORT));
        approval.choices.retain(|choice| choice.id.len() <= CUT_SHORT && choice.label.len() <= CUT_SHORT);
    }
    if let Some(outcome) = &mut ask.outcome {
        let long = |answers: &Vec<wire::ShownAnswer>| {
            let size = |answer: &wire::ShownAnswer| match answer {
                wire::ShownAnswer::Entries(entries) => entries.iter().map(String::len).sum(),
                wire::ShownAnswer::Secret { .. } => 0,
            };
            answers.iter().map(size).sum::<usize>() > 4 * CUT
        };
        if outcome.answers.as_ref().is_some_and(long) {
            outcome.answers = None;
        }
    }
    if let Some(question) = &mut data.question {
        cut(&mut question.prompt, CUT);
        cut_some(&mut question.response, CUT);
        cut_some(&mut question.reason, CUT);
        question.options.clear();
        question.questions.clear();
    }
}

/// The last step: the result is small regardless of what the agent sent.
fn drop_lists(data: &mut AskEvent) {
    let ask = &mut data.ask;
    cut_names(ask, CUT_SHORT);
    ask.questions.clear();
    ask.labels.clear();
    ask.why = None;
    ask.why_code = None;
    if let Some(approval) = &mut ask.approval {
        approval.command = None;
        approval.paths.clear();
        approval.choices.clear();
    }
    if let Some(outcome) = &mut ask.outcome {
        outcome.answers = None;
    }
    if let Some(question) = &mut data.question {
        cut(&mut question.prompt, CUT_SHORT);
        cut_some(&mut question.response, CUT_SHORT);
        cut_some(&mut question.reason, CUT_SHORT);
    }
}

/// Cuts the texts that every ask can have.
fn cut_names(ask: &mut wire::Ask, limit: usize) {
    for text in [&mut ask.agent, &mut ask.tool_call_id, &mut ask.title] {
        cut(text, limit);
    }
    for text in [&mut ask.project, &mut ask.branch, &mut ask.subagent, &mut ask.step_id, &mut ask.why, &mut ask.delivery_reason] {
        cut_some(text, limit);
    }
    if let Some(approval) = &mut ask.approval {
        cut(&mut approval.tool, limit);
        cut(&mut approval.title, limit);
        for text in [&mut approval.url, &mut approval.server, &mut approval.reason] {
            cut_some(text, limit);
        }
    }
    if let Some(link) = &mut ask.link {
        cut(&mut link.url, limit);
        cut_some(&mut link.message, limit);
    }
    let outcome_code = ask.outcome.as_mut().map(|outcome| &mut outcome.message_code);
    for code in [Some(&mut ask.why_code), Some(&mut ask.delivery_code), outcome_code].into_iter().flatten().flatten() {
        for param in code.params.values_mut() {
            cut(param, limit);
        }
    }
    if let Some(outcome) = &mut ask.outcome {
        for text in [
            &mut outcome.note,
            &mut outcome.message,
            &mut outcome.choice,
            &mut outcome.by.name,
            &mut outcome.by.via,
            &mut outcome.by.rule,
        ] {
            cut_some(text, limit);
        }
    }
}

fn cut_some(text: &mut Option<String>, limit: usize) {
    if let Some(text) = text {
        cut(text, limit);
    }
}

fn cut(text: &mut String, limit: usize) {
    if text.len() > limit {
        text.truncate(limits::head(text, limit).len());
        text.push('…');
    }
}
