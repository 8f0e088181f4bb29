//! The PostgreSQL backend.
//!
//! One task owns the writing connection ([`writer`]) and commits all waiting operations in one transaction ([`batch`]). Every
//! transaction that writes first locks the row of its workspace in a separate statement. Writers on all nodes therefore run one
//! after the other, and `seq` has no gaps and follows the order of commits. Under READ COMMITTED a statement sees what was
//! committed before it began, so the statements after the lock see the batch of the previous holder. A statement that locked
//! and read at once would see the new row of the workspace next to outdated rows of other tables.
//!
//! The time of a batch comes from the database and is read after the lock. Queries run on other connections ([`pool`]), each in
//! a snapshot.
//!
//! The sink receives every commit in the order of `seq`, including those of other nodes ([`publish`]). Their events are read
//! from the database when a notification arrives ([`listen`]), before a later commit of this node is published, and once per
//! second.

mod batch;
mod changes;
mod connection;
mod error;
mod hosts;
mod listen;
mod load;
mod migrate;
mod options;
mod password_file;
mod pool;
mod publish;
mod retention;
mod secret_key;
mod settle;
mod snapshot;
mod store;
mod tls;
mod writer;

pub use options::PostgresOptions;
pub use secret_key::SecretKey;
pub(crate) use store::PostgresStore;
