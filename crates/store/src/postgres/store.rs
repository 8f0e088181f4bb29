//! Connects to the database. Contains the handle of the backend.

use std::sync::Arc;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_postgres::types::Type;

use super::batch::{BEGIN, lock};
use super::changes::ColumnTypes;
use super::connection::PgConnection;
use super::listen::listen;
use super::migrate::migrate;
use super::options::PostgresOptions;
use super::pool::Pool;
use super::publish::Publisher;
use super::writer::{Node, Writer};
use crate::error::{OpenError, StoreError};
use crate::event::{Sink, WorkspaceId};
use crate::operation::Operation;
use crate::read::Query;
use crate::store::RetentionLimits;

#[derive(Debug, Clone)]
pub(crate) struct PostgresStore {
    writer: Arc<Writer>,
    pool: Arc<Pool>,
    listener: Arc<Listener>,
}

/// The task that listens for notifications. It is aborted when the store is dropped.
#[derive(Debug)]
struct Listener(JoinHandle<()>);

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Checks that this node has the key with which other nodes encrypt secrets. The first node stores the id of its key.
async fn check_key(connection: &PgConnection) -> Result<(), OpenError> {
    let failed = |error: tokio_postgres::Error| OpenError::Postgres(StoreError::from(error).into());
    let id = connection.secret_key.id();
    // The row of the workspace is locked, so that two first nodes do not both store an id.
    connection.client.batch_execute(BEGIN).await.map_err(failed)?;
    lock(connection, &[WorkspaceId::MAIN.0]).await.map_err(failed)?;
    let insert = "INSERT INTO secret_key (id) SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM secret_key)";
    connection.client.execute_typed(insert, &[(&id, Type::BYTEA)]).await.map_err(failed)?;
    let find = "SELECT 1 FROM secret_key WHERE id = $1";
    let found = connection.client.query_typed_opt(find, &[(&id, Type::BYTEA)]).await.map_err(failed)?;
    connection.client.batch_execute("COMMIT").await.map_err(failed)?;
    found.map(|_| ()).ok_or(OpenError::OtherSecretKey)
}

impl PostgresStore {
    pub(crate) async fn connect(options: PostgresOptions, sink: impl Sink) -> Result<Self, OpenError> {
        let failed = |error: StoreError| OpenError::Postgres(error.into());
        let connection = PgConnection::open(&options).await.map_err(failed)?;
        migrate(&connection).await?;
        check_key(&connection).await?;
        let types = ColumnTypes::read(&connection).await.map_err(failed)?;
        let pool = Arc::new(Pool::new(options.clone()));
        let publisher = Publisher::start(Arc::clone(&pool), sink).await.map_err(failed)?;
        // A unique name of this store.
        let node = connection.client.query_typed_one("SELECT gen_random_uuid()::text", &[]).await;
        let node: String = node.and_then(|row| row.try_get(0)).map_err(|error| failed(error.into()))?;
        let woken = Arc::new(Notify::new());
        let listener = Arc::new(Listener(tokio::spawn(listen(options.clone(), node.clone(), Arc::clone(&woken)))));
        let writer =
            Arc::new(Writer::start(options, connection, types, Arc::clone(&pool), publisher, Node { name: node, woken }));
        Ok(Self { writer, pool, listener })
    }

    pub(crate) async fn write<O: Operation>(&self, operation: O) -> Result<O::Output, StoreError> {
        self.writer.run(operation).await
    }

    pub(crate) async fn read<Q: Query>(&self, query: Q) -> Result<Q::Found, StoreError> {
        self.pool.read(query).await
    }

    pub(crate) async fn retain(&self, retain: RetentionLimits) -> Result<bool, StoreError> {
        self.writer.retain(retain).await
    }

    pub(crate) async fn close(&self) {
        self.listener.0.abort();
        self.writer.close().await;
        self.pool.close();
    }
}
