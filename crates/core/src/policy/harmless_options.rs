//! Decides whether the `*` of an `allow` rule can cover the words that it matches.
//!
//! A person who allows `git diff *` means "show me changes", not `--output=FILE`. For programs in the table, `*` covers only
//! options that start nothing, write no file and read no configuration. A pattern can contain other options literally.

use super::option_list::{OptionList, OptionReading};
use super::program_table::{Operands, PROGRAMS, ProgramRow};
use super::sed_script;
use super::words::Word;

/// The row for subcommands that are not in the table. It covers no option.
const UNKNOWN_SUBCOMMAND: ProgramRow = ProgramRow {
    program: "",
    subcommand: "",
    harmless: OptionList::letters(""),
    acting: OptionList::letters(""),
    operands: Operands::Any,
};

/// Whether wildcards can cover these words of a command. `is_open` says which words a wildcard matches; the others are literal
/// in the pattern.
pub(super) fn may_cover(command: &[Word], is_open: &dyn Fn(usize) -> bool) -> bool {
    let Some(program) = command.first().map(Word::program) else { return true };
    let name = canonical(&program);
    let row_of = |subcommand: &str| PROGRAMS.iter().find(|row| row.program == name && row.subcommand == subcommand);
    let Some(row) = row_of("") else { return true };
    let mut check = Check { row, is_open, ended: false, wants_value: false, operands: 0 };
    for (at, word) in command.iter().enumerate().skip(1) {
        match check.read_word(at, word) {
            Seen::Covered => {}
            Seen::Refused => return false,
            Seen::Subcommand => match row_of(&word.text) {
                Some(row) => check = Check { row, is_open, ended: false, wants_value: false, operands: 0 },
                None if is_open(at) => return false,
                None => check.row = &UNKNOWN_SUBCOMMAND,
            },
        }
    }
    true
}

/// Returns the name that the table uses for a program with several names.
fn canonical(program: &str) -> &str {
    match program {
        "gsed" => "sed",
        "gtar" | "bsdtar" => "tar",
        "gfind" => "find",
        "gmake" => "make",
        "gsort" => "sort",
        "guniq" => "uniq",
        "fdfind" => "fd",
        other => other,
    }
}

enum Seen {
    Covered,
    Refused,
    /// The word is the subcommand, whose row applies to the rest.
    Subcommand,
}

struct Check<'a> {
    row: &'a ProgramRow,
    is_open: &'a dyn Fn(usize) -> bool,
    /// Whether `--` ended the options.
    ended: bool,
    /// Whether this word is the value of the option before it.
    wants_value: bool,
    operands: usize,
}

