//! Mutated lines of Codex.

use sayso_agents::codex::CodexTranslator;

use super::recording::all;
use crate::common::session;
use crate::mutation::Subject;

#[test]
fn mutated_lines_do_no_harm() {
    let recorded = all().into_values().flatten().filter(|entry| entry.dir == "out");
    let subject = Subject {
        seed: 0x5a75_0c0d_e000,
        lines: recorded.map(|entry| entry.text).collect(),
        fresh: || CodexTranslator::attached(session()),
        restore: CodexTranslator::restore,
        most: 256 * 1024,
        choices: &["session", "rule", "host-0", "always"],
        ends: &['\n', '\r'],
    };
    subject.is_not_harmed();
}
