//! The wire types of Sayso's HTTP API: requests and responses under `/v1`, error codes and the catalogue of events. All JSON
//! uses camelCase.
//!
//! The server rejects requests with unknown fields. Clients ignore unknown fields and unknown event types, so the server can
//! add both. The crate does not depend on the server. It only defines types and converts values of `sayso-core` into them.

#![warn(missing_docs)]

pub mod ask;
pub mod compat;
pub mod error;
pub mod event;
pub mod group;
pub mod listener;
pub mod notice;
pub mod notify;
pub mod policy;
pub mod policy_form;
pub mod run;
pub mod session;
pub mod text_code;
pub mod token;
pub mod workflow;
