//! Reads a command line twice: strictly for `allow`, and broadly for `ask` and `deny`.
//!
//! The two readers answer different questions, and each one errs on the safe side:
//!
//! - The strict reader returns [`CommandLine::plain`], the commands that the line certainly runs. Two independent parsers have
//!   to agree on them: `plain_line`, a small parser for simple commands, and the shell parser `brush_parser`. If they disagree,
//!   or the line computes, redirects to files or defers anything, the line is not plain, and no `allow` rule can match it.
//! - The broad reader collects every place where a command might start: inside substitutions, functions, here-documents,
//!   wrappers such as `sudo`, and scripts of `bash -c`. One of them matching a `deny` or `ask` rule is enough. If the line runs
//!   something that its words do not show (`opaque`), a rule matches as soon as all its words occur anywhere in the text. If
//!   the line cannot be parsed (`unreadable`), the program of the rule is enough.
//!
//! A command that is too complex for the strict reader is therefore not allowed, and a command that is too complex for the
//! broad reader is not overlooked. In both cases a person decides.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use brush_parser::{Token, ast};

use super::here_docs::{self, Body};
use super::plain_line::{self, NotPlain};
use super::run_pattern::RunPattern;
use super::walk;
use super::words::Word;
use super::wrappers::{self, ForAllow};

/// The limit of the estimated parsing cost: the length, doubled for every nested parenthesis, because the parser tries both
/// meanings of each.
const COST: usize = 16 * 1024;
/// The longest line that is read, in bytes. Linux does not accept a longer argument of `bash -c`.
const LENGTH: usize = 128 * 1024;
/// The largest number of nesting constructs in a line. The parser is recursive, so this prevents a stack overflow.
const NESTS: usize = 128;

/// The number of assignments in a line that are followed.
const ASSIGNED: usize = 64;

/// The depth to which nested wrappers and scripts are followed.
pub(super) const DEPTH: usize = 6;

/// A command line with the results of both readers.
#[derive(Debug)]
pub(super) struct CommandLine {
    /// The result of the strict reader: the simple commands, or the reason why no `allow` can match the line.
    pub(super) plain: Result<Vec<Vec<Word>>, NotPlain>,
    /// The result of the broad reader: every place where a command starts or might start.
    found: Vec<FoundCommand>,
    /// The indexes in `found` by program, and of commands whose program the shell may expand to another name.
    by_program: HashMap<String, Vec<usize>>,
    changing: Vec<usize>,
    /// The assignments to variables: name and value as written.
    assigned: Vec<(String, String)>,
    /// Whether the line runs something that its words do not show, such as code of another language.
    pub(super) opaque: bool,
    /// Whether the name of a command is computed at run time.
    pub(super) computed: bool,
    /// Whether the line could not be parsed.
    pub(super) unreadable: bool,
    /// Whether the line was not parsed because it is too long.
    pub(super) too_long: bool,
    /// The words of the text in lower case, with and without quotes.
    tokens: HashSet<String>,
}

#[derive(Debug)]
struct FoundCommand {
    words: Arc<[Word]>,
    from: usize,
    program: String,
}

impl FoundCommand {
    fn command(&self) -> &[Word] {
        self.words.get(self.from..).unwrap_or_default()
    }
}

impl CommandLine {
    /// Reads a line with both readers.
    pub(super) fn read(line: &str) -> Self {
        if line.len() > LENGTH {
            return Self {
                plain: Err("more than can be read"),
                found: Vec::new(),
                by_program: HashMap::new(),
                changing: Vec::new(),
                assigned: Vec::new(),
                opaque: true,
                computed: true,
                unreadable: true,
                too_long: true,
                tokens: HashSet::new(),
            };
        }
        let parsed = parse(line);
        let mut this = Self {
            too_long: false,
            plain: parse_plain(line, parsed.as_ref()),
            found: Vec::new(),
            by_program: HashMap::new(),
            changing: Vec::new(),
            assigned: Vec::new(),
            opaque: false,
            computed: false,
            unreadable: parsed.is_none(),
            tokens: split_tokens(line),
        };
        if let Some(parsed) = &parsed {
            walk::add_all_commands(parsed, &mut this);
        }
        this
    }

