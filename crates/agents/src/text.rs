//! Helpers for texts of agents and people.

use sayso_core::ask::Decision;
use sayso_core::{limits, texts};

/// Maximum length of a message or tool output in bytes. The agent's own transcript has the rest.
const TEXT: usize = 256 * 1024;

/// Truncates a long text and appends the number of omitted bytes.
pub(crate) fn bounded(text: String) -> String {
    let head = limits::head(&text, TEXT);
    if head.len() == text.len() {
        return text;
    }
    format!("{head}\n… ({} bytes more)", text.len() - head.len())
}

/// The first line, truncated to `most` characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default().trim_end();
    if line.len() == text.len() && line.chars().count() <= most {
        return line.to_owned();
    }
    line.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// The person's own words in a rejection; `None` if they are only the default text.
pub(crate) fn own_words(message: &str) -> Option<String> {
    const NO_WORDS: [&str; 3] = [texts::DENIED, texts::LINK_DENIED, texts::REJECTED];
    let message = message.trim();
    (!message.is_empty() && !NO_WORDS.contains(&message)).then(|| message.to_owned())
}

/// A message with a person's words about a request whose response had no field for them.
pub(crate) fn said_later(decision: &Decision, about: Option<&str>, words: &str) -> String {
    match (decision, about) {
        (Decision::Denied { .. }, Some(about)) => format!("I did not allow `{about}`: {words}"),
        (Decision::Denied { .. }, None) => format!("I did not allow it: {words}"),
        (Decision::Rejected { .. }, _) => format!("I did not answer: {words}"),
        (Decision::Answered { .. } | Decision::Approved { .. } | Decision::Withdrawn { .. }, _) => words.to_owned(),
    }
}

/// A short, stable fingerprint of a text (FNV-1a). It distinguishes requests with the same id. It does not protect
/// against an agent that provokes collisions; such an agent would not need to ask in the first place.
pub(crate) fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_rejection_text_is_not_own_words() {
        for text in [texts::DENIED, texts::LINK_DENIED, texts::REJECTED, "", " "] {
            assert_eq!(own_words(text), None, "{text}");
        }
        assert_eq!(own_words(" use pnpm "), Some("use pnpm".to_owned()));
    }

    #[test]
    fn truncated_text_counts_omitted_bytes() {
        assert_eq!(bounded("x".repeat(TEXT)).len(), TEXT);
        assert!(bounded("ä".repeat(TEXT)).ends_with(&format!("ä\n… ({TEXT} bytes more)")));
    }

    #[test]
    fn truncated_line_ends_with_ellipsis() {
        assert_eq!(one_line(" cargo test \n", 160), "cargo test");
        assert_eq!(one_line("cat <<A\nrm -rf /\nA", 160), "cat <<A…");
        assert_eq!(one_line("ääää", 4), "ääää");
        assert_eq!(one_line("äääää", 4), "äää…");
        assert_eq!(one_line("", 4), "");
    }
}
