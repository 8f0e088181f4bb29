//! Words of a shell line: their text without quotes, and how the shell would change it.
//!
//! This is not based on the word grammar of the shell parser, because that fails for some hostile words, and because it does
//! not report two things that are needed: whether a part is computed at run time, and which scripts the word contains.

/// The depth of nested `${…}` after which the rest counts as one script.
const NESTING: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// The word as written.
    pub(super) raw: String,
    /// The text without quotes and without computed parts.
    pub(super) text: String,
    /// Whether the shell computes a part of it, such as `$x` or `$(…)`.
    pub(super) computed: bool,
    /// Whether a computed part may become several words, such as `$x` or `$(…)` outside quotes, or `"$@"`.
    pub(super) splits: bool,
    /// Whether the shell may expand it to other words, because of `*`, `?`, `[`, `{` or a leading `~`.
    pub(super) active: bool,
    /// The scripts in its substitutions.
    pub(super) scripts: Vec<String>,
}

impl Word {
    /// Reads a word as the shell parser returned it.
    pub(super) fn read(raw: &str) -> Self {
        let chars: Vec<char> = raw.chars().collect();
        let mut word =
            Self { raw: raw.to_owned(), text: String::new(), computed: false, splits: false, active: false, scripts: Vec::new() };
        word.scan(&chars, 0);
        word
    }

    /// Returns the name of the program: the last component of the path in lower case, because some file systems ignore case.
    pub(super) fn program(&self) -> String {
        let name = self.text.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
        name.strip_suffix(".exe").map_or(name.clone(), str::to_owned)
    }

    fn scan(&mut self, chars: &[char], depth: usize) {
        let mut quoted = false;
        let mut i = 0;
        while i < chars.len() {
            match chars[i] {
                '\\' => {
                    match chars.get(i + 1) {
                        Some('\n') => {}
                        Some(next) if quoted && !matches!(next, '$' | '`' | '"' | '\\') => {
                            self.text.push('\\');
                            self.text.push(*next);
                        }
                        Some(next) => self.text.push(*next),
                        None => self.text.push('\\'),
                    }
                    i += 2;
                }
                '\'' if !quoted => {
                    let end = position(chars, i + 1, |c| c == '\'');
                    self.text.extend(&chars[i + 1..end]);
                    i = end + 1;
                }
                '"' => {
                    quoted = !quoted;
                    i += 1;
                }
                '$' if !quoted && chars.get(i + 1) == Some(&'\'') => i = self.read_ansi_c(chars, i + 2),
                '$' if !quoted && chars.get(i + 1) == Some(&'"') => i += 1,
                '$' => {
                    let (start, computed_before) = (i, std::mem::take(&mut self.computed));
                    i = self.read_dollar(chars, i, depth);
                    self.splits |= self.computed && (!quoted || chars[start..i].contains(&'@'));
                    self.computed |= computed_before;
                }
                '`' => {
                    let mut end = i + 1;
                    while end < chars.len() && chars[end] != '`' {
                        end += if chars[end] == '\\' { 2 } else { 1 };
                    }
                    let end = end.min(chars.len());
                    // Inside backticks, a backslash escapes nested backticks.
                    self.scripts.push(chars[i + 1..end].iter().collect::<String>().replace("\\`", "`"));
                    self.computed = true;
                    self.splits |= !quoted;
                    i = end + 1;
                }
                c => {
                    if !quoted && (matches!(c, '*' | '?' | '[' | '{') || (c == '~' && i == 0)) {
                        self.active = true;
                    }
                    self.text.push(c);
                    i += 1;
                }
            }
        }
    }

    /// Reads an expansion that starts with a dollar sign. Returns the position after it.
    fn read_dollar(&mut self, chars: &[char], i: usize, depth: usize) -> usize {
        match chars.get(i + 1) {
            Some(open @ ('(' | '{' | '[')) => {
                let close = match open {
                    '(' => ')',
                    '{' => '}',
                    _ => ']',
                };
                let end = find_closing(chars, i + 2, *open, close);
                let body = &chars[i + 2..end.min(chars.len())];
                self.computed = true;
                if *open == '(' || depth >= NESTING {
                    self.scripts.push(body.iter().collect());
                } else {
                    let mut inner = Self::read("");
                    inner.scan(body, depth + 1);
                    self.scripts.append(&mut inner.scripts);
                }
                (end + 1).min(chars.len())
            }
            Some(c) if c.is_ascii_alphabetic() || *c == '_' => {
                self.computed = true;
                position(chars, i + 1, |c| !(c.is_ascii_alphanumeric() || c == '_'))
            }
            Some(c) if c.is_ascii_digit() || matches!(c, '@' | '*' | '#' | '?' | '-' | '$' | '!') => {
                self.computed = true;
                i + 2
            }
            Some(_) | None => {
                self.text.push('$');
                i + 1
            }
        }
    }

