//! Text that the database stores in a column of its own: ids, names and paths.
//!
//! PostgreSQL's `text` type cannot store U+0000. Content such as questions and answers is stored as JSON, which escapes the
//! character. Plain text that contains U+0000 is refused when it arrives.

/// The error for plain text that contains U+0000.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} contains the character U+0000; remove that character")]
pub struct ContainsNul {
    /// The description of the text, for error messages.
    pub what: &'static str,
}

/// Checks one text.
///
/// # Errors
/// If `text` contains U+0000.
pub fn check(what: &'static str, text: &str) -> Result<(), ContainsNul> {
    if text.contains('\0') { Err(ContainsNul { what }) } else { Ok(()) }
}

/// Like [`check`], for an optional text.
///
/// # Errors
/// If `text` contains U+0000.
pub fn check_optional(what: &'static str, text: Option<&str>) -> Result<(), ContainsNul> {
    text.map_or(Ok(()), |text| check(what, text))
}

/// Replaces U+0000 with U+FFFD, for text of an agent that has to be stored regardless of its content.
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
