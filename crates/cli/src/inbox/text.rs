//! Styled text and line wrapping. Pure.

use ratatui_core::buffer::Buffer;
use ratatui_core::style::{Color, Modifier, Style};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr;

use crate::output::Look;
use crate::sanitize;

/// The meaning of a piece of text. Color is used for states only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Bold,
    Dim,
    /// The ask needs the person.
    Waiting,
    Good,
    Bad,
    Parked,
    /// Being sent, or highlighted.
    Sending,
}

impl Tone {
    /// Returns the style. Without colors, signs and words carry all meaning.
    pub(super) fn style(self, look: &Look) -> Style {
        let coloured = |colour: Color| if look.colour { Style::new().fg(colour) } else { Style::new() };
        match self {
            Self::Plain => Style::new(),
            Self::Bold => Style::new().add_modifier(Modifier::BOLD),
            Self::Dim if look.colour => Style::new().fg(Color::DarkGray),
            Self::Dim => Style::new(),
            Self::Waiting => coloured(Color::Yellow),
            Self::Good => coloured(Color::Green),
            Self::Bad => coloured(Color::Red),
            Self::Parked => coloured(Color::Magenta),
            Self::Sending => coloured(Color::Blue),
        }
    }
}

/// A line of styled pieces.
pub(super) type Pieces = Vec<(Tone, String)>;

/// Where lines may break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Break {
    /// Between words, if possible.
    Words,
    /// After spaces, all of which are kept because the text is verbatim. Only a token longer than the line is split.
    Tokens,
    /// Anywhere. The wrapped lines of a prefix are then a prefix of the wrapped lines.
    Anywhere,
}

/// Wraps text at this width and indents wrapped lines by `hanging` columns. No text is dropped.
pub(super) fn wrap(text: &str, columns: usize, hanging: usize, how: Break) -> Vec<String> {
    let columns = columns.max(2);
    let hanging = if hanging + 8 > columns { 0 } else { hanging };
    text.split('\n').flat_map(|line| wrap_line(line, columns, hanging, how)).collect()
}

fn wrap_line(line: &str, columns: usize, hanging: usize, how: Break) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = line;
    loop {
        let indent = if lines.is_empty() { 0 } else { hanging };
        let end = fits(rest, columns - indent);
        if end == rest.len() {
            lines.push(format!("{}{rest}", " ".repeat(indent)));
            return lines;
        }
        let head = &rest[..end];
        // The last space after a word.
        let last_space = head.rfind(' ').filter(|at| !head[..*at].trim().is_empty());
        // A space right after the limit also ends a word.
        let at_word_end = rest[end..].starts_with(' ');
        let (kept, next) = match (how, last_space) {
            (Break::Words, _) if at_word_end => (head.trim_end(), rest[end..].trim_start_matches(' ')),
            (Break::Words, Some(at)) => (head[..at].trim_end(), rest[at..].trim_start_matches(' ')),
            // The space falls on the column after the last one, where nothing is drawn.
            (Break::Tokens, _) if at_word_end => rest.split_at(end + 1),
            (Break::Tokens, Some(at)) => rest.split_at(at + 1),
            (Break::Words | Break::Tokens, None) | (Break::Anywhere, _) => rest.split_at(end),
        };
        lines.push(format!("{}{kept}", " ".repeat(indent)));
        rest = next;
        if rest.is_empty() {
            return lines;
        }
    }
}

/// Returns how many bytes fit into this many columns; at least one grapheme cluster.
fn fits(text: &str, columns: usize) -> usize {
    let mut used = 0;
    for (at, cluster) in text.grapheme_indices(true) {
        used += cluster.width();
        if used > columns && at > 0 {
            return at;
        }
    }
    text.len()
}

/// Writes a line and returns the column after it. All text passes through this function on its way to the terminal, so
/// all text is sanitized here.
pub(super) fn write(buffer: &mut Buffer, (x, y): (u16, u16), columns: u16, pieces: &[(Tone, String)], look: &Look) -> u16 {
    let end = x.saturating_add(columns).min(buffer.area.right());
    let mut at = x;
    for (tone, text) in pieces {
        if at >= end || y >= buffer.area.bottom() {
            break;
        }
        let clean = sanitize::line(text);
        (at, _) = buffer.set_stringn(at, y, clean, usize::from(end - at), tone.style(look));
    }
    at
}

/// Returns the width of the pieces in columns.
pub(super) fn width(pieces: &[(Tone, String)]) -> usize {
    pieces.iter().map(|(_, text)| text.width()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 7, 0, Break::Words), ["one two", "three"]);
        assert_eq!(wrap("one two three", 9, 0, Break::Words), ["one two", "three"]);
        assert_eq!(wrap("a\n\nb", 9, 0, Break::Words), ["a", "", "b"]);
        assert_eq!(wrap("abcdefghij", 4, 0, Break::Words), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("日本語", 4, 0, Break::Words), ["日本", "語"]);
        assert_eq!(wrap("", 4, 0, Break::Words), [""]);
    }

    #[test]
    fn verbatim_text_keeps_its_spaces() {
        let command = "cargo test   --workspace --all-features";
        let joined = |lines: &[String]| -> String {
            lines.iter().enumerate().map(|(at, line)| if at == 0 { line } else { &line[4..] }).collect()
        };
        let lines = wrap(command, 20, 4, Break::Anywhere);
        assert_eq!(lines, ["cargo test   --works", "    pace --all-featu", "    res"]);
        assert_eq!(joined(&lines), command);
        let lines = wrap(command, 20, 4, Break::Tokens);
        assert_eq!(lines, ["cargo test   ", "    --workspace ", "    --all-features"]);
        assert_eq!(joined(&lines), command);
    }

    #[test]
    fn only_overlong_tokens_are_split() {
        for (text, lines) in [
            ("ab cd", vec!["ab ", "cd"]),
            ("--work-space now", vec!["--wo", "rk-s", "pace ", "now"]),
            ("a    b", vec!["a    ", "b"]),
            ("", vec![""]),
        ] {
            assert_eq!(wrap(text, 4, 0, Break::Tokens), lines, "{text}");
        }
    }

    #[test]
    fn wrapped_lines_fit_their_columns() {
        for text in ["a b c d e f g", "⚠\u{fe0f}⚠\u{fe0f}⚠\u{fe0f}", "e\u{301}e\u{301}e\u{301}", "👍🏽👍🏽", "x"] {
            for columns in 2..9 {
                let lines = wrap(text, columns, 0, Break::Anywhere);
                assert!(lines.iter().all(|line| line.width() <= columns), "{text} in {columns}: {lines:?}");
                assert_eq!(lines.concat(), text);
            }
        }
    }
}
