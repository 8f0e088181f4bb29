//! Recognises scripts of `sed` that only print, delete and replace: `1,5p`, `s/a/b/g`, `/x/d`.
//!
//! `sed` can also run programs (`e`, `s///e`) and read and write files (`r`, `w`, `s///w`). A script is harmless only if all
//! its commands are known to be harmless.

/// Harmless commands without arguments.
const PLAIN: &[char] = &['p', 'P', 'd', 'D', 'n', 'N', 'g', 'G', 'h', 'H', 'x', '=', 'q', 'Q', 'l', '{', '}', 'z'];

/// Whether a script runs no program and reads and writes no file.
pub(super) fn is_harmless(script: &str) -> bool {
    let mut reader = Reader { rest: script };
    loop {
        reader.skip(|c| matches!(c, ' ' | '\t' | '\n' | ';'));
        if reader.rest.is_empty() {
            return true;
        }
        if reader.read_command().is_none() {
            return false;
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// Reads one command with its addresses. Returns `None` if it is not known to be harmless.
    fn read_command(&mut self) -> Option<()> {
        if self.read_address()? {
            self.skip_blanks();
            if self.take(',') {
                self.skip_blanks();
                let relative = self.take('+') || self.take('~');
                if !self.read_address()? || (relative && self.rest.is_empty()) {
                    return None;
                }
            }
        }
        self.skip(|c| matches!(c, ' ' | '\t' | '!'));
        let command = self.next()?;
        match command {
            's' => {
                self.read_delimited(2)?;
                self.skip(|c| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M'));
            }
            'y' => self.read_delimited(2)?,
            'q' | 'Q' | 'l' => {
                self.skip_blanks();
                self.skip(|c| c.is_ascii_digit());
            }
            command if PLAIN.contains(&command) => {}
            _ => return None,
        }
        // A closing brace needs no separator before it.
        self.skip_blanks();
        let ends = self.rest.is_empty() || self.rest.starts_with([';', '\n', '}']) || matches!(command, '{' | '}');
        ends.then_some(())
    }

    /// Reads an address: a line number, `$`, `first~step` or a regular expression. Returns whether there was one.
    fn read_address(&mut self) -> Option<bool> {
        let before = self.rest.len();
        if self.take('$') {
            return Some(true);
        }
        if self.rest.starts_with('/') {
            self.read_delimited(1)?;
            self.skip(|c| matches!(c, 'I' | 'M'));
            return Some(true);
        }
        if self.rest.starts_with('\\') {
            return None;
        }
        self.skip(|c| c.is_ascii_digit() || c == '~');
        Some(self.rest.len() < before)
    }

    /// Reads `/a/` or `/a/b/`: a delimiter, and `count` texts that end with it.
    fn read_delimited(&mut self, count: usize) -> Option<()> {
        let delimiter = self.next()?;
        if delimiter.is_alphanumeric() || matches!(delimiter, '\\' | '\n' | ';' | ' ') {
            return None;
        }
        for _ in 0..count {
            loop {
                match self.next()? {
                    '\\' => {
                        self.next()?;
                    }
                    '\n' => return None,
                    c if c == delimiter => break,
                    _ => {}
                }
            }
        }
        Some(())
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn take(&mut self, wanted: char) -> bool {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn skip(&mut self, wanted: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(wanted);
    }

    fn skip_blanks(&mut self) {
        self.skip(|c| matches!(c, ' ' | '\t'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_print_are_harmless() {
        for script in [
            "1,5p",
            "p",
            "$p",
            "/x/p",
            "/x/,/y/p",
            "1~2d",
            "1,+3p",
            "2!d",
            "s/a/b/",
            "s/a/b/g",
            "s|a/b|c|2gp",
            "s/a\\/b/c/",
            "y/ab/cd/",
            "1d;2d",
            "1p\n2p",
            "/x/{p;d}",
            "/x/{ s/a/b/; p }",
            "5q",
            "q 1",
            "=",
            "/a/I p",
            "s/[0-9]*/n/g; s/b/c/",
            "1,~4p",
            "1,$p",
            "s/a\\//b/",
            "",
        ] {
            assert!(is_harmless(script), "{script}");
        }
    }

    #[test]
    fn scripts_that_run_read_or_write_are_not() {
        for script in [
            "1e id",
            "e",
            "e id",
            "s/x/y/e",
            "s/x/id/ge",
            "s/x/y/w out",
            "s/x/y/gw out",
            "w out",
            "1w out",
            "W out",
            "r file",
            "R file",
            "1!e id",
            "/x/e id",
            "p;e id",
            "p\ne id",
            "{e id}",
            "p e id",
            "$!{$!e id\n}",
            "a text",
            "i\\text",
            "c text",
            "b label",
            ":label",
            "t",
            "F",
            "v",
            "s/a/b",
            "s",
            "y/a",
            "\\xaxe id",
            "1,/x/e id",
            "s/a\n/b/;e",
            "s/a\nb/c/",
            "saabae",
            "#n\ne id",
            "1,",
            "s/a/b/ e",
            "s/a/b/;;e id",
            "/a/I e id",
            "M",
            "1 2 e",
            "1,p",
            "1,+p",
            "1,+",
            "s;a;b;e",
            "s a b ",
            "s\\a\\b\\",
        ] {
            assert!(!is_harmless(script), "{script}");
        }
    }
}
