//! Collects the outputs that a translator emits for one input.

use sayso_core::id::{AskId, SessionId};

use crate::translator::{AgentEvent, Command, HttpCall, Input, Launch, Output};

/// Outputs of one session. All lines are joined into one batch at the position of the first line.
pub(crate) struct Out {
    session: SessionId,
    outputs: Vec<Output>,
    batch: Option<usize>,
}

impl Out {
    pub(crate) const fn new(session: SessionId) -> Self {
        Self { session, outputs: Vec::new(), batch: None }
    }

    /// Creates the outputs for a translator with one session: the session of its first command. Commands for another
    /// session return the outputs that refuse them as the error; `other_session` is the reason why an outcome is
    /// undeliverable. Other inputs before the first command are ignored.
    pub(crate) fn for_input(own: &mut Option<SessionId>, other_session: &str, input: &Input) -> Result<Self, Vec<Output>> {
        let Input::Command(command) = input else { return own.map(Self::new).ok_or_else(Vec::new) };
        let mut out = Self::new(*own.get_or_insert(command.session()));
        if command.session() == out.session {
            return Ok(out);
        }
        if let Command::Outcome { ask, .. } = command {
            out.undeliverable(*ask, other_session);
        }
        Err(out.into_outputs())
    }

    pub(crate) fn event(&mut self, event: AgentEvent) {
        self.outputs.push(Output::Event { session: self.session, event });
    }

    pub(crate) fn line(&mut self, line: String) {
        let batch = self.batch.and_then(|at| self.outputs.get_mut(at));
        if let Some(Output::Lines(lines)) = batch {
            lines.push(line);
        } else {
            self.batch = Some(self.outputs.len());
            self.outputs.push(Output::Lines(vec![line]));
        }
    }

    pub(crate) fn call(&mut self, call: HttpCall) {
        self.outputs.push(Output::HttpCall(call));
    }

    pub(crate) fn launch(&mut self, launch: Launch) {
        self.batch = None;
        self.outputs.push(Output::Launch(launch));
    }

    pub(crate) fn stop(&mut self) {
        self.batch = None;
        self.outputs.push(Output::Stop);
    }

    /// Emits the end of a session that was closed permanently.
    pub(crate) fn closed(&mut self) {
        self.event(AgentEvent::Ended { reason: "closed".to_owned(), failed: false, resumable: false });
    }

    pub(crate) fn undeliverable(&mut self, ask: AskId, reason: &str) {
        self.outputs.push(Output::Undeliverable { ask, reason: reason.to_owned() });
    }

    pub(crate) fn into_outputs(self) -> Vec<Output> {
        self.outputs
    }
}
