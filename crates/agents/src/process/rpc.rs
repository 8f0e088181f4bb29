//! JSON-RPC over the lines of an agent's process.

use serde::{Deserialize, Serialize};

use super::memory::remember;
use super::{Complaints, ExitedProcess};
use crate::json_rpc::{self, Id, InvalidLine, Message};
use crate::out::Out;
use crate::translator::Exit;

/// Requests of Sayso that have no response yet. `C` is the purpose of a request. Flattened into the saved state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Requests<C> {
    /// The id of the next request.
    next: u64,
    calls: Vec<(u64, C)>,
}

impl<C> Requests<C> {
    /// Creates an empty list whose first request has the id `next`.
    pub(crate) const fn starting_at(next: u64) -> Self {
        Self { next, calls: Vec::new() }
    }

    /// Sends a request and returns its id.
    pub(crate) fn send(&mut self, call: C, method: &str, params: &impl Serialize, out: &mut Out) -> u64 {
        let id = self.next;
        self.next += 1;
        remember(&mut self.calls, (id, call));
        out.line(json_rpc::request(id, method, params));
        id
    }

    /// Removes and returns the request for a response; `None` if the id is unknown.
    pub(crate) fn take(&mut self, id: &Id) -> Option<C> {
        let at = self.calls.iter().position(|(number, _)| number.to_string() == id.as_str())?;
        Some(self.calls.remove(at).1)
    }

    /// The requests without a response.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &C> {
        self.calls.iter().map(|(_, call)| call)
    }

    /// Drops the requests of an exited process. The ids continue.
    pub(crate) fn forget(&mut self) {
        self.calls.clear();
    }
}

impl<C> Default for Requests<C> {
    fn default() -> Self {
        Self::starting_at(0)
    }
}

/// Parser state for one process. Flattened into the saved state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LineReader {
    /// The process has written at least one line.
    heard: bool,
    pub(crate) complaints: Complaints,
}

impl LineReader {
    /// Parses one line. Returns `None` for empty and invalid lines; an invalid request is refused, and a person is
    /// notified.
    pub(crate) fn read<'a>(&mut self, who: &str, line: &'a str, out: &mut Out) -> Option<Message<'a>> {
        if line.trim().is_empty() {
            return None;
        }
        self.heard = true;
        match json_rpc::parse_agent_line(who, line) {
            Ok(message) => Some(message),
            Err(InvalidLine { reply, notice }) => {
                reply.into_iter().for_each(|reply| out.line(reply));
                self.complaints.report(&notice, out);
                None
            }
        }
    }

    /// Describes how the process ended. `hint` is advice in case it could not be started.
    pub(crate) fn describe_exit(&self, who: &str, hint: Option<&str>, exit: &Exit) -> String {
        ExitedProcess { who, heard: self.heard, hint }.describe(exit)
    }
}

#[cfg(test)]
mod tests {
    use sayso_core::id::SessionId;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct SavedState {
        first: u64,
        #[serde(flatten)]
        requests: Requests<String>,
        #[serde(flatten)]
        hearing: LineReader,
        last: u64,
    }

    #[test]
    fn flattened_parts_keep_their_positions_in_the_saved_state() {
        let mut state = SavedState { first: 1, requests: Requests::default(), hearing: LineReader::default(), last: 2 };
        state.requests.send("turn".to_owned(), "turn/start", &(), &mut Out::new(SessionId::from_bytes([1; 16])));
        state.hearing.heard = true;
        let text = r#"{"first":1,"next":1,"calls":[[0,"turn"]],"heard":true,"complaints":{"count":0,"unknown":[]},"last":2}"#;
        assert_eq!(serde_json::to_string(&state).unwrap(), text);
        assert_eq!(serde_json::from_str::<SavedState>(text).unwrap(), state);
    }
}