    /// Returns the first command, as written, that a pattern of an `ask` or `deny` rule may mean.
    pub(super) fn first_broad_match(&self, patterns: &[RunPattern]) -> Option<String> {
        if self.too_long {
            return Some("a command line that is too long to read".to_owned());
        }
        let meant = |pattern: &RunPattern, at: &usize| {
            self.found.get(*at).filter(|found| pattern.matches_broadly(&found.program, found.command()))
        };
        let found = patterns.iter().find_map(|pattern| match pattern.literal_program() {
            Some(program) => {
                self.by_program.get(program).into_iter().flatten().chain(&self.changing).find_map(|at| meant(pattern, at))
            }
            None => (0..self.found.len()).find_map(|at| meant(pattern, &at)),
        });
        if let Some(found) = found {
            return Some(shorten_command(found.command()));
        }
        let occurs = |text: &str| self.tokens.contains(text);
        let hidden = (self.opaque && patterns.iter().any(|pattern| pattern.all_words_occur(occurs)))
            || (self.unreadable && patterns.iter().any(|pattern| pattern.program_occurs(occurs)));
        hidden.then(|| "a command that cannot be read".to_owned())
    }

    /// Adds a place where a command may start.
    pub(super) fn push(&mut self, words: &Arc<[Word]>, from: usize) {
        let Some(first) = words.get(from) else { return };
        let (at, program) = (self.found.len(), first.program());
        if first.active || first.computed {
            self.changing.push(at);
        }
        self.by_program.entry(program.clone()).or_default().push(at);
        self.found.push(FoundCommand { words: Arc::clone(words), from, program });
    }