    /// Reads the content of `$'…'`. Returns the position after it.
    fn read_ansi_c(&mut self, chars: &[char], mut i: usize) -> usize {
        while i < chars.len() && chars[i] != '\'' {
            if chars[i] != '\\' {
                self.text.push(chars[i]);
                i += 1;
                continue;
            }
            let Some(&kind) = chars.get(i + 1) else { return chars.len() };
            i += 2;
            let number = |from: usize, radix: u32, most: usize| {
                let digits: String = chars[from..].iter().take(most).take_while(|c| c.is_digit(radix)).collect();
                (u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32), from + digits.len())
            };
            let (decoded, next) = match kind {
                'a' => (Some('\u{7}'), i),
                'b' => (Some('\u{8}'), i),
                'e' | 'E' => (Some('\u{1b}'), i),
                'f' => (Some('\u{c}'), i),
                'n' => (Some('\n'), i),
                'r' => (Some('\r'), i),
                't' => (Some('\t'), i),
                'v' => (Some('\u{b}'), i),
                'x' => number(i, 16, 2),
                'u' => number(i, 16, 4),
                'U' => number(i, 16, 8),
                '0'..='7' => number(i - 1, 8, 3),
                'c' => (None, i + 1),
                other => (Some(other), i),
            };
            self.text.extend(decoded);
            i = next;
        }
        i + 1
    }
}

fn position(chars: &[char], from: usize, found: impl Fn(char) -> bool) -> usize {
    (from..chars.len()).find(|at| found(chars[*at])).unwrap_or(chars.len())
}

