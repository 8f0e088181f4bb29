//! Connecting to the database, and the handle to it.

use std::cell::Cell;
use std::sync::Arc;

use tokio::runtime::Handle;

use super::changes::ColumnTypes;
use super::line::Line;
use super::migrate::migrate;
use super::options::PostgresOptions;
use super::pool::Pool;
use super::snapshot::PostgresSnapshot;
use super::writer::Writer;
use crate::error::{OpenError, StoreError};
use crate::event::Sink;
use crate::operation::Operation;
use crate::read::Query;
use crate::store::Retain;

#[derive(Debug, Clone)]
pub(crate) struct PostgresStore {
    writer: Arc<Writer>,
    pool: Arc<Pool>,
}

impl PostgresStore {
    pub(crate) async fn connect(options: PostgresOptions, sink: impl Sink) -> Result<Self, OpenError> {
        let PostgresOptions { config, readers } = options;
        let failed = |error: StoreError| OpenError::Postgres(error.into());
        let line = Line::open(&config).await.map_err(|error| failed(error.into()))?;
        migrate(&line).await?;
        let types = ColumnTypes::read(&line).await.map_err(failed)?;
        let pool = Arc::new(Pool::new(config.clone(), readers));
        let writer = Arc::new(Writer::start(config, line, types, Arc::clone(&pool), sink));
        Ok(Self { writer, pool })
    }

    pub(crate) async fn write<O: Operation>(&self, operation: O) -> Result<O::Output, StoreError> {
        self.writer.run(operation).await
    }

    pub(crate) async fn read<Q: Query>(&self, query: Q) -> Result<Q::Found, StoreError> {
        let (line, ticket) = self.pool.begin().await?;
        let runtime = Handle::current();
        let run = move || {
            let found = query.run(&PostgresSnapshot { line: &line, runtime, cursors: Cell::new(0) });
            (line, found)
        };
        let (line, found) = tokio::task::spawn_blocking(run).await.map_err(|_| StoreError::Closed)?;
        match &found {
            Ok(_) => ticket.end(line).await,
            Err(StoreError::Unavailable(_)) => self.pool.discard(),
            // The transaction may be aborted: the connection is dropped.
            Err(_) => {}
        }
        found
    }

    pub(crate) async fn retain(&self, retain: Retain) -> Result<bool, StoreError> {
        self.writer.retain(retain).await
    }

    pub(crate) async fn close(&self) {
        self.pool.close();
        self.writer.close().await;
    }
}