    /// Adds an assignment to a variable.
    pub(super) fn assign(&mut self, name: &str, value: &str) {
        if self.assigned.len() < ASSIGNED {
            self.assigned.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Returns the values that the line assigns to each variable.
    pub(super) fn variables(&self) -> HashMap<String, Vec<String>> {
        let mut variables: HashMap<String, Vec<String>> = HashMap::new();
        for (name, value) in &self.assigned {
            variables.entry(name.clone()).or_default().push(value.clone());
        }
        variables
    }

    /// Returns every place where a command starts or might start, with its program and words.
    pub(super) fn commands(&self) -> impl Iterator<Item = (&str, &[Word])> {
        self.found.iter().map(|found| (found.program.as_str(), found.command()))
    }

    /// Returns every command as written, without the commands that it starts.
    pub(super) fn outermost(&self) -> impl Iterator<Item = &[Word]> {
        self.found.iter().filter(|found| found.from == 0).map(FoundCommand::command)
    }

    /// Returns the words of all commands.
    pub(super) fn words(&self) -> impl Iterator<Item = &Word> {
        self.outermost().flatten()
    }
}

/// Formats a command for people, shortened.
pub(super) fn shorten_command(words: &[Word]) -> String {
    let line = words.iter().take(40).map(|word| word.raw.as_str()).collect::<Vec<_>>().join(" ");
    let head = crate::limits::head(&line, 80);
    if head.len() < line.len() { format!("{head}…") } else { line }
}

/// Returns the first simple command that is not covered, including commands inside wrappers. `covers` checks one command;
/// `exactly` checks one only with patterns that contain no wildcards.
pub(super) fn first_not_covered(
    commands: &[Vec<Word>],
    covers: &mut dyn FnMut(&[Word]) -> bool,
    exactly: &mut dyn FnMut(&[Word]) -> bool,
) -> Option<String> {
    let mut said: HashSet<Vec<&str>> = HashSet::new();
    commands
        .iter()
        .filter(|words| said.insert(words.iter().map(|word| word.raw.as_str()).collect()))
        .find(|words| !covered(words, covers, exactly, 0))
        .map(|words| shorten_command(words))
}

fn covered(
    words: &[Word],
    covers: &mut dyn FnMut(&[Word]) -> bool,
    exactly: &mut dyn FnMut(&[Word]) -> bool,
    depth: usize,
) -> bool {
    if depth > DEPTH {
        return false;
    }
    let script = |text: &str, covers: &mut dyn FnMut(&[Word]) -> bool, exactly: &mut dyn FnMut(&[Word]) -> bool| {
        parse_plain(text, parse(text).as_ref())
            .is_ok_and(|commands| commands.iter().all(|words| covered(words, covers, exactly, depth + 1)))
    };
    match wrappers::for_allow(words) {
        ForAllow::Itself => covers(words),
        ForAllow::Script(text) => script(text, covers, exactly) || exactly(words),
        ForAllow::AndCommand(inner) => covers(words) && covered(inner, covers, exactly, depth + 1),
        ForAllow::AndFed(inner) => {
            // The further words come from the input and are unknown.
            let fed: Vec<Word> = inner.iter().cloned().chain([Word::read("$x")]).collect();
            covers(words) && covered(&fed, covers, exactly, depth + 1)
        }
        ForAllow::AndScript(text) => covers(words) && script(text, covers, exactly),
        ForAllow::Unclear => exactly(words),
    }
}

/// Returns the commands of a plain line, if both parsers find the same ones.
fn parse_plain(line: &str, parsed: Option<&Parsed>) -> Result<Vec<Vec<Word>>, NotPlain> {
    let commands = plain_line::read(line)?;
    let parsed = parsed.ok_or("something that the shell's parser does not understand")?;
    let mut seen = Vec::new();
    let same = parsed.bodies.is_empty()
        && flatten(&parsed.program, &mut seen).is_some()
        && seen.len() == commands.len()
        && commands.iter().zip(&seen).all(|(words, raws)| words.iter().map(|word| word.raw.as_str()).eq(raws.iter().copied()));
    if same { Ok(commands) } else { Err("something that two parsers see differently") }
}

/// Collects the raw words of each simple command. Returns `None` if there is any other kind of command.
fn flatten<'a>(program: &'a ast::Program, into: &mut Vec<Vec<&'a str>>) -> Option<()> {
    for ast::CompoundListItem(list, separator) in program.complete_commands.iter().flat_map(|list| &list.0) {
        if matches!(separator, ast::SeparatorOperator::Async) {
            return None;
        }
        let further = list.additional.iter().map(|(ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline))| pipeline);
        for pipeline in std::iter::once(&list.first).chain(further) {
            if pipeline.bang || pipeline.timed.is_some() {
                return None;
            }
            for command in &pipeline.seq {
                let ast::Command::Simple(simple) = command else { return None };
                if simple.prefix.is_some() {
                    return None;
                }
                let mut words = vec![simple.word_or_name.as_ref()?.value.as_str()];
                for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
                    match item {
                        ast::CommandPrefixOrSuffixItem::Word(word) | ast::CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                            words.push(&word.value)
                        }
                        // The strict reader has refused all but harmless redirections.
                        ast::CommandPrefixOrSuffixItem::IoRedirect(_) => {}
                        ast::CommandPrefixOrSuffixItem::ProcessSubstitution(..) => return None,
                    }
                }
                into.push(words);
            }
        }
    }
    Some(())
}

/// A parsed line, and its here-documents, which are removed before parsing.
pub(super) struct Parsed {
    pub(super) program: ast::Program,
    pub(super) bodies: Vec<Body>,
}

