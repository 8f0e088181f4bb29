//! The Rust SDK of Sayso: a typed client of its HTTP API and a resuming event stream.
//!
//! ```no_run
//! # async fn example() -> Result<(), sayso_client::Error> {
//! let client = sayso_client::Client::discover()?;
//! let ask = client.ask_and_wait(&sayso_client::question("Which database?", &["SQLite", "PostgreSQL"])).await?;
//! # drop(ask); Ok(()) }
//! ```
//!
//! Every mutating call carries an `Idempotency-Key` and is retried with the same key when the connection is lost, so that
//! it takes effect once. An event stream resumes after the last `seq` that it received.
//!
//! This crate deliberately does not know the server's internals, terminals or policies: it uses the types of [`sayso_api`]
//! and knows where a local server stores its address and token.

#![warn(missing_docs)]

mod asks;
mod backoff;
mod client;
mod discover;
mod environment;
mod error;
mod find;
mod groups;
mod notify;
mod paths;
mod policy;
mod runs;
mod sessions;
mod stream;
mod tokens;

pub use asks::question;
pub use client::{Client, Surface};
pub use discover::{ServerFile, Target, TokenSource, discover};
pub use environment::Environment;
pub use error::{DiscoverError, Error, FindError};
pub use find::id_suffix;
pub use paths::{DEFAULT_LISTEN, DataDir, Paths, PathsError};
pub use sayso_api as api;
pub use stream::{EventStream, StreamItem};

/// The current time in the API's precision.
#[must_use]
pub fn now() -> sayso_core::time::Time {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    sayso_core::time::Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Compiles the examples of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/sdk.md")]
struct Documentation;
