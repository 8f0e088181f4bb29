//! A connection to PostgreSQL with the task that drives it.
//!
//! The crate uses no prepared statements and no session settings, so it works behind a pooler in transaction mode.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_postgres::error::Severity;
use tokio_postgres::{AsyncMessage, Client, Config, Error, NoTls};

/// The capacity of the channel for notifications. Further ones are dropped, because each only says that there is something to
/// read.
const NOTIFICATIONS: usize = 16;

#[derive(Debug)]
pub(super) struct PgConnection {
    pub(super) client: Client,
    /// The number of warnings that the server has sent.
    warnings: Arc<AtomicU64>,
    driver: JoinHandle<()>,
}

impl PgConnection {
    pub(super) async fn open(config: &Config) -> Result<Self, Error> {
        Self::open_listening(config).await.map(|(line, _)| line)
    }

    /// Connects, and also returns the payloads of notifications. The channel closes with the connection.
    pub(super) async fn open_listening(config: &Config) -> Result<(Self, mpsc::Receiver<String>), Error> {
        let (notify, notifications) = mpsc::channel(NOTIFICATIONS);
        let (client, mut connection) = config.connect(NoTls).await?;
        let warnings = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&warnings);
        let driver = tokio::spawn(async move {
            while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
                match message {
                    // The warning is counted before the reply that follows it is handed over.
                    Ok(AsyncMessage::Notice(notice)) if notice.parsed_severity() == Some(Severity::Warning) => {
                        counted.fetch_add(1, Ordering::Release);
                        tracing::warn!(%notice, "warning from PostgreSQL");
                    }
                    Ok(AsyncMessage::Notification(notification)) => {
                        let _ = notify.try_send(notification.payload().to_owned());
                    }
                    Ok(_) => {}
                    Err(error) => {
                        tracing::debug!(%error, "connection to PostgreSQL lost");
                        break;
                    }
                }
            }
        });
        Ok((Self { client, warnings, driver }, notifications))
    }

    pub(super) fn warnings(&self) -> u64 {
        self.warnings.load(Ordering::Acquire)
    }

    /// Runs a statement that returns one number.
    pub(super) async fn number(&self, sql: &str) -> Result<i64, Error> {
        self.client.query_typed_one(sql, &[]).await?.try_get(0)
    }
}

impl Drop for PgConnection {
    /// Closes the socket at once, without waiting for a running statement.
    fn drop(&mut self) {
        if self.client.is_closed() {
            return;
        }
        self.driver.abort();
    }
}
