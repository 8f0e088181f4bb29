//! A text field. Pure.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation as _;

/// Limit for typed or pasted text, in bytes. The server has lower limits in most places and reports them.
const MOST: usize = 64 * 1024;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Field {
    text: String,
    /// Byte position of the cursor, on a grapheme cluster boundary.
    at: usize,
}

impl Field {
    /// Creates a field with this text and the cursor at its end.
    pub(crate) fn with(text: &str) -> Self {
        Self { text: text.to_owned(), at: text.len() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text before and after the cursor.
    pub(crate) fn around(&self) -> (&str, &str) {
        self.text.split_at_checked(self.at).unwrap_or((&self.text, ""))
    }

    /// Inserts text at the cursor. Removes control characters other than newlines and tabs: people do not type them, and
    /// pasted text must not pass them to an agent.
    pub(crate) fn insert(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let clean: String =
            text.chars().filter(|character| !character.is_control() || matches!(character, '\n' | '\t')).collect();
        if self.text.len() + clean.len() > MOST {
            return;
        }
        let (before, behind) = self.around();
        let at = before.len() + clean.len();
        self.text = format!("{before}{clean}{behind}");
        self.at = at;
    }

    /// Handles an editing key. Returns false if the key has no meaning here.
    pub(crate) fn key(&mut self, key: KeyEvent) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Enter if alt => self.insert("\n"),
            KeyCode::Char('j') if control => self.insert("\n"),
            KeyCode::Char('a') if control => self.at = 0,
            KeyCode::Char('e') if control => self.at = self.text.len(),
            KeyCode::Char('u') if control => self.cut_back(0),
            KeyCode::Char('w') if control => self.cut_back(self.word()),
            KeyCode::Char('h') if control => self.cut_back(self.before()),
            KeyCode::Char(_) if control || alt => return false,
            KeyCode::Char(character) => self.insert(character.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace => self.cut_back(self.before()),
            KeyCode::Delete => {
                let back = self.at;
                self.at = self.behind();
                self.cut_back(back);
            }
            KeyCode::Left => self.at = self.before(),
            KeyCode::Right => self.at = self.behind(),
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = self.text.len(),
            _ => return false,
        }
        true
    }

    /// Removes the text between this position and the cursor.
    fn cut_back(&mut self, from: usize) {
        let (before, behind) = self.around();
        let kept = before.get(..from).unwrap_or(before);
        let at = kept.len();
        self.text = format!("{kept}{behind}");
        self.at = at;
    }

    /// Returns the start of the grapheme cluster before the cursor.
    fn before(&self) -> usize {
        self.around().0.grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    /// Returns the end of the grapheme cluster after the cursor.
    fn behind(&self) -> usize {
        self.at + self.around().1.graphemes(true).next().map_or(0, str::len)
    }

    /// Returns the start of the word before the cursor.
    fn word(&self) -> usize {
        let before = self.around().0.trim_end();
        before.rfind(char::is_whitespace).map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[KeyEvent]) -> Field {
        let mut field = Field::with("naïve words");
        for key in keys {
            assert!(field.key(*key), "{key:?}");
        }
        field
    }

    fn plain(code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, KeyModifiers::NONE)
    }

    fn control(character: char) -> KeyEvent {
        KeyEvent::new(KeyCode::Char(character), KeyModifiers::CONTROL)
    }

    #[test]
    fn keys_edit_the_text() {
        let end = plain(KeyCode::End);
        for (keys, text) in [
            (vec![plain(KeyCode::Char('!'))], "naïve words!"),
            (vec![plain(KeyCode::Backspace)], "naïve word"),
            (vec![control('h')], "naïve word"),
            (vec![control('w')], "naïve "),
            (vec![control('w'), control('w')], ""),
            (vec![control('u')], ""),
            (vec![control('a'), plain(KeyCode::Delete)], "aïve words"),
            (vec![plain(KeyCode::Home), plain(KeyCode::Right), plain(KeyCode::Right), plain(KeyCode::Delete)], "nave words"),
            (vec![plain(KeyCode::Left), plain(KeyCode::Char('?')), end, plain(KeyCode::Char('.'))], "naïve word?s."),
            (vec![control('j'), plain(KeyCode::Char('x'))], "naïve words\nx"),
            (vec![KeyEvent::new(KeyCode::Enter, KeyModifiers::ALT)], "naïve words\n"),
            (vec![control('a'), plain(KeyCode::Left), plain(KeyCode::Backspace), control('e')], "naïve words"),
        ] {
            assert_eq!(typed(&keys).text(), text, "{keys:?}");
        }
        assert!(!Field::default().key(plain(KeyCode::Enter)) && !Field::default().key(control('x')));
    }

    #[test]
    fn cursor_and_backspace_step_by_grapheme_cluster() {
        for cluster in ["👍🏽", "👩‍👩‍👧", "e\u{301}", "🇩🇪"] {
            let mut field = Field::with(&format!("a{cluster}b"));
            field.key(plain(KeyCode::Left));
            field.key(plain(KeyCode::Backspace));
            assert_eq!(field.text(), "ab", "{cluster}");
            let mut field = Field::with(&format!("a{cluster}"));
            field.key(plain(KeyCode::Left));
            field.key(plain(KeyCode::Delete));
            assert_eq!(field.text(), "a", "{cluster}");
        }
    }

    #[test]
    fn control_characters_are_removed_from_pasted_text() {
        let mut field = Field::default();
        field.insert("a\u{1b}[2J\r\nb\tc\rd\u{9b}");
        assert_eq!(field.text(), "a[2J\nb\tc\nd");
        field.insert(&"x".repeat(MOST));
        assert_eq!(field.text(), "a[2J\nb\tc\nd", "text over the limit is refused");
    }
}
