//! Wakes the writer when another node has committed: LISTEN on a connection of its own.
//!
//! A notification can get lost, and a pooler may give LISTEN to a server connection that nobody reads. So the connection
//! tests itself when it is opened, and the writer looks at the feed once per second in any case.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use tokio_postgres::Config;
use tokio_postgres::types::Type;

use super::line::Line;

/// The channel of all databases of Sayso. The payload of a notification is the name of the node that sent it.
pub(super) const CHANNEL: &str = "sayso_commits";
/// How long a notification to oneself may take.
const SELF_TEST: Duration = Duration::from_secs(2);
/// The pause before a connection that was lost is opened again.
const RETRY: Duration = Duration::from_secs(1);
/// The pause before a pooler is tried again.
const RETRY_LATER: Duration = Duration::from_secs(60);

/// Listens until it is aborted. `node` is a name that no other store has.
pub(super) async fn listen(config: Config, node: String, woken: Arc<Notify>) {
    loop {
        let pause = match listen_once(&config, &node, &woken).await {
            Ok(Listened::NothingHeard) => {
                tracing::info!("LISTEN does not work on this connection; looking for commits of other nodes once per second");
                RETRY_LATER
            }
            Ok(Listened::Lost) => RETRY,
            Err(error) => {
                tracing::debug!(%error, "connection for LISTEN not opened");
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

async fn listen_once(config: &Config, node: &str, woken: &Arc<Notify>) -> Result<Listened, tokio_postgres::Error> {
    let (line, mut heard) = Line::open_listening(config).await?;
    line.client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
    let test = format!("{node} tests itself");
    line.client.execute_typed("SELECT pg_notify($1, $2)", &[(&CHANNEL, Type::TEXT), (&test, Type::TEXT)]).await?;
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
    // Commits before LISTEN were not announced here.
    woken.notify_one();
    while let Some(payload) = heard.recv().await {
        if payload != node {
            woken.notify_one();
        }
    }
    Ok(Listened::Lost)
}
