//! Asks and events for the unit tests.

use std::collections::BTreeMap;

use sayso_client::api::ask::{
    ActionKind, Approval, Ask, AskKind, AskStatus, InputKind, Preview, Question, QuestionOption, Reach,
};
use sayso_client::api::event::FeedEvent;
use sayso_core::time::Time;
use serde_json::{Value, json};

use crate::output::Look;

/// Creates an event of the feed. Fills in the fields of transcript blocks that tests do not check.
pub(crate) fn feed_event(name: &str, data: &Value) -> FeedEvent {
    let mut whole = match name.split_once('.') {
        Some(("message" | "tool", _)) => {
            json!({"id": "b", "at": "1970-01-01T00:00:00Z", "messageId": "b", "toolCallId": "t", "status": "running"})
        }
        Some(_) | None => json!({}),
    };
    for (key, value) in data.as_object().unwrap() {
        whole[key] = value.clone();
    }
    let event = json!({"seq": 1, "at": "1970-01-01T00:00:00Z", "type": name, "sessionId": null, "data": whole});
    serde_json::from_value(event).unwrap()
}

pub(crate) fn look() -> Look {
    Look { colour: false, ascii: false, width: 80, home: Some("/home/ada".into()) }
}

pub(crate) fn option(label: &str, description: &str) -> QuestionOption {
    QuestionOption {
        value: Some(label.into()),
        label: label.into(),
        description: (!description.is_empty()).then(|| description.into()),
        preview: None,
        recommended: false,
    }
}

pub(crate) fn question(options: &[(&str, &str)]) -> Question {
    Question {
        key: Some("0".into()),
        header: Some("Database".into()),
        text: "Which database should this feature use?".into(),
        input: if options.is_empty() { InputKind::Text } else { InputKind::Choice },
        multiple: false,
        custom: true,
        required: true,
        response_schema: None,
        secret: false,
        minimum: None,
        maximum: None,
        integer: false,
        options: options.iter().map(|(label, description)| option(label, description)).collect(),
        preselected: None,
    }
}

pub(crate) fn database() -> Question {
    question(&[("SQLite", "lightweight, file-based"), ("PostgreSQL", "full-featured")])
}

pub(crate) fn question_ask() -> Ask {
    Ask {
        id: "ask_01930000-0000-7000-8000-00000000-4f2a".into(),
        session_id: Some("ses_01930000-0000-7000-8000-000000001111".into()),
        agent: "mock".into(),
        asked_by: None,
        agent_reported: false,
        kind: AskKind::Question,
        status: AskStatus::Pending,
        reach: Some(Reach::Live),
        tool_call_id: "call_1".into(),
        title: "fix the tests".into(),
        project: Some("/home/ada/work/shop".into()),
        branch: Some("main".into()),
        subagent: None,
        context: None,
        blocking: true,
        opened_at: Time::from_millis(1_700_000_000_000),
        deadline_at: None,
        on_timeout: None,
        snoozed_until: None,
        labels: BTreeMap::new(),
        run_id: None,
        step_id: None,
        why: None,
        why_code: None,
        questions: vec![database()],
        approval: None,
        link: None,
        digest: None,
        executes: None,
        outcome: None,
        delivery: None,
        delivery_reason: None,
        delivery_code: None,
        truncated: false,
        raw: None,
    }
}

pub(crate) fn approval() -> Approval {
    Approval {
        tool: "Bash".into(),
        action: ActionKind::Run,
        command: Some("cargo test --workspace".into()),
        paths: Vec::new(),
        url: None,
        server: None,
        title: "cargo test --workspace".into(),
        input: serde_json::json!({"command": "cargo test --workspace"}),
        preview: Some(Preview::Command { command: "cargo test --workspace".into(), cwd: Some("/home/ada/work/shop".into()) }),
        choices: Vec::new(),
        editable: true,
        allowed_decisions: None,
        input_schema: None,
        reason: None,
    }
}

pub(crate) fn approval_ask() -> Ask {
    Ask { kind: AskKind::Approval, questions: Vec::new(), approval: Some(approval()), ..question_ask() }
}
