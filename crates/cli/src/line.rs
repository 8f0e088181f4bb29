//! The input line of a prompt. Pure: takes bytes of the terminal and returns what to write.
//!
//! The terminal could edit the line itself. But then this program would not know the text that was typed so far, and could not
//! print above the prompt without hiding that.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr;

/// Limit for the typed text, in bytes. The server has lower limits in most places and reports them.
const MOST: usize = 64 * 1024;

/// Whether typed text is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Echo {
    #[default]
    Shown,
    Hidden,
}

/// The effect of one byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Edited {
    /// The line continues; write this text.
    On(String),
    /// The line is complete.
    Line(String),
    End,
}

/// Parser state for escape sequences. Keys such as arrows have no effect here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Sequence {
    #[default]
    None,
    Escape,
    Parameters,
}

/// A prompt and the text that was typed after it.
#[derive(Debug, Default)]
pub(crate) struct Line {
    prompt: String,
    text: String,
    echo: Echo,
    /// True if the prompt is on the screen, so that it must be erased before other output.
    is_shown: bool,
    sequence: Sequence,
    /// Bytes of an incomplete UTF-8 character.
    bytes: Vec<u8>,
}

impl Line {
    /// Opens the prompt if it is closed, and returns what to write. Text that was typed before is kept and shown.
    pub(crate) fn open(&mut self, prompt: &str, echo: Echo) -> String {
        if self.is_shown {
            return String::new();
        }
        (self.prompt, self.echo, self.is_shown) = (prompt.to_owned(), echo, true);
        self.draw()
    }

    /// Closes the prompt, which stays on the screen. Returns false if it was not open.
    pub(crate) fn close(&mut self) -> bool {
        std::mem::take(&mut self.is_shown)
    }

    /// Discards the typed text.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.bytes.clear();
        self.sequence = Sequence::None;
    }

    /// Returns what to write to print a text above the prompt.
    pub(crate) fn above(&self, text: &str, columns: usize) -> String {
        if self.is_shown { format!("{}{text}\n{}", self.erase(columns), self.draw()) } else { format!("{text}\n") }
    }

    /// Changes the text of the prompt and returns what to write; empty if the text is the same.
    pub(crate) fn reword(&mut self, prompt: &str, columns: usize) -> String {
        if !self.is_shown || self.prompt == prompt {
            return String::new();
        }
        let erase = self.erase(columns);
        self.prompt = prompt.to_owned();
        format!("{erase}{}", self.draw())
    }

    fn draw(&self) -> String {
        match self.echo {
            Echo::Shown => format!("{}{}", self.prompt, self.text),
            Echo::Hidden => self.prompt.clone(),
        }
    }

    /// Returns the control sequence that clears the screen from the start of the prompt.
    fn erase(&self, columns: usize) -> String {
        match self.draw().width().saturating_sub(1) / columns.max(1) {
            0 => "\r\u{1b}[J".to_owned(),
            rows => format!("\r\u{1b}[{rows}A\u{1b}[J"),
        }
    }

    /// Handles one byte from the terminal.
    pub(crate) fn byte(&mut self, byte: u8, columns: usize) -> Edited {
        match (self.sequence, byte) {
            (Sequence::Escape, b'[' | b'O') => self.sequence = Sequence::Parameters,
            (Sequence::Escape, _) | (Sequence::Parameters, 0x40..=0x7e) => self.sequence = Sequence::None,
            (Sequence::Parameters, _) => {}
            (Sequence::None, 0x1b) => self.sequence = Sequence::Escape,
            (Sequence::None, b'\r' | b'\n') => {
                self.bytes.clear();
                return Edited::Line(std::mem::take(&mut self.text));
            }
            (Sequence::None, 0x04) if self.text.is_empty() => return Edited::End,
            (Sequence::None, 0x08 | 0x7f) => {
                return self.shorten(columns, |text| text.grapheme_indices(true).next_back().map_or(0, |(at, _)| at));
            }
            (Sequence::None, 0x15) => return self.shorten(columns, |_| 0),
            (Sequence::None, 0x17) => return self.shorten(columns, last_word),
            (Sequence::None, b'\t') => return self.insert(" "),
            (Sequence::None, 0x00..=0x1f) => {}
            (Sequence::None, _) => return self.part(byte),
        }
        Edited::On(String::new())
    }

    /// Handles one byte of a UTF-8 character.
    fn part(&mut self, byte: u8) -> Edited {
        self.bytes.push(byte);
        let bytes = std::mem::take(&mut self.bytes);
        match std::str::from_utf8(&bytes) {
            Ok(character) => self.insert(character),
            Err(error) if error.error_len().is_none() => {
                self.bytes = bytes;
                Edited::On(String::new())
            }
            // Invalid UTF-8 is dropped.
            Err(_) => Edited::On(String::new()),
        }
    }

    fn insert(&mut self, character: &str) -> Edited {
        if self.text.len() + character.len() > MOST || character.chars().any(char::is_control) {
            return Edited::On(String::new());
        }
        self.text.push_str(character);
        let shown = self.is_shown && self.echo == Echo::Shown;
        Edited::On(if shown { character.to_owned() } else { String::new() })
    }

    /// Truncates the typed text at the position that `from` returns.
    fn shorten(&mut self, columns: usize, from: impl Fn(&str) -> usize) -> Edited {
        let erase = self.erase(columns);
        let at = from(&self.text);
        let unchanged = at == self.text.len();
        self.text.truncate(at);
        let silent = unchanged || !self.is_shown || self.echo == Echo::Hidden;
        Edited::On(if silent { String::new() } else { format!("{erase}{}", self.draw()) })
    }
}

