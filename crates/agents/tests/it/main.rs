//! Tests of the translators, driven as the server drives them.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a failed test")]

mod acp;
mod chat;
mod claude;
mod codex;
mod common;
mod mock;
mod mock_properties;
mod mutation;
mod opencode;
mod player;
mod saved_state;