impl Check<'_> {
    fn read_word(&mut self, at: usize, word: &Word) -> Seen {
        let text = word.text.as_str();
        let open = (self.is_open)(at);
        let value = std::mem::take(&mut self.wants_value);
        // The resulting words are unknown.
        if open && word.computed {
            return Seen::Refused;
        }
        // The shell may expand the word to the name of a file, which may look like an option.
        if open && !self.ended && word.active && text.starts_with(['-', '{', '[', '*', '?']) {
            return Seen::Refused;
        }
        let old_tar = self.row.program == "tar" && at == 1 && !text.starts_with('-');
        if !self.ended && (old_tar || (text.len() > 1 && text.starts_with('-'))) {
            return self.read_option_word(text, old_tar, open, value);
        }
        if value {
            return if open && !self.accepts(word) { Seen::Refused } else { Seen::Covered };
        }
        if self.row.operands == Operands::Subcommand && self.operands == 0 && self.row.subcommand.is_empty() {
            return if open && word.active { Seen::Refused } else { Seen::Subcommand };
        }
        self.operands += 1;
        if open && !self.accepts(word) { Seen::Refused } else { Seen::Covered }
    }

    fn read_option_word(&mut self, text: &str, old_tar: bool, open: bool, value: bool) -> Seen {
        let row = self.row;
        if row.ends_options(text) {
            match row.after_dashes() {
                Some(after) => self.row = after,
                // `--` as the value of an option does not end the options.
                None => self.ended = !value,
            }
            return Seen::Covered;
        }
        if old_tar {
            // In `tar xzf`, the values of all letters follow as words, so every letter is checked.
            let is_known = |letter: char| row.harmless.read(&format!("-{letter}")) != OptionReading::Unknown;
            return if open && !text.chars().all(is_known) { Seen::Refused } else { Seen::Covered };
        }
        let reading = match row.harmless.read(text) {
            OptionReading::Unknown if open => return Seen::Refused,
            OptionReading::Unknown => row.acting.read(text),
            known => known,
        };
        match reading {
            // The value of `sed -e` is the script, like the first operand.
            OptionReading::WantsValue
                if row.operands == Operands::SedScript && (text.ends_with('e') || text == "--expression") => {}
            OptionReading::WantsValue => self.wants_value = true,
            OptionReading::Complete(Some(value)) if open && !self.accepts_text(value) => return Seen::Refused,
            OptionReading::Complete(_) | OptionReading::Unknown => {}
        }
        Seen::Covered
    }

    fn accepts(&self, word: &Word) -> bool {
        match self.row.operands {
            Operands::SedScript => self.operands != 1 || (!word.active && sed_script::is_harmless(&word.text)),
            Operands::One => self.operands <= 1 && !word.active,
            Operands::Any | Operands::Subcommand => true,
            // Braces may expand to a word that is not covered.
            Operands::Without(_) | Operands::NotStarting(_) | Operands::NoneOf(_) => {
                !(word.active && word.text.contains('{')) && self.accepts_text(&word.text)
            }
        }
    }

    fn accepts_text(&self, text: &str) -> bool {
        match self.row.operands {
            Operands::Any | Operands::Subcommand | Operands::One | Operands::SedScript => true,
            Operands::Without(characters) => !text.contains(characters),
            Operands::NotStarting(characters) => !text.starts_with(characters),
            Operands::NoneOf(words) => !words.contains(&text),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::policy::run_pattern::RunPattern;

    fn allows(pattern: &str, command: &str) -> bool {
        let words: Vec<Word> = command.split(' ').map(Word::read).collect();
        RunPattern::compile(pattern).unwrap().matches_strictly(&words)
    }

    /// Returns the program with its subcommand, and the patterns whose `*` covers its options.
    fn command_and_patterns(row: &ProgramRow) -> (String, Vec<String>) {
        let command = format!("{} {}", row.program, row.subcommand).trim_end().to_owned();
        let patterns = [format!("{command} *"), format!("{} *", row.program), "*".to_owned()];
        (command, patterns.to_vec())
    }

    /// Returns a word that the row accepts as the value of an option.
    fn value(row: &ProgramRow) -> &'static str {
        if row.operands == Operands::SedScript { "p" } else { "1" }
    }

    fn name_of(option: &'static str) -> &'static str {
        option.trim_end_matches('=')
    }

    fn each_option(list: impl Fn(&ProgramRow) -> OptionList, mut check: impl FnMut(&ProgramRow, &str, bool)) {
        for row in PROGRAMS {
            for option in list(row).entries() {
                // `-#` means any number.
                let option = option.replace('#', "5");
                check(row, option.trim_end_matches('='), option.ends_with('='));
            }
        }
    }

    #[test]
    fn harmless_options_of_the_table_are_covered() {
        let mut missing = Vec::new();
        each_option(
            |row| row.harmless,
            |row, option, takes_value| {
                let (command, patterns) = command_and_patterns(row);
                let behind = if takes_value { format!(" {}", value(row)) } else { String::new() };
                missing.extend(
                    patterns
                        .into_iter()
                        .map(|pattern| (pattern, format!("{command} {option}{behind}")))
                        .filter(|(pattern, command)| !allows(pattern, command)),
                );
            },
        );
        assert_eq!(missing, vec![]);
    }

    #[test]
    fn acting_options_of_the_table_are_not_covered_in_any_spelling() {
        let mut covered = Vec::new();
        each_option(
            |row| row.acting,
            |row, option, _| {
                let (command, patterns) = command_and_patterns(row);
                let mut spellings = vec![
                    option.to_owned(),
                    format!("{option}=x"),
                    format!("{option}x"),
                    format!("{option} x"),
                    format!("'{option}'"),
                ];
                let harmless: HashSet<&str> = row.harmless.entries().map(name_of).collect();
                if let (Some(letter), false) = (option.strip_prefix('-').filter(|rest| rest.len() == 1), row.harmless.dash_words)
                {
                    // After a harmless letter without a value.
                    let flag = row.harmless.entries().find(|flag| flag.len() == 2 && !flag.ends_with('#'));
                    spellings.extend(flag.map(|flag| format!("{flag}{letter}")));
                }
                if let Some(name) = option.strip_prefix("--") {
                    let shortened = (3..option.len()).map(|end| option[..end].to_owned());
                    spellings.extend(shortened.filter(|short| !harmless.contains(short.as_str())));
                    spellings.push(format!("--{{{name},x}}"));
                }
                for spelling in spellings {
                    covered.extend(
                        patterns
                            .iter()
                            .map(|pattern| (pattern.clone(), format!("{command} {spelling}")))
                            .filter(|(pattern, command)| allows(pattern, command)),
                    );
                }
            },
        );
        assert_eq!(covered, vec![]);
    }

    #[test]
    fn options_that_the_table_does_not_know_are_not_covered() {
        for row in PROGRAMS {
            let (command, patterns) = command_and_patterns(row);
            for option in ["--not-in-the-table", "--not-in-the-table=x", "-\u{3b1}", "*", "{-x,y}", "[-]x"] {
                for pattern in &patterns {
                    assert!(!allows(pattern, &format!("{command} {option}")), "{pattern} / {command} {option}");
                }
            }
        }
    }

    #[test]
    fn options_that_a_pattern_names_are_allowed() {
        each_option(
            |row| row.acting,
            |row, option, takes_value| {
                let (command, _) = command_and_patterns(row);
                let behind = if takes_value { format!(" {}", value(row)) } else { String::new() };
                let exact = format!("{command} {option}{behind}");
                assert!(allows(&exact, &exact), "{exact}");
                assert!(allows(&format!("{command} {option} *"), &exact), "{exact}");
            },
        );
    }

    #[test]
    fn the_table_is_consistent() {
        let mut rows = HashSet::new();
        for row in PROGRAMS {
            assert!(rows.insert((row.program, row.subcommand)), "two rows for {} {}", row.program, row.subcommand);
            assert!(PROGRAMS.iter().any(|other| other.program == row.program && other.subcommand.is_empty()), "{}", row.program);
            let mut names = HashSet::new();
            for name in row.harmless.entries().chain(row.acting.entries()).map(name_of) {
                assert!(names.insert(name), "{} {}: {name} twice", row.program, row.subcommand);
                let letters = name.len() == 2 || name.starts_with("--") || row.harmless.dash_words;
                assert!(name.starts_with('-') && letters, "{} {}: {name} cannot be read", row.program, row.subcommand);
            }
        }
    }
}
