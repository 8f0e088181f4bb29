//! The end of Codex's process, in words for a person.

use crate::exit::Gone;
use crate::translator::Exit;

/// How it ended, and what to do where that is known.
pub(super) fn told(heard: bool, exit: &Exit) -> String {
    let told = Gone { who: "Codex", heard }.told(exit);
    match (exit.code, exit.signal) {
        (None, None) if !heard => format!("{told}. Is `codex` installed? `npm install -g @openai/codex` installs it"),
        _ => told,
    }
}
