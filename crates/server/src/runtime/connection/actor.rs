//! The task of one connection: it feeds what arrives to its owner, one thing at a time.
//!
//! A row of the outbox is taken once: giving it to the translator is the same transaction as
//! everything that follows from it. When a commit fails, the actor goes back to what is on disk and
//! does it again, exactly as after a crash.

use std::sync::Arc;
use std::time::Duration;

use sayso_core::id::ConnectionId;
use sayso_core::time::Time;
use sayso_store::{OutboxId, OutboxRow};
use tokio::sync::watch;
use tokio::time::Instant;

use super::owner::{Owner, Stop};
use super::process::{AttachedProcess, Heard};
use super::registry::{Mailbox, Registry};
use crate::runtime::Runtime;
use crate::runtime::link::{Http, HttpSaid};

/// An actor without work for this long ends; the next row starts it again.
const IDLE: Duration = Duration::from_millis(500);
/// How long to wait after the database refused.
const PAUSE: Duration = Duration::from_millis(500);

/// Why a session ends whose translator changed while an answer was on its way.
const DIVERGED: &str = "an answer that is on its way to the agent reads differently in this version of Sayso";

/// Runs a connection until it has nothing more to do.
pub(super) async fn run(runtime: Arc<Runtime>, registry: Arc<Registry>, id: ConnectionId, mut mailbox: Mailbox) {
    // Rows come by load and by mailbox; what was committed is not taken again, also not after a failure.
    let mut committed = OutboxId(0);
    let mut unusable = None;
    loop {
        match life(&runtime, &registry, id, &mut mailbox, &mut committed, unusable.take()).await {
            Ok(()) => return,
            Err(Stop::Stale) => tracing::warn!(connection = %id, "connection moved on; loading it again"),
            Err(Stop::LinkLost) => {
                tracing::warn!(connection = %id, "supervisor closed the connection during a restart; loading it again");
                tokio::time::sleep(PAUSE).await;
            }
            Err(Stop::Diverged) => {
                tracing::error!(connection = %id, "repeated input differs from the one that the agent accepted");
                unusable = Some(DIVERGED.to_owned());
            }
            Err(Stop::Store(error)) => {
                tracing::warn!(connection = %id, %error, "could not store what the agent did; trying again");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Runs a connection from its load until it has nothing more to do, or until it has to be loaded again. `committed` is the
/// last outcome or command whose consequences are committed.
async fn life(
    runtime: &Arc<Runtime>,
    registry: &Registry,
    id: ConnectionId,
    mailbox: &mut Mailbox,
    committed: &mut OutboxId,
    unusable: Option<String>,
) -> Result<(), Stop> {
    let Some((mut owner, rows)) = Owner::load(Arc::clone(runtime), id, *committed).await? else {
        registry.retire(id, mailbox);
        return Ok(());
    };
    if let Some(reason) = unusable.or_else(|| owner.unusable.take()) {
        Box::pin(owner.give_up(reason, rows)).await?;
        registry.retire(id, mailbox);
        return Ok(());
    }
    let lived = serve(&mut owner, rows, runtime, registry, mailbox).await;
    *committed = owner.committed;
    lived
}

async fn serve(
    owner: &mut Owner,
    rows: Vec<OutboxRow>,
    runtime: &Runtime,
    registry: &Registry,
    mailbox: &mut Mailbox,
) -> Result<(), Stop> {
    let mut halt = runtime.halt.subscribe();
    // A process that was to be launched is attached to when its row is taken.
    if !rows.iter().any(super::process::is_launch) {
        // Boxed, as all that happens once: it must not make every waiting actor larger.
        Box::pin(owner.attach(&rows)).await?;
    }
    // The server that the agent was when this was saved is called again before anything else is sent.
    owner.follow_server();
    Box::pin(owner.take(rows, mailbox)).await?;
    loop {
        if mailbox.is_behind() {
            Box::pin(owner.take(Vec::new(), mailbox)).await?;
        }
        let (deadline, commit_by) = (owner.deadline(), owner.commit_by);
        let bound = owner.process.is_some() || owner.http.is_some();
        tokio::select! {
            row = mailbox.rows.recv() => match row {
                Some(row) => Box::pin(owner.take(vec![*row], mailbox)).await?,
                None => return Ok(()),
            },
            heard = hear(&mut owner.process) => {
                // After a new attachment, messages that were queued for the old one are read again.
                let reload = heard.room || heard.lost;
                Box::pin(owner.take_in(heard)).await?;
                if reload {
                    let rows = owner.rows().await?;
                    Box::pin(owner.take(rows, mailbox)).await?;
                }
            }
            said = said(&mut owner.http) => Box::pin(owner.take_said(said)).await?,
            () = wait(runtime, deadline), if deadline.is_some() => owner.tick().await?,
            // An older version may start next, which does not read what the journal says about inputs.
            () = runtime.stopping.cancelled(), if commit_by.is_some() => owner.commit_direct().await?,
            () = tokio::time::sleep_until(commit_by.unwrap_or_else(Instant::now)), if commit_by.is_some() => {
                owner.commit_direct().await?;
            }
            () = halted(&mut halt), if bound && !owner.state.halted => owner.halt(),
            () = tokio::time::sleep(IDLE), if deadline.is_none() && !bound => {
                if registry.retire(owner.state.connection.id, mailbox) {
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