/// Returns the start of the last word.
fn last_word(text: &str) -> usize {
    let text = text.trim_end();
    text.rfind(char::is_whitespace).map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(bytes: &[u8]) -> Line {
        let mut line = Line::default();
        line.open("> ", Echo::Shown);
        for byte in bytes {
            assert!(matches!(line.byte(*byte, 80), Edited::On(_)), "{byte}");
        }
        line
    }

    #[test]
    fn bytes_become_characters_and_editing_keys() {
        for (bytes, text) in [
            (&b"abc"[..], "abc"),
            ("naïve 日本".as_bytes(), "naïve 日本"),
            ("a👍🏽\u{7f}".as_bytes(), "a"),
            ("ae\u{301}\u{8}".as_bytes(), "a"),
            (b"one two\x17", "one "),
            (b"one two\x15x", "x"),
            (b"a\x1b[Db\x1bOCc\x1b[3~d", "abcd"),
            (b"a\xff\xfeb", "ab"),
            (b"a\tb\x01", "a b"),
            (b"\x7f\x17", ""),
        ] {
            assert_eq!(typed(bytes).text, text, "{bytes:?}");
        }
        assert_eq!(typed(b"abc").byte(b'\r', 80), Edited::Line("abc".into()));
        assert_eq!(typed(b"").byte(4, 80), Edited::End);
        assert_eq!(typed(b"a").byte(4, 80), Edited::On(String::new()));
    }

    #[test]
    fn output_above_the_prompt_keeps_the_typed_text() {
        let mut line = typed(b"ab");
        assert_eq!(line.above("trace", 80), "\r\u{1b}[Jtrace\n> ab");
        assert_eq!(line.above("trace", 3), "\r\u{1b}[1A\u{1b}[Jtrace\n> ab", "it took two rows");
        assert_eq!(line.reword("> ", 80), "");
        assert_eq!(line.reword("0:29 > ", 80), "\r\u{1b}[J0:29 > ab");
        line.close();
        assert_eq!(line.above("trace", 80), "trace\n");
        assert_eq!(line.reword("x", 80), "");
    }

    #[test]
    fn secret_is_neither_echoed_nor_drawn() {
        let mut line = Line::default();
        assert_eq!(line.open("Secret: ", Echo::Hidden), "Secret: ");
        for byte in *b"hush\x7f" {
            assert_eq!(line.byte(byte, 80), Edited::On(String::new()));
        }
        assert_eq!(line.above("trace", 80), "\r\u{1b}[Jtrace\nSecret: ");
        assert_eq!(line.byte(b'\n', 80), Edited::Line("hus".into()));
    }
}
