//! The parser of plain command lines, the only lines that `allow` rules can match.
//!
//! A plain line is a list of simple commands joined by `;`, newline, `&&`, `||` and `|`, whose words are literal. Everything
//! with which a shell computes, writes, hides or defers is refused with a reason. The parser deliberately shares no code with
//! the shell parser: an `allow` rule requires that both find the same commands, so a mistake in one of them is not enough to
//! allow a command.

use super::words::Word;

/// Words that are shell syntax at the start of a command.
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

/// Why a line is not plain. The text follows "it holds".
pub(super) type NotPlain = &'static str;

const EXPANSION: NotPlain = "a substitution or an expansion ($…)";
const REDIRECTION: NotPlain = "a redirection to or from a file";
const BROKEN: NotPlain = "something that is not a complete command";

/// Returns the words of each simple command of a plain line.
pub(super) fn read(line: &str) -> Result<Vec<Vec<Word>>, NotPlain> {
    let chars: Vec<char> = line.chars().collect();
    let mut reader = Reader { chars: &chars, at: 0, commands: Vec::new(), words: Vec::new(), word: None, split_by_dash: false };
    reader.line()?;
    if reader.commands.is_empty() { Err(BROKEN) } else { Ok(reader.commands) }
}

struct Reader<'a> {
    chars: &'a [char],
    at: usize,
    commands: Vec<Vec<Word>>,
    words: Vec<Word>,
    /// The start of the current word.
    word: Option<usize>,
    /// Whether the current command contains `&>`. Dash reads it as the end of a background command and the start of another
    /// one.
    split_by_dash: bool,
}

