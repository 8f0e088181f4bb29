//! Shared parts of the agents that are processes.
//!
//! Such an agent has one process per session, which reads lines from stdin and writes lines to stdout. Its translator
//! keeps the state of the process and the conversation; this module has the parts that do not depend on the protocol:
//!
//! | part | purpose |
//! |---|---|
//! | [`ProcessAgent`], [`handle`] | dispatch inputs to the agent, and refuse commands for other sessions |
//! | [`rpc`] | agents that speak JSON-RPC over these lines (ACP, Codex) |
//! | [`memory`] | limits for the saved state, so that no agent can make it large |
//! | [`Complaints`], [`TurnComplaints`] | rate-limited reports of invalid lines |
//! | [`ExitedProcess`] | describes how a process ended |
//! | [`StartSettings`] | the start settings, for agents that have to start the session again |
//!
//! A translator for a new agent of this kind is a struct with a serializable state that implements [`ProcessAgent`].
//! Its [`Translator::handle`](crate::translator::Translator::handle) calls [`handle`].

mod complaints;
mod exit;
pub(crate) mod memory;
pub(crate) mod rpc;
mod start_settings;

pub(crate) use complaints::{Complaints, TurnComplaints};
pub(crate) use exit::ExitedProcess;
pub(crate) use start_settings::StartSettings;

use sayso_core::id::SessionId;
use sayso_core::time::Time;

use crate::out::Out;
use crate::translator::{Command, Exit, Input, Outcome, Output};

/// The agent of one session: one method per command and per input of its process.
pub(crate) trait ProcessAgent {
    /// The reason for undeliverable outcomes of other sessions.
    const OTHER_SESSION: &'static str;

    /// The session of the process: the session of its first command.
    fn session(&mut self) -> &mut Option<SessionId>;

    /// Starts the process, or resumes the session in a new one, and sends the first prompt. If the process is already
    /// running, only the prompt is sent. Without a prompt, `TurnEnded` reports that the agent accepts messages.
    fn start_session(&mut self, now: Time, wanted: StartSettings, prompt: Option<String>, out: &mut Out);

    /// Sends a message of the person.
    fn send_prompt(&mut self, text: String, out: &mut Out);

    /// Sends the outcome of an ask.
    fn deliver_outcome(&mut self, outcome: &Outcome<'_>, out: &mut Out);

    /// Interrupts the current turn.
    fn interrupt(&mut self, out: &mut Out);

    /// Changes the permission mode or the model; `None` leaves it unchanged. Emits `Configured` when the agent has the
    /// new settings, or `Error` if the agent cannot change them.
    fn configure(&mut self, permission_mode: Option<String>, model: Option<String>, out: &mut Out);

    /// Ends the session and the process.
    fn close_session(&mut self, out: &mut Out);

    /// Handles one line of the process's output.
    fn handle_line(&mut self, line: &str, out: &mut Out);

    /// Handles the exit of the process. The caller parks or withdraws its asks when it sees `Ended`.
    fn handle_exit(&mut self, exit: &Exit, out: &mut Out);

    /// Handles inputs that only agents with a server or a deadline receive.
    fn other_input(&mut self, _now: Time, _input: Input, _out: &mut Out) {}

    /// Runs after every input.
    fn after_input(&mut self, _now: Time, _out: &mut Out) {}
}

/// Dispatches an input to the agent.
pub(crate) fn handle<A: ProcessAgent>(agent: &mut A, now: Time, input: Input) -> Vec<Output> {
    let mut out = match Out::for_input(agent.session(), A::OTHER_SESSION, &input) {
        Ok(out) => out,
        Err(outputs) => return outputs,
    };
    match input {
        Input::Command(command) => dispatch_command(agent, now, command, &mut out),
        Input::Line(line) => agent.handle_line(&line, &mut out),
        Input::Exited(exit) => agent.handle_exit(&exit, &mut out),
        Input::HttpReply(_) | Input::StreamOpened | Input::StreamEvent(_) | Input::StreamClosed | Input::Tick => {
            agent.other_input(now, input, &mut out);
        }
    }
    agent.after_input(now, &mut out);
    out.into_outputs()
}

fn dispatch_command(agent: &mut impl ProcessAgent, now: Time, command: Command, out: &mut Out) {
    match command {
        Command::Start { project, prompt, permission_mode, model, questions, .. } => {
            agent.start_session(now, StartSettings { project, mode: permission_mode, model, questions }, prompt, out);
        }
        Command::Prompt { text, .. } => agent.send_prompt(text, out),
        Command::Outcome { ask, native_id, decision, raw, by, .. } => {
            agent.deliver_outcome(&Outcome { ask, native_id: &native_id, decision: &decision, raw: raw.as_ref(), by }, out);
        }
        Command::Interrupt { .. } => agent.interrupt(out),
        Command::Configure { permission_mode, model, .. } => agent.configure(permission_mode, model, out),
        Command::Close { .. } => agent.close_session(out),
    }
}
