//! Patterns for texts: a part of a question, or a name with wildcards.

use regex::{Regex, RegexBuilder};

/// The largest compiled expression in bytes. Files of projects are untrusted, and this also limits the matching time.
const REGEX_LIMIT: usize = 128 * 1024;

/// A part of a text, ignoring case, or a `/regex/`.
#[derive(Debug, Clone)]
pub(super) enum TextPattern {
    /// A part of the text. Compiled to an expression, which is the fastest search.
    Part(Regex),
    /// A regular expression, which is matched in linear time.
    Regex(Regex),
}

impl TextPattern {
    pub(super) fn compile(written: &str) -> Result<Self, String> {
        let written = written.trim();
        if let Some(expression) =
            written.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|inner| !inner.is_empty())
        {
            return RegexBuilder::new(expression)
                .size_limit(REGEX_LIMIT)
                .dfa_size_limit(REGEX_LIMIT * 8)
                .nest_limit(50)
                .build()
                .map(Self::Regex)
                .map_err(|error| match error {
                    regex::Error::CompiledTooBig(_) => "the expression is too large: write a simpler one".to_owned(),
                    other => format!("not a regular expression: {}", other.to_string().lines().last().unwrap_or_default().trim()),
                });
        }
        if written.is_empty() {
            return Err("an empty text matches everything: write a part of the text, or \"/./\" for any".to_owned());
        }
        Regex::new(&regex::escape(&written.to_lowercase()))
            .map(Self::Part)
            .map_err(|_| "the text is too long: write a part of it".to_owned())
    }

    pub(super) fn fits(&self, text: &Haystack<'_>) -> bool {
        match self {
            Self::Part(part) => part.is_match(&text.lowered),
            Self::Regex(regex) => regex.is_match(text.text),
        }
    }
}

/// A text for many patterns, converted to lower case once.
#[derive(Debug)]
pub(super) struct Haystack<'a> {
    text: &'a str,
    lowered: String,
}

impl<'a> Haystack<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, lowered: text.to_lowercase() }
    }
}

/// Whether a text matches a pattern in which `*` means any text and `?` one character.
pub(super) fn matches_wildcard(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // The position for the next attempt after a mismatch: after the last star, one character later in the text.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                p += 1;
                retry = Some((p, t));
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            Some(_) | None => match retry {
                Some((after_star, from)) => {
                    (p, t) = (after_star, from + 1);
                    retry = Some((p, t));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Like [`matches_wildcard`], but ignores case.
pub(super) fn matches_wildcard_ignoring_case(pattern: &str, text: &str) -> bool {
    matches_wildcard(&pattern.to_lowercase(), &text.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_ignores_case_and_slashes_mark_a_regex() {
        let fits = |pattern: &str, text: &str| TextPattern::compile(pattern).map(|pattern| pattern.fits(&Haystack::of(text)));
        assert_eq!(fits("DataBase", "Which database?"), Ok(true));
        assert_eq!(fits("database", "Which table?"), Ok(false));
        assert_eq!(fits("/^Which (db|database)\\?$/", "Which database?"), Ok(true));
        assert_eq!(fits("/^which/", "Which database?"), Ok(false));
        assert_eq!(fits("/", "a/b"), Ok(true), "a lone slash is a part, not an expression");
        assert!(fits("/(/", "").is_err());
        assert!(fits("/(a{1000}){1000}/", "").is_err());
        assert!(fits("  ", "").is_err());
    }

    #[test]
    fn wildcards_match_any_text_or_one_character() {
        for (pattern, text) in [("*", ""), ("a*c", "abbc"), ("a?c", "abc"), ("*b*", "abc"), ("ü*", "übel"), ("a**", "a")] {
            assert!(matches_wildcard(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("", "a"), ("a", ""), ("a?", "a"), ("a*c", "abcd"), ("A", "a")] {
            assert!(!matches_wildcard(pattern, text), "{pattern} {text}");
        }
        assert!(matches_wildcard_ignoring_case("BASH", "bash"));
    }
}
