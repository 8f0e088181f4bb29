//! Mutated lines of Claude Code.

use sayso_agents::claude::ClaudeTranslator;

use super::recording::all;
use crate::common::session;
use crate::mutation::Subject;

#[test]
fn mutated_lines_do_no_harm() {
    let recorded = all().into_values().flatten().filter(|entry| entry.dir == "out");
    let subject = Subject {
        seed: 0x5a75_0c1a_0de5,
        lines: recorded.map(|entry| entry.text).collect(),
        fresh: || ClaudeTranslator::attached(session()),
        restore: ClaudeTranslator::restore,
        most: 160 * 1024,
        choices: &["suggestion-0", "suggestion-1", "suggestion-2", "suggestion-3"],
        ends: &['\n', '\r', '\u{2028}', '\u{2029}'],
    };
    subject.is_not_harmed();
}
