//! Expands words that are paths in the ways in which a shell may do it: `~/x`, `$HOME/x`, `src/{a,b}`, `.local/s*/token`.
//!
//! A word becomes one or more patterns. A pattern is a path in which three special characters represent text that the line does
//! not show; all other characters are literal. The result may contain more patterns than the shell would produce, but not
//! fewer, because the guard asks a person for every possible match.

use std::collections::HashMap;

use super::words::Word;

/// Text that the shell computes at run time: a variable that the line does not set, or a substitution. It may contain slashes.
pub(super) const ANY: char = '\u{f0000}';
/// Text without slashes, for `*`.
pub(super) const STAR: char = '\u{f0001}';
/// One character, for `?` or `[…]`.
pub(super) const ONE: char = '\u{f0002}';

/// The largest number of patterns for one word. Further ones become [`ANY`].
const ALTERNATIVES: usize = 32;
/// The depth to which nested braces are expanded.
const BRACES: usize = 4;

/// The values with which words are expanded.
#[derive(Debug, Default)]
pub(super) struct ShellNames {
    /// The home directory. `None` if it is unknown or the line changes `HOME`.
    pub(super) home: Option<String>,
    /// The possible current directories, as patterns.
    pub(super) directories: Vec<String>,
    /// The values that the line assigns to variables, as written.
    pub(super) variables: HashMap<String, Vec<String>>,
}

impl ShellNames {
    /// Returns the patterns that a word may become.
    pub(super) fn expand(&self, raw: &str) -> Vec<String> {
        let mut patterns = Vec::new();
        for raw in expand_braces(raw, 0) {
            patterns.extend(self.expand_one(&raw, 0));
        }
        patterns.dedup();
        if patterns.len() > ALTERNATIVES {
            return vec![ANY.to_string()];
        }
        patterns
    }

    fn expand_one(&self, raw: &str, depth: usize) -> Vec<String> {
        let chars: Vec<char> = raw.chars().collect();
        let (mut patterns, mut i) = match self.expand_tilde(&chars) {
            Some((starts, behind)) => (starts, behind),
            None => (vec![String::new()], 0),
        };
        let mut quoted = false;
        while i < chars.len() {
            let (piece, next) = match chars[i] {
                '\'' if !quoted => {
                    let end = position(&chars, i + 1, '\'');
                    (vec![chars[i + 1..end].iter().collect()], end + 1)
                }
                '"' => {
                    quoted = !quoted;
                    (vec![String::new()], i + 1)
                }
                '\\' => (vec![chars.get(i + 1).filter(|c| **c != '\n').map(char::to_string).unwrap_or_default()], i + 2),
                '$' if !quoted && chars.get(i + 1) == Some(&'\'') => {
                    let end = (i + 2..chars.len()).find(|at| chars[*at] == '\'' && chars[at - 1] != '\\').unwrap_or(chars.len());
                    let word: String = chars[i..end].iter().collect();
                    (vec![Word::read(&word).text], end + 1)
                }
                '$' | '`' => self.expand_computed(&chars, i, depth),
                '*' | '?' | '+' | '@' | '!' if !quoted && chars.get(i + 1) == Some(&'(') => {
                    (vec![ANY.to_string()], position(&chars, i, ')') + 1)
                }
                '*' if !quoted => (vec![STAR.to_string()], i + 1),
                '?' if !quoted => (vec![ONE.to_string()], i + 1),
                '[' if !quoted && chars[i..].contains(&']') => (vec![ONE.to_string()], position(&chars, i + 2, ']') + 1),
                c => (vec![c.to_string()], i + 1),
            };
            patterns = join_all(&patterns, &piece);
            i = next;
        }
        patterns
    }

