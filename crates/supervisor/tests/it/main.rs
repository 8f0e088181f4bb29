//! Real supervisors with real agents: each test runs the example `supervise` as a process, with a shell or a small
//! program as the agent, and connects to it like a server.
//!
//! `cargo test -p sayso-supervisor` builds the example; `--test it` alone does not rebuild it.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a failed test")]

#[cfg(target_os = "linux")]
mod acceptance;
mod communication;
mod exit;
mod journal;
#[cfg(target_os = "linux")]
mod memory;
mod supervised;
#[cfg(target_os = "linux")]
mod tree;
