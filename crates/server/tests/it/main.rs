//! The server, tested through real HTTP: its responses and the state afterwards.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a failed test")]

mod acp;
mod answer_links;
mod attached;
mod attached_codex;
mod auth;
mod channels;
mod chat;
mod compress;
mod configure;
#[cfg(target_os = "linux")]
mod disk;
mod edges;
mod events;
mod exact_approvals;
mod executed_files;
mod external;
mod gateway;
mod groups;
mod guard;
mod hang_up;
mod idempotency;
mod identity;
mod layers;
mod life;
mod mcp;
mod messages;
mod mock;
mod native;
mod notify;
mod outcomes;
mod plain_text;
mod policy;
mod policy_config;
mod policy_form;
mod question_rest;
mod quota;
mod races;
mod reach;
mod roles;
mod runs;
mod schemas;
mod scopes;
mod secrets;
#[cfg(target_os = "linux")]
mod ssrf;
mod stop;
mod stream;
mod transcript;
mod world;
