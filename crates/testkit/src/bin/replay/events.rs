//! Converts a translator's outputs into the events of the HTTP API.

use std::collections::HashMap;

use sayso_agents::translator::{AgentEvent, NewAsk, Output};
use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, AskContext, AskKind, AskState, Decision, Origin, Outcome, PolicyNote, Reach};
use sayso_core::id::{AskId, SessionId};
use sayso_core::time::Time;
use sayso_core::transcript::ToolStatus;
use serde_json::{Value, json};

pub(crate) struct ReplayEvent {
    name: &'static str,
    session: SessionId,
    status: Option<&'static str>,
    data: Value,
}

impl ReplayEvent {
    /// The event as one line, prefixed with the recording's name if there are several.
    pub(crate) fn line(&self, file: Option<&str>) -> String {
        let mut line = json!({ "type": self.name, "sessionId": self.session.to_string() });
        if let Some(status) = self.status {
            line["status"] = status.into();
        }
        if let Some(file) = file {
            line["file"] = file.into();
        }
        line["data"] = self.data.clone();
        line.to_string()
    }
}

/// Collects events and tracks the open asks, like the server.
pub(crate) struct Events {
    session: SessionId,
    open: HashMap<String, Ask>,
    opened: u8,
    events: Vec<ReplayEvent>,
}

impl Events {
    pub(crate) fn new(session: SessionId) -> Self {
        Self { session, open: HashMap::new(), opened: 0, events: Vec::new() }
    }

    pub(crate) fn into_inner(self) -> Vec<ReplayEvent> {
        self.events
    }

    pub(crate) fn record_output(&mut self, output: Output, now: Time) {
        match output {
            Output::Event { event, .. } => self.event(event, now),
            // There is no agent to send anything to.
            Output::Launch(_)
            | Output::Lines(_)
            | Output::Stop
            | Output::HttpCall(_)
            | Output::Found(_)
            | Output::Undeliverable { .. } => {}
        }
    }

    fn event(&mut self, event: AgentEvent, now: Time) {
        match event {
            AgentEvent::TurnStarted => self.push("session.status", json!({ "status": "running" })),
            AgentEvent::TurnEnded => self.push("session.status", json!({ "status": "idle" })),
            AgentEvent::AskOpened(new) => self.requested(*new, now),
            AgentEvent::AskWithdrawn { native_id, reason } => {
                if let Some(ask) = self.open.remove(&native_id) {
                    self.withdrawn(ask, reason, now);
                }
            }
            AgentEvent::AskDelivery { ask, delivery } => {
                self.push("ask.delivery", json!({ "id": ask.to_string(), "delivery": delivery.as_str() }));
            }
            AgentEvent::MessageDelta { message, text } => {
                self.push("message.delta", json!({ "messageId": message, "text": text }));
            }
            AgentEvent::Message { role, text, subagent, .. } => {
                self.push("message.completed", json!({ "role": role, "text": text, "subagent": subagent }));
            }
            AgentEvent::Tool { tool_call_id, name, input, output, status, subagent } => {
                let event = match status {
                    ToolStatus::Running => "tool.started",
                    ToolStatus::Complete | ToolStatus::Error => "tool.completed",
                };
                let data = json!({
                    "toolCallId": tool_call_id, "name": name, "input": input, "output": output, "status": status, "subagent": subagent
                });
                self.push(event, data);
            }
            // These events only follow a person's actions.
            AgentEvent::Granted { .. } | AgentEvent::Configured { .. } => {}
            AgentEvent::Notice(text) => self.push("notice", json!({ "text": text })),
            AgentEvent::Error(text) => self.push("error", json!({ "text": text })),
            AgentEvent::Ended { reason, failed, resumable } => {
                for (_, ask) in std::mem::take(&mut self.open) {
                    self.withdrawn(ask, reason.clone(), now);
                }
                let status = if failed { "failed" } else { "ended" };
                self.push("session.ended", json!({ "status": status, "reason": reason, "resumable": resumable }));
            }
        }
    }

    fn requested(&mut self, new: NewAsk, now: Time) {
        self.opened = self.opened.wrapping_add(1);
        let native_id = new.native_id.clone();
        let ask = Ask {
            id: AskId::new(Time::from_millis(0), [self.opened; 10]),
            origin: Origin { session: Some(self.session), connection: None, native_id: Some(new.native_id), opened_by: None },
            body: new.body.into(),
            context: AskContext {
                subagent: new.subagent,
                context: new.context,
                tool_call_id: new.tool_call_id,
                blocking: new.blocking,
                labels: new.labels,
                ..AskContext::default()
            }
            .into(),
            policy: PolicyNote::default(),
            opened_at: now,
            snoozed_until: None,
            state: AskState::Pending(Reach::Live),
            raw: new.raw,
        };
        let name = match ask.kind() {
            AskKind::Question => "question.requested",
            AskKind::Approval => "approval.requested",
            AskKind::Link => "link.requested",
        };
        self.of_ask(name, "pending", &ask);
        self.open.insert(native_id, ask);
    }

    fn withdrawn(&mut self, mut ask: Ask, reason: String, now: Time) {
        let name = match ask.kind() {
            AskKind::Question => "question.resolved",
            AskKind::Approval => "approval.resolved",
            AskKind::Link => "link.resolved",
        };
        let outcome = Outcome { decision: Decision::Withdrawn { reason }, by: Actor::Agent, at: now, content: None };
        ask.state = AskState::Resolved { outcome, delivery: sayso_core::ask::Delivery::Delivered };
        self.of_ask(name, "withdrawn", &ask);
    }

    fn of_ask(&mut self, name: &'static str, status: &'static str, ask: &Ask) {
        let data = serde_json::to_value(sayso_api::ask::Ask::from(ask)).unwrap_or_default();
        self.events.push(ReplayEvent { name, session: self.session, status: Some(status), data });
    }

    fn push(&mut self, name: &'static str, data: Value) {
        self.events.push(ReplayEvent { name, session: self.session, status: None, data });
    }
}