    /// Expands a leading `~`. Returns the values and the position after it.
    fn expand_tilde(&self, chars: &[char]) -> Option<(Vec<String>, usize)> {
        if chars.first() != Some(&'~') {
            return None;
        }
        let end = chars.iter().position(|c| *c == '/').unwrap_or(chars.len());
        let name: String = chars[1..end].iter().collect();
        let any = || ANY.to_string();
        let home = || self.home.clone().unwrap_or_else(any);
        let starts = match name.as_str() {
            "" => vec![home()],
            "+" => self.here(),
            name if name.chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-')) => {
                self.here().into_iter().chain([any()]).collect()
            }
            // The home directory of any user, including the person.
            name if name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) => vec![home(), any()],
            _ => return None,
        };
        Some((starts, end))
    }

    fn here(&self) -> Vec<String> {
        if self.directories.is_empty() { vec![ANY.to_string()] } else { self.directories.clone() }
    }

    /// Expands a variable or substitution that starts at `i`. Returns the values and the position after it.
    fn expand_computed(&self, chars: &[char], i: usize, depth: usize) -> (Vec<String>, usize) {
        let any = || vec![ANY.to_string()];
        let is_name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
        match (chars[i], chars.get(i + 1)) {
            ('`', _) => (any(), position(chars, i + 1, '`') + 1),
            ('$', Some('{')) => {
                let end = find_closing(chars, i, '{', '}');
                let name: String = chars[i + 2..end.min(chars.len())].iter().collect();
                (self.variable(&name, depth), end + 1)
            }
            ('$', Some('(')) => {
                let end = find_closing(chars, i, '(', ')');
                let script: String = chars[i + 2..end.min(chars.len())].iter().collect();
                (if script.trim() == "pwd" { self.here() } else { any() }, end + 1)
            }
            ('$', Some(c)) if is_name(c) && !c.is_ascii_digit() => {
                let end = (i + 1..chars.len()).find(|at| !is_name(&chars[*at])).unwrap_or(chars.len());
                (self.variable(&chars[i + 1..end].iter().collect::<String>(), depth), end)
            }
            ('$', Some(c)) if c.is_ascii_digit() || matches!(c, '@' | '*' | '#' | '?' | '-' | '$' | '!') => (any(), i + 2),
            _ => (vec!['$'.to_string()], i + 1),
        }
    }

    fn variable(&self, name: &str, depth: usize) -> Vec<String> {
        let any = || ANY.to_string();
        match (name, self.variables.get(name)) {
            (_, Some(values)) if depth < BRACES => {
                let expanded: Vec<String> = values.iter().flat_map(|value| self.expand_one(value, depth + 1)).collect();
                if expanded.len() > ALTERNATIVES { vec![any()] } else { expanded }
            }
            ("HOME", None) => vec![self.home.clone().unwrap_or_else(any)],
            ("PWD", None) => self.here(),
            ("OLDPWD", None) => self.here().into_iter().chain([any()]).collect(),
            (_, _) => vec![any()],
        }
    }
}

/// Concatenates every text of `left` with every text of `right`.
fn join_all(left: &[String], right: &[String]) -> Vec<String> {
    if left.len() * right.len() > ALTERNATIVES {
        return vec![ANY.to_string()];
    }
    left.iter().flat_map(|left| right.iter().map(move |right| format!("{left}{right}"))).collect()
}

/// Expands `a{b,c}d`. A range such as `{1..9}` becomes a wildcard.
fn expand_braces(raw: &str, depth: usize) -> Vec<String> {
    let chars: Vec<char> = raw.chars().collect();
    let Some((open, close)) = first_brace(&chars) else { return vec![raw.to_owned()] };
    if depth >= BRACES {
        return vec![format!("${{{ANY}}}")];
    }
    let text = |range: std::ops::Range<usize>| chars[range].iter().collect::<String>();
    let (before, inner, behind) = (text(0..open), &chars[open + 1..close], text(close + 1..chars.len()));
    let parts = if split_at_commas(inner).len() > 1 { split_at_commas(inner) } else { vec!["*".to_owned()] };
    let mut words: Vec<String> = Vec::new();
    for part in parts {
        words.extend(expand_braces(&format!("{before}{part}{behind}"), depth + 1));
        if words.len() > ALTERNATIVES {
            return vec![format!("${{{ANY}}}")];
        }
    }
    words
}

