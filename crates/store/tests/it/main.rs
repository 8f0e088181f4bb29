//! Tests of the store through its public interface. `conformance` is the suite that every backend has to pass; the other
//! modules test the SQLite backend: its files, its disk, and power loss.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a failed test")]

mod conformance;
mod disk;
mod files;
mod powerloss;
mod secrets;
mod world;
