//! Asks a person about a run that may have been resumed already.

use sayso_core::ask::{Ask, AskBody, AskContext, AskState, Input, Origin, PolicyNote, Question, QuestionOption, Reach};
use sayso_core::group::{Group, GroupPhase};
use sayso_core::id::AskId;
use sayso_core::limits;
use sayso_store::ops::RESUME_AGAIN;

use crate::entropy;
use crate::service::Services;

/// Explains why a person is asked after a lease expired.
pub(crate) fn lease_expired(group: &Group) -> String {
    match &group.phase {
        GroupPhase::Claimed { claim } => {
            format!("The worker {} took it at {} and has not reported back.", claim.worker, claim.at)
        }
        GroupPhase::Pending | GroupPhase::Ready { .. } | GroupPhase::Uncertain { .. } | GroupPhase::Ended { .. } => {
            "Its worker has not reported back.".to_owned()
        }
    }
}

/// Builds the ask. No policy applies to it.
pub(crate) fn question_about(services: &Services, group: &Group, reason: &str) -> Ask {
    let now = services.clock.now();
    let option = |value: &str, label: &str, description: &str| QuestionOption {
        value: value.to_owned(),
        label: label.to_owned(),
        description: Some(description.to_owned()),
        preview: None,
    };
    let reason = limits::head(reason, limits::CONTEXT);
    let question = Question {
        key: "resume".to_owned(),
        header: Some("Interrupted run".to_owned()),
        text: format!("Resume the run \u{201c}{}\u{201d} again? {reason} Its tools may have run already.", group.name),
        input: Input::Choice {
            options: vec![
                option("abandon", "Do not resume it", "The run ends here. Nothing is called again."),
                option(RESUME_AGAIN, "Resume it again", "Another worker repeats the step. A tool may be called a second time."),
            ],
            multiple: false,
            custom: false,
        },
        required: true,
        response_schema: None,
    };
    let title = question.text.clone();
    let context = AskContext { agent: group.name.clone(), title, blocking: true, ..AskContext::default() };
    Ask {
        id: AskId::new(now, entropy::id()),
        origin: Origin { session: None, connection: None, native_id: None, opened_by: Some(group.opened_by) },
        body: AskBody::Question { questions: vec![question] }.into(),
        context: context.into(),
        policy: PolicyNote::default(),
        opened_at: now,
        snoozed_until: None,
        state: AskState::Pending(Reach::Live),
        raw: None,
    }
}
