//! Starting and moving runs. A transition is one transaction: the run, its steps, the sessions and
//! checkpoints that begin or end with it, and what the feed says.

use std::sync::Arc;

use rusqlite::params;
use sayso_core::actor::Actor;
use sayso_core::ask::{Decision, Delivery};
use sayso_core::run::StepState;
use sayso_core::scope::Scope;

use super::tx::{Earlier, Tx};
use super::{create_session, open_ask, resolve, run_reads, sessions, to_json};
use crate::error::StoreError;
use crate::event::EventKind;
use crate::write::{AdvanceRun, Advanced, CommandSession, CreateRun, Once, Operation, SessionCommand};

impl Operation for CreateRun {
    type Output = Once<Box<sayso_core::run::Run>>;

    fn apply(self, tx: &mut Tx<'_>) -> Result<Self::Output, StoreError> {
        match tx.earlier(self.key.as_ref())? {
            Earlier::Fresh => {}
            Earlier::Other => return Ok(Once::Reused),
            Earlier::Same(id) => {
                let run = id.parse().ok().map(|id| run_reads::get(tx.db(), self.first.workspace, id)).transpose()?.flatten();
                return Ok(run.map_or(Once::Reused, |(run, _)| Once::Before(Box::new(run))));
            }
        }
        let run = self.first.run.clone();
        tx.db()
            .prepare_cached("INSERT INTO run (id, workspace, over, version, updated_ms, data) VALUES (?1, ?2, 0, ?3, 0, '{}')")?
            .execute(params![run.id.as_bytes(), self.first.workspace.0, self.first.version])?;
        tx.remember(self.key.as_ref(), &run.id.to_string(), self.first.now)?;
        self.first.apply(tx)?;
        Ok(Once::Done(run))
    }
}

impl Operation for AdvanceRun {
    type Output = Advanced;

    fn apply(self, tx: &mut Tx<'_>) -> Result<Advanced, StoreError> {
        let run = &self.run;
        let moved = tx
            .db()
            .prepare_cached(
                "UPDATE run SET over = ?3, version = version + 1, updated_ms = ?4, data = ?5 WHERE id = ?1 AND version = ?2",
            )?
            .execute(params![
                run.id.as_bytes(),
                self.version,
                run.status.is_over(),
                self.now.as_millis(),
                to_json("run", run)?
            ])?;
        if moved == 0 {
            return Ok(Advanced::Stale);
        }
        for position in self.changed {
            let Some(step) = run.steps.get(position) else { continue };
            let (session, ask) = match &step.state {
                StepState::Running { session } => (Some(*session.as_bytes()), None),
                StepState::Asking { ask } => (None, Some(*ask.as_bytes())),
                StepState::Pending | StepState::Completed { .. } | StepState::Failed { .. } | StepState::Cancelled { .. } => {
                    (None, None)
                }
            };
            tx.db()
                .prepare_cached(
                    "INSERT OR REPLACE INTO run_step (run, position, session, ask, data) VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![
                    run.id.as_bytes(),
                    i64::try_from(position).unwrap_or(i64::MAX),
                    session,
                    ask,
                    to_json("step", step)?
                ])?;
        }
        for (session, command) in self.closed {
            let kind = SessionCommand::Close;
            let close = CommandSession {
                workspace: self.workspace,
                session,
                scope: Scope::All,
                command,
                kind,
                said: None,
                now: self.now,
            };
            // It may be over already.
            close.apply(tx)?;
        }
        for (ask, reason) in self.withdrawn {
            if let Some(ask) = tx.ask(self.workspace, ask)? {
                // It may have been decided already.
                let _ = resolve::decide(tx, self.workspace, ask, Decision::Withdrawn { reason }, Actor::Agent, self.now)?;
            }
        }
        for ask in self.taken {
            resolve::report(tx, self.workspace, ask, Delivery::Delivered, self.now)?;
        }
        for create in self.sessions {
            create_session::insert(tx, self.workspace, &create.session, &create.connection)?;
            if let Some(prompt) = &create.prompt {
                sessions::put_block(tx, self.workspace, create.session.id, prompt, EventKind::MessageCompleted)?;
            }
            tx.send_command(create.connection.id, create.session.id, create.command)?;
        }
        for event in self.events {
            tx.run_event(self.now, run, event)?;
        }
        for ask in self.asks {
            let _: Arc<_> = open_ask::open(tx, self.workspace, ask)?;
        }
        Ok(Advanced::Yes)
    }
}
