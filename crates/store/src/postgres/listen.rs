//! Wakes the writer when another node has committed. Uses LISTEN on a separate connection.
//!
//! Notifications can get lost, and a pooler may pass LISTEN to a server connection that no client reads. The connection
//! is therefore tested when it is opened, and the writer reads the feed once per second in any case.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_postgres::types::Type;

use super::connection::PgConnection;
use super::options::PostgresOptions;
use crate::error::StoreError;

/// The name of the channel. The payload of a notification is the name of the node that sent it.
pub(super) const CHANNEL: &str = "sayso_commits";
/// The timeout of a notification that tests the connection.
const SELF_TEST: Duration = Duration::from_secs(2);
/// The delay before a lost connection is opened again.
const RETRY: Duration = Duration::from_secs(1);
/// The delay before the next self-test after one failed, which usually means that a pooler is in between.
const RETRY_LATER: Duration = Duration::from_secs(60);

/// Listens until the task is aborted. `node` is the unique name of this store.
pub(super) async fn listen(options: PostgresOptions, node: String, woken: Arc<Notify>) {
    loop {
        let pause = match listen_once(&options, &node, &woken).await {
            Ok(Listened::NothingHeard) => {
                tracing::info!("LISTEN does not work on this connection; looking for commits of other nodes once per second");
                RETRY_LATER
            }
            Ok(Listened::Lost) => RETRY,
            Err(error) => {
                tracing::debug!(%error, "cannot open the connection for LISTEN");
                RETRY
            }
        };
        sleep(pause).await;
    }
}

enum Listened {
    NothingHeard,
    Lost,
}

async fn listen_once(options: &PostgresOptions, node: &str, woken: &Arc<Notify>) -> Result<Listened, StoreError> {
    let (connection, mut heard) = PgConnection::open_listening(options).await?;
    connection.client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
    let test = format!("{node} tests itself");
    // From another connection: a pooler could run both statements on the same connection to the server, which then replies to
    // itself, although it belongs to other clients as soon as this one waits.
    let sender = PgConnection::open(options).await?;
    sender.client.execute_typed("SELECT pg_notify($1, $2)", &[(&CHANNEL, Type::TEXT), (&test, Type::TEXT)]).await?;
    drop(sender);
    let tested = timeout(SELF_TEST, async {
        while let Some(payload) = heard.recv().await {
            if payload == test {
                return true;
            }
        }
        false
    });
    if !tested.await.unwrap_or(false) {
        return Ok(Listened::NothingHeard);
    }
    // Commits before LISTEN sent no notification to this connection.
    woken.notify_one();
    while let Some(payload) = heard.recv().await {
        if payload != node {
            woken.notify_one();
        }
    }
    Ok(Listened::Lost)
}
