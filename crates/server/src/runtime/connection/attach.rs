//! The process of a connection: attaching to it, reading its output, ending it.

use sayso_agents::translator::Exit;
use sayso_core::time::Time;
use sayso_store::OutboxRow;

use super::owner::{Owner, Stop};
use super::process::{self, Heard};
use super::work::Work;

impl Owner {
    /// Attaches to the process that is on record. Output that it wrote meanwhile is read before anything is sent to it.
    pub(super) async fn attach(&mut self) -> Result<(), Stop> {
        let Some(from) = self.state.heard_to.or(self.state.connection.process) else { return Ok(()) };
        match process::attach(&self.runtime, &self.state.connection, from).await {
            Ok(attached) => self.process = Some(attached),
            Err(error) => {
                let exit = Exit { message: error.to_string(), ..Exit::default() };
                return self.step(Work::NoProcess { exit, row: None }).await;
            }
        }
        while let Some(process) = self.process.as_mut().filter(|process| process.has_past()) {
            let heard = process.hear().await;
            self.take_in(heard).await?;
        }
        Ok(())
    }

    /// Takes what came from the process.
    pub(super) async fn take_in(&mut self, heard: Heard) -> Result<(), Stop> {
        let lost = heard.lost;
        self.step(Work::Process(heard)).await?;
        if lost {
            self.process = None;
            Box::pin(self.attach()).await?;
        }
        Ok(())
    }

    /// When the translator wants a tick, or the agent counts as stalled.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.state.translator.deadline().into_iter().chain(self.stale_at()).min()
    }

    /// Only an agent with a process can stall.
    fn stale_at(&self) -> Option<Time> {
        self.process.as_ref().and_then(|_| self.state.stale_at())
    }

    /// The time of [`Self::deadline`] has come.
    pub(super) async fn tick(&mut self) -> Result<(), Stop> {
        let now = self.runtime.services.clock.now();
        self.step(Work::Tick { stalled: self.stale_at().is_some_and(|at| at <= now) }).await
    }

    /// All agents are being stopped.
    pub(super) fn halt(&mut self) {
        self.state.halted = true;
        if let Some(process) = &mut self.process {
            process.stop();
        }
    }

    /// Ends a connection that cannot be continued: its process, its sessions, and the messages that wait.
    pub(super) async fn give_up(&mut self, reason: String, rows: Vec<OutboxRow>) -> Result<(), Stop> {
        tracing::error!(connection = %self.state.connection.id, reason, "giving up a connection");
        if let Some(from) = self.state.connection.process
            && let Ok(process) = process::attach(&self.runtime, &self.state.connection, from).await
        {
            process.end().await;
        }
        self.step(Work::GiveUp { reason, rows }).await
    }
}
