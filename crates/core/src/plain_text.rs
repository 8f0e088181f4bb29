//! Text that a database stores in a column of its own: ids, names and paths.
//!
//! PostgreSQL's `text` cannot hold U+0000. Content, such as questions and answers, is stored as JSON, which escapes the
//! character, and keeps it. Plain text with U+0000 is refused where it enters.

/// A plain text contains U+0000.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} contains the character U+0000; remove that character")]
pub struct ContainsNul {
    /// Names the text, in words.
    pub what: &'static str,
}

/// Checks one text.
///
/// # Errors
/// When `text` contains U+0000.
pub fn check(what: &'static str, text: &str) -> Result<(), ContainsNul> {
    if text.contains('\0') { Err(ContainsNul { what }) } else { Ok(()) }
}

/// The same for a text that may be missing.
///
/// # Errors
/// When `text` contains U+0000.
pub fn check_optional(what: &'static str, text: Option<&str>) -> Result<(), ContainsNul> {
    text.map_or(Ok(()), |text| check(what, text))
}

/// The text with U+FFFD instead of U+0000, for words of an agent that must be stored whatever they are.
#[must_use]
pub fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_names_the_text_and_the_next_step() {
        assert_eq!(check("the name", "a\nb"), Ok(()));
        assert_eq!(check_optional("the name", None), Ok(()));
        let refused = check_optional("the name", Some("a\0b")).unwrap_err();
        assert_eq!(refused.to_string(), "the name contains the character U+0000; remove that character");
        assert_eq!(without_nul("a\0b"), "a\u{fffd}b");
    }
}
