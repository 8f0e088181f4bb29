//! How a rule names texts: a part of a question, or a name with wildcards.

use regex::{Regex, RegexBuilder};

/// Bytes of a compiled expression. A project's file is untrusted: this bounds its time as well.
const REGEX_LIMIT: usize = 128 * 1024;

/// A part of a text ignoring case, or a `/regex/`.
#[derive(Debug, Clone)]
pub(super) enum TextPattern {
    /// A part, in lower case; kept as an expression because that searches fastest.
    Part(Regex),
    /// A regular expression; it runs in time linear in the text.
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
            return Err("an empty text fits everything: write a part of the text, or \"/./\" for any".to_owned());
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

/// A text that many patterns look at; put into lower case once.
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

/// Whether a text fits a pattern in which `*` stands for anything and `?` for one character.
pub(super) fn wildcard(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where to go on after a mismatch: behind the last star, one character further in the text.
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

/// The same, ignoring case.
pub(super) fn wildcard_ignoring_case(pattern: &str, text: &str) -> bool {
    wildcard(&pattern.to_lowercase(), &text.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ignores_case_and_a_regex_is_a_regex() {
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
    fn wildcards() {
        for (pattern, text) in [("*", ""), ("a*c", "abbc"), ("a?c", "abc"), ("*b*", "abc"), ("ü*", "übel"), ("a**", "a")] {
            assert!(wildcard(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("", "a"), ("a", ""), ("a?", "a"), ("a*c", "abcd"), ("A", "a")] {
            assert!(!wildcard(pattern, text), "{pattern} {text}");
        }
        assert!(wildcard_ignoring_case("BASH", "bash"));
    }
}
