//! The pure heart of Sayso: what an ask is, how it may be answered, how it ends, and what a policy
//! decides before a person is bothered.
//!
//! Everything here takes values and the time and returns values. This crate deliberately knows no
//! I/O, no clock, no async runtime, no HTTP and no SQL; JSON appears only as an opaque [`raw::Raw`]
//! payload that is shown and passed on, never interpreted.

pub mod actor;
pub mod ask;
pub mod connection;
pub mod digest;
pub mod environment;
pub mod group;
pub mod id;
pub mod limits;
pub mod plain_text;
pub mod policy;
pub mod raw;
pub mod run;
pub mod scope;
pub mod session;
pub mod session_lifecycle;
pub mod snapshot;
pub mod texts;
pub mod time;
pub mod transcript;
pub mod workflow;
