//! Passes rows of the outbox on: outcomes and commands to the translator, messages to the process or the server.

use std::sync::Arc;

use sayso_core::id::AskId;
use sayso_core::raw::Raw;
use sayso_store::read::LoadConnection;
use sayso_store::{OutboxId, OutboxPayload, OutboxRow};
use tracing::{Instrument as _, Span};

use super::owner::{Owner, Stop};
use super::process::{self, Message};
use super::work::Work;

impl Owner {
    /// Reads the rows that the agent does not have yet.
    pub(super) fn rows(&self) -> impl Future<Output = Result<Vec<OutboxRow>, Stop>> + use<> {
        let (runtime, connection) = (Arc::clone(&self.runtime), self.state.connection.id);
        let workspace = self.state.workspace;
        async move {
            let loaded = runtime.services.store.read(LoadConnection { workspace, connection }).await?;
            Ok(loaded.map(|loaded| loaded.outbox).unwrap_or_default())
        }
    }

    /// Takes rows of the outbox, each once and in order. `taken` is the last outcome or command that was committed.
    pub(super) async fn take(&mut self, rows: Vec<OutboxRow>, taken: &mut OutboxId) -> Result<(), Stop> {
        for OutboxRow { id: row, session, payload, .. } in rows {
            let mut span = Span::none();
            let work = match payload {
                OutboxPayload::Send { ask, message, tried } => {
                    self.pass_on(row, ask, &message, tried).await?;
                    continue;
                }
                OutboxPayload::Outcome { .. } | OutboxPayload::Command(_) if row <= *taken => continue,
                OutboxPayload::Outcome { ask, decision, follow_up } => {
                    span = tracing::debug_span!("delivery", outbox = row.0, ask = %ask.id);
                    Work::Outcome { row, session, ask, decision, follow_up }
                }
                OutboxPayload::Command(raw) => match serde_json::from_str(raw.as_str()) {
                    Ok(command) => Work::Command { row, command },
                    Err(error) => {
                        tracing::error!(connection = %self.state.connection.id, %error, "dropping a stored command that cannot be read");
                        Work::Done(vec![row])
                    }
                },
            };
            self.step(work).instrument(span).await?;
            *taken = row;
        }
        Ok(())
    }

    /// Sends a message to the process or the server: a launch, lines, a call, or the end.
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
            // The process runs already, or it is gone and nothing can be sent to it.
            (Message::Launch(_), _) | (Message::Lines(_) | Message::Stop, None) => self.step(Work::Done(vec![row])).await,
        }
    }
}
