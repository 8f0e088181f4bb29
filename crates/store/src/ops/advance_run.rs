//! Creates and advances runs. One commit contains the whole transition: the run, its steps, the sessions and checkpoints that
//! start or end with it, and its events.

use std::sync::Arc;

use sayso_core::actor::Actor;
use sayso_core::ask::{Ask, Decision, Delivery};
use sayso_core::id::{AskId, SessionId};
use sayso_core::raw::Raw;
use sayso_core::run::Run;
use sayso_core::scope::Scope;
use sayso_core::session_lifecycle::SessionCommand;
use sayso_core::snapshot::{RunSnapshot, StepSnapshot};

use super::advance_connection::AdvanceResult;
use super::command_session::CommandSession;
use super::create_session::CreateSession;
use super::decide::{decide, report_delivery};
use super::open_ask;
use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{IdempotencyKey, IdempotentResult, Operation, Read, Reads};
use crate::payload::EventPayload;
use crate::rows::RunRow;
use crate::unit::{EarlierCall, Unit};

/// Commits a transition of a run.
#[derive(Debug)]
pub struct AdvanceRun {
    pub workspace: WorkspaceId,
    /// The run after the transition, with its steps.
    pub run: Box<Run>,
    /// The version before the transition. The operation is refused if another writer advanced the run.
    pub version: i64,
    /// Positions of the steps that changed.
    pub changed: Vec<usize>,
    /// Sessions to create. They need no idempotency key.
    pub sessions: Vec<CreateSession>,
    /// Checkpoints to open.
    pub asks: Vec<Ask>,
    /// Checkpoints whose outcome the run consumed.
    pub taken: Vec<AskId>,
    /// Sessions to close, each with the command for its agent.
    pub closed: Vec<(SessionId, Raw)>,
    /// Checkpoints to withdraw, each with the reason.
    pub withdrawn: Vec<(AskId, String)>,
    /// The events of the transition, in order.
    pub events: Vec<RunEvent>,
}

/// One event of a run: a snapshot of the run or of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEvent {
    /// The run started or ended.
    Run(RunSnapshot),
    /// A step began or ended.
    Step(StepSnapshot),
}

impl Operation for AdvanceRun {
    type Output = AdvanceResult;

    fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.add(Read::Run(self.run.id));
        for close in self.closes() {
            close.reads(reads);
        }
        for (ask, _) in &self.withdrawn {
            reads.add(Read::Ask(*ask));
        }
        for ask in &self.taken {
            reads.add(Read::Ask(*ask));
            reads.add(Read::Secret(*ask));
        }
        for session in &self.sessions {
            session.reads_of_rows(reads);
        }
        for ask in &self.asks {
            reads.add(Read::Ask(ask.id));
        }
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        for close in self.closes() {
            close.more_reads(unit, reads);
        }
    }

    fn apply(&self, unit: &mut Unit) -> Result<AdvanceResult, StoreError> {
        let Some(row) = unit.runs.get(&self.run.id)? else { return Ok(AdvanceResult::Stale) };
        if row.version != self.version {
            return Ok(AdvanceResult::Stale);
        }
        let (seq, mut changed_steps) = (row.seq, row.changed_steps.clone());
        changed_steps.extend(&self.changed);
        let run = RunRow { run: Run::clone(&self.run), version: self.version + 1, seq, changed_steps };
        unit.runs.put(self.run.id, Arc::new(run));
        for close in self.closes() {
            // The session may have ended already.
            close.apply(unit)?;
        }
        for (ask, reason) in &self.withdrawn {
            if let Some(row) = unit.ask(*ask)?.cloned() {
                // The checkpoint may be resolved already.
                let _ = decide(unit, &row, Decision::Withdrawn { reason: reason.clone() }, Actor::Agent);
            }
        }
        for ask in &self.taken {
            report_delivery(unit, *ask, Delivery::Delivered)?;
        }
        for session in &self.sessions {
            session.insert(unit)?;
        }
        for event in &self.events {
            let (session, payload) = match event {
                RunEvent::Run(run) => (None, EventPayload::Run(run.clone())),
                RunEvent::Step(step) => (step.session_id, EventPayload::Step(Box::new(step.clone()))),
            };
            unit.announce_run(&self.run, session, payload);
        }
        for ask in &self.asks {
            open_ask::insert_ask(unit, ask.clone())?;
        }
        Ok(AdvanceResult::Yes)
    }
}

impl AdvanceRun {
    fn closes(&self) -> impl Iterator<Item = CommandSession> {
        self.closed.iter().map(|(session, command)| CommandSession {
            workspace: self.workspace,
            session: *session,
            scope: Scope::All,
            command: command.clone(),
            kind: SessionCommand::Close,
            said: None,
        })
    }
}

/// Creates a run and commits its first transition.
#[derive(Debug)]
pub struct CreateRun {
    pub first: AdvanceRun,
    pub key: Option<IdempotencyKey>,
}

impl Operation for CreateRun {
    type Output = IdempotentResult<Box<Run>>;

    fn workspace(&self) -> WorkspaceId {
        self.first.workspace
    }

    fn reads(&self, reads: &mut Reads) {
        reads.key(self.key.as_ref());
        self.first.reads(reads);
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        if let Some(run) = unit.earlier_call_target(self.key.as_ref()) {
            reads.add(Read::Run(run));
        }
        self.first.more_reads(unit, reads);
    }

    fn apply(&self, unit: &mut Unit) -> Result<Self::Output, StoreError> {
        match unit.find_earlier_call(self.key.as_ref())? {
            EarlierCall::Fresh => {}
            EarlierCall::Other => return Ok(IdempotentResult::Reused),
            EarlierCall::Same(id) => {
                let run = id.parse().ok().map(|id| unit.runs.get(&id)).transpose()?.flatten();
                return Ok(run.map_or(IdempotentResult::Reused, |row| IdempotentResult::Repeated(Box::new(row.run.clone()))));
            }
        }
        let run = &self.first.run;
        let row = RunRow { run: Run::clone(run), version: self.first.version, seq: unit.next_seq(), changed_steps: Vec::new() };
        unit.runs.insert(run.id, Arc::new(row))?;
        unit.remember_call(self.key.as_ref(), run.id.to_string());
        self.first.apply(unit)?;
        Ok(IdempotentResult::Done(run.clone()))
    }
}
