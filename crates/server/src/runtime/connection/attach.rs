//! The process of a connection: attaching to it, reading its output and stopping it.

use sayso_agents::translator::Exit;
use sayso_core::connection::WirePosition;
use sayso_core::time::Time;
use sayso_store::{OutboxId, OutboxPayload, OutboxRow};

use super::direct::AcceptedRows;
use super::owner::{Owner, Stop};
use super::process::{self, Heard, Message};
use super::work::Work;
use crate::runtime::link::AcceptedInputs;

impl Owner {
    /// Attaches to the recorded process and repeats everything that happened since the last commit: its output, and the inputs
    /// that it accepted, each at the position at which it was translated. `rows` are the pending rows of the outbox.
    pub(super) async fn attach(&mut self, rows: &[OutboxRow]) -> Result<(), Stop> {
        let Some(from) = self.state.heard_to.or(self.state.connection.process) else { return Ok(()) };
        match process::attach(&self.runtime, &self.state.connection, from).await {
            Ok(attached) => self.process = Some(attached),
            Err(error) => {
                let exit = Exit { message: error.to_string(), ..Exit::default() };
                return self.step(Work::NoProcess { exit, row: None }).await;
            }
        }
        let mut accepted = self.accepted_rows(from, rows).await?;
        loop {
            while let Some((input, row)) = accepted.next_at(self.state.read_position()) {
                self.queue_lines_before(row.id, rows);
                self.repeating = Some(input);
                self.translate(row.id, row.session, row.payload.clone(), false).await?;
            }
            let Some(process) = self.process.as_mut().filter(|process| process.has_past()) else { break };
            process.stop_reading_at(accepted.next_position());
            let heard = process.receive().await;
            if heard.lost && !accepted.is_empty() {
                return Err(Stop::LinkLost);
            }
            self.process_messages(heard).await?;
        }
        // The journal ends before the position at which an input was translated, so it does not belong to these inputs.
        if accepted.is_empty() { Ok(()) } else { Err(Stop::Diverged) }
    }

    /// Queues the stored lines of earlier rows. A process accepts inputs in order, so it has accepted these as well.
    fn queue_lines_before(&mut self, row: OutboxId, rows: &[OutboxRow]) {
        let Some(process) = &mut self.process else { return };
        for earlier in rows.iter().take_while(|earlier| earlier.id < row) {
            if let OutboxPayload::Send { ask, message, .. } = &earlier.payload
                && let Ok(Message::Lines(lines)) = serde_json::from_str(message.as_str())
            {
                process.queue(earlier.id, *ask, &lines);
            }
        }
    }

    /// Returns the outbox rows that the process has accepted, in order. If the process is gone and its journal may be
    /// incomplete, outcomes that the journal does not name become undeliverable.
    async fn accepted_rows<'a>(&mut self, from: WirePosition, rows: &'a [OutboxRow]) -> Result<AcceptedRows<'a>, Stop> {
        let inputs = |row: &&OutboxRow| row.id > self.taken && !matches!(row.payload, OutboxPayload::Send { .. });
        let rows: Vec<&OutboxRow> = rows.iter().filter(inputs).collect();
        let Some(process) = self.process.as_ref().filter(|_| !rows.is_empty()) else { return Ok(AcceptedRows::new(&[], &[])) };
        let AcceptedInputs { inputs, is_complete } = process.accepted_inputs(from).await;
        let accepted = AcceptedRows::new(&inputs, &rows);
        if !is_complete {
            let uncertain = rows.iter().filter(|row| !accepted.contains(row.id)).filter_map(|row| match &row.payload {
                OutboxPayload::Outcome { ask, .. } => Some((row.id, Some(ask.id))),
                OutboxPayload::Command(_) | OutboxPayload::Send { .. } => None,
            });
            let uncertain: Vec<_> = uncertain.collect();
            if !uncertain.is_empty() {
                self.step(Work::Uncertain(uncertain)).await?;
            }
        }
        Ok(accepted)
    }

    /// Processes a batch of messages from the process.
    pub(super) async fn process_messages(&mut self, heard: Heard) -> Result<(), Stop> {
        if heard.is_empty() {
            return Ok(());
        }
        let lost = heard.lost;
        self.step(Work::Process(heard)).await?;
        if lost {
            // The supervisor may not have received these lines, so they are stored before they are sent again.
            self.commit_direct().await?;
            self.process = None;
            Box::pin(self.attach(&[])).await?;
        }
        Ok(())
    }

    /// Returns when the translator wants to be called, or when the agent counts as stalled, whichever is earlier.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.state.translator.deadline().into_iter().chain(self.stale_at()).min()
    }

    /// Only an agent with a process can stall.
    fn stale_at(&self) -> Option<Time> {
        self.process.as_ref().and_then(|_| self.state.stale_at())
    }

    /// Runs when the time of [`Self::deadline`] is reached.
    pub(super) async fn tick(&mut self) -> Result<(), Stop> {
        let now = self.runtime.services.clock.now();
        self.step(Work::Tick { stalled: self.stale_at().is_some_and(|at| at <= now) }).await
    }

    /// Commits the consequences of direct inputs.
    pub(super) async fn commit_direct(&mut self) -> Result<(), Stop> {
        self.commit_by = None;
        if self.state.uncommitted.is_empty() { Ok(()) } else { self.step(Work::CommitDirect).await }
    }

    /// Handles a request to stop all agents.
    pub(super) fn halt(&mut self) {
        self.state.halted = true;
        if let Some(process) = &mut self.process {
            process.stop();
        }
    }

    /// Ends a connection that cannot continue: its process, its sessions, and the rows that wait to be sent.
    pub(super) async fn give_up(&mut self, reason: String, rows: Vec<OutboxRow>) -> Result<(), Stop> {
        tracing::error!(connection = %self.state.connection.id, reason, "giving up a connection");
        let mut accepted = Vec::new();
        if let Some(from) = self.state.connection.process
            && let Ok(process) = process::attach(&self.runtime, &self.state.connection, from).await
        {
            let AcceptedInputs { inputs, is_complete } = process.accepted_inputs(from).await;
            let may_have = |row: &&OutboxRow| !is_complete || inputs.iter().any(|input| input.row == row.id);
            accepted = rows.iter().filter(may_have).map(|row| row.id).collect();
            process.end().await;
        }
        self.step(Work::GiveUp { reason, rows, accepted }).await
    }
}
