//! Text in pieces, broken into lines. Pure.

use ratatui_core::buffer::Buffer;
use ratatui_core::style::{Color, Modifier, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

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
    /// Anywhere: the text is verbatim, and its spaces count.
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
        let (head, _) = rest.split_at(end);
        // A space right behind the end is where a word ends, too.
        let at_space = match how {
            Break::Words if rest[end..].starts_with(' ') => Some(end),
            Break::Words => head.rfind(' ').filter(|at| !head[..*at].trim().is_empty()),
            Break::Anywhere => None,
        };
        let (kept, next) = match at_space {
            Some(at) => (rest[..at].trim_end(), rest[at..].trim_start_matches(' ')),
            None => rest.split_at(end),
        };
        lines.push(format!("{}{kept}", " ".repeat(indent)));
        rest = next;
        if rest.is_empty() {
            return lines;
        }
    }
}

/// How many bytes of a text stand in this many columns; at least one character.
fn fits(text: &str, columns: usize) -> usize {
    let mut used = 0;
    for (at, character) in text.char_indices() {
        // A variation selector may make the character before it wide.
        used += if character == '\u{fe0f}' { 1 } else { character.width().unwrap_or(0) };
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
        let lines = wrap(command, 20, 4, Break::Anywhere);
        assert_eq!(lines, ["cargo test   --works", "    pace --all-featu", "    res"]);
        let joined: String = lines.iter().enumerate().map(|(at, line)| if at == 0 { line } else { &line[4..] }).collect();
        assert_eq!(joined, command);
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
