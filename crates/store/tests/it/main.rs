//! Tests of the store through its public interface. `conformance` is the suite that every backend has to pass. `postgres` tests
//! faults of that backend. The other modules test files, disk and power loss with the SQLite backend.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a helper that fails is a failed test")]
#![expect(clippy::duplicate_mod, reason = "the conformance suite runs on both backends, and a part of it behind a pooler")]

#[cfg(target_os = "linux")]
mod disk;
mod files;
#[cfg(target_os = "linux")]
mod postgres;
#[cfg(target_os = "linux")]
mod powerloss;
mod secrets;
mod sqlite;
mod world;
