//! Polling of pending requests and busy sessions: whenever the stream is opened, and every few seconds during a turn.
//! Polling finds requests that arrived while the stream was closed, and decisions of other clients.

use std::time::Duration;

use sayso_core::ask::Delivery;
use sayso_core::texts;
use sayso_core::time::Time;
use serde_json::value::RawValue;

use super::calls::CallContext;
use super::state::{Arrived, CallPurpose, Kind, OpenCodeProcess, Turn, is_id};
use crate::json::{Object, list};
use crate::out::Out;
use crate::process::TurnComplaints;
use crate::translator::AgentEvent;

/// The polling interval.
const EVERY: Duration = Duration::from_secs(5);
/// How many polls in a row must report a session as idle before its turn counts as ended. A prompt is accepted some
/// time before the session becomes busy, and on a loaded machine that takes long.
const SURELY_IDLE: u8 = 2;
const NEVER_BEGAN: u8 = 36;
/// How many times an undelivered outcome is sent.
pub(super) const TRIES: u8 = 3;

pub(super) const ELSEWHERE: &str = "It was answered elsewhere.";
const DENIED_ALONG: &str = "OpenCode denied it along with another request of the same session.";
pub(super) const TURN_OVER: &str = "The turn ended without an answer.";

impl OpenCodeProcess {
    /// Whether there is anything to poll for.
    pub(super) fn needs_poll(&self) -> bool {
        let unsure = |what: &CallPurpose| matches!(what, CallPurpose::FindPrompt { .. });
        self.url.is_some()
            && (self.turn != Turn::Idle
                || !self.ready
                || !self.open.is_empty()
                || self.sent.iter().any(|sent| sent.arrived != Arrived::Yes)
                || self.calls.iter().any(|call| unsure(&call.what)))
    }

    /// Starts a poll.
    pub(super) fn poll(&mut self, now: Time, ctx: &mut CallContext<'_>, out: &mut Out) {
        self.looks += 1;
        self.look_at = Some(now.plus(EVERY));
        // A late reply to the previous poll is useless.
        self.calls.retain(|call| !matches!(call.what, CallPurpose::Status { .. } | CallPurpose::List { .. }));
        // The replies to these calls may have been lost.
        let lost =
            self.calls.extract_if(.., |call| matches!(call.what, CallPurpose::FindPrompt { .. } | CallPurpose::FindSession));
        for call in lost.collect::<Vec<_>>() {
            if let CallPurpose::FindPrompt { text, at } = call.what {
                ctx.find_prompt(self, text, at, out);
            }
        }
        if !self.ready && ctx.root().is_some() {
            ctx.find(self, out);
        } else if !self.ready && self.calls.iter().all(|call| call.what != CallPurpose::NewSession) {
            ctx.begin(self, out);
        }
        ctx.status(self, self.looks, out);
    }

    /// Handles the busy sessions, the first half of a poll.
    pub(super) fn status(&mut self, look: u64, sessions: &Object<'_>, ctx: &mut CallContext<'_>, out: &mut Out) {
        let busy: Vec<String> = sessions.fields().map(|(id, _)| id.to_owned()).filter(|id| is_id(id)).take(256).collect();
        if let Some(root) = ctx.root() {
            let works = busy.iter().any(|id| id == root);
            match self.turn {
                Turn::Running { .. } if works => {
                    self.idle = 0;
                    self.begin_turn(out);
                }
                Turn::Running { .. } if !self.calls.iter().any(|call| matches!(call.what, CallPurpose::Prompt { .. })) => {
                    self.idle = self.idle.saturating_add(1);
                }
                Turn::Running { .. } | Turn::Idle => {}
            }
        }
        ctx.list(self, look, Kind::Question, busy.clone(), out);
        ctx.list(self, look, Kind::Permission, busy, out);
        let enough = if matches!(self.turn, Turn::Running { begun: true, .. }) { SURELY_IDLE } else { NEVER_BEGAN };
        if self.idle >= enough && self.ready && self.waiting.is_empty() {
            self.turn_ended(ctx, out);
        }
    }

