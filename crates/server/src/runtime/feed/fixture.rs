//! Small events for the tests of the feed.

use std::sync::Arc;

use sayso_core::actor::Actor;
use sayso_core::ask::{
    Action, Approval, Ask, AskBody, AskContext, AskState, Decision, Delivery, Input, Origin, Outcome, PolicyNote, Question,
    QuestionOption, Reach,
};
use sayso_core::id::{AskId, BlockId, SessionId};
use sayso_core::raw::Raw;
use sayso_core::time::Time;
use sayso_store::{EventPayload, StoredEvent, WorkspaceId};
use serde_json::json;

use super::frame::LiveEvent;

pub(super) fn session(number: u8) -> SessionId {
    SessionId::new(Time::from_millis(1), [number; 10])
}

/// An event without an ask.
pub(crate) fn noted(seq: i64, session: Option<SessionId>) -> StoredEvent {
    let payload = EventPayload::Notice { agent: "script".to_owned(), text: seq.to_string() };
    StoredEvent { audience: None, run: None, workspace: WorkspaceId::MAIN, seq, at: Time::from_millis(seq), session, payload }
}

/// The event of an ask that was opened.
pub(super) fn make_ask_event(seq: i64, session: Option<SessionId>, ask: Ask) -> StoredEvent {
    StoredEvent { payload: EventPayload::AskRequested(Arc::new(ask)), ..noted(seq, session) }
}

pub(super) fn delta(session: SessionId, text: &str) -> LiveEvent {
    LiveEvent {
        workspace: WorkspaceId::MAIN,
        session,
        at: Time::from_millis(1),
        message: BlockId::new(Time::from_millis(1), [7; 10]),
        text: text.to_owned(),
    }
}

pub(super) fn question(text: &str) -> Ask {
    let option = |label: &str| QuestionOption {
        value: label.to_owned(),
        label: label.to_owned(),
        description: Some("what it means".to_owned()),
        preview: None,
    };
    let options = vec![option("SQLite"), option("PostgreSQL")];
    ask(AskBody::Question {
        questions: vec![Question {
            key: "0".to_owned(),
            header: Some("Database".to_owned()),
            text: text.to_owned(),
            input: Input::Choice { options, multiple: false, custom: true },
            required: true,
            response_schema: None,
        }],
    })
}

pub(super) fn approval(action: Action) -> Ask {
    ask(AskBody::Approval(Approval {
        tool: "Tool".to_owned(),
        action,
        title: "Use it?".to_owned(),
        input: Raw::of(&json!({"a": 1})),
        preview: None,
        choices: Vec::new(),
        editable: false,
        allowed_decisions: None,
        input_schema: None,
        reason: None,
    }))
}

fn ask(body: AskBody) -> Ask {
    Ask {
        id: AskId::new(Time::from_millis(1), [9; 10]),
        origin: Origin { session: None, connection: None, native_id: None, opened_by: None },
        body: body.into(),
        context: AskContext { agent: "mock".to_owned(), title: "fix the tests".to_owned(), ..AskContext::default() }.into(),
        policy: PolicyNote::default(),
        opened_at: Time::from_millis(1),
        snoozed_until: None,
        state: AskState::Pending(Reach::Live),
        raw: None,
    }
}

pub(super) fn decide(ask: &mut Ask, decision: Decision) {
    let outcome = Outcome { decision, by: Actor::Agent, at: Time::from_millis(2), content: None };
    ask.state = AskState::Resolved { outcome, delivery: Delivery::Queued };
}
