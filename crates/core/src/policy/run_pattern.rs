//! Patterns for commands: `git status`, `git diff *`, `./scripts/*.sh`.

use super::config_files::{ConfigMatch, names_entry, writes_config};
use super::harmless_options::may_cover;
use super::text_pattern::matches_wildcard;
use super::words::Word;

/// A pattern for simple commands.
#[derive(Debug, Clone)]
pub(super) struct RunPattern {
    words: Vec<WordPattern>,
    /// Whether a trailing `*` matches any further words.
    rest: bool,
    /// The file name of the program in lower case, for broad matching.
    program: Option<WordPattern>,
    /// The options among the further words.
    options: Vec<WordPattern>,
    positions: Vec<WordPattern>,
}

#[derive(Debug, Clone)]
enum WordPattern {
    /// A literal word.
    Literal(String),
    /// A word with wildcards. `*` alone matches any one word.
    Wild(String),
}

impl WordPattern {
    fn text(&self) -> &str {
        match self {
            Self::Literal(text) | Self::Wild(text) => text,
        }
    }

    /// Whether the pattern certainly means this word.
    fn matches_word_strictly(&self, word: &Word) -> bool {
        if word.computed || word.active {
            return false;
        }
        match self {
            Self::Literal(text) => *text == word.text,
            // A wildcard in a path does not match `..`.
            Self::Wild(pattern) => matches_wildcard(pattern, &word.text) && (has_dots(pattern) || !has_dots(&word.text)),
        }
    }

    /// Whether the wildcard covers the name of an option: `*` and `-*` do, `--output=*` and `-o*` do not.
    fn leaves_option_open(&self) -> bool {
        match self {
            Self::Literal(_) => false,
            Self::Wild(pattern) => {
                let written = pattern.split(['*', '?']).next().unwrap_or_default();
                match written.strip_prefix('-') {
                    Some(long) if long.starts_with('-') => !long.contains('='),
                    Some(letters) => letters.is_empty(),
                    None => true,
                }
            }
        }
    }

    /// Whether the pattern may mean this word.
    fn matches_word_broadly(&self, word: &Word) -> bool {
        word.computed
            || match self {
                Self::Literal(text) => *text == word.text || (word.active && could_become(&word.text, text)),
                Self::Wild(pattern) => matches_wildcard(pattern, &word.text) || word.active,
            }
    }
}

fn has_dots(text: &str) -> bool {
    text.split('/').any(|part| part == "..")
}

/// Whether the shell could expand an unquoted word with wildcards to this text.
fn could_become(word: &str, text: &str) -> bool {
    word.contains(['[', '{', '~']) || matches_wildcard(word, text)
}

impl RunPattern {
    pub(super) fn compile(written: &str) -> Result<Self, String> {
        let mut words = Vec::new();
        for raw in split(written)? {
            let word = Word::read(&raw);
            if word.computed {
                return Err(format!("`{raw}` is computed by the shell: write the words out, or * for any"));
            }
            let wild = word.active && raw.contains(['*', '?']);
            words.push(if wild { WordPattern::Wild(word.text) } else { WordPattern::Literal(word.text) });
        }
        let rest = matches!(words.last(), Some(WordPattern::Wild(last)) if last == "*");
        if rest {
            words.pop();
        } else if words.is_empty() {
            return Err("an empty pattern: write a command such as \"git diff *\"".to_owned());
        }
        let program = words.first().map(|first| {
            let name = first.text().rsplit('/').next().unwrap_or_default().to_lowercase();
            match first {
                WordPattern::Literal(_) => WordPattern::Literal(name),
                WordPattern::Wild(_) => WordPattern::Wild(name),
            }
        });
        let (options, positions) = words.iter().skip(1).cloned().partition(|pattern| is_option(pattern.text()));
        Ok(Self { words, rest, program, options, positions })
    }

    /// Whether the pattern contains no wildcards.
    pub(super) fn is_exact(&self) -> bool {
        !self.rest && self.words.iter().all(|word| matches!(word, WordPattern::Literal(_)))
    }