/// Parses a line, if the estimated cost is low enough.
pub(super) fn parse(line: &str) -> Option<Parsed> {
    let here_docs::LineWithoutHereDocs { line, bodies } = here_docs::remove_here_docs(line)?;
    // The constructs into which the tokenizer recurses.
    let bytes = line.as_bytes();
    let recursing = bytes
        .windows(2)
        .filter(|pair| matches!(pair, [b'$', b'(' | b'{' | b'['] | [b'@' | b'?' | b'*' | b'+' | b'!' | b'<' | b'>', b'(']));
    let recursing = recursing.count() + line.matches('`').count();
    // Refuses lines in which a here-document is left. See `here_docs`.
    let heres = line.split(|c| c != '<').any(|run| run.len() == 2 || run.len() > 3);
    if line.len() > COST || line.contains('\0') || recursing > NESTS || (heres && recursing > 0) {
        return None;
    }
    // The input is hostile, so the parser may panic. The line is then unreadable and a person decides.
    let program = std::panic::catch_unwind(|| {
        let options = brush_parser::ParserOptions::default();
        let tokens = brush_parser::uncached_tokenize_str(&line, &options.tokenizer_options()).ok()?;
        if parse_cost(line.len(), &tokens) > COST { None } else { brush_parser::parse_tokens(&tokens, &options).ok() }
    });
    Some(Parsed { program: program.ok().flatten()?, bodies })
}

/// Estimates the cost of parsing these tokens.
fn parse_cost(length: usize, tokens: &[Token]) -> usize {
    const NESTING: &[&str] = &[
        "if", "while", "until", "for", "case", "select", "{", "[[", "!", "coproc", "function", "time", "elif", "do", "then",
        "else",
    ];
    let (mut depth, mut deepest, mut nests) = (0_u32, 0_u32, 0_usize);
    for token in tokens {
        match token {
            Token::Operator(operator, _) => {
                depth = depth.saturating_add_signed(i32::from(operator.starts_with('(')) - i32::from(operator.starts_with(')')));
                deepest = deepest.max(depth);
            }
            Token::Word(word, _) => nests += usize::from(NESTING.contains(&word.as_str())),
        }
    }
    if nests > NESTS || deepest >= 16 { usize::MAX } else { length.saturating_mul(1 << deepest) }
}

