//! Lists of options in the tables of programs, such as `-n= --max-count= -i`. `=` marks an option with a value.

/// Options separated by blanks. `-#` means a number such as `-5`.
#[derive(Debug, Clone, Copy)]
pub(super) struct OptionList {
    pub(super) options: &'static str,
    /// More options, for lists that share a part.
    pub(super) more: &'static str,
    /// Whether options with one dash are names, as in `find -name`, and not letters.
    pub(super) dash_words: bool,
}

/// The result of reading a word with a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionReading<'a> {
    /// A part of the word is not in the list.
    Unknown,
    /// All options are in the list. Contains the value that is attached to the last one.
    Complete(Option<&'a str>),
    /// The option is in the list, and its value is the next word.
    WantsValue,
}

impl OptionList {
    pub(super) const fn letters(options: &'static str) -> Self {
        Self { options, more: "", dash_words: false }
    }

    pub(super) const fn dash_words(options: &'static str) -> Self {
        Self { options, more: "", dash_words: true }
    }

    /// Returns the options in the list, with their marks.
    pub(super) fn entries(self) -> impl Iterator<Item = &'static str> {
        self.options.split_ascii_whitespace().chain(self.more.split_ascii_whitespace())
    }

    /// Reads a word that starts with a dash. Abbreviated names are not accepted.
    pub(super) fn read(self, word: &str) -> OptionReading<'_> {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        if self.dash_words {
            let name = name.strip_prefix('-').filter(|rest| rest.starts_with('-')).unwrap_or(name);
            let is_number = name[1..].starts_with(|c: char| c.is_ascii_digit()) && self.takes_value("-#").is_some();
            return if is_number { OptionReading::Complete(value) } else { self.reading(name, value) };
        }
        if name.starts_with("--") {
            return self.reading(name, value);
        }
        self.read_letters(word.trim_start_matches('-'))
    }

    fn reading<'a>(self, name: &str, value: Option<&'a str>) -> OptionReading<'a> {
        match self.takes_value(name) {
            None => OptionReading::Unknown,
            Some(true) if value.is_none() => OptionReading::WantsValue,
            Some(_) => OptionReading::Complete(value),
        }
    }

    /// Reads letters that share one dash. The first one with a value takes the rest of the word.
    fn read_letters(self, letters: &str) -> OptionReading<'_> {
        if letters.is_empty() {
            return OptionReading::Unknown;
        }
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            if letter.is_ascii_digit() && self.takes_value("-#").is_some() {
                rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                continue;
            }
            rest = &rest[letter.len_utf8()..];
            match self.takes_value(&format!("-{letter}")) {
                None => return OptionReading::Unknown,
                Some(true) if rest.is_empty() => return OptionReading::WantsValue,
                Some(true) => return OptionReading::Complete(Some(rest)),
                Some(false) => {}
            }
        }
        OptionReading::Complete(None)
    }

    fn takes_value(self, name: &str) -> Option<bool> {
        self.entries().find_map(|option| match option.strip_prefix(name) {
            Some("") => Some(false),
            Some("=") => Some(true),
            Some(_) | None => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_by_letters_and_by_full_names() {
        use OptionReading::{Complete, Unknown, WantsValue};
        let list = OptionList::letters("-a -n= -# --all --name=");
        for (word, reading) in [
            ("-a", Complete(None)),
            ("-aa", Complete(None)),
            ("-n", WantsValue),
            ("-an", WantsValue),
            ("-n5", Complete(Some("5"))),
            ("-an=x", Complete(Some("=x"))),
            ("-12", Complete(None)),
            ("-12a", Complete(None)),
            ("-x", Unknown),
            ("-ax", Unknown),
            ("-", Unknown),
            ("--all", Complete(None)),
            ("--all=x", Complete(Some("x"))),
            ("--name", WantsValue),
            ("--name=x", Complete(Some("x"))),
            ("--nam", Unknown),
            ("--names", Unknown),
            ("--a", Unknown),
        ] {
            assert_eq!(list.read(word), reading, "{word}");
        }
        let words = OptionList::dash_words("-name= -print -#");
        for (word, reading) in [
            ("-name", WantsValue),
            ("--name", WantsValue),
            ("-name=x", Complete(Some("x"))),
            ("-print", Complete(None)),
            ("-p", Unknown),
            ("-5", Complete(None)),
            ("-5k", Complete(None)),
            ("-", Unknown),
            ("-nameprint", Unknown),
        ] {
            assert_eq!(words.read(word), reading, "{word}");
        }
    }
}
