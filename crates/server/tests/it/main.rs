//! The server, driven through real HTTP: what a client is told, and what is left afterwards.

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
mod disk;
mod events;
mod external;
mod gateway;
mod guard;
mod hang_up;
mod idempotency;
mod layers;
mod life;
mod mcp;
mod messages;
mod mock;
mod native;
mod notify;
mod plain_text;
mod policy;
mod policy_form;
mod question_rest;
mod races;
mod reach;
mod roles;
mod runs;
mod scopes;
mod secrets;
mod ssrf;
mod stop;
mod stream;
mod transcript;
mod world;