/// Splits a text into words in lower case, once as written and once without quotes and backslashes.
fn split_tokens(line: &str) -> HashSet<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
    let unquoted: String = line.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    let mut set = HashSet::new();
    for text in [line, &unquoted] {
        for token in text.split(|c| !is_part(c)).filter(|token| !token.is_empty()) {
            set.insert(token.to_lowercase());
        }
    }
    set
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Detects exponential time, not slowness: the limit is for unoptimised code on a busy machine.
    const SOON: Duration = Duration::from_secs(20);

    #[test]
    fn both_readers_agree_on_plain_lines() {
        for (line, commands) in [
            ("git status", 1),
            ("git status && cargo test 2>&1 | tail -5; echo \"exit $?\"", 4),
            ("cargo test \\\n  --all", 1),
            ("ls\n\ncat a\n", 2),
            ("echo 'a;b' \"c|d\" e\\ f", 1),
            ("ls >/dev/null 2>&1", 1),
            ("ls 2> /dev/null || echo no", 2),
            ("git log --format='%h $x'", 1),
            ("ls *.rs", 1),
            ("ls a &&\n cat b", 2),
        ] {
            assert_eq!(CommandLine::read(line).plain.as_ref().map(Vec::len), Ok(commands), "{line}");
        }
    }

    #[test]
    fn nested_lines_take_bounded_time() {
        for atom in [
            "(",
            "((",
            "( (",
            "f(",
            "f (",
            "f()(",
            "a=(",
            "@(",
            "!(",
            "$(",
            "$((",
            "\"$(",
            "<(",
            "{ (",
            "(;",
            "case x in (",
            "for((",
            "[[ (",
            "if (",
            "! (",
            "x (y) (",
            "'\"'(",
            "`(",
            "${x:-(",
            "(a|",
            "([",
            "<<E (",
        ] {
            for count in 1..40 {
                for line in [
                    atom.repeat(count),
                    format!("{}ls{}", atom.repeat(count), ")".repeat(count)),
                    format!("{}ls{}", atom.repeat(count), " )".repeat(count / 2)),
                ] {
                    let start = std::time::Instant::now();
                    let _ = CommandLine::read(&line);
                    assert!(start.elapsed() < SOON, "{line} took {:?}", start.elapsed());
                }
            }
        }
    }

    #[test]
    fn code_of_other_languages_is_readable() {
        let code = "print(foo(bar(baz(qux(1)))), [x for x in range(len(items))])\n".repeat(40);
        let line = CommandLine::read(&format!("python3 -c '{code}'"));
        assert!(!line.unreadable);
        assert!(line.first_broad_match(&[RunPattern::compile("rm *").unwrap()]).is_none());
    }

    #[test]
    fn reading_any_line_takes_bounded_time() {
        let lines = [
            "(".repeat(10_000),
            "$(".repeat(10_000),
            "{ ".repeat(10_000),
            "`".repeat(10_001),
            "if ".repeat(10_000),
            "! ".repeat(10_000),
            "((".repeat(7),
            format!("{}{}", "(".repeat(8), "ls;".repeat(2_000)),
            "<(".repeat(10_000),
            "f() ".repeat(10_000),
            "[[ ".repeat(10_000),
            "x ".repeat(2_000_000),
            format!("echo {}", "\"$(".repeat(9_000)),
            format!("{} rm", "env ".repeat(10_000)),
            format!("{} -c rm", "bash ".repeat(6_000)),
            "a=b ".repeat(8_000),
            "$( << && ".to_owned(),
            "# it's\n$( << && '".to_owned(),
            "`'` $( << ;if '".to_owned(),
            "$(-c<< ;if ]] ".to_owned(),
            "<<a ".repeat(8_000),
            "${".repeat(10_000),
            "case a in ".repeat(3_000),
            "[[ ! ".repeat(5_000),
            "eval ".repeat(6_000),
            "time ".repeat(6_000),
            "a|".repeat(16_000),
            "a&&".repeat(10_000),
            "\\".repeat(30_000),
            "@(".repeat(10_000),
            "coproc ".repeat(4_000),
            "$((".repeat(6_000),
            "'".repeat(30_001),
        ];
        for line in lines {
            let start = std::time::Instant::now();
            let read = CommandLine::read(&line);
            let _ = read.first_broad_match(&[RunPattern::compile("rm *").unwrap()]);
            assert!(read.plain.is_err() || line.len() <= LENGTH, "{}", crate::limits::head(&line, 40));
            assert!(start.elapsed() < SOON, "{} took {:?}", crate::limits::head(&line, 40), start.elapsed());
        }
    }

    #[test]
    fn lines_are_read_up_to_the_length_of_an_argument() {
        let read = |length: usize| CommandLine::read(&"x".repeat(length));
        assert!(!read(LENGTH).too_long);
        let longer = read(LENGTH + 1);
        assert!(longer.too_long && longer.opaque && longer.computed && longer.unreadable);
        assert_eq!(longer.plain.unwrap_err(), "more than can be read");
    }

    #[test]
    fn number_of_followed_assignments_is_limited() {
        let line: String = (0..ASSIGNED + 5).map(|number| format!("a{number}=x; ")).collect();
        assert_eq!(CommandLine::read(&line).variables().len(), ASSIGNED);
        let twice = CommandLine::read("a=1; a=2; a+=3").variables();
        assert_eq!(twice, HashMap::from([("a".to_owned(), vec!["1".to_owned(), "2".to_owned(), "3".to_owned()])]));
    }

    #[test]
    fn commands_are_shown_shortened() {
        let words = |line: &str| line.split(' ').map(Word::read).collect::<Vec<_>>();
        assert_eq!(shorten_command(&words("git commit -m 'x'")), "git commit -m 'x'");
        let fits = "x".repeat(80);
        assert_eq!(shorten_command(&words(&fits)), fits);
        assert_eq!(shorten_command(&words(&format!("{fits}y"))), format!("{fits}…"));
        assert_eq!(shorten_command(&words(&vec!["a"; 50].join(" "))), vec!["a"; 40].join(" "));
    }

    #[test]
    fn line_is_plain_only_if_both_parsers_agree() {
        let agree = |line: &str, parsed: &str| parse_plain(line, parse(parsed).as_ref()).map(|commands| commands.len());
        assert_eq!(agree("ls a; cat", "ls a\ncat"), Ok(2));
        for (line, parsed) in [
            ("ls a", "ls b"),
            ("ls", "ls; cat"),
            ("ls; cat", "ls"),
            ("cat", "cat <<E\nx\nE"),
            ("cat", "cat; A=1 ls"),
            ("cat", "cat; A=1"),
            ("cat", "cat; (ls)"),
            ("cat", "cat; ls <(x)"),
            ("ls", "ls &"),
            ("ls", "! ls"),
            ("ls", "time ls"),
        ] {
            assert_eq!(agree(line, parsed), Err("something that two parsers see differently"), "{line} / {parsed}");
        }
        assert_eq!(agree("ls", "ls '"), Err("something that the shell's parser does not understand"));
        assert_eq!(agree("ls &", "ls"), Err("a command in the background (&)"));
    }

    #[test]
    fn lines_with_high_parsing_cost_are_not_parsed() {
        let is_parsed = |line: &str| parse(line).is_some();
        assert!(is_parsed(&"x".repeat(COST)) && !is_parsed(&"x".repeat(COST + 1)));
        let substitutions = |count: usize| format!("echo {}", "`b` ".repeat(count));
        assert!(is_parsed(&substitutions(NESTS / 2)));
        assert!(!is_parsed(&format!("{}$(a)", substitutions(NESTS / 2))));
        assert!(is_parsed(&"$(a) ".repeat(NESTS)) && !is_parsed(&"$(a) ".repeat(NESTS + 1)));
        for line in ["a\0b", "grep '<<' $(x)", "grep '<<<<' $(x)", "grep '<<<<<<<' `x`"] {
            assert!(!is_parsed(line), "{line:?}");
        }
        for line in ["grep '<<' x", "grep '<<<<<<<' x", "cat <<< $(x)", "cat < $(x)"] {
            assert!(is_parsed(line), "{line:?}");
        }
        let words = |count: usize| "if a; then b; fi; ".repeat(count);
        assert!(is_parsed(&words(NESTS / 2)) && !is_parsed(&words(NESTS / 2 + 1)));
        let subshells =
            |depth: usize, length: usize| format!("{}{}{}", "( ".repeat(depth), "a ".repeat(length), ") ".repeat(depth));
        // Each level doubles the cost, so 4 levels with 1,024 bytes are the limit.
        assert!(is_parsed(&subshells(4, 504)) && !is_parsed(&subshells(4, 505)));
        assert!(is_parsed(&"(a);".repeat(20)) && !is_parsed(&subshells(16, 1)));
    }

    #[test]
    fn text_is_split_into_words_with_and_without_quotes() {
        let expected = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<HashSet<_>>();
        assert_eq!(split_tokens("RM -rf 'a b'/c.d"), expected(&["rm", "-rf", "a", "b", "c.d"]));
        assert_eq!(
            split_tokens("r\"m\" g\\it p'u'sh+x_y"),
            expected(&["r", "m", "g", "it", "p", "u", "sh+x_y", "rm", "git", "push+x_y"])
        );
    }

    #[test]
    fn unreadable_lines_match_by_their_words() {
        let caught =
            |line: &str, pattern: &str| CommandLine::read(line).first_broad_match(&[RunPattern::compile(pattern).unwrap()]);
        let hidden = Some("a command that cannot be read".to_owned());
        // The line is not parsed, so the program alone matches.
        assert_eq!(caught("rm 'x", "rm -rf *"), hidden);
        assert_eq!(caught("ls 'x", "rm *"), None);
        // The line is parsed but opaque, so all words of the pattern have to occur.
        assert_eq!(caught("python3 -c 'rm(-rf)'", "rm -rf *"), hidden);
        assert_eq!(caught("python3 -c 'rm(x)'", "rm -rf *"), None);
        assert_eq!(caught("ls rm -rf", "rm -rf *"), None);
        assert_eq!(caught("ls; sudo rm -rf x", "rm -rf *"), Some("rm -rf x".to_owned()));
        let long = "a".repeat(LENGTH + 1);
        assert_eq!(caught(&long, "rm *"), Some("a command line that is too long to read".to_owned()));
    }
}
