//! Replies of OpenCode's server. The status alone is not reliable: for unknown paths, the server returns its web page
//! with status 200.

use sayso_core::ask::Delivery;
use sayso_core::limits;
use sayso_core::time::Time;
use serde_json::value::RawValue;

use super::calls::CallContext;
use super::poll::{ELSEWHERE, TRIES, TURN_OVER};
use super::state::{Arrived, CallPurpose, Conversation, OpenCodeProcess, Turn, Waiting, is_id};
use crate::json::{Object, list};
use crate::out::Out;
use crate::text::one_line;
use crate::translator::{AgentEvent, HttpReply};

/// Maximum length of a displayed error in characters.
const WORDS: usize = 300;
/// How far OpenCode's clock may be behind Sayso's, in milliseconds.
const BEHIND: i64 = 2_000;

/// What happens to the process after a reply.
pub(super) enum ReplyEffect {
    Continue,
    /// The process is unusable and the session ends.
    Abort {
        reason: String,
        lost: bool,
    },
}

impl OpenCodeProcess {
    /// Handles the reply to one of Sayso's calls.
    pub(super) fn replied(&mut self, now: Time, reply: &HttpReply, ctx: &mut CallContext<'_>, out: &mut Out) -> ReplyEffect {
        if reply.id == HttpReply::EVENTS {
            // Without a status, the server is starting or exiting.
            if reply.status.is_some() {
                let words = format!("OpenCode's event stream failed: {}.", describe_failure(reply));
                self.complaints.report(AgentEvent::Error(words), out);
            }
            return ReplyEffect::Continue;
        }
        let Some(at) = self.calls.iter().position(|call| call.id == reply.id) else { return ReplyEffect::Continue };
        match self.calls.remove(at).what {
            CallPurpose::NewSession => return self.session_begun(reply, ctx),
            CallPurpose::FindSession => return self.session_found(reply, out),
            CallPurpose::Prompt { text, at } => self.prompt_replied(text, at, reply, ctx, out),
            CallPurpose::FindPrompt { text, at } => self.prompt_found(text, at, reply, ctx, out),
            CallPurpose::Outcome { request } => self.outcome_replied(&request, reply, ctx, out),
            CallPurpose::Leftover => {}
            CallPurpose::Abort => {
                if reply.status != Some(200) {
                    let words = format!("OpenCode could not be interrupted: {}.", describe_failure(reply));
                    out.event(AgentEvent::Error(words));
                }
                // The next poll rejects stale requests.
                self.poll(now, ctx, out);
            }
            CallPurpose::Status { look } => {
                if let Some(sessions) = reply.object() {
                    self.status(look, &sessions, ctx, out);
                }
            }
            CallPurpose::List { look, of, busy } => {
                if let Some(raw) = reply.json().filter(|_| reply.status == Some(200)) {
                    self.listed(look, of, &busy, raw, ctx, out);
                }
            }
        }
        ReplyEffect::Continue
    }

    fn session_begun(&mut self, reply: &HttpReply, ctx: &mut CallContext<'_>) -> ReplyEffect {
        let session = reply.object();
        let id = session.as_ref().and_then(|session| session.text("id")).filter(|id| is_id(id));
        if let (Some(session), Some(id)) = (session, id) {
            let directory = session.non_blank_text("directory").unwrap_or_else(|| ctx.wanted.project.clone());
            *ctx.conversation = Some(Conversation { id, directory });
            self.ready = true;
            return ReplyEffect::Continue;
        }
        // The next poll tries again. If the session was created after all, it is empty and unused.
        self.tries += 1;
        if self.tries < TRIES && reply.status.is_none() {
            return ReplyEffect::Continue;
        }
        ReplyEffect::Abort { reason: format!("OpenCode did not create a session: {}", describe_failure(reply)), lost: false }
    }

    fn session_found(&mut self, reply: &HttpReply, out: &mut Out) -> ReplyEffect {
        if reply.object().is_some_and(|session| session.text("id").is_some()) {
            self.ready = true;
            return ReplyEffect::Continue;
        }
        if reply.status == Some(404) {
            let reason = "OpenCode no longer has this conversation, so it cannot be resumed".to_owned();
            return ReplyEffect::Abort { reason, lost: true };
        }
        // The next poll tries again.
        let words = format!("OpenCode could not look up its session: {}.", describe_failure(reply));
        self.complaints.report(AgentEvent::Error(words), out);
        ReplyEffect::Continue
    }

    fn prompt_replied(&mut self, text: String, at: Time, reply: &HttpReply, ctx: &mut CallContext<'_>, out: &mut Out) {
        match reply.status {
            Some(204) => {}
            None => ctx.find_prompt(self, text, at, out),
            Some(_) => {
                out.event(AgentEvent::Error(format!("OpenCode did not accept the message: {}.", describe_failure(reply))));
                if let Turn::Running { begun: false, .. } = self.turn {
                    self.turn_ended(ctx, out);
                }
            }
        }
    }

