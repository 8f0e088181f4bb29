//! HTTP calls to OpenCode's server.

use sayso_core::raw::Raw;
use sayso_core::time::Time;
use serde_json::{Value, json};

use super::launch;
use super::state::{CallPurpose, Conversation, Kind, Open, OpenCodeLife, OpenCodeProcess, OpenCodeState, OutcomeReply, Waiting};
use crate::out::Out;
use crate::process::StartSettings;
use crate::translator::{Guard, HttpCall, Method};

/// How many calls without a reply are kept.
const CALLS: usize = 512;

/// The parts of the state that calls need: everything except the process.
pub(super) struct CallContext<'a> {
    pub(super) wanted: &'a StartSettings,
    pub(super) conversation: &'a mut Option<Conversation>,
    called: &'a mut u64,
}

impl OpenCodeState {
    /// The process, if one is running, and the state for calls to it.
    pub(super) fn process(&mut self) -> Option<(&mut OpenCodeProcess, CallContext<'_>)> {
        let ctx = CallContext { wanted: &self.wanted, conversation: &mut self.conversation, called: &mut self.called };
        match &mut self.life {
            OpenCodeLife::Up(process) => Some((process, ctx)),
            OpenCodeLife::Down | OpenCodeLife::Closing { .. } => None,
        }
    }
}

impl CallContext<'_> {
    /// The id of the session in OpenCode.
    pub(super) fn root(&self) -> Option<&str> {
        self.conversation.as_ref().map(|conversation| conversation.id.as_str())
    }

    fn directory(&self) -> &str {
        self.conversation.as_ref().map_or(&self.wanted.project, |conversation| &conversation.directory)
    }

    fn path(&self, path: &str) -> String {
        format!("{path}?directory={}", encoded(self.directory()))
    }

    fn next(&mut self) -> u64 {
        *self.called += 1;
        *self.called
    }

    fn post(&mut self, process: &mut OpenCodeProcess, what: CallPurpose, path: &str, body: Option<Raw>, out: &mut Out) {
        let (id, path) = (self.next(), self.path(path));
        process.call(Waiting { id, what }, HttpCall { id, method: Method::Post, path, body, guard: None, streamed: false }, out);
    }

    fn get(&mut self, process: &mut OpenCodeProcess, what: CallPurpose, path: String, out: &mut Out) {
        let id = self.next();
        let call = HttpCall { id, method: Method::Get, path, body: None, guard: None, streamed: false };
        process.call(Waiting { id, what }, call, out);
    }

    /// Creates the session.
    pub(super) fn begin(&mut self, process: &mut OpenCodeProcess, out: &mut Out) {
        let rules = launch::session_rules(self.wanted);
        let body = rules.map_or_else(|| json!({}), |rules| json!({ "permission": rules }));
        self.post(process, CallPurpose::NewSession, "/session", Some(Raw::of(&body)), out);
    }

    /// Looks up the session.
    pub(super) fn find(&mut self, process: &mut OpenCodeProcess, out: &mut Out) {
        let Some(root) = self.root() else { return };
        let path = self.path(&format!("/session/{root}"));
        self.get(process, CallPurpose::FindSession, path, out);
    }

    /// Sends a message of the person.
    pub(super) fn prompt(&mut self, process: &mut OpenCodeProcess, text: String, at: Time, out: &mut Out) {
        let Some(root) = self.root() else { return };
        let mut body = json!({ "parts": [{ "type": "text", "text": text }] });
        if let Some((provider, model)) = self.wanted.model.as_deref().and_then(|model| model.split_once('/')) {
            body["model"] = json!({ "providerID": provider, "modelID": model });
        }
        if let Some(agent) = launch::agent(&self.wanted.mode) {
            body["agent"] = Value::from(agent);
        }
        let path = format!("/session/{root}/prompt_async");
        self.post(process, CallPurpose::Prompt { text, at }, &path, Some(Raw::of(&body)), out);
    }

    /// Checks whether the message arrived.
    pub(super) fn find_prompt(&mut self, process: &mut OpenCodeProcess, text: String, at: Time, out: &mut Out) {
        let Some(root) = self.root() else { return };
        let path = format!("{}&limit=50", self.path(&format!("/session/{root}/message")));
        self.get(process, CallPurpose::FindPrompt { text, at }, path, out);
    }

    /// Sends an outcome for a request.
    pub(super) fn send_outcome(&mut self, process: &mut OpenCodeProcess, request: &Open, said: &OutcomeReply, out: &mut Out) {
        let id = self.next();
        let path = self.path(&format!("/{}/{}/{}", place(request.kind), request.id, said.verb));
        let guard = said.is_yes.then(|| Guard { path: self.path("/session/status"), key: request.session.clone() });
        let what = CallPurpose::Outcome { request: request.id.clone() };
        let call = HttpCall { id, method: Method::Post, path, body: said.body.clone(), guard, streamed: false };
        process.call(Waiting { id, what }, call, out);
    }

    /// Rejects a request that no person will answer.
    pub(super) fn reject(&mut self, process: &mut OpenCodeProcess, kind: Kind, request: String, out: &mut Out) {
        let (verb, body) = match kind {
            Kind::Question | Kind::Plan => ("reject", None),
            Kind::Permission => ("reply", Some(Raw::of(&json!({ "reply": "reject" })))),
        };
        self.post(process, CallPurpose::Leftover, &format!("/{}/{request}/{verb}", place(kind)), body, out);
        process.mark_resolved(request);
    }

    /// Aborts the turn.
    pub(super) fn abort(&mut self, process: &mut OpenCodeProcess, out: &mut Out) {
        let Some(root) = self.root() else { return };
        let path = format!("/session/{root}/abort");
        self.post(process, CallPurpose::Abort, &path, None, out);
    }

    /// Requests the busy sessions.
    pub(super) fn status(&mut self, process: &mut OpenCodeProcess, look: u64, out: &mut Out) {
        let path = self.path("/session/status");
        self.get(process, CallPurpose::Status { look }, path, out);
    }

    /// Requests the pending asks.
    pub(super) fn list(&mut self, process: &mut OpenCodeProcess, look: u64, of: Kind, busy: Vec<String>, out: &mut Out) {
        let path = self.path(&format!("/{}", place(of)));
        self.get(process, CallPurpose::List { look, of, busy }, path, out);
    }
}

impl OpenCodeProcess {
    fn call(&mut self, waiting: Waiting, call: HttpCall, out: &mut Out) {
        // A read-only call may be dropped without a reply.
        if self.calls.len() >= CALLS {
            self.calls.remove(0);
        }
        self.calls.push(waiting);
        out.call(call);
    }
}

const fn place(kind: Kind) -> &'static str {
    match kind {
        Kind::Question | Kind::Plan => "question",
        Kind::Permission => "permission",
    }
}

/// Percent-encodes a text for a query.
pub(super) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => encoded.push(char::from(byte)),
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_is_encoded_as_one_query_value() {
        assert_eq!(encoded("/home/Ä b/x&y=z?#%"), "/home/%C3%84%20b/x%26y%3Dz%3F%23%25");
    }
}