    /// Whether the pattern certainly means this command, compared word by word.
    pub(super) fn matches_strictly(&self, command: &[Word]) -> bool {
        if command.len() < self.words.len() || (!self.rest && command.len() != self.words.len()) {
            return false;
        }
        let is_open = |at: usize| self.words.get(at).is_none_or(WordPattern::leaves_option_open);
        let names = |at: usize, found: &ConfigMatch, path: &str| {
            self.words.get(at).is_some_and(|pattern| match pattern {
                WordPattern::Literal(_) => true,
                WordPattern::Wild(pattern) => names_entry(pattern, path, found),
            })
        };
        self.words.iter().zip(command).all(|(pattern, word)| pattern.matches_word_strictly(word))
            && may_cover(command, &is_open)
            && !writes_config(command, names)
    }

    /// Returns the program if it is literal.
    pub(super) fn literal_program(&self) -> Option<&str> {
        match &self.program {
            Some(WordPattern::Literal(name)) => Some(name),
            Some(WordPattern::Wild(_)) | None => None,
        }
    }

    /// Whether the pattern may mean this command, whose program has this name. Options can be at any position.
    pub(super) fn matches_broadly(&self, name: &str, command: &[Word]) -> bool {
        let Some((program, arguments)) = command.split_first() else { return false };
        let meant = match &self.program {
            None => return true,
            Some(WordPattern::Literal(wanted)) => wanted == name || (program.active && could_become(name, wanted)),
            Some(WordPattern::Wild(wanted)) => matches_wildcard(wanted, name) || program.active,
        };
        meant && self.options.iter().all(|option| has_option(option, arguments)) && self.in_order(arguments)
    }

    /// Whether the words occur in this order, with only options and their values between them.
    fn in_order(&self, arguments: &[Word]) -> bool {
        let mut wanted = self.positions.iter();
        let mut next = wanted.next();
        let mut after_option = false;
        for word in arguments {
            match next {
                Some(pattern) if pattern.matches_word_broadly(word) => {
                    next = wanted.next();
                    after_option = false;
                }
                None if self.rest => return true,
                Some(_) | None => {
                    let option = is_option(&word.text) || word.text == "--";
                    if !option && !after_option {
                        return false;
                    }
                    after_option = option;
                }
            }
        }
        next.is_none()
    }

    /// Whether all words of the pattern occur in any order, for lines that cannot be split into commands.
    pub(super) fn all_words_occur(&self, occurs: impl Fn(&str) -> bool) -> bool {
        self.words.iter().enumerate().all(|(index, pattern)| match pattern {
            WordPattern::Literal(_) if index == 0 => self.program_occurs(&occurs),
            WordPattern::Literal(text) => occurs(&text.to_lowercase()),
            WordPattern::Wild(_) => true,
        })
    }

    /// Whether the program of the pattern occurs, for lines that cannot be parsed.
    pub(super) fn program_occurs(&self, occurs: impl Fn(&str) -> bool) -> bool {
        self.literal_program().is_none_or(occurs)
    }
}

fn is_option(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-') && text != "--"
}

/// Whether an option is given: letters in any order and in any word, long options with or without a value.
fn has_option(option: &WordPattern, arguments: &[Word]) -> bool {
    if arguments.iter().any(|word| option.matches_word_broadly(word)) {
        return true;
    }
    let WordPattern::Literal(option) = option else { return false };
    if option.starts_with("--") {
        return arguments.iter().any(|word| word.text.split('=').next() == Some(option.as_str()));
    }
    option.chars().skip(1).all(|letter| {
        arguments.iter().any(|word| word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(letter))
    })
}