impl Reader<'_> {
    fn line(&mut self) -> Result<(), NotPlain> {
        // Whether the right side of an operator such as `&&` is missing.
        let mut open = false;
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' => {
                    self.end_word()?;
                    self.at += 1;
                }
                '\n' => {
                    // The right side of an operator can be on the next line.
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
                '&' if self.peek(1) == Some('>') => self.read_redirect()?,
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
                '<' | '>' => self.read_redirect()?,
                '(' | ')' => return Err("parentheses"),
                '#' if self.word.is_none() => return Err("a comment"),
                c if c.is_control() => return Err("control characters"),
                _ => {
                    open = false;
                    self.read_character(c)?;
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

    /// Reads one character of a word, or a whole quotation.
    fn read_character(&mut self, c: char) -> Result<(), NotPlain> {
        match c {
            '\\' => match self.peek(1) {
                // A continued line is accepted between words, but not inside a word.
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

    /// `$?` is always a number, and agents print it often.
    fn is_exit_status(&self) -> bool {
        self.peek(0) == Some('$') && self.peek(1) == Some('?')
    }

    /// Accepts redirections such as `2>&1` and `>/dev/null`, which only change the output that is shown.
    fn read_redirect(&mut self) -> Result<(), NotPlain> {
        // A number directly before the sign is a file descriptor, not a word.
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
            // Only `>&1` and `>&2`: file descriptors of one digit.
            ["1", "2"].iter().find_map(|digit| copied.strip_prefix(digit)).filter(|_| rest.starts_with(">&"))
        } else {
            target.trim_start_matches([' ', '\t']).strip_prefix("/dev/null")
        };
        let after = harmless.ok_or(REDIRECTION)?;
        if after.chars().next().is_some_and(|next| !matches!(next, ' ' | '\t' | '\n' | ';' | '&' | '|')) {
            return Err(REDIRECTION);
        }
        // A redirection without a command is not a command.
        if self.words.is_empty() {
            return Err(REDIRECTION);
        }
        self.split_by_dash |= rest.starts_with('&');
        self.at += rest.chars().count() - after.chars().count();
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), NotPlain> {
        let Some(start) = self.word.take() else { return Ok(()) };
        let word = Word::read(&self.chars[start..self.at].iter().collect::<String>());
        if self.split_by_dash {
            return Err(REDIRECTION);
        }
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
        self.split_by_dash = false;
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
        Ok(())
    }
}

/// Whether a word before a command is an assignment: `A=1`, `a[0]=1`, `A+=1`.
fn is_assignment(raw: &str) -> bool {
    raw.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        let name = name.split_once('[').map_or(name, |(name, _)| name);
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the words of each command as written, or the reason why the line is not plain.
    fn commands(line: &str) -> Result<Vec<Vec<String>>, NotPlain> {
        let raws = |words: Vec<Word>| words.into_iter().map(|word| word.raw).collect();
        read(line).map(|commands| commands.into_iter().map(raws).collect())
    }

    fn is_read(line: &str, expected: &[&[&str]]) {
        let expected = expected.iter().map(|words| words.iter().map(|word| (*word).to_owned()).collect()).collect();
        assert_eq!(commands(line), Ok(expected), "{line:?}");
    }

    fn is_refused(reason: NotPlain, lines: &[&str]) {
        for line in lines {
            assert_eq!(commands(line), Err(reason), "{line:?}");
        }
    }

    #[test]
    fn plain_lines_are_cut_into_commands_and_words() {
        is_read("git status", &[&["git", "status"]]);
        is_read("  git\t status \n", &[&["git", "status"]]);
        is_read("a b; c && d || e | f", &[&["a", "b"], &["c"], &["d"], &["e"], &["f"]]);
        is_read("a;b&&c||d|e", &[&["a"], &["b"], &["c"], &["d"], &["e"]]);
        is_read("a\n\nb\n", &[&["a"], &["b"]]);
        is_read("a;\nb;", &[&["a"], &["b"]]);
        is_read("a &&\n\n b |\n c ||\nd", &[&["a"], &["b"], &["c"], &["d"]]);
        is_read("a \\\n b\\ c", &[&["a", "b\\ c"]]);
        is_read("\\\na b", &[&["a", "b"]]);
        is_read("echo a#b 'x;y' \"p|q\" r\\;s", &[&["echo", "a#b", "'x;y'", "\"p|q\"", "r\\;s"]]);
        is_read("echo a'b c'\"d e\"f", &[&["echo", "a'b c'\"d e\"f"]]);
        is_read("echo A=1 if {a,b} *.rs ~", &[&["echo", "A=1", "if", "{a,b}", "*.rs", "~"]]);
        is_read("echo '' ''; ls", &[&["echo", "''", "''"], &["ls"]]);
    }

    #[test]
    fn only_the_exit_status_is_computed_in_a_plain_line() {
        is_read("echo $? \"$?\" a$?b; ls", &[&["echo", "$?", "\"$?\"", "a$?b"], &["ls"]]);
        is_read(
            "echo \"a$ b$\" '$x `y`' \\$x \"\\$x \\` \\\" \\\\\"",
            &[&["echo", "\"a$ b$\"", "'$x `y`'", "\\$x", "\"\\$x \\` \\\" \\\\\""]],
        );
        is_refused(
            EXPANSION,
            &[
                "echo $x",
                "echo $",
                "echo a$(b)",
                "echo \"$x\"",
                "echo \"a$(b)\"",
                "echo `b`",
                "echo \"`b`\"",
                "$?$x",
                "echo $'a'",
            ],
        );
    }

    #[test]
    fn redirections_of_what_is_shown_are_plain() {
        is_read("ls >/dev/null 2>&1", &[&["ls"]]);
        is_read("ls 2> /dev/null || echo no", &[&["ls"], &["echo", "no"]]);
        is_read("ls >>\t/dev/null; a </dev/null\nb >&2", &[&["ls"], &["a"], &["b"]]);
        is_read("ls a>/dev/null b", &[&["ls", "a", "b"]]);
        is_read("ls 12>/dev/null|wc 1>&2 x", &[&["ls"], &["wc", "x"]]);
        is_read("ls &>/dev/null; a &>>/dev/null && b", &[&["ls"], &["a"], &["b"]]);
        is_read("ls 2&>/dev/null", &[&["ls", "2"]]);
        is_refused(
            REDIRECTION,
            &[
                "ls > x",
                "ls < x",
                "ls >> x",
                "ls > /dev/nullx",
                "ls > /dev/null/x",
                "ls >&3",
                "ls >&11",
                "ls >&1x",
                "ls >>&1",
                "ls <&1",
                "ls &>&1",
                "ls <<E",
                "ls <>/dev/null",
                "ls >|/dev/null",
                "ls >",
                ">/dev/null",
                "ls; >/dev/null",
                "2>&1 ls",
                "ls >/dev/null(",
                // For dash, the words after `&>` are another command.
                "ls &>/dev/null x",
                "ls &>>/dev/null x; y",
                "ls &>/dev/null 2 >&1",
            ],
        );
    }

    #[test]
    fn blanks_before_a_redirection_are_limited() {
        is_read(&format!("ls >{}/dev/null", " ".repeat(14)), &[&["ls"]]);
        is_refused(REDIRECTION, &[&format!("ls >{}/dev/null", " ".repeat(15))]);
    }

    #[test]
    fn lines_that_compute_hide_or_defer_are_refused() {
        is_refused("a command in the background (&)", &["a & b", "a &", "&", "a & & b"]);
        is_refused("parentheses", &["(a)", "a)", "a (b", "a b(c", "f() a"]);
        is_refused("a comment", &["# a", "a # b", "a; #b", "a\n#"]);
        is_refused("control characters", &["a \u{7}", "a\u{1b}b", "a\rb", "a \\\u{7}", "\u{0}"]);
        is_refused("a line break inside a word", &["a\\\nb", "a b\\", "\\"]);
        is_refused(
            "an assignment before a command",
            &["A=1 b", "A=", "_a=1", "a+=1 b", "a[0]=1", "a1=x b", "a[x+=1", "b; A=1 c", "A=\"x\" b"],
        );
        is_refused(
            "shell syntax such as a loop or a condition",
            &["if a", "a; then b", "! a", "{ a", "[[ a ]]", "time a", "a && while b", "function f"],
        );
        is_refused(
            "a command whose name is not written out",
            &["*", "a*b c", "~/x", "''", "\"\" a", "{a,b}", "b; [a] c", "a$? b"],
        );
        is_read("1a=x b", &[&["1a=x", "b"]]);
        is_read("=x b", &[&["=x", "b"]]);
        is_read("a-b=x c", &[&["a-b=x", "c"]]);
        is_read("'if' a; \\! b", &[&["'if'", "a"], &["\\!", "b"]]);
    }

    #[test]
    fn lines_that_are_not_complete_are_refused() {
        is_refused(
            BROKEN,
            &[
                "",
                " \t",
                "\n",
                "a &&",
                "a ||\n",
                "a |",
                "&& a",
                "| a",
                "; a",
                ";",
                "a ;; b",
                "a ;& b",
                "a; ; b",
                "a &&& b",
                "a && && b",
                "a || | b",
                "a ||| b",
                "a |& b",
                "a &&| b",
                "a\n&& b",
                "a 'b",
                "a \"b",
                "a \"b\\",
                "a \"b\\\"",
            ],
        );
        is_read("a && b;", &[&["a"], &["b"]]);
    }
}
