//! The PostgreSQL backend.
//!
//! One task owns the writing connection ([`writer`]) and commits all waiting operations in one transaction ([`batch`]). Every
//! transaction that writes begins by locking the row of its workspace, in a statement of its own, so the workspaces' writers
//! take turns on every node, `seq` has no gaps and follows the order of commits. Under READ COMMITTED a statement sees what
//! was committed when it began, so everything after the lock sees the batch of the previous holder; a statement that locked
//! and read at once would see the row of the new batch beside older rows of other tables.
//!
//! The time of a batch is the database's, taken after the lock. Queries run on other connections ([`pool`]), each in a
//! snapshot.
//!
//! The sink hears of every commit in the order of `seq`, also of those of other nodes ([`publish`]): their events are read from
//! the database when a notification comes ([`listen`]), when a commit of this node follows them, or within a second.

mod batch;
mod changes;
mod error;
mod line;
mod listen;
mod load;
mod migrate;
mod options;
mod pool;
mod publish;
mod retention;
mod settle;
mod snapshot;
mod store;
mod writer;

pub use options::PostgresOptions;
pub(crate) use store::PostgresStore;