    /// Handles the lookup of a message with uncertain delivery. A missing message is sent again.
    fn prompt_found(&mut self, text: String, at: Time, reply: &HttpReply, ctx: &mut CallContext<'_>, out: &mut Out) {
        let Some(messages) = reply.json().filter(|_| reply.status == Some(200)).and_then(list) else {
            // The next poll tries again.
            return self.calls.push(Waiting { id: HttpReply::EVENTS, what: CallPurpose::FindPrompt { text, at } });
        };
        let is_it = |message: &Object<'_>| {
            let info = message.object("info")?;
            let created = info.object("time")?.number("created")?;
            let parts = message.list("parts")?;
            let said = parts.into_iter().filter_map(Object::of).any(|part| part.text("text").as_deref() == Some(text.as_str()));
            #[expect(clippy::cast_precision_loss, reason = "milliseconds are far from where it matters")]
            let recent = created >= (at.as_millis() - BEHIND) as f64;
            Some(said && recent && info.text("role")? == "user")
        };
        if !messages.into_iter().filter_map(Object::of).any(|message| is_it(&message).unwrap_or(false)) {
            ctx.prompt(self, text, at, out);
        }
    }

    fn outcome_replied(&mut self, request: &str, reply: &HttpReply, ctx: &mut CallContext<'_>, out: &mut Out) {
        let Some(at) = self.sent.iter().position(|sent| sent.request.id == request) else { return };
        let undeliverable = |why: &str| Delivery::Undeliverable { reason: why.to_owned() };
        match (reply.status, reply.json().map(RawValue::get)) {
            (Some(200), Some("true")) => self.sent[at].arrived = Arrived::Yes,
            // An earlier attempt may have arrived.
            (Some(404), _) if self.sent[at].tries > 0 => self.sent[at].arrived = Arrived::Yes,
            (Some(404), _) => {
                let sent = self.sent.remove(at);
                self.mark_resolved(sent.request.id);
                out.event(AgentEvent::AskDelivery { ask: sent.ask, delivery: undeliverable(ELSEWHERE) });
            }
            (Some(HttpReply::NOT_SENT), _) if self.sent[at].said.is_yes => {
                let sent = self.sent.remove(at);
                ctx.reject(self, sent.request.kind, sent.request.id, out);
                out.event(AgentEvent::AskDelivery { ask: sent.ask, delivery: undeliverable(TURN_OVER) });
            }
            _ => {
                self.sent[at].arrived = Arrived::Unsure;
                self.sent[at].tries += 1;
                if reply.status.is_some() {
                    let words = format!("OpenCode did not accept an answer; sending it again: {}.", describe_failure(reply));
                    self.complaints.report(AgentEvent::Error(words), out);
                }
            }
        }
    }
}

impl HttpReply {
    /// The body, if it is JSON.
    pub(super) fn json(&self) -> Option<&RawValue> {
        serde_json::from_str(&self.body).ok()
    }

    /// The body, if it is a JSON object.
    pub(super) fn object(&self) -> Option<Object<'_>> {
        self.json().filter(|_| self.status == Some(200)).and_then(Object::of)
    }
}

/// Describes the failure of a call.
pub(super) fn describe_failure(reply: &HttpReply) -> String {
    let body = reply.body.trim();
    let said = Object::parse(body)
        .and_then(|body| body.non_blank_text("message").or_else(|| body.object("data")?.non_blank_text("message")));
    let words = match (said, body) {
        (Some(said), _) => one_line(&said, WORDS),
        (None, "") => String::new(),
        (None, page) if page.starts_with('<') => "a web page".to_owned(),
        (None, text) => one_line(limits::head(text, 4 * WORDS), WORDS),
    };
    match (reply.status, words.as_str()) {
        (None, "") => "there was no reply".to_owned(),
        (None, words) => words.to_owned(),
        (Some(401), _) => "it rejected Sayso's password (status 401)".to_owned(),
        (Some(status), "") => format!("it replied with status {status}"),
        (Some(status), words) => format!("it replied with status {status}: {words}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_failure_is_described() {
        let describe = |status, body: &str| describe_failure(&HttpReply { id: 1, status, body: body.to_owned() });
        assert_eq!(describe(None, ""), "there was no reply");
        assert_eq!(describe(None, "connection refused"), "connection refused");
        assert_eq!(describe(Some(401), ""), "it rejected Sayso's password (status 401)");
        assert_eq!(describe(Some(200), "<!doctype html><html>"), "it replied with status 200: a web page");
        assert_eq!(
            describe(Some(400), r#"{"name":"BadRequest","data":{"message":"Missing key\n  at"}}"#),
            "it replied with status 400: Missing key…"
        );
        assert_eq!(describe(Some(500), ""), "it replied with status 500");
    }
}
