//! A command line, read twice: strictly for `allow`, generously for `ask` and `deny`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use brush_parser::ast;

use super::here_docs::{self, Body};
use super::plain_line::{self, NotPlain};
use super::run_pattern::RunPattern;
use super::words::Word;
use super::wrappers::{self, ForAllow};

/// What parsing may cost: the length, doubled for every parenthesis that stands in another, because
/// the parser tries both meanings of each.
const COST: usize = 16 * 1024;
/// Bytes of a line that is looked at. A system does not start a longer one: 128 KiB is what Linux
/// takes as one argument of `bash -c`.
const LENGTH: usize = 128 * 1024;
/// Bytes of all scripts inside a line that are looked at.
const SCRIPT_BYTES: usize = 32 * 1024;
/// How many things that nest a line may hold. The parser is recursive; this keeps it off the end of the stack.
const NESTS: usize = 128;
/// How many scripts inside scripts are looked at, and how deep.
const SCRIPTS: usize = 32;
const DEPTH: usize = 6;

/// A command line.
#[derive(Debug)]
pub(super) struct CommandLine {
    /// The simple commands, if the line is one that an `allow` can match; else what speaks against it.
    pub(super) plain: Result<Vec<Vec<Word>>, NotPlain>,
    /// Every place where a command starts or might start.
    found: Vec<Found>,
    /// Where in `found` each program stands, and those whose program the shell may turn into another.
    by_program: HashMap<String, Vec<usize>>,
    changing: Vec<usize>,
    /// Whether something runs that the words do not show.
    opaque: bool,
    /// Whether a command is computed at run time: nobody knows its name.
    pub(super) computed: bool,
    /// Whether the parser gave up.
    pub(super) unreadable: bool,
    /// Whether nobody even tried, because of its length.
    pub(super) too_long: bool,
    /// The words of the text, in lower case, with and without quotes.
    tokens: HashSet<String>,
}

#[derive(Debug)]
struct Found {
    words: Arc<[Word]>,
    from: usize,
    program: String,
}

impl Found {
    fn command(&self) -> &[Word] {
        self.words.get(self.from..).unwrap_or_default()
    }
}

impl CommandLine {
    /// Reads a line.
    pub(super) fn read(line: &str) -> Self {
        if line.len() > LENGTH {
            return Self {
                plain: Err("more than can be read"),
                found: Vec::new(),
                by_program: HashMap::new(),
                changing: Vec::new(),
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
            plain: agreed(line, parsed.as_ref()),
            found: Vec::new(),
            by_program: HashMap::new(),
            changing: Vec::new(),
            opaque: false,
            computed: false,
            unreadable: parsed.is_none(),
            tokens: tokens(line),
        };
        if let Some(parsed) = &parsed {
            let mut walk = Walk { line: &mut this, scripts: 0, bytes: 0, depth: 0, said: HashSet::new() };
            walk.parsed(parsed);
        }
        this
    }

    /// The first command, as it is written, that a pattern of an `ask` or `deny` may mean.
    pub(super) fn caught_by(&self, patterns: &[RunPattern]) -> Option<String> {
        if self.too_long {
            return Some("a command line that is too long to read".to_owned());
        }
        let meant = |pattern: &RunPattern, at: &usize| {
            self.found.get(*at).filter(|found| pattern.catches(&found.program, found.command()))
        };
        let found = patterns.iter().find_map(|pattern| match pattern.literal_program() {
            Some(program) => self.by_program.get(program).into_iter().flatten().chain(&self.changing).find_map(|at| meant(pattern, at)),
            None => (0..self.found.len()).find_map(|at| meant(pattern, &at)),
        });
        if let Some(found) = found {
            return Some(shown(found.command()));
        }
        let occurs = |text: &str| self.tokens.contains(text);
        let hidden = (self.opaque && patterns.iter().any(|pattern| pattern.all_among(occurs)))
            || (self.unreadable && patterns.iter().any(|pattern| pattern.program_among(occurs)));
        hidden.then(|| "a command that cannot be read".to_owned())
    }

    fn push(&mut self, words: &Arc<[Word]>, from: usize) {
        let Some(first) = words.get(from) else { return };
        let (at, program) = (self.found.len(), first.program());
        if first.active || first.computed {
            self.changing.push(at);
        }
        self.by_program.entry(program.clone()).or_default().push(at);
        self.found.push(Found { words: Arc::clone(words), from, program });
    }

    /// Every word of every command.
    pub(super) fn words(&self) -> impl Iterator<Item = &Word> {
        self.found.iter().filter(|found| found.from == 0).flat_map(|found| found.words.iter())
    }
}

/// A command as a person reads it, shortened.
pub(super) fn shown(words: &[Word]) -> String {
    let line = words.iter().take(40).map(|word| word.raw.as_str()).collect::<Vec<_>>().join(" ");
    let head = crate::limits::head(&line, 80);
    if head.len() < line.len() { format!("{head}…") } else { line }
}

/// Whether every simple command is covered, also those inside wrappers. `covers` looks at one command;
/// `exactly` only with patterns that leave nothing open.
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
        .map(|words| shown(words))
}