/// Splits a pattern into words at blanks outside quotes.
fn split(written: &str) -> Result<Vec<String>, String> {
    let mut words = vec![String::new()];
    let mut quote: Option<char> = None;
    let mut chars = written.trim().chars();
    while let Some(c) = chars.next() {
        let (Some(word), rest) = (words.last_mut(), &mut chars) else { break };
        match (quote, c) {
            (None, c) if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(String::new());
                }
                continue;
            }
            (None, ';' | '|' | '&' | '<' | '>' | '(' | ')' | '`') => {
                return Err(format!(
                    "`{c}` joins or redirects commands: a pattern names one simple command, write several patterns"
                ));
            }
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None | Some('"'), '\\') => {
                word.push(c);
                word.extend(rest.next());
                continue;
            }
            (None | Some(_), _) => {}
        }
        word.push(c);
    }
    if quote.is_some() {
        return Err("a quote is not closed".to_owned());
    }
    words.retain(|word| !word.is_empty());
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Word> {
        split(line).unwrap().iter().map(|raw| Word::read(raw)).collect()
    }

    #[test]
    fn allow_patterns_match_strictly() {
        for (pattern, command, fits) in [
            ("git status", "git status", true),
            ("git status", "git status -s", false),
            ("git status", "git 'status'", true),
            ("git status", "./git status", false),
            ("git status", "/usr/bin/git status", false),
            ("git status", "GIT status", false),
            ("git diff *", "git diff", true),
            ("git diff *", "git diff --stat HEAD", true),
            ("git diff *", "git diff --output=x", false),
            ("git diff --output *", "git diff --output x", true),
            ("git diff --output=*", "git diff --output=x", true),
            ("git diff -*", "git diff -O", false),
            ("git diff -*", "git diff -p", true),
            ("git diff * HEAD", "git diff --output=x HEAD", false),
            ("git diff * HEAD", "git diff --stat HEAD", true),
            ("git * HEAD", "git diff HEAD", true),
            ("git * HEAD", "git difftool HEAD", false),
            ("git diff *", "git -C x diff", false),
            ("git diff *", "git di*f", false),
            ("* --version", "cargo --version", true),
            ("* --version", "cargo test --version", false),
            ("cat src/*", "cat src/a.rs", true),
            ("cat src/*", "cat src/../../x", false),
            ("cat src/*", "cat src/{a,../b}", false),
            ("*", "anything at all", true),
            ("echo '*'", "echo '*'", true),
            ("echo '*'", "echo a", false),
            ("git diff -U*", "git diff -U5", true),
            ("git diff -O*", "git diff -Ox", true),
            ("git diff --out*", "git diff --output=x", false),
        ] {
            assert_eq!(RunPattern::compile(pattern).unwrap().matches_strictly(&words(command)), fits, "{pattern} / {command}");
        }
    }

    #[test]
    fn deny_patterns_match_broadly() {
        for (pattern, command, fits) in [
            ("git push *", "git push", true),
            ("git push *", "git -C dir push origin", true),
            ("git push *", "/usr/bin/git --no-pager push", true),
            ("git push *", "git commit -m push", false),
            ("git push *", "git log push", false),
            ("git push *", "git $x", true),
            ("git push", "git push --force", true),
            ("git push", "git push origin", false),
            ("git push --force *", "git push origin --force", true),
            ("rm *", "/bin/rm -rf x", true),
            ("rm *", "RM x", true),
            ("rm *", "rmdir x", false),
            ("rm -rf *", "rm -r -f x", true),
            ("rm -rf *", "rm -fr x", true),
            ("rm -rf *", "rm x", false),
            ("rm *", "/bin/r? x", true),
            ("docker compose up *", "docker compose -f x up", true),
            ("*", "x", true),
            ("npm* publish *", "npm-x publish", true),
            ("rm *", "rm.exe x", true),
            ("rm *", "/bin/l? x", false),
            ("git push *", "git pu?h", true),
            ("git push *", "git pul?", false),
            ("git p* x", "git [a] x", true),
            ("npm* publish *", "ls publish", false),
            ("npm* publish *", "n*m publish", true),
            ("npm* publish *", "n*m install", false),
            ("rm -rf *", "rm --rf x", false),
            ("rm -rf *", "rm rf x", false),
            ("rm -r x", "rm - x", false),
            ("git push --force *", "git push --force=yes", true),
            ("git push --force *", "git push --forced", false),
        ] {
            let words = words(command);
            assert_eq!(
                RunPattern::compile(pattern).unwrap().matches_broadly(&words[0].program(), &words),
                fits,
                "{pattern} / {command}"
            );
        }
    }

    #[test]
    fn pattern_has_to_be_one_simple_command() {
        for wrong in ["", "  ", "a; b", "a | b", "a && b", "a > b", "$x", "a $(b)", "'a", "a `b`"] {
            assert!(RunPattern::compile(wrong).is_err(), "{wrong}");
        }
        assert!(RunPattern::compile("git status").unwrap().is_exact());
        assert!(!RunPattern::compile("git *").unwrap().is_exact());
    }
}
