//! Queued operations of a batch, with the channels to their callers. Independent of the backend.

use tokio::sync::oneshot;

use crate::error::StoreError;
use crate::event::WorkspaceId;
use crate::operation::{Operation, Reads};
use crate::unit::Unit;

/// An operation in a batch.
pub(crate) trait Job: Send {
    fn workspace(&self) -> WorkspaceId;
    fn reads(&self, reads: &mut Reads);
    fn more_reads(&self, unit: &Unit, reads: &mut Reads);
    /// Applies the operation, and rolls back what it staged if it fails. Keeps the result until [`Job::finish`].
    fn apply(&mut self, unit: &mut Unit);
    /// Drops the result, because the backend applies the batch again.
    fn reset(&mut self);
    /// Fails the operation before it is applied, for example when its rows cannot be loaded. The rest of the batch continues.
    fn fail(&mut self, error: StoreError);
    /// Replies to the caller after the batch was committed or failed.
    fn finish(self: Box<Self>, batch: Result<(), &StoreError>);
}

pub(crate) struct QueuedOperation<O: Operation> {
    operation: O,
    result: Option<Result<O::Output, StoreError>>,
    reply: oneshot::Sender<Result<O::Output, StoreError>>,
}

impl<O: Operation> QueuedOperation<O> {
    pub(crate) fn new(operation: O) -> (Box<Self>, oneshot::Receiver<Result<O::Output, StoreError>>) {
        let (reply, result) = oneshot::channel();
        (Box::new(Self { operation, result: None, reply }), result)
    }
}

impl<O: Operation> Job for QueuedOperation<O> {
    fn workspace(&self) -> WorkspaceId {
        self.operation.workspace()
    }

    fn reads(&self, reads: &mut Reads) {
        self.operation.reads(reads);
    }

    fn more_reads(&self, unit: &Unit, reads: &mut Reads) {
        self.operation.more_reads(unit, reads);
    }

    fn apply(&mut self, unit: &mut Unit) {
        if self.result.is_some() {
            return;
        }
        let result = self.operation.apply(unit).and_then(|output| {
            unit.check_plain_text()?;
            Ok(output)
        });
        match &result {
            Ok(_) => unit.keep(),
            Err(_) => unit.roll_back(),
        }
        self.result = Some(result);
    }

    fn reset(&mut self) {
        self.result = None;
    }

    fn fail(&mut self, error: StoreError) {
        self.result = Some(Err(error));
    }

    fn finish(self: Box<Self>, batch: Result<(), &StoreError>) {
        let result = match (batch, self.result) {
            (Ok(()), Some(result)) => result,
            (Ok(()), None) => Err(StoreError::Closed),
            // An operation that failed before the commit reports its own error, not that of the commit.
            (Err(_), Some(Err(error))) => Err(error),
            (Err(error), _) => Err(error.for_another_caller()),
        };
        // The caller may have stopped waiting.
        let _ = self.reply.send(result);
    }
}