/// Finds the first pair of braces outside quotes that the shell expands, with a comma or `..` inside.
fn first_brace(chars: &[char]) -> Option<(usize, usize)> {
    let mut i = 0;
    while i < chars.len() {
        match chars[i] {
            '\\' => i += 1,
            quote @ ('\'' | '"') => i = position(chars, i + 1, quote),
            '$' if chars.get(i + 1) == Some(&'{') => i = find_closing(chars, i, '{', '}'),
            '{' => {
                let close = find_closing(chars, i, '{', '}');
                let inner = chars.get(i..close)?;
                if close < chars.len() && (inner.contains(&',') || inner.windows(2).any(|pair| pair == ['.', '.'])) {
                    return Some((i, close));
                }
            }
            _ => {}
        }
        i += 1;
    }
    None
}

fn split_at_commas(chars: &[char]) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0_usize);
    for c in chars {
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            c => {
                depth = if *c == '{' { depth + 1 } else { depth.saturating_sub(usize::from(*c == '}')) };
                if let Some(part) = parts.last_mut() {
                    part.push(*c);
                }
            }
        }
    }
    parts
}

fn position(chars: &[char], from: usize, wanted: char) -> usize {
    (from..chars.len()).find(|at| chars[*at] == wanted).unwrap_or(chars.len())
}

