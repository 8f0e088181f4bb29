//! One connection to PostgreSQL, with the task that drives it.
//!
//! Statements are never named and nothing is set for a session, so a pooler that gives each transaction another server
//! connection does no harm.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_postgres::error::Severity;
use tokio_postgres::{AsyncMessage, Client, Config, Error, NoTls};

/// How many notifications wait for their reader. More are dropped: each says only that there is something to read.
const NOTIFICATIONS: usize = 16;

#[derive(Debug)]
pub(super) struct Line {
    pub(super) client: Client,
    /// How many warnings the server has sent.
    warnings: Arc<AtomicU64>,
    driver: JoinHandle<()>,
}

impl Line {
    pub(super) async fn open(config: &Config) -> Result<Self, Error> {
        Self::open_listening(config).await.map(|(line, _)| line)
    }

    /// Also returns the payloads of notifications. They end with the connection.
    pub(super) async fn open_listening(config: &Config) -> Result<(Self, mpsc::Receiver<String>), Error> {
        let (notify, notifications) = mpsc::channel(NOTIFICATIONS);
        let (client, mut connection) = config.connect(NoTls).await?;
        let warnings = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&warnings);
        let driver = tokio::spawn(async move {
            while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
                match message {
                    // The reply that the warning precedes is handed over after this.
                    Ok(AsyncMessage::Notice(notice)) if notice.parsed_severity() == Some(Severity::Warning) => {
                        counted.fetch_add(1, Ordering::Release);
                        tracing::warn!(%notice, "PostgreSQL warns");
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

    /// The one number that a statement without parameters finds.
    pub(super) async fn number(&self, sql: &str) -> Result<i64, Error> {
        self.client.query_typed_one(sql, &[]).await?.try_get(0)
    }
}

impl Drop for Line {
    /// Closes the socket at once. A statement that still runs is not waited for.
    fn drop(&mut self) {
        if self.client.is_closed() {
            return;
        }
        self.driver.abort();
    }
}
