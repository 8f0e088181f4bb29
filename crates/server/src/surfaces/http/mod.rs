//! The HTTP interface: thin handlers over the broker and the store.

mod agents;
pub(crate) mod asks;
mod attachments;
pub(crate) mod decide;
mod error;
pub(crate) mod events;
pub(crate) mod external;
mod extract;
mod gate;
mod health;
mod listeners;
mod login;
pub(crate) mod notices;
mod notify;
mod page;
pub(crate) mod policy;
mod push;
mod router;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod tokens;
pub(crate) mod transcript;

pub(crate) use error::ApiError;
pub(crate) use extract::{Authorized, JsonBody, LooseBody, OptionalJson, Params, Peer};
pub(crate) use gate::Limits;
pub use router::openapi;
pub(crate) use router::router;
pub(crate) use sessions::look_at;
pub(crate) use tokens::SECRET_PREFIX;

/// Bytes that a request's body may have: a raw payload and what is around it.
pub(crate) const MAX_BODY: usize = 6 * 1024 * 1024;
