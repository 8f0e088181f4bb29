//! The task of one connection: it feeds what arrives to its owner, one thing at a time.
//!
//! A row of the outbox is taken once: giving it to the translator is the same transaction as
//! everything that follows from it. When a commit fails, the actor goes back to what is on disk and
//! does it again, exactly as after a crash.

use std::sync::Arc;
use std::time::Duration;

use sayso_core::id::ConnectionId;
use sayso_core::time::Time;
use sayso_store::OutboxId;
use tokio::sync::watch;

use super::owner::{Owner, Stop};
use super::process::{AttachedProcess, Heard};
use super::registry::{Mailbox, Registry};
use crate::runtime::Runtime;
use crate::runtime::link::{Http, HttpSaid};

/// An actor without work for this long ends; the next row starts it again.
const IDLE: Duration = Duration::from_millis(500);
/// How long to wait after the database refused.
const PAUSE: Duration = Duration::from_millis(500);

/// Runs a connection until it has nothing more to do.
pub(super) async fn run(runtime: Arc<Runtime>, registry: Arc<Registry>, id: ConnectionId, mut mailbox: Mailbox) {
    // Rows come by load and by mailbox; what was committed is not taken again, also not after a failure.
    let mut taken = OutboxId(0);
    loop {
        match life(&runtime, &registry, id, &mut mailbox, &mut taken).await {
            Ok(()) => return,
            Err(Stop::Stale) => {
                tracing::warn!(connection = %id, "the connection was elsewhere; reading it again");
            }
            Err(Stop::Store(error)) => {
                tracing::warn!(connection = %id, %error, "could not store what the agent did; trying again");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn life(
    runtime: &Arc<Runtime>,
    registry: &Registry,
    id: ConnectionId,
    mailbox: &mut Mailbox,
    taken: &mut OutboxId,
) -> Result<(), Stop> {
    let Some((mut owner, rows)) = Owner::load(Arc::clone(runtime), id).await? else {
        registry.retire(id, mailbox);
        return Ok(());
    };
    if let Some(reason) = owner.unusable.take() {
        Box::pin(owner.give_up(reason, rows)).await?;
        registry.retire(id, mailbox);
        return Ok(());
    }
    let mut halt = runtime.halt.subscribe();
    // A process that was to be launched is attached to when its row is taken.
    if !rows.iter().any(super::process::is_launch) {
        // Boxed, as all that happens once: it must not make every waiting actor larger.
        Box::pin(owner.attach()).await?;
    }
    // The server that the agent was when this was saved is called again before anything else is sent.
    owner.follow_server();
    Box::pin(owner.take(rows, taken)).await?;
    loop {
        if mailbox.fell_behind() {
            let rows = owner.rows().await?;
            Box::pin(owner.take(rows, taken)).await?;
        }
        let deadline = owner.deadline();
        let bound = owner.process.is_some() || owner.http.is_some();
        tokio::select! {
            row = mailbox.rows.recv() => match row {
                Some(row) => {
                    let mut rows = vec![*row];
                    while let Ok(more) = mailbox.rows.try_recv() {
                        rows.push(*more);
                    }
                    Box::pin(owner.take(rows, taken)).await?;
                }
                None => return Ok(()),
            },
            heard = hear(&mut owner.process) => {
                let room = heard.room;
                Box::pin(owner.take_in(heard)).await?;
                if room {
                    let rows = owner.rows().await?;
                    Box::pin(owner.take(rows, taken)).await?;
                }
            }
            said = said(&mut owner.http) => Box::pin(owner.take_said(said)).await?,
            () = wait(runtime, deadline), if deadline.is_some() => owner.tick().await?,
            () = halted(&mut halt), if bound && !owner.state.halted => owner.halt(),
            () = tokio::time::sleep(IDLE), if deadline.is_none() && !bound => {
                if registry.retire(id, mailbox) {
                    return Ok(());
                }
            }
        }
    }
}

async fn hear(process: &mut Option<AttachedProcess>) -> Heard {
    match process {
        Some(process) => process.hear().await,
        None => std::future::pending().await,
    }
}

async fn said(http: &mut Option<Http>) -> Vec<HttpSaid> {
    match http {
        Some(http) => http.hear().await,
        None => std::future::pending().await,
    }
}

/// All agents are to end.
async fn halted(halt: &mut watch::Receiver<bool>) {
    if halt.wait_for(|halt| *halt).await.is_err() {
        std::future::pending().await
    }
}

async fn wait(runtime: &Runtime, deadline: Option<Time>) {
    if let Some(deadline) = deadline {
        runtime.services.clock.sleep_until(deadline).await;
    }
}
