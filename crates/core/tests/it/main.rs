//! Tests of the public interface of the core.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod ask_digest;
mod asks;
mod policy_commands;
mod policy_computed;
mod policy_config;
mod policy_config_programs;
mod policy_edit;
mod policy_hits;
mod policy_hosts;
mod policy_options;
mod policy_paths;
mod policy_properties;
mod policy_questions;
mod policy_scopes;
mod policy_speed;
mod policy_text;
#[cfg(target_os = "linux")]
mod shell_fuzz;
mod support;
mod text_codes;
mod workflows;
