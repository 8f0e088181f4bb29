//! The plain command lines: the only ones that an `allow` can match.
//!
//! Plain is a list of simple commands joined by `;`, newline, `&&`, `||` and `|`, whose words are
//! literal. Everything by which a shell computes, writes, hides or defers is refused with its reason.
//! This reader knows nothing of the real parser on purpose: an `allow` needs both to see the same
//! commands, so a mistake in one of them is not enough to let a command through.

use super::words::Word;

/// Words that the shell reads as syntax when they stand first.
const RESERVED: &[&str] = &[
    "if",
    "then",
    "elif",
    "else",
    "fi",
    "for",
    "select",
    "while",
    "until",
    "do",
    "done",
    "case",
    "esac",
    "in",
    "function",
    "time",
    "coproc",
    "repeat",
    "foreach",
    "end",
    "nocorrect",
    "noglob",
    "!",
    "{",
    "}",
    "[[",
    "]]",
];

/// Why a line is not plain, in words that follow "it holds".
pub(super) type NotPlain = &'static str;

const EXPANSION: NotPlain = "a substitution or an expansion ($…)";
const REDIRECTION: NotPlain = "a redirection to or from a file";
const BROKEN: NotPlain = "something that is not a complete command";

/// The simple commands of a plain line, each as its words.
pub(super) fn read(line: &str) -> Result<Vec<Vec<Word>>, NotPlain> {
    let chars: Vec<char> = line.chars().collect();
    let mut reader = Reader { chars: &chars, at: 0, commands: Vec::new(), words: Vec::new(), word: None };
    reader.line()?;
    if reader.commands.is_empty() { Err(BROKEN) } else { Ok(reader.commands) }
}

struct Reader<'a> {
    chars: &'a [char],
    at: usize,
    commands: Vec<Vec<Word>>,
    words: Vec<Word>,
    /// Where the word under way starts.
    word: Option<usize>,
}

impl Reader<'_> {
    fn line(&mut self) -> Result<(), NotPlain> {
        // Whether an operator such as `&&` waits for its right side.
        let mut open = false;
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' => {
                    self.end_word()?;
                    self.at += 1;
                }
                '\n' => {
                    // An operator's right side may stand on the next line.
                    self.end_command()?;
                    self.at += 1;
                }
                ';' => {
                    if matches!(self.peek(1), Some(';' | '&')) || self.nothing_yet() {
                        return Err(BROKEN);
                    }
                    self.end_command()?;
                    open = false;
                    self.at += 1;
                }
                '&' if self.peek(1) == Some('>') => self.redirect()?,
                '&' | '|' => {
                    let double = self.peek(1) == Some(c);
                    if c == '&' && !double {
                        return Err("a command in the background (&)");
                    }
                    if self.peek(if double { 2 } else { 1 }).is_some_and(|next| matches!(next, '&' | '|')) || self.nothing_yet() {
                        return Err(BROKEN);
                    }
                    self.end_command()?;
                    open = true;
                    self.at += if double { 2 } else { 1 };
                }
                '<' | '>' => self.redirect()?,
                '(' | ')' => return Err("parentheses"),
                '#' if self.word.is_none() => return Err("a comment"),
                c if c.is_control() => return Err("control characters"),
                _ => {
                    open = false;
                    self.character(c)?;
                }
            }
        }
        self.end_command()?;
        if open { Err(BROKEN) } else { Ok(()) }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn nothing_yet(&self) -> bool {
        self.words.is_empty() && self.word.is_none()
    }

    /// One character of a word, or a whole quotation.
    fn character(&mut self, c: char) -> Result<(), NotPlain> {
        match c {
            '\\' => match self.peek(1) {
                // A line that goes on: fine between words, too clever inside one.
                Some('\n') if self.word.is_none() => {
                    self.at += 2;
                    return Ok(());
                }
                Some('\n') | None => return Err("a line break inside a word"),
                Some(next) if next.is_control() => return Err("control characters"),
                Some(_) => {}
            },
            '`' => return Err(EXPANSION),
            '$' if !self.is_exit_status() => return Err(EXPANSION),
            _ => {}
        }
        self.word.get_or_insert(self.at);
        match c {
            '\\' | '$' => self.at += 2,
            '\'' => {
                self.at += 1;
                while self.peek(0).ok_or(BROKEN)? != '\'' {
                    self.at += 1;
                }
                self.at += 1;
            }
            '"' => self.double_quoted()?,
            _ => self.at += 1,
        }
        Ok(())
    }

    fn double_quoted(&mut self) -> Result<(), NotPlain> {
        self.at += 1;
        loop {
            match self.peek(0).ok_or(BROKEN)? {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '`' => return Err(EXPANSION),
                '$' if !self.is_exit_status() && self.peek(1).is_none_or(|next| !matches!(next, ' ' | '"')) => {
                    return Err(EXPANSION);
                }
                '\\' => {
                    self.peek(1).ok_or(BROKEN)?;
                    self.at += 2;
                }
                _ => self.at += 1,
            }
        }
    }

    /// `$?` is a number and nothing else, and agents print it all the time.
    fn is_exit_status(&self) -> bool {
        self.peek(0) == Some('$') && self.peek(1) == Some('?')
    }

    /// `2>&1`, `>/dev/null` and their like; they change nothing but what is shown.
    fn redirect(&mut self) -> Result<(), NotPlain> {
        // A number right before the sign is the stream, not a word.
        if let Some(start) = self.word {
            if self.chars[start..self.at].iter().all(char::is_ascii_digit) && self.peek(0) != Some('&') {
                self.word = None;
            } else {
                self.end_word()?;
            }
        }
        let rest: String = self.chars[self.at..].iter().take(24).collect();
        let target = ["&>>", "&>", ">>", ">", "<"].iter().find_map(|sign| rest.strip_prefix(sign)).ok_or(REDIRECTION)?;
        let harmless = if let Some(copied) = target.strip_prefix('&') {
            // `>&1` and `>&2` only: the stream is named by one digit.
            ["1", "2"].iter().find_map(|digit| copied.strip_prefix(digit)).filter(|_| rest.starts_with(">&"))
        } else {
            target.trim_start_matches([' ', '\t']).strip_prefix("/dev/null")
        };
        let after = harmless.ok_or(REDIRECTION)?;
        if after.chars().next().is_some_and(|next| !matches!(next, ' ' | '\t' | '\n' | ';' | '&' | '|')) {
            return Err(REDIRECTION);
        }
        // A redirection with no command before it would truncate nothing here, but it is no command either.
        if self.words.is_empty() {
            return Err(REDIRECTION);
        }
        self.at += rest.chars().count() - after.chars().count();
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), NotPlain> {
        let Some(start) = self.word.take() else { return Ok(()) };
        let word = Word::read(&self.chars[start..self.at].iter().collect::<String>());
        if self.words.is_empty() {
            if is_assignment(&word.raw) {
                return Err("an assignment before a command");
            }
            if RESERVED.contains(&word.raw.as_str()) {
                return Err("shell syntax such as a loop or a condition");
            }
            if word.computed || word.active || word.text.is_empty() {
                return Err("a command whose name is not written out");
            }
        }
        self.words.push(word);
        Ok(())
    }

    fn end_command(&mut self) -> Result<(), NotPlain> {
        self.end_word()?;
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
        Ok(())
    }
}

/// Whether a word in front of a command is an assignment: `A=1`, `a[0]=1`, `A+=1`.
fn is_assignment(raw: &str) -> bool {
    raw.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        let name = name.split_once('[').map_or(name, |(name, _)| name);
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit())
    })
}