fn covered(words: &[Word], covers: &mut dyn FnMut(&[Word]) -> bool, exactly: &mut dyn FnMut(&[Word]) -> bool, depth: usize) -> bool {
    if depth > DEPTH {
        return false;
    }
    let script = |text: &str, covers: &mut dyn FnMut(&[Word]) -> bool, exactly: &mut dyn FnMut(&[Word]) -> bool| {
        agreed(text, parse(text).as_ref()).is_ok_and(|commands| commands.iter().all(|words| covered(words, covers, exactly, depth + 1)))
    };
    match wrappers::for_allow(words) {
        ForAllow::Itself => covers(words),
        ForAllow::Script(text) => script(text, covers, exactly) || exactly(words),
        ForAllow::AndCommand(inner) => covers(words) && covered(inner, covers, exactly, depth + 1),
        ForAllow::AndScript(text) => covers(words) && script(text, covers, exactly),
        ForAllow::Unclear => exactly(words),
    }
}

/// The commands of a plain line, if the real parser sees the same ones.
fn agreed(line: &str, parsed: Option<&Parsed>) -> Result<Vec<Vec<Word>>, NotPlain> {
    let commands = plain_line::read(line)?;
    let parsed = parsed.ok_or("something that the shell's parser does not understand")?;
    let mut seen = Vec::new();
    let same = parsed.bodies.is_empty()
        && flatten(&parsed.program, &mut seen).is_some()
        && seen.len() == commands.len()
        && commands.iter().zip(&seen).all(|(words, raws)| words.iter().map(|word| word.raw.as_str()).eq(raws.iter().copied()));
    if same { Ok(commands) } else { Err("something that two parsers see differently") }
}

/// The raw words of each simple command; nothing if there is any other kind of command.
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
                        ast::CommandPrefixOrSuffixItem::Word(word) | ast::CommandPrefixOrSuffixItem::AssignmentWord(_, word) => words.push(&word.value),
                        // The strict reader let only harmless ones through.
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

/// A line that the parser understood, and the here-documents that it did not get to see.
struct Parsed {
    program: ast::Program,
    bodies: Vec<Body>,
}

/// Parses a line if that is sure to end soon.
fn parse(line: &str) -> Option<Parsed> {
    let here_docs::Cut { line, bodies } = here_docs::cut(line)?;
    let (mut depth, mut deepest, mut nests) = (0_usize, 0_usize, 0_usize);
    for byte in line.bytes() {
        match byte {
            b'(' => {
                depth += 1;
                nests += 1;
                deepest = deepest.max(depth);
            }
            b')' => depth = depth.saturating_sub(1),
            b'{' | b'`' => nests += 1,
            _ => {}
        }
    }
    let keywords = ["if", "while", "until", "for", "case", "select", "[[", "!", "coproc", "function", "time", "elif"];
    nests += line.split([' ', '\t', '\n', ';', '&', '|', '(', ')']).filter(|word| keywords.contains(word)).count();
    let cost = u32::try_from(deepest).ok().filter(|shift| *shift < 16).map_or(usize::MAX, |shift| line.len().saturating_mul(1 << shift));
    if nests > NESTS || cost > COST || line.contains('\0') {
        return None;
    }
    // The parser is young and its input hostile: should it panic, the line is unreadable and a person decides.
    let parsed = std::panic::catch_unwind(|| brush_parser::Parser::new(line.as_bytes(), &brush_parser::ParserOptions::default()).parse_program().ok());
    Some(Parsed { program: parsed.ok().flatten()?, bodies })
}

/// The words of a text, in lower case, once as written and once without quotes and backslashes.
fn tokens(line: &str) -> HashSet<String> {
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

/// Walks everything that a line holds.
struct Walk<'a> {
    line: &'a mut CommandLine,
    scripts: usize,
    bytes: usize,
    depth: usize,
    /// The commands that were looked at.
    said: HashSet<String>,
}