    /// Handles the pending requests, the second half of a poll. Requests of an idle session are stale: no turn receives
    /// their answer, but an approval would still run the command, so they are rejected. On a shared server, requests
    /// that were never shown in Sayso are left alone.
    pub(super) fn listed(
        &mut self,
        look: u64,
        of: Kind,
        busy: &[String],
        raw: &RawValue,
        ctx: &mut CallContext<'_>,
        out: &mut Out,
    ) {
        let Some(entries) = list(raw) else { return };
        let (mut seen, mut doubtful) = (Vec::new(), Vec::new());
        for entry in entries {
            let Some(request) = Object::of(entry) else { continue };
            let (Some(id), Some(session)) = (request.text("id"), request.text("sessionID")) else { continue };
            let works = busy.contains(&session);
            if !self.is_known_request(&id) {
                if works {
                    self.handle_request(of, entry, ctx, out);
                } else if is_id(&id) && !self.shared && !self.foreign.contains(&session) {
                    // A session that becomes busy between the two halves of a poll is confirmed by the next poll.
                    if self.turn == Turn::Idle || self.is_stopping() || self.doubtful.contains(&id) {
                        ctx.reject(self, of, id.clone(), out);
                    } else {
                        doubtful.push(id.clone());
                    }
                }
            } else if !works && self.open.iter().any(|open| open.id == id && open.since < look) {
                self.withdraw(&id, TURN_OVER, out);
                ctx.reject(self, of, id.clone(), out);
            }
            seen.push(id);
        }
        self.set_doubtful(of, doubtful);
        let same = |kind: Kind| (kind == Kind::Permission) == (of == Kind::Permission);
        let gone = self.open.iter().filter(|open| same(open.kind) && open.since < look && !seen.contains(&open.id));
        for id in gone.map(|open| open.id.clone()).collect::<Vec<_>>() {
            self.withdraw(&id, ELSEWHERE, out);
        }
        self.resend_uncertain(of, &seen, ctx, out);
    }

    /// Resends outcomes whose delivery is uncertain: a request that is still pending did not receive its outcome.
    fn resend_uncertain(&mut self, of: Kind, seen: &[String], ctx: &mut CallContext<'_>, out: &mut Out) {
        let same = |kind: Kind| (kind == Kind::Permission) == (of == Kind::Permission);
        let mut sent = std::mem::take(&mut self.sent);
        sent.retain_mut(|sent| {
            if sent.arrived != Arrived::Unsure || !same(sent.request.kind) {
                return true;
            }
            if !seen.contains(&sent.request.id) {
                sent.arrived = Arrived::Yes;
            } else if sent.tries < TRIES {
                sent.arrived = Arrived::Soon;
                ctx.send_outcome(self, &sent.request, &sent.said, out);
            } else {
                let reason = "OpenCode did not accept it after several attempts.".to_owned();
                out.event(AgentEvent::AskDelivery { ask: sent.ask, delivery: Delivery::Undeliverable { reason } });
                ctx.reject(self, of, sent.request.id.clone(), out);
                return false;
            }
            true
        });
        self.sent = sent;
    }

    /// Handles a decided request, regardless of who decided it.
    pub(super) fn decided(&mut self, of: Kind, request: &str, session: &str, out: &mut Out) {
        if let Some(at) = self.sent.iter().position(|sent| sent.request.id == request) {
            let sent = self.sent.remove(at);
            self.mark_resolved(sent.request.id);
            return out.event(AgentEvent::AskDelivery { ask: sent.ask, delivery: Delivery::Confirmed });
        }
        // Rejecting one permission rejects all permissions of its session.
        let along = of == Kind::Permission && self.denied_in.as_deref() == Some(session);
        self.withdraw(request, if along { DENIED_ALONG } else { ELSEWHERE }, out);
    }

    /// Handles a lost server. If it comes back, its pending requests become new asks.
    pub(super) fn lost(&mut self, reason: &str, out: &mut Out) {
        for open in std::mem::take(&mut self.open) {
            out.event(AgentEvent::AskWithdrawn { native_id: open.id, reason: reason.to_owned() });
        }
        for sent in self.sent.extract_if(.., |sent| sent.arrived != Arrived::Yes) {
            let delivery = Delivery::Undeliverable { reason: texts::AGENT_GONE_NOT_CERTAIN.to_owned() };
            out.event(AgentEvent::AskDelivery { ask: sent.ask, delivery });
        }
        self.calls.clear();
        self.look_at = None;
        if std::mem::take(&mut self.turn) != Turn::Idle {
            out.event(AgentEvent::TurnEnded);
        }
    }

    /// Ends the turn.
    pub(super) fn turn_ended(&mut self, ctx: &mut CallContext<'_>, out: &mut Out) {
        let Turn::Running { stopping, .. } = std::mem::take(&mut self.turn) else { return };
        self.reject_all(if stopping { texts::WITHDRAWN_INTERRUPTED } else { TURN_OVER }, ctx, out);
        (self.complaints, self.idle) = (TurnComplaints::default(), 0);
        self.tools.clear();
        self.speaking.clear();
        self.denied_in = None;
        out.event(AgentEvent::TurnEnded);
    }
}