/// Returns the position of the bracket that closes the first one from `start` on, or the length if there is none.
fn find_closing(chars: &[char], start: usize, open: char, close: char) -> usize {
    let mut depth = 0_usize;
    for (at, c) in chars.iter().enumerate().skip(start) {
        if *c == open {
            depth += 1;
        } else if *c == close {
            depth -= 1;
            if depth == 0 {
                return at;
            }
        }
    }
    chars.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_the_paths_that_the_shell_may_make_of_them() {
        let names = ShellNames {
            home: Some("/home/u".to_owned()),
            directories: vec!["/p".to_owned(), "/q".to_owned()],
            variables: HashMap::from([("a".to_owned(), vec![".local".to_owned(), "x".to_owned()])]),
        };
        for (raw, patterns) in [
            ("src/a", vec!["src/a".to_owned()]),
            ("~", vec!["/home/u".to_owned()]),
            ("~/x", vec!["/home/u/x".to_owned()]),
            ("~bob/x", vec!["/home/u/x".to_owned(), format!("{ANY}/x")]),
            ("~+/x", vec!["/p/x".to_owned(), "/q/x".to_owned()]),
            ("~-/x", vec!["/p/x".to_owned(), "/q/x".to_owned(), format!("{ANY}/x")]),
            ("~2", vec!["/p".to_owned(), "/q".to_owned(), ANY.to_string()]),
            ("$HOME/x", vec!["/home/u/x".to_owned()]),
            ("\"${HOME}\"/x", vec!["/home/u/x".to_owned()]),
            ("$PWD/x", vec!["/p/x".to_owned(), "/q/x".to_owned()]),
            ("$(pwd)/x", vec!["/p/x".to_owned(), "/q/x".to_owned()]),
            ("$a/y", vec![".local/y".to_owned(), "x/y".to_owned()]),
            ("${a}y", vec![".localy".to_owned(), "xy".to_owned()]),
            ("$b/y", vec![format!("{ANY}/y")]),
            ("${b:-c}", vec![ANY.to_string()]),
            ("$(x)/y", vec![format!("{ANY}/y")]),
            ("`x`y", vec![format!("{ANY}y")]),
            ("$1", vec![ANY.to_string()]),
            ("s*/t?[a-z]k", vec![format!("s{STAR}/t{ONE}{ONE}k")]),
            ("'s*'", vec!["s*".to_owned()]),
            ("s\\*", vec!["s*".to_owned()]),
            ("\"s*\"", vec!["s*".to_owned()]),
            ("$'\\x73'*", vec![format!("s{STAR}")]),
            ("a{b,c}d", vec!["abd".to_owned(), "acd".to_owned()]),
            ("a{b,{c,d}}", vec!["ab".to_owned(), "ac".to_owned(), "ad".to_owned()]),
            ("a{1..3}", vec![format!("a{STAR}")]),
            ("'a{b,c}'", vec!["a{b,c}".to_owned()]),
            ("a{b}", vec!["a{b}".to_owned()]),
            ("@(a|b)c", vec![format!("{ANY}c")]),
            ("'~'/x", vec!["~/x".to_owned()]),
            ("a$", vec!["a$".to_owned()]),
        ] {
            assert_eq!(names.expand(raw), patterns, "{raw}");
        }
    }

    #[test]
    fn expansion_of_hostile_words_ends() {
        let names = ShellNames { variables: HashMap::from([("a".to_owned(), vec!["$a$a".to_owned()])]), ..ShellNames::default() };
        assert_eq!(names.expand(&"{a,b}".repeat(40)), [ANY.to_string()]);
        assert_eq!(names.expand("$HOME"), [ANY.to_string()]);
        assert_eq!(names.expand("~+"), [ANY.to_string()]);
        for raw in ["$a", "{", "{a,", "${", "$(", "`", "'", "\"", "\\", "$'", "[", "}", ")", "{a,b}}", "~"] {
            let _ = names.expand(raw);
        }
        let _ = names.expand(&"{".repeat(10_000));
        let _ = names.expand(&"${".repeat(10_000));
    }

    fn expanded(raw: &str) -> Vec<String> {
        let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
        let numbers = |count: usize| (0..count).map(|number| number.to_string()).collect::<Vec<_>>();
        let variables = [
            ("four", numbers(4)),
            ("six", numbers(6)),
            ("eight", numbers(8)),
            ("most", numbers(ALTERNATIVES)),
            ("more", numbers(ALTERNATIVES + 1)),
            ("a0", values(&["$a1"])),
            ("a1", values(&["$a2"])),
            ("a2", values(&["$a3"])),
            ("a3", values(&["$a4"])),
            ("a4", values(&["x"])),
            ("OLD_1", values(&["o"])),
        ];
        let variables = variables.map(|(name, values)| (name.to_owned(), values)).into();
        ShellNames { home: Some("/home/u".to_owned()), directories: vec!["/p".to_owned()], variables }.expand(raw)
    }

    /// In expected patterns, `%`, `*` and `?` represent the special characters.
    fn becomes(raw: &str, patterns: &[&str]) {
        let pattern =
            |text: &&str| text.replace('%', &ANY.to_string()).replace('*', &STAR.to_string()).replace('?', &ONE.to_string());
        assert_eq!(expanded(raw), patterns.iter().map(pattern).collect::<Vec<_>>(), "{raw}");
    }

    #[test]
    fn quotes_end_at_their_closing_quote() {
        becomes("'a'*", &["a*"]);
        becomes("'a'b'c'd", &["abcd"]);
        becomes("\"it's\"*", &["it's*"]);
        becomes("\"a\"*\"b\"", &["a*b"]);
        becomes("\"$'a'\"*", &["$'a'*"]);
        becomes("$'a'*", &["a*"]);
        becomes("a$'b'c", &["abc"]);
        becomes("abcde$''*", &["abcde*"]);
        becomes("$'a\\'b'*", &["a'b*"]);
        becomes("$'ab", &["ab"]);
        becomes("a\\\nb", &["ab"]);
        becomes("a\\", &["a"]);
        becomes("\"a", &["a"]);
        becomes("'a", &["a"]);
        for literal in ["@(a)", "[a]", "~/x", "{a,b}"] {
            assert_eq!(expanded(&format!("\"{literal}\"")), [literal]);
            assert_eq!(expanded(&format!("'{literal}'")), [literal]);
        }
        assert_eq!(expanded("\"a?b\""), ["a?b"]);
        assert_eq!(expanded("\"a*b\""), ["a*b"]);
    }

    #[test]
    fn globs_stand_for_text_that_is_not_shown() {
        becomes("a@(b|c)d", &["a%d"]);
        for sign in ["*", "?", "+", "@", "!"] {
            becomes(&format!("a{sign}(b)c"), &["a%c"]);
        }
        becomes("a@b", &["a@b"]);
        becomes("a[bc]d", &["a?d"]);
        becomes("a[]b]c", &["a?c"]);
        becomes("[a]", &["?"]);
        becomes("a[b", &["a[b"]);
        becomes("a]b", &["a]b"]);
    }

    #[test]
    fn computed_parts_end_where_the_shell_ends_them() {
        becomes("a`b`c", &["a%c"]);
        becomes("ab`c", &["ab%"]);
        becomes("a${b}c", &["a%c"]);
        becomes("a${b:-{c}}d", &["a%d"]);
        becomes("ab${c", &["ab%"]);
        becomes("a$(b)c", &["a%c"]);
        becomes("a$((1+(2)))c", &["a%c"]);
        becomes("ab$(c", &["ab%"]);
        becomes("$( pwd )/x", &["/p/x"]);
        becomes("ab$(pwd)", &["ab/p"]);
        becomes("abc${OLD_1}d", &["abcod"]);
        becomes("a$OLD_1.b", &["ao.b"]);
        becomes("a$b_1-c", &["a%-c"]);
        becomes("a$_b", &["a%"]);
        becomes("$OLDPWD/x", &["/p/x", "%/x"]);
        for parameter in ["1", "@", "*", "#", "?", "-", "$", "!"] {
            becomes(&format!("a${parameter}b"), &["a%b"]);
        }
        becomes("a$", &["a$"]);
        becomes("a$.b", &["a$.b"]);
    }

    #[test]
    fn tildes_stand_for_homes_at_the_start_only() {
        becomes("~", &["/home/u"]);
        becomes("~a.b-c_1/x", &["/home/u/x", "%/x"]);
        becomes("~-", &["/p", "%"]);
        becomes("~+1/x", &["/p/x", "%/x"]);
        becomes("~$x/y", &["~%/y"]);
        becomes("a~/x", &["a~/x"]);
        becomes("\\~/x", &["~/x"]);
    }

    #[test]
    fn braces_become_words() {
        becomes("a{b,c{d,e}f,g}h", &["abh", "acdfh", "acefh", "agh"]);
        becomes("{,a}b", &["b", "ab"]);
        becomes("{a,b}}", &["a}", "b}"]);
        becomes("{a}{b,c}", &["{a}b", "{a}c"]);
        becomes("{a..c}x", &["*x"]);
        becomes("{a.b}x", &["{a.b}x"]);
        becomes("'{a,b}'{c,d}", &["{a,b}c", "{a,b}d"]);
        becomes("\"{a,b}\"{c,d}", &["{a,b}c", "{a,b}d"]);
        becomes("\\{{a,b}", &["{a", "{b"]);
        becomes("\\{a,b}", &["{a,b}"]);
        becomes("${x}{a,b}", &["%a", "%b"]);
        becomes("${x,,}/y", &["%/y"]);
        becomes("${x:-{a,b}}", &["%"]);
        becomes("{a,b", &["{a,b"]);
        becomes("a}{b,c}", &["a}b", "a}c"]);
    }

    #[test]
    fn number_of_patterns_is_limited() {
        assert_eq!(expanded("$most").len(), ALTERNATIVES);
        becomes("$more/y", &["%/y"]);
        assert_eq!(expanded("$four$eight/y").len(), ALTERNATIVES);
        becomes("$six$six/y", &["%/y"]);
        let list = |count: usize| format!("{{{}}}", (0..count).map(|number| number.to_string()).collect::<Vec<_>>().join(","));
        assert_eq!(expanded(&list(ALTERNATIVES)).len(), ALTERNATIVES);
        becomes(&list(ALTERNATIVES + 1), &["%"]);
        becomes(&format!("{}$four", list(ALTERNATIVES)), &["%"]);
        assert_eq!(expanded(&"{a,b}".repeat(BRACES)).len(), 16);
        becomes(&"{a,b}".repeat(BRACES + 1), &["%"]);
        becomes("$a1", &["x"]);
        becomes("$a0", &["%"]);
    }
}
