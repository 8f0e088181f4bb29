//! A connection to PostgreSQL with the task that drives it.
//!
//! The crate uses no prepared statements and no session settings, so it works behind a pooler in transaction mode.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::error::Severity;
use tokio_postgres::{AsyncMessage, Client, Error};

use super::options::PostgresOptions;
use super::secret_key::SecretKey;
use crate::error::StoreError;

/// The capacity of the channel for notifications. Further ones are dropped, because each only says that there is something to
/// read.
const NOTIFICATIONS: usize = 16;

#[derive(Debug)]
pub(super) struct PgConnection {
    pub(super) client: Client,
    /// The number of warnings that the server has sent.
    warnings: Arc<AtomicU64>,
    driver: JoinHandle<()>,
    reply_timeout: Duration,
    pub(super) secret_key: Arc<SecretKey>,
}

impl PgConnection {
    pub(super) async fn open(options: &PostgresOptions) -> Result<Self, StoreError> {
        Self::open_listening(options).await.map(|(line, _)| line)
    }

    /// Connects, and also returns the payloads of notifications. The channel closes with the connection.
    pub(super) async fn open_listening(options: &PostgresOptions) -> Result<(Self, mpsc::Receiver<String>), StoreError> {
        let (notify, notifications) = mpsc::channel(NOTIFICATIONS);
        let (client, mut connection) = options.hosts.connect().await?;
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
        let secret_key = Arc::clone(&options.secret_key);
        Ok((Self { client, warnings, driver, reply_timeout: options.reply_timeout, secret_key }, notifications))
    }

    /// Waits for replies, but not longer than the timeout of replies. After an error the connection has to be dropped.
    pub(super) async fn in_time<T, E: Into<StoreError>>(
        &self,
        replies: impl Future<Output = Result<T, E>>,
    ) -> Result<T, StoreError> {
        match timeout(self.reply_timeout, replies).await {
            Ok(done) => done.map_err(Into::into),
            Err(_) => Err(StoreError::Unavailable("PostgreSQL did not reply in time".to_owned())),
        }
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
