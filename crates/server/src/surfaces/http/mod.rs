//! The HTTP API: handlers extract, call the service layer or the runtime, and render.

pub(crate) mod acp;
mod agents;
mod asks;
mod attachments;
pub(crate) mod body;
mod compress;
mod decide;
mod error;
mod events;
mod external;
mod extract;
mod gate;
mod groups;
mod health;
mod listeners;
mod login;
pub(crate) mod mcp;
mod notices;
mod notify;
mod page;
mod policy;
mod policy_form;
mod push;
mod router;
mod runs;
mod sessions;
pub(crate) mod sse;
mod tokens;
mod transcript;

pub(crate) use decide::{denied, rejected};
pub(crate) use error::ApiError;
pub(crate) use extract::{AnyoneBody, Authorized, JsonBody, LooseBody, OptionalJson, Params, Peer};
pub(crate) use gate::RateLimits;
pub use router::openapi;
pub(crate) use router::router;

/// The maximum size of a request body, in bytes: a raw payload and the fields around it.
pub(crate) const MAX_BODY: usize = 6 * 1024 * 1024;
