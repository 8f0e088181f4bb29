//! The task of one run: reads the state of its active steps and advances the run.

use std::time::Duration;

use sayso_core::ask::Ask;
use sayso_core::id::{AskId, RunId, SessionId};
use sayso_core::run::{Event, Run, StepState};
use sayso_core::scope::Scope;
use sayso_core::session::SessionStatus;
use sayso_store::StoreError;
use sayso_store::ops::{AdvanceResult, ReadSteps, StepSessionState};
use sayso_store::read::{GetRun, ReadLastTurn, RunDetail};

use super::RunMailbox;
use crate::service::{Services, runs};

/// How long to wait after a failed commit.
const PAUSE: Duration = Duration::from_millis(500);
/// How long to wait before reading again, if an agent has finished its turn but a message to it is in flight.
const AGAIN: Duration = Duration::from_secs(1);

/// Runs a run to its end.
pub(super) async fn run(services: &Services, id: RunId, mut mailbox: RunMailbox) {
    loop {
        match life(services, id, &mut mailbox).await {
            Ok(()) => return,
            Err(error) => {
                tracing::warn!(run = %id, %error, "cannot advance a run; trying again");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn life(services: &Services, id: RunId, mailbox: &mut RunMailbox) -> Result<(), StoreError> {
    let read = || GetRun { workspace: services.workspace, run: id, scope: Scope::All };
    let Some(RunDetail { mut run, mut version, .. }) = services.store.read(read()).await? else { return Ok(()) };
    while !run.status.is_over() {
        let StepProgress { events, again } = read_progress(services, &run).await?;
        if events.is_empty() {
            tokio::select! {
                () = mailbox.look.notified() => {}
                () = mailbox.cancelled.cancelled() => return Ok(()),
                () = tokio::time::sleep(AGAIN), if again => {}
            }
            continue;
        }
        let advance = runs::advance_run(services, &run, version, events).await;
        let moved = advance.run.clone();
        match services.store.write(advance).await? {
            AdvanceResult::Yes => {
                run = *moved;
                version += 1;
                tracing::debug!(version, over = run.status.is_over(), "run advanced");
            }
            AdvanceResult::Stale => {
                tracing::warn!(run = %id, "another writer advanced the run; reading it again");
                let Some(found) = services.store.read(read()).await? else { return Ok(()) };
                (run, version) = (found.run, found.version);
            }
        }
    }
    Ok(())
}

/// The events since the last read, and whether to read again soon.
struct StepProgress {
    events: Vec<Event>,
    again: bool,
}

async fn read_progress(services: &Services, run: &Run) -> Result<StepProgress, StoreError> {
    let (mut sessions, mut asks): (Vec<SessionId>, Vec<AskId>) = (Vec::new(), Vec::new());
    for step in &run.steps {
        match step.state {
            StepState::Running { session } => sessions.push(session),
            StepState::Asking { ask } => asks.push(ask),
            StepState::Pending | StepState::Completed { .. } | StepState::Failed { .. } | StepState::Cancelled { .. } => {}
        }
    }
    let wanted = ReadSteps { workspace: services.workspace, sessions: sessions.clone(), asks: asks.clone() };
    let seen = services.store.write(wanted).await?;
    let again = seen.sessions.iter().any(|session| session.status == Some(SessionStatus::Idle) && session.busy);
    let mut events = Vec::new();
    for (id, seen) in sessions.into_iter().zip(seen.sessions) {
        events.extend(of_session(services, id, seen).await?);
    }
    events.extend(asks.into_iter().zip(seen.asks).filter_map(|(id, seen)| of_ask(id, seen)));
    Ok(StepProgress { events, again })
}

/// Derives the progress of a step from its session.
async fn of_session(services: &Services, session: SessionId, seen: StepSessionState) -> Result<Option<Event>, StoreError> {
    Ok(match seen.status {
        Some(SessionStatus::Running | SessionStatus::Stalled) => None,
        Some(SessionStatus::Idle) if seen.busy => None,
        Some(SessionStatus::Idle) => {
            let turn = services.store.read(ReadLastTurn { workspace: services.workspace, session }).await?;
            Some(if turn.interrupted {
                // A message from before the interruption is not the result of the step.
                Event::Ended { session, reason: "the turn was interrupted".to_owned(), died: false }
            } else {
                Event::Finished { session, output: turn.last_words.unwrap_or_default() }
            })
        }
        Some(SessionStatus::Ended { reason, failed, .. }) => {
            Some(Event::Ended { session, reason: format!("the agent has ended: {reason}"), died: failed })
        }
        None => Some(Event::Ended { session, reason: "the session no longer exists".to_owned(), died: false }),
    })
}

fn of_ask(ask: AskId, seen: Option<Ask>) -> Option<Event> {
    let decision = match seen {
        Some(seen) => seen.outcome()?.decision.clone(),
        None => sayso_core::ask::Decision::Withdrawn { reason: "the checkpoint no longer exists".to_owned() },
    };
    Some(Event::Decided { ask, decision })
}
