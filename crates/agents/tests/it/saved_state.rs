//! Saved states of version 0.1.0. Agents survive upgrades of the server, so a translator has to read the states that
//! earlier versions wrote, and write the same bytes.
//!
//! Version 0.1.0 wrote the files while it ran the tests of this crate. Each line is one state; together they contain
//! every field and variant that occurred in the tests. States of closing processes were added by hand. If the format of
//! a state has to change, increase its version number and keep the lines here: they show how older states are handled.

use sayso_agents::acp::AcpTranslator;
use sayso_agents::chat::{ChatTranslator, Endpoint};
use sayso_agents::claude::ClaudeTranslator;
use sayso_agents::codex::{AttachedCodex, CodexTranslator};
use sayso_agents::mock::MockTranslator;
use sayso_agents::opencode::{AttachedOpenCode, OpenCodeTranslator};
use sayso_agents::translator::{Saved, Translator};

/// Restores each line, and asserts that saving it again produces the same bytes.
#[track_caller]
fn assert_unchanged<T: Translator>(lines: &str, restore: impl Fn(&Saved) -> Option<T>) {
    assert!(!lines.is_empty());
    for line in lines.lines() {
        let saved: Saved = serde_json::from_str(line).unwrap();
        let again = restore(&saved).unwrap_or_else(|| panic!("not restored: {line}")).save();
        assert_eq!(serde_json::to_string(&again).unwrap(), line);
    }
}

#[test]
fn claude_states_of_the_first_version_are_unchanged() {
    assert_unchanged(include_str!("../fixtures/saved/claude.jsonl"), ClaudeTranslator::restore);
}

#[test]
fn acp_states_of_the_first_version_are_unchanged() {
    assert_unchanged(include_str!("../fixtures/saved/acp.jsonl"), AcpTranslator::restore);
}

#[test]
fn codex_states_of_the_first_version_are_unchanged() {
    assert_unchanged(include_str!("../fixtures/saved/codex.jsonl"), CodexTranslator::restore);
    assert_unchanged(include_str!("../fixtures/saved/codex_attached.jsonl"), AttachedCodex::restore);
}

#[test]
fn opencode_states_of_the_first_version_are_unchanged() {
    assert_unchanged(include_str!("../fixtures/saved/opencode.jsonl"), OpenCodeTranslator::restore);
    assert_unchanged(include_str!("../fixtures/saved/opencode_attached.jsonl"), AttachedOpenCode::restore);
}

#[test]
fn states_without_a_process_of_the_first_version_are_unchanged() {
    assert_unchanged(include_str!("../fixtures/saved/mock.jsonl"), MockTranslator::restore);
    let restore = |saved: &Saved| ChatTranslator::restore(Endpoint::default(), saved);
    assert_unchanged(include_str!("../fixtures/saved/chat.jsonl"), restore);
}
