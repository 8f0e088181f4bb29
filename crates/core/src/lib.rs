//! The pure core of Sayso: what an ask is, how it can be answered, how it ends, and what a policy decides before a person is
//! asked.
//!
//! All functions take values and the current time, and return values. The crate has no I/O, clock, async runtime, HTTP or SQL.
//! JSON appears only as an opaque [`raw::Raw`] payload, which is displayed and passed on but never interpreted.

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
pub mod text_code;
pub mod texts;
pub mod time;
pub mod transcript;
pub mod workflow;
