//! Connecting to the database, and the handle to it.

use std::sync::Arc;

use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::changes::ColumnTypes;
use super::line::Line;
use super::listen::listen;
use super::migrate::migrate;
use super::options::PostgresOptions;
use super::pool::Pool;
use super::publish::Publisher;
use super::writer::{Node, Writer};
use crate::error::{OpenError, StoreError};
use crate::event::Sink;
use crate::operation::Operation;
use crate::read::Query;
use crate::store::Retain;

#[derive(Debug, Clone)]
pub(crate) struct PostgresStore {
    writer: Arc<Writer>,
    pool: Arc<Pool>,
    listener: Arc<Listener>,
}

/// The task that listens. It ends with the store.
#[derive(Debug)]
struct Listener(JoinHandle<()>);

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl PostgresStore {
    pub(crate) async fn connect(options: PostgresOptions, sink: impl Sink) -> Result<Self, OpenError> {
        let PostgresOptions { config, readers } = options;
        let failed = |error: StoreError| OpenError::Postgres(error.into());
        let line = Line::open(&config).await.map_err(|error| failed(error.into()))?;
        migrate(&line).await?;
        let types = ColumnTypes::read(&line).await.map_err(failed)?;
        let pool = Arc::new(Pool::new(config.clone(), readers));
        let publisher = Publisher::start(Arc::clone(&pool), sink).await.map_err(failed)?;
        // A name that no other store has.
        let node = line.client.query_typed_one("SELECT gen_random_uuid()::text", &[]).await;
        let node: String = node.and_then(|row| row.try_get(0)).map_err(|error| failed(error.into()))?;
        let woken = Arc::new(Notify::new());
        let listener = Arc::new(Listener(tokio::spawn(listen(config.clone(), node.clone(), Arc::clone(&woken)))));
        let writer = Arc::new(Writer::start(config, line, types, Arc::clone(&pool), publisher, Node { name: node, woken }));
        Ok(Self { writer, pool, listener })
    }

    pub(crate) async fn write<O: Operation>(&self, operation: O) -> Result<O::Output, StoreError> {
        self.writer.run(operation).await
    }

    pub(crate) async fn read<Q: Query>(&self, query: Q) -> Result<Q::Found, StoreError> {
        self.pool.read(query).await
    }

    pub(crate) async fn retain(&self, retain: Retain) -> Result<bool, StoreError> {
        self.writer.retain(retain).await
    }

    pub(crate) async fn close(&self) {
        self.listener.0.abort();
        self.writer.close().await;
        self.pool.close();
    }
}