/// Returns the position of the bracket that closes one before `from`. Skips quotes and escapes.
fn find_closing(chars: &[char], from: usize, open: char, close: char) -> usize {
    let (mut depth, mut i, mut quoted) = (1_usize, from, false);
    while i < chars.len() {
        match chars[i] {
            '\\' => i += 1,
            '"' => quoted = !quoted,
            '\'' if !quoted => i = position(chars, i + 1, |c| c == '\''),
            c if c == open => depth += 1,
            c if c == close => {
                depth -= 1;
                if depth == 0 {
                    return i;
                }
            }
            _ => {}
        }
        i += 1;
    }
    chars.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_removed_and_computed_parts_marked() {
        for (raw, text) in [
            ("r''m", "rm"),
            ("\"rm\"", "rm"),
            ("r\\m", "rm"),
            ("$'\\x72\\155'", "rm"),
            ("$'r\\u006d'", "rm"),
            ("'a b'", "a b"),
            ("\"a\\\"b\\c\"", "a\"b\\c"),
            ("$\"rm\"", "rm"),
            ("a$", "a$"),
            ("\\\nrm", "rm"),
        ] {
            let word = Word::read(raw);
            assert_eq!((word.text.as_str(), word.computed, word.scripts), (text, false, vec![]), "{raw}");
        }
        for (raw, scripts) in [
            ("$x", vec![]),
            ("a${b}c", vec![]),
            ("\"$(rm x)\"", vec!["rm x"]),
            ("`rm x`", vec!["rm x"]),
            ("${x:-$(rm y)}", vec!["rm y"]),
            ("$(echo $(rm z))", vec!["echo $(rm z)"]),
            ("$(echo ')' x)", vec!["echo ')' x"]),
            ("$((1+$(rm)))", vec!["(1+$(rm))"]),
        ] {
            let word = Word::read(raw);
            assert_eq!((word.computed, word.scripts), (true, scripts.into_iter().map(str::to_owned).collect()), "{raw}");
        }
        for (raw, splits) in [
            ("$x", true),
            ("a${x}b", true),
            ("`x`", true),
            ("$(x)", true),
            ("\"$@\"", true),
            ("\"${x[@]}\"", true),
            ("\"$x\"", false),
            ("\"$(x)\"", false),
            ("A=\"$x\"b", false),
            ("x", false),
            ("'$x'", false),
            ("\"a@b\"", false),
        ] {
            assert_eq!(Word::read(raw).splits, splits, "{raw}");
        }
        assert!(Word::read("*.rs").active && Word::read("~/x").active && !Word::read("'*'").active && !Word::read("a~").active);
    }

    #[test]
    fn broken_and_deeply_nested_words_are_read() {
        for raw in ["'", "\"", "\\", "$(", "${", "`", "$'\\", "$'\\x", "$'\\U99999999'", "`\\"] {
            let _ = Word::read(raw);
        }
        let _ = Word::read(&"${".repeat(20_000));
        let _ = Word::read(&"$(".repeat(20_000));
    }

    #[test]
    fn escapes_of_ansi_c_quotes_are_decoded() {
        let raw = r"$'\a\b\e\E\f\n\r\t\v\q\'\\\x41\u0042\U00000043\104\c[z'x";
        assert_eq!(Word::read(raw).text, "\u{7}\u{8}\u{1b}\u{1b}\u{c}\n\r\t\u{b}q'\\ABCDzx");
        for (raw, text) in [
            (r"$'\x4g'", "\u{4}g"),
            (r"$'\x414'", "A4"),
            (r"$'\u00410'", "A0"),
            (r"$'\U000000410'", "A0"),
            (r"$'\1010'", "A0"),
            (r"$'\78'", "\u{7}8"),
            (r"$'\xzz'", "zz"),
            (r"$'\ud800'", ""),
            (r#""$'a'""#, "$'a'"),
        ] {
            assert_eq!(Word::read(raw).text, text, "{raw}");
        }
    }

    #[test]
    fn text_around_computed_parts_stays() {
        for (raw, text, scripts) in [
            ("a$x.b", "a.b", vec![]),
            ("a$x_1-b", "a-b", vec![]),
            ("a${x}b", "ab", vec![]),
            ("a$[1]b", "ab", vec![]),
            ("a$(b (c) d)e", "ae", vec!["b (c) d"]),
            ("a$(b \\) c)d", "ad", vec!["b \\) c"]),
            ("a$(b ')' c)d", "ad", vec!["b ')' c"]),
            ("a$(b \"'\" c)d", "ad", vec!["b \"'\" c"]),
            ("a${x:-{y}}b", "ab", vec![]),
            ("a${x:-'}'$(b)}c", "ac", vec!["b"]),
            ("a`b \\`c\\` d`e", "ae", vec!["b `c` d"]),
            ("a`b", "a", vec!["b"]),
            ("a`b\\", "a", vec!["b\\"]),
        ] {
            let word = Word::read(raw);
            let scripts: Vec<String> = scripts.into_iter().map(str::to_owned).collect();
            assert_eq!((word.text.as_str(), word.computed, word.scripts), (text, true, scripts), "{raw}");
        }
        for parameter in ["1", "@", "*", "#", "?", "-", "$", "!", "_"] {
            let word = Word::read(&format!("a${parameter}.b"));
            assert_eq!((word.text.as_str(), word.computed), ("a.b", true), "{parameter}");
        }
        for (raw, text) in
            [("a$.b", "a$.b"), ("a$", "a$"), ("\"\\$x\"", "$x"), ("\"\\`x\"", "`x"), ("\"\\\\x\"", "\\x"), ("\\", "\\")]
        {
            let word = Word::read(raw);
            assert_eq!((word.text.as_str(), word.computed), (text, false), "{raw}");
        }
    }

    #[test]
    fn nested_expansions_are_read_up_to_a_depth() {
        let nested = |depth: usize| Word::read(&format!("{}$(rm){}", "${x:-".repeat(depth), "}".repeat(depth))).scripts;
        assert_eq!(nested(NESTING), ["rm"]);
        // Deeper ones count as one script.
        assert_eq!(nested(NESTING + 1), ["x:-$(rm)"]);
    }

    #[test]
    fn only_unquoted_signs_make_other_words() {
        for raw in ["*", "a?", "[a]", "{a,b}", "~", "~/x", "a*'b'", "'b'*"] {
            assert!(Word::read(raw).active, "{raw}");
        }
        for raw in ["'*'", "\"?\"", "\\[a]", "\"{a}\"", "a~", "\\~", "'~'", "a]b}"] {
            assert!(!Word::read(raw).active, "{raw}");
        }
    }

    #[test]
    fn program_is_the_last_part_of_its_path() {
        for (raw, program) in
            [("git", "git"), ("/usr/bin/GIT", "git"), ("C:\\\\x\\\\Git.EXE", "git"), ("a.exe.b", "a.exe.b"), ("", "")]
        {
            assert_eq!(Word::read(raw).program(), program, "{raw}");
        }
    }
}