impl Walk<'_> {
    fn parsed(&mut self, parsed: &Parsed) {
        self.program(&parsed.program);
        for body in &parsed.bodies {
            if body.expands {
                // Quotes mean nothing here, so they must not hide a substitution.
                self.word(&body.text.replace(['\'', '"'], " "));
            }
            // Which command gets it is lost; if any of them runs what it is fed, it is run.
            if self.line.opaque {
                self.script(&body.text);
            }
        }
    }

    fn program(&mut self, program: &ast::Program) {
        program.complete_commands.iter().for_each(|list| self.list(list));
    }

    fn list(&mut self, list: &ast::CompoundList) {
        for ast::CompoundListItem(list, _) in &list.0 {
            self.pipeline(&list.first);
            for ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline) in &list.additional {
                self.pipeline(pipeline);
            }
        }
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline) {
        pipeline.seq.iter().for_each(|command| self.command(command));
    }

    fn command(&mut self, command: &ast::Command) {
        match command {
            ast::Command::Simple(simple) => self.simple(simple),
            ast::Command::Compound(compound, redirects) => {
                self.compound(compound);
                self.redirects(redirects.as_ref());
            }
            ast::Command::Function(function) => {
                self.compound(&function.body.0);
                self.redirects(function.body.1.as_ref());
            }
            ast::Command::ExtendedTest(test, redirects) => {
                self.test(&test.expr);
                self.redirects(redirects.as_ref());
            }
        }
    }

    fn compound(&mut self, compound: &ast::CompoundCommand) {
        match compound {
            ast::CompoundCommand::Arithmetic(arithmetic) => {
                // The parser takes `( ( rm x ) )` for arithmetic; a shell does not.
                self.line.opaque = true;
                self.word(&arithmetic.expr.value);
                self.script(&arithmetic.expr.value);
            }
            ast::CompoundCommand::ArithmeticForClause(clause) => {
                for expression in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
                    self.word(&expression.value);
                }
                self.list(&clause.body.list);
            }
            ast::CompoundCommand::BraceGroup(group) => self.list(&group.list),
            ast::CompoundCommand::Subshell(subshell) => self.list(&subshell.list),
            ast::CompoundCommand::ForClause(clause) => {
                // The values may become commands in the body.
                self.line.opaque = true;
                clause.values.iter().flatten().for_each(|word| self.word(&word.value));
                self.list(&clause.body.list);
            }
            ast::CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value.value);
                for case in &clause.cases {
                    case.patterns.iter().for_each(|word| self.word(&word.value));
                    case.cmd.iter().for_each(|list| self.list(list));
                }
            }
            ast::CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for other in clause.elses.iter().flatten() {
                    other.condition.iter().for_each(|list| self.list(list));
                    self.list(&other.body);
                }
            }
            ast::CompoundCommand::WhileClause(clause) | ast::CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            ast::CompoundCommand::Coprocess(coprocess) => self.command(&coprocess.body),
        }
    }

    fn test(&mut self, test: &ast::ExtendedTestExpr) {
        match test {
            ast::ExtendedTestExpr::And(left, right) | ast::ExtendedTestExpr::Or(left, right) => {
                self.test(left);
                self.test(right);
            }
            ast::ExtendedTestExpr::Not(inner) | ast::ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ast::ExtendedTestExpr::UnaryTest(_, word) => self.word(&word.value),
            ast::ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.word(&left.value);
                self.word(&right.value);
            }
        }
    }

    fn simple(&mut self, simple: &ast::SimpleCommand) {
        let mut words: Vec<Word> = Vec::new();
        let mut fed: Vec<String> = Vec::new();
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            self.item(item, &mut words, &mut fed);
        }
        // What is assigned in front of a command steers it, and may become a command later.
        self.line.opaque |= !words.is_empty();
        words.clear();
        words.extend(simple.word_or_name.iter().map(|word| Word::read(&word.value)));
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(item, &mut words, &mut fed);
        }
        for word in &words {
            self.scripts_of(word);
        }
        let Some(first) = words.first() else { return };
        // Hostile lines say the same thing a thousand times.
        if !self.said.insert(words.iter().map(|word| word.raw.as_str()).collect::<Vec<_>>().join("\0")) && fed.is_empty() {
            return;
        }
        let unknown = first.computed || first.active;
        self.line.computed |= unknown;
        self.line.opaque |= unknown;

        let inside = wrappers::look_inside(&words);
        self.line.opaque |= inside.opaque || inside.computed;
        self.line.computed |= inside.computed;
        // A shell behind a wrapper is fed as well: `sudo bash <<EOF`.
        if inside.opaque {
            fed.iter().for_each(|script| self.script(script));
        }
        inside.scripts.iter().for_each(|script| self.script(script));
        let words: Arc<[Word]> = words.into();
        inside.starts.iter().for_each(|from| self.line.push(&words, *from));
    }

    fn item(&mut self, item: &ast::CommandPrefixOrSuffixItem, words: &mut Vec<Word>, fed: &mut Vec<String>) {
        match item {
            ast::CommandPrefixOrSuffixItem::Word(word) | ast::CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                let word = Word::read(&word.value);
                self.scripts_of(&word);
                words.push(word);
            }
            ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect, fed),
            ast::CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => {
                self.line.opaque = true;
                self.list(&subshell.list);
            }
        }
    }

    fn redirects(&mut self, redirects: Option<&ast::RedirectList>) {
        let mut fed = Vec::new();
        for redirect in redirects.iter().flat_map(|list| &list.0) {
            self.redirect(redirect, &mut fed);
        }
        fed.iter().for_each(|script| self.script(script));
    }

    fn redirect(&mut self, redirect: &ast::IoRedirect, fed: &mut Vec<String>) {
        match redirect {
            ast::IoRedirect::File(_, _, ast::IoFileRedirectTarget::Filename(word) | ast::IoFileRedirectTarget::Duplicate(word))
            | ast::IoRedirect::OutputAndError(word, _) => self.target(&word.value),
            ast::IoRedirect::File(_, _, ast::IoFileRedirectTarget::Fd(_)) => {}
            ast::IoRedirect::File(_, _, ast::IoFileRedirectTarget::ProcessSubstitution(_, subshell)) => self.list(&subshell.list),
            ast::IoRedirect::HereString(_, word) => {
                self.word(&word.value);
                fed.push(Word::read(&word.value).text);
            }
            ast::IoRedirect::HereDocument(_, document) => {
                // They are cut out before; should one be left, it counts as everything it may be.
                self.word(&document.doc.value);
                fed.push(document.doc.value.clone());
            }
        }
    }

    /// A file that is read or written beside the command. It counts as a word, so that it is seen.
    fn target(&mut self, raw: &str) {
        let word = Word::read(raw);
        self.scripts_of(&word);
        self.line.push(&Arc::from([Word::read(">"), word]), 0);
    }

    fn word(&mut self, raw: &str) {
        self.scripts_of(&Word::read(raw));
    }

    fn scripts_of(&mut self, word: &Word) {
        word.scripts.iter().for_each(|script| self.script(script));
    }

    fn script(&mut self, text: &str) {
        self.scripts += 1;
        self.bytes += text.len();
        if self.scripts > SCRIPTS || self.bytes > SCRIPT_BYTES || self.depth >= DEPTH {
            self.line.opaque = true;
            return;
        }
        match parse(text) {
            Some(parsed) => {
                self.depth += 1;
                self.parsed(&parsed);
                self.depth -= 1;
            }
            None => self.line.opaque = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_lines_are_read_alike_by_both_readers() {
        for (line, commands) in [
            ("git status", 1), ("git status && cargo test 2>&1 | tail -5; echo \"exit $?\"", 4), ("cargo test \\\n  --all", 1),
            ("ls\n\ncat a\n", 2), ("echo 'a;b' \"c|d\" e\\ f", 1), ("ls >/dev/null 2>&1", 1), ("ls 2> /dev/null || echo no", 2), ("git log --format='%h $x'", 1),
            ("ls *.rs", 1), ("ls a &&\n cat b", 2),
        ] {
            assert_eq!(CommandLine::read(line).plain.as_ref().map(Vec::len), Ok(commands), "{line}");
        }
    }

    #[test]
    fn reading_ends_soon_whatever_comes() {
        let lines = [
            "(".repeat(10_000), "$(".repeat(10_000), "{ ".repeat(10_000), "`".repeat(10_001), "if ".repeat(10_000), "! ".repeat(10_000),
            "((".repeat(7), format!("{}{}", "(".repeat(8), "ls;".repeat(2_000)), "<(".repeat(10_000), "f() ".repeat(10_000), "[[ ".repeat(10_000),
            "x ".repeat(2_000_000), format!("echo {}", "\"$(".repeat(9_000)), format!("{} rm", "env ".repeat(10_000)), format!("{} -c rm", "bash ".repeat(6_000)),
            "a=b ".repeat(8_000), "$( << && ".to_owned(), "$(-c<< ;if ]] ".to_owned(), "<<a ".repeat(8_000), "${".repeat(10_000), "case a in ".repeat(3_000), "[[ ! ".repeat(5_000), "eval ".repeat(6_000), "time ".repeat(6_000),
            "a|".repeat(16_000), "a&&".repeat(10_000), "\\".repeat(30_000), "@(".repeat(10_000), "coproc ".repeat(4_000), "$((".repeat(6_000), "'".repeat(30_001),
        ];
        for line in lines {
            let start = std::time::Instant::now();
            let read = CommandLine::read(&line);
            let _ = read.caught_by(&[RunPattern::compile("rm *").unwrap()]);
            assert!(read.plain.is_err() || line.len() <= LENGTH, "{}", crate::limits::head(&line, 40));
            // Unoptimised and on a busy machine; the bound is for "not exponential", not for speed.
            assert!(start.elapsed().as_millis() < 1_000, "{} took {:?}", crate::limits::head(&line, 40), start.elapsed());
        }
    }
}
