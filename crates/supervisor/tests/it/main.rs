//! Real supervisors with real agents: each test runs the example `supervise` as a process, with a shell or
//! a small program as the agent, and talks to it as a server does.
//!
//! `cargo test -p sayso-supervisor` builds the example; with `--test it` alone it would stay as it was.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a failed test")]

#[cfg(target_os = "linux")]
mod acceptance;
mod ends;
mod journal;
#[cfg(target_os = "linux")]
mod memory;
mod supervised;
mod talk;
#[cfg(target_os = "linux")]
mod tree;
