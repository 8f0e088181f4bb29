//! The direct path of an input: the process gets its lines before the commit that records the consequences.
//!
//! An outcome or a command is already committed when it reaches the actor, so sending it needs no further commit. The actor
//! translates it, sends the lines, and commits the translator's state and the delivery together with the next change, or after
//! 100 ms. The journal of the process makes this safe: before the process gets the first byte, the supervisor records that it
//! accepted the input, and up to which position the translator had read. A restarted server repeats the input at the same
//! position and compares the lines.
//!
//! Only lines for a process qualify. Everything else that can follow from an input, such as a launch, a stop, a call or the end
//! of an ask, is committed first. So are lines with a secret.

use std::collections::VecDeque;

use sayso_core::connection::WirePosition;
use sayso_core::id::AskId;
use sayso_core::raw::Raw;
use sayso_store::ops::{ConnectionChange, SentInput};
use sayso_store::{OutboxId, OutboxRow};

use super::process::Message;
use crate::runtime::link::AcceptedInput;

/// An input that the translator has consumed but that is not committed yet.
#[derive(Debug)]
pub(super) struct DirectInput {
    pub(super) row: OutboxId,
    pub(super) ask: Option<AskId>,
    /// The lines that were sent. Cleared when the process has them.
    pub(super) lines: Vec<String>,
    /// Whether the process has the lines.
    received: bool,
}

/// All consequences of direct inputs that are not committed yet.
#[derive(Debug, Default)]
pub(super) struct Uncommitted {
    inputs: Vec<DirectInput>,
    changes: Vec<ConnectionChange>,
}

impl Uncommitted {
    pub(super) fn add(&mut self, row: OutboxId, ask: Option<AskId>, lines: Vec<String>, changes: Vec<ConnectionChange>) {
        self.inputs.push(DirectInput { row, ask, lines, received: false });
        self.changes.extend(changes);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.inputs.is_empty() && self.changes.is_empty()
    }

    pub(super) fn input(&self, row: OutboxId) -> Option<&DirectInput> {
        self.inputs.iter().find(|input| input.row == row)
    }

    /// Records that the process has the lines of this row. Returns false if the row is not a direct input.
    pub(super) fn note_received(&mut self, row: OutboxId) -> bool {
        let Some(input) = self.inputs.iter_mut().find(|input| input.row == row) else { return false };
        input.received = true;
        input.lines = Vec::new();
        true
    }

    /// Removes an input that the process refused.
    pub(super) fn forget(&mut self, row: OutboxId) {
        self.inputs.retain(|input| input.row != row);
    }

    /// Removes and returns everything that the next commit has to store first: the changes, the rows that the process has, and the
    /// rows that it may not have.
    pub(super) fn drain(&mut self) -> (Vec<ConnectionChange>, Vec<OutboxId>, Vec<SentInput>) {
        let Self { inputs, changes } = std::mem::take(self);
        let (mut delivered, mut sent) = (Vec::new(), Vec::new());
        for DirectInput { row, ask, lines, received } in inputs {
            if received {
                delivered.push(row);
            } else {
                sent.push(SentInput { row, ask, message: Raw::of(&Message::Lines(lines)) });
            }
        }
        (changes, delivered, sent)
    }
}

/// The inputs that a process accepted since the last commit, which a restarted server repeats.
#[derive(Debug)]
pub(super) struct AcceptedRows<'a> {
    rows: VecDeque<(AcceptedInput, &'a OutboxRow)>,
}

impl<'a> AcceptedRows<'a> {
    /// `accepted` has the order of the journal, in which the inputs were translated.
    pub(super) fn new(accepted: &[AcceptedInput], rows: &[&'a OutboxRow]) -> Self {
        let row_of = |input: &AcceptedInput| rows.iter().find(|row| row.id == input.row).copied();
        Self { rows: accepted.iter().filter_map(|input| Some((*input, row_of(input)?))).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn contains(&self, row: OutboxId) -> bool {
        self.rows.iter().any(|(input, _)| input.row == row)
    }

    /// Returns the next input if it was translated when the output had been read up to `position`.
    pub(super) fn next_at(&mut self, position: WirePosition) -> Option<(AcceptedInput, &'a OutboxRow)> {
        let is_due = self.rows.front().is_some_and(|(input, _)| input.after <= position.0);
        if is_due { self.rows.pop_front() } else { None }
    }

    /// Returns the position up to which the output has to be read before the next input.
    pub(super) fn next_position(&self) -> Option<u64> {
        self.rows.front().map(|(input, _)| input.after)
    }
}
