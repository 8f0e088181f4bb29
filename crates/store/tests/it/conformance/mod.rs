//! The conformance suite, which every backend has to pass. Its tests contain no SQL and use no files. They get their database
//! from [`TestDatabase`](crate::world::TestDatabase). `main.rs` includes the suite once for each backend. List the cases with
//!
//! ```text
//! cargo test --package sayso-store --test it conformance:: -- --list
//! ```

use super::World;

mod asks;
mod batches;
mod connections;
mod feed;
mod groups;
mod idempotency;
mod messages;
mod model;
mod notes;
mod people;
pub(crate) mod plain_text;
pub(crate) mod processes;
mod runs;
mod sessions;
mod uniqueness;
