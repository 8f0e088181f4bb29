//! The conformance suite of the store: what every implementation of the closed sets of writes and
//! reads promises, seen through its public interface alone.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a failed test")]

mod asks;
mod connections;
mod disk;
mod feed;
mod files;
mod idempotency;
mod messages;
mod notes;
mod people;
mod powerloss;
mod processes;
mod runs;
mod secrets;
mod sessions;
mod world;
