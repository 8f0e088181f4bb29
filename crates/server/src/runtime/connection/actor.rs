//! The connection actor: the task that passes everything that reaches a connection to its owner, one item at a time.
//!
//! # Inputs
//! The actor waits for these inputs at once, and processes one before it waits again:
//! - outbox rows from its mailbox: outcomes, commands and messages that a commit queued for the agent;
//! - output of the agent's process, or events and replies of the agent's server;
//! - the deadline of the translator or the stale timer, whichever is earlier;
//! - the latest time to commit direct inputs (see [`direct`](super::direct)), a stop of all agents, and the stop of the server.
//!
//! # Lifetime
//! The [`Registry`] starts an actor when a commit queues a row for its connection and when the server starts. An actor with a
//! process or a server lives as long as that. Any other actor ends after [`IDLE`] without work, so an idle connection costs no
//! task. `Registry::retire` refuses that if rows arrived in the meantime.
//!
//! # Failures
//! Passing an outbox row to the translator and committing everything that follows from it are one transaction, so each row is
//! processed once. After a failed commit the actor drops its state, loads the committed state and repeats the work, exactly as
//! after a crash ([`Stop`] lists the reasons). Rows that are already committed arrive a second time, from the database and from
//! the mailbox; `committed` remembers the last one, so that they are skipped.
//!
//! # Back-pressure
//! A full mailbox does not block the writer: the row stays in the database, the mailbox is marked as behind, and the actor reads
//! the missing rows from the database. While the queue to the process is full, messages stay in the database as well, until
//! `Heard::room` reports that it has room again.

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

/// How long an actor without work lives. The next outbox row starts a new one.
const IDLE: Duration = Duration::from_millis(500);
/// How long to wait after a failed commit.
const PAUSE: Duration = Duration::from_millis(500);

/// The reason with which a session ends if a repeated answer translates to other lines than before the restart.
const DIVERGED: &str = "an answer that is on its way to the agent reads differently in this version of Sayso";

/// Runs a connection until it has no more work.
pub(super) async fn run(runtime: Arc<Runtime>, registry: Arc<Registry>, id: ConnectionId, mut mailbox: Mailbox) {
    // Rows arrive both from the database and through the mailbox. Rows up to this one are committed and are skipped, also after
    // a failed commit.
    let mut committed = OutboxId(0);
    let mut unusable = None;
    loop {
        match life(&runtime, &registry, id, &mut mailbox, &mut committed, unusable.take()).await {
            Ok(()) => return,
            Err(Stop::Stale) => tracing::warn!(connection = %id, "another task advanced the connection; loading it again"),
            Err(Stop::LinkLost) => {
                tracing::warn!(connection = %id, "supervisor closed the connection during a restart; loading it again");
                tokio::time::sleep(PAUSE).await;
            }
            Err(Stop::Diverged) => {
                tracing::error!(connection = %id, "repeated input differs from the one that the agent accepted");
                unusable = Some(DIVERGED.to_owned());
            }
            Err(Stop::Store(error)) => {
                tracing::warn!(connection = %id, %error, "cannot commit the agent's output; trying again");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Runs a connection from its load until it has no more work or has to be loaded again. `committed` is the last outcome or
/// command whose consequences are committed.
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
    // If a launch row is pending, the owner attaches to the process when it processes that row.
    if !rows.iter().any(super::process::is_launch) {
        // Boxed because it runs only once and would otherwise enlarge the future of every waiting actor.
        Box::pin(owner.attach(&rows)).await?;
    }
    // If the agent is a server, connect to the saved address before sending anything else.
    owner.follow_server();
    Box::pin(owner.process_rows(rows, mailbox)).await?;
    loop {
        if mailbox.is_behind() {
            Box::pin(owner.process_rows(Vec::new(), mailbox)).await?;
        }
        let (deadline, commit_by) = (owner.deadline(), owner.commit_by);
        let bound = owner.process.is_some() || owner.http.is_some();
        tokio::select! {
            row = mailbox.rows.recv() => match row {
                Some(row) => Box::pin(owner.process_rows(vec![*row], mailbox)).await?,
                None => return Ok(()),
            },
            heard = receive_from_process(&mut owner.process) => {
                // After a new attachment, read the rows again that were queued for the old one.
                let reload = heard.room || heard.lost;
                Box::pin(owner.process_messages(heard)).await?;
                if reload {
                    let rows = owner.rows().await?;
                    Box::pin(owner.process_rows(rows, mailbox)).await?;
                }
            }
            said = receive_from_server(&mut owner.http) => Box::pin(owner.process_replies(said)).await?,
            () = sleep_until_deadline(runtime, deadline), if deadline.is_some() => owner.tick().await?,
            // On shutdown, commit first: the next server may be an older version that does not read accepted inputs from the
            // journal.
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

async fn receive_from_process(process: &mut Option<AttachedProcess>) -> Heard {
    match process {
        Some(process) => process.receive().await,
        None => std::future::pending().await,
    }
}

async fn receive_from_server(http: &mut Option<Http>) -> Vec<HttpSaid> {
    match http {
        Some(http) => http.receive().await,
        None => std::future::pending().await,
    }
}

/// Completes when all agents are being stopped.
async fn halted(halt: &mut watch::Receiver<bool>) {
    if halt.wait_for(|halt| *halt).await.is_err() {
        std::future::pending().await
    }
}

async fn sleep_until_deadline(runtime: &Runtime, deadline: Option<Time>) {
    if let Some(deadline) = deadline {
        runtime.services.clock.sleep_until(deadline).await;
    }
}
