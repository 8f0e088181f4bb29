//! The real binary with the real server: on a terminal, in a pipe, in a script, and in an agent's shell.
#![expect(clippy::unwrap_used, reason = "test helpers may fail the test")]

mod acp;
mod acp_peer;
mod agent_shell;
mod approvals;
mod ask;
mod commands;
mod connect;
mod direct_answers;
mod elsewhere;
mod files;
mod gate;
mod hook;
mod hostile;
mod https;
mod inbox;
mod install;
mod json;
mod lifecycle;
mod logs;
mod mcp;
mod notify;
mod phone;
mod policy;
mod processes;
mod prompt;
#[cfg(target_os = "linux")]
mod service;
#[cfg(target_os = "linux")]
mod supervisor_socket;
mod support;
mod tmux;
mod tokens;
mod tunnel;
mod workflow;
