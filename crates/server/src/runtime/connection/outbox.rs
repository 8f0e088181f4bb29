//! Processes rows of the outbox: passes outcomes and commands to the translator, and messages to the process or the server.
//!
//! Everything that is sent to an agent is an outbox row, written in the transaction that caused it, so a crash between the
//! commit and the delivery loses nothing. There are two kinds of rows. Outcomes and commands are input for the translator.
//! Messages (launches, lines, calls and stops) are its output, and are sent unchanged.
//!
//! An actor processes the rows of its connection in the order of their ids. Rows arrive in the mailbox after their commit. If
//! the mailbox was full, or after a start, the actor reads the remaining rows from the database. `taken` is the last row that the
//! translator got, so a row that is read a second time is skipped. An approval is cancelled if a later row already interrupts or
//! closes its session. A row that cannot be parsed is dropped with an error in the log, because it would block all later rows.

use std::collections::VecDeque;
use std::sync::Arc;

use sayso_agents::translator::Command;
use sayso_core::ask::Decision;
use sayso_core::id::{AskId, SessionId};
use sayso_core::raw::Raw;
use sayso_store::ops::LoadConnection;
use sayso_store::{OutboxId, OutboxPayload, OutboxRow};
use tracing::{Instrument as _, Span};

use super::owner::{Owner, Stop};
use super::process::{self, Message};
use super::registry::Mailbox;
use super::work::Work;
use crate::service::asks;

impl Owner {
    /// Reads the rows that the agent does not have yet.
    pub(super) fn rows(&self) -> impl Future<Output = Result<Vec<OutboxRow>, Stop>> + use<> {
        let (runtime, connection) = (Arc::clone(&self.runtime), self.state.connection.id);
        let workspace = self.state.workspace;
        async move {
            let loaded = runtime.services.store.write(LoadConnection { workspace, connection }).await?;
            Ok(loaded.map(|loaded| loaded.outbox).unwrap_or_default())
        }
    }

    /// Processes rows of the outbox, each once and in order, and rows that arrive in the mailbox in the meantime.
    pub(super) async fn process_rows(&mut self, rows: Vec<OutboxRow>, mailbox: &mut Mailbox) -> Result<(), Stop> {
        let mut rows = VecDeque::from(rows);
        loop {
            if mailbox.reset_behind() {
                rows = self.rows().await?.into();
            }
            while let Ok(row) = mailbox.rows.try_recv() {
                rows.push_back(*row);
            }
            let Some(OutboxRow { id: row, session, payload, .. }) = rows.pop_front() else { return Ok(()) };
            match payload {
                OutboxPayload::Send { ask, message, tried } => self.pass_on(row, ask, &message, tried).await?,
                OutboxPayload::Outcome { .. } | OutboxPayload::Command(_) if row <= self.taken => {}
                OutboxPayload::Outcome { ask, decision: Decision::Approved { .. }, follow_up: false }
                    if rows.iter().any(|later| stops(later, session)) =>
                {
                    self.taken = row;
                    self.step(Work::Cancelled { row, ask: ask.id }).await?;
                }
                payload => {
                    let may_withhold = true;
                    self.translate(row, session, payload, may_withhold).await?;
                }
            }
        }
    }

    /// Passes an outcome or a command to the translator. An approval is withheld if a file that its command executes has
    /// changed since, unless the agent already has the approval (`may_withhold` is false).
    pub(super) async fn translate(
        &mut self,
        row: OutboxId,
        session: SessionId,
        payload: OutboxPayload,
        may_withhold: bool,
    ) -> Result<(), Stop> {
        self.taken = row;
        let mut span = Span::none();
        let work = match payload {
            OutboxPayload::Outcome { ask, decision, follow_up } => {
                span = tracing::debug_span!("delivery", outbox = row.0, ask = %ask.id);
                let compares = may_withhold && matches!(decision, Decision::Approved { .. });
                let withheld = compares && !asks::is_as_approved(&self.runtime.services, &ask).await;
                Work::Outcome { row, session, ask, decision, follow_up, withheld }
            }
            OutboxPayload::Command(raw) => match serde_json::from_str(raw.as_str()) {
                Ok(command) => Work::Command { row, command },
                Err(error) => {
                    tracing::error!(connection = %self.state.connection.id, %error, "dropping a stored command that cannot be read");
                    Work::Done(vec![row])
                }
            },
            // Messages are already translated.
            OutboxPayload::Send { .. } => return Ok(()),
        };
        self.step(work).instrument(span).await
    }

    /// Sends a message to the process or the server: a launch, lines, a call or a stop.
    async fn pass_on(&mut self, row: OutboxId, ask: Option<AskId>, message: &Raw, tried: bool) -> Result<(), Stop> {
        let message = match serde_json::from_str(message.as_str()) {
            Ok(message) => message,
            Err(error) => {
                tracing::error!(connection = %self.state.connection.id, %error, "dropping a stored message that cannot be read");
                return self.step(Work::Done(vec![row])).await;
            }
        };
        match (message, &mut self.process) {
            (Message::Launch(launch), None) if self.state.connection.process.is_some() => {
                let session = self.state.sessions.keys().next().copied();
                match Box::pin(process::launch(&self.runtime, &self.agent, &self.state.connection, session, launch)).await {
                    Ok(attached) => {
                        self.process = Some(attached);
                        self.step(Work::Done(vec![row])).await
                    }
                    Err(exit) => self.step(Work::NoProcess { exit, row: Some(row) }).await,
                }
            }
            (Message::Lines(lines), Some(process)) => {
                process.queue(row, ask, &lines);
                Ok(())
            }
            (Message::Call(call), _) => {
                if let Some(ask) = ask.filter(|_| row > self.called && !tried) {
                    tracing::debug!(%ask, outbox = row.0, to = "server", "ask sent");
                }
                Box::pin(self.call(row, call, tried)).await
            }
            (Message::Stop, Some(process)) => {
                process.stop();
                self.step(Work::Done(vec![row])).await
            }
            // The process is already running, or it has ended and nothing can be sent to it.
            (Message::Launch(_), _) | (Message::Lines(_) | Message::Stop, None) => self.step(Work::Done(vec![row])).await,
        }
    }
}

/// Returns whether this row interrupts or closes the session.
fn stops(row: &OutboxRow, session: SessionId) -> bool {
    match &row.payload {
        OutboxPayload::Command(raw) if row.session == session => {
            matches!(serde_json::from_str(raw.as_str()), Ok(Command::Interrupt { .. } | Command::Close { .. }))
        }
        OutboxPayload::Command(_) | OutboxPayload::Outcome { .. } | OutboxPayload::Send { .. } => false,
    }
}
