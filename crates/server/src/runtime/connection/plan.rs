//! Plans a transition of a connection: takes the state and one piece of work, and returns what to publish, commit and do.
//!
//! A transition has three parts, and `Owner::step` carries them out in this order:
//!
//! 1. [`plan`] passes the work to the translator and collects the consequences. It changes only the state in memory.
//! 2. The commit of one [`AdvanceConnection`] is atomic. If it fails, the state is dropped and loaded again, as after a crash.
//! 3. The effects act on the process, the agent's server or the policy. They happen only after the commit.
//!
//! A direct input (see [`direct`](super::direct)) has no commit of its own. It is sent at once, and the next transition that
//! commits stores its consequences first.
//!
//! `plan` is a pure function: it does no I/O, reads no clock, and derives ids from a seed in the state.

use sayso_agents::translator::{FoundSession, HttpCall, Input};
use sayso_core::connection::{Position, WirePosition};
use sayso_core::id::SessionId;
use sayso_core::raw::Raw;
use sayso_core::time::Time;
use sayso_store::OutboxId;
use sayso_store::ops::{AdvanceConnection, ProcessChange};

use super::consequence::Consequences;
use super::state::ConnectionState;
use super::work::{DirectRow, Step, Work};
use crate::runtime::feed::LiveEvent;

/// How many bytes of output may be read without a commit.
const MOST_UNCOMMITTED: u64 = 256 * 1024;

/// The consequences of one [`Work`].
#[derive(Debug)]
pub(super) struct Transition {
    /// Events published before the commit. The commit publishes the complete message that they are fragments of.
    pub(super) live: Vec<LiveEvent>,
    /// What to commit. `None` if the input is direct, or if only the translator's memory changed and the same input arrives
    /// again after a crash.
    pub(super) advance: Option<AdvanceConnection>,
    /// What to do after the commit, in this order.
    pub(super) effects: Vec<Effect>,
}

/// An action outside of the database.
#[derive(Debug, PartialEq)]
pub(super) enum Effect {
    /// Send the lines of this row to the process, before the commit that records them.
    SendDirect(OutboxId),
    /// Tell the supervisor that the journal is not needed up to this position.
    TrimJournal(WirePosition),
    /// A launch was committed, so stop listening to an earlier process.
    DetachProcess,
    /// The process has ended, so remove its files and its token.
    ForgetProcess,
    /// Send a call to the agent's server that changes nothing there. It may get lost.
    Read(HttpCall),
    /// Add the grant of a person who allowed these commands for this agent in the project of the session.
    Grant { session: SessionId, run: Vec<String> },
    /// Create the session of a conversation that the translator discovered. The session is the next work of the connection.
    Adopt(FoundSession),
}

/// Plans the transition that follows from `work`.
pub(super) fn plan(state: &mut ConnectionState, work: Work, now: Time) -> Transition {
    let Step { inputs, changes, mut delivered, trying, read, repeatable, secret, gone, adopted, direct } =
        work.into_step(state, now);
    state.heard_to = read.or(state.heard_to);
    let read = state.heard_to.map_or(ProcessChange::Same, ProcessChange::Read);
    let mut all = Consequences::new(changes, if gone { ProcessChange::Gone } else { read });
    let direct = direct.filter(|_| state.takes_direct_input && !secret);
    all.direct = direct.as_ref().map(|_| Vec::new());
    for input in inputs {
        take_input(state, input, secret, now, &mut all);
    }
    if let Some((found, session)) = adopted {
        state.adopt(&found, session, now, &mut all);
    }
    let Consequences { mut changes, live, process, mut effects, direct: lines } = all;
    if let (Some(DirectRow { row, ask }), Some(lines)) = (direct, lines.filter(|lines| !lines.is_empty())) {
        state.uncommitted.add(row, ask, lines, changes);
        return Transition { live, advance: None, effects: vec![Effect::SendDirect(row)] };
    }
    let wake_at = state.translator.deadline();
    let changes_nothing = changes.is_empty() && delivered.is_empty() && trying.is_empty() && state.wakes_without(wake_at);
    if repeatable && changes_nothing && state.uncommitted_bytes(process) < MOST_UNCOMMITTED {
        return Transition { live, advance: None, effects };
    }
    let (uncommitted, received, sent) = state.uncommitted.drain();
    changes.splice(0..0, uncommitted);
    delivered.splice(0..0, received);
    let advance = AdvanceConnection {
        workspace: state.workspace,
        connection: state.connection.id,
        epoch: state.connection.epoch,
        from: state.connection.position,
        to: Position(state.connection.position.0 + 1),
        process,
        state: Raw::of(&state.translator.save()),
        wake_at,
        delivered,
        sent,
        trying,
        changes,
    };
    match process {
        ProcessChange::Same => {}
        ProcessChange::Read(position) => effects.insert(0, Effect::TrimJournal(position)),
        ProcessChange::Launched => effects.insert(0, Effect::DetachProcess),
        ProcessChange::Gone => effects.insert(0, Effect::ForgetProcess),
    }
    Transition { live, advance: Some(advance), effects }
}

fn take_input(state: &mut ConnectionState, input: Input, secret: bool, now: Time, all: &mut Consequences) {
    // The event stream of a server is never silent, so only events with a visible change restart the stale timer.
    let is_from_server = matches!(input, Input::HttpReply(_) | Input::StreamEvent(_));
    match input {
        Input::Command(_) => state.heard_at = now,
        Input::Exited(_) => all.process = ProcessChange::Gone,
        Input::Line(_)
        | Input::HttpReply(_)
        | Input::StreamOpened
        | Input::StreamEvent(_)
        | Input::StreamClosed
        | Input::Tick => {}
    }
    let before = all.visible_changes();
    state.follow(input, secret, now, all);
    if is_from_server && all.visible_changes() > before {
        state.heard_from_agent(now, &mut all.changes);
    }
}
