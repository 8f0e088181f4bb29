//! Tests of the store through its public interface. `conformance` is the suite that every backend has to pass; `postgres` has
//! the faults of that backend, and the other modules test the SQLite backend: its files, its disk, and power loss.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a helper that fails is a failed test")]
#![expect(clippy::duplicate_mod, reason = "the conformance suite runs on both backends")]

mod disk;
mod files;
mod postgres;
mod powerloss;
mod secrets;
mod sqlite;
mod world;
