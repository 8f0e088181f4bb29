//! The wire types of Sayso's HTTP API: what is sent and received under `/v1`, the error codes, and
//! the catalogue of events. JSON in camelCase.
//!
//! Requests refuse unknown fields; clients ignore unknown fields and unknown event types. This crate
//! deliberately knows nothing of the server: it converts domain values into what a client sees, and
//! that is all.

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
pub mod token;
pub mod workflow;
