//! Text in pieces, broken into lines. Pure.

use ratatui_core::buffer::Buffer;
use ratatui_core::style::{Color, Modifier, Style};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr;

use crate::output::Look;
use crate::sanitize;

/// What a piece of text means. Colour carries state only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Bold,
    Dim,
    /// You are needed.
    Waiting,
    Good,
    Bad,
    Parked,
    /// On its way, or under the hand.
    Sending,
}

impl Tone {
    /// How it is drawn. Without colours everything is said by signs and words.
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

/// One line, in pieces.
pub(super) type Pieces = Vec<(Tone, String)>;

/// How lines are broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Break {
    /// Between words, where that is possible.
    Words,
    /// At spaces, which are all kept: the text is verbatim. Only a token longer than the line breaks inside.
    Tokens,
    /// Anywhere: the wrapped lines of a prefix are a prefix of the wrapped lines.
    Anywhere,
}

/// Text in this many columns. Further lines of a line begin `hanging` columns in. Nothing is left out.
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
        // The last space that has a word before it.
        let last_space = head.rfind(' ').filter(|at| !head[..*at].trim().is_empty());
        // A space right after the end is the end of a word, too.
        let at_word_end = rest[end..].starts_with(' ');
        let (kept, next) = match (how, last_space) {
            (Break::Words, _) if at_word_end => (head.trim_end(), rest[end..].trim_start_matches(' ')),
            (Break::Words, Some(at)) => (head[..at].trim_end(), rest[at..].trim_start_matches(' ')),
            // The space takes the column after the last one, where nothing is drawn.
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

/// How many bytes of a text fit into this many columns; at least one grapheme cluster.
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

/// Writes a line and gives the column behind it. Every text passes here on its way to the terminal, so
/// every text is cleaned here, whoever made it.
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

/// The columns that pieces take.
pub(super) fn width(pieces: &[(Tone, String)]) -> usize {
    pieces.iter().map(|(_, text)| text.width()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_whole_and_nothing_is_lost() {
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
    fn only_a_token_longer_than_the_line_breaks_inside() {
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
    fn a_line_fits_its_columns() {
        for text in ["a b c d e f g", "⚠\u{fe0f}⚠\u{fe0f}⚠\u{fe0f}", "e\u{301}e\u{301}e\u{301}", "👍🏽👍🏽", "x"] {
            for columns in 2..9 {
                let lines = wrap(text, columns, 0, Break::Anywhere);
                assert!(lines.iter().all(|line| line.width() <= columns), "{text} in {columns}: {lines:?}");
                assert_eq!(lines.concat(), text);
            }
        }
    }
}
