//! The broad reader: walks through a parsed line and collects all commands for `ask` and `deny` rules, at any depth.

use std::collections::HashSet;
use std::sync::Arc;

use brush_parser::ast;

use super::command_line::{CommandLine, DEPTH, Parsed, parse};
use super::words::Word;
use super::wrappers;

/// The largest number of scripts inside a line that are read, and their total size in bytes.
const SCRIPTS: usize = 32;
const SCRIPT_BYTES: usize = 32 * 1024;

/// Adds all commands of a parsed line, at any depth.
pub(super) fn add_all_commands(parsed: &Parsed, line: &mut CommandLine) {
    Walk { line, scripts: 0, bytes: 0, depth: 0, said: HashSet::new() }.parsed(parsed);
}

struct Walk<'a> {
    line: &'a mut CommandLine,
    scripts: usize,
    bytes: usize,
    depth: usize,
    /// The commands that were handled.
    said: HashSet<String>,
}

impl Walk<'_> {
    fn parsed(&mut self, parsed: &Parsed) {
        self.program(&parsed.program);
        for body in &parsed.bodies {
            if body.expands {
                // Quotes have no meaning in a here-document, so they must not hide a substitution.
                self.word(&body.text.replace(['\'', '"'], " "));
            }
            // It is unknown which command reads the here-document. If any command runs its input, the here-document is run.
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
                // The parser reads `( ( rm x ) )` as arithmetic, unlike shells.
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
                // The values of the loop may become commands in its body.
                self.line.opaque = true;
                for value in clause.values.iter().flatten() {
                    self.line.assign(&clause.variable_name, &value.value);
                    self.target(&value.value);
                }
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
        // An assignment before a command can change what it does, and its value may become a command later.
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
        // Hostile lines repeat the same command thousands of times.
        if !self.said.insert(words.iter().map(|word| word.raw.as_str()).collect::<Vec<_>>().join("\0")) && fed.is_empty() {
            return;
        }
        let unknown = first.computed || first.active;
        self.line.computed |= unknown;
        self.line.opaque |= unknown;

        let inside = wrappers::find_inner_commands(&words);
        self.line.opaque |= inside.opaque || inside.computed;
        self.line.computed |= inside.computed;
        // A shell after a wrapper also gets the input: `sudo bash <<EOF`.
        if inside.opaque {
            fed.iter().for_each(|script| self.script(script));
        }
        inside.scripts.iter().for_each(|script| self.script(script));
        let words: Arc<[Word]> = words.into();
        inside.starts.iter().for_each(|from| self.line.push(&words, *from));
    }

    fn item(&mut self, item: &ast::CommandPrefixOrSuffixItem, words: &mut Vec<Word>, fed: &mut Vec<String>) {
        match item {
            ast::CommandPrefixOrSuffixItem::Word(word) => {
                let word = Word::read(&word.value);
                self.scripts_of(&word);
                words.push(word);
            }
            ast::CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                // Assignments such as `export a=b`.
                self.assignment(&word.value);
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
            ast::IoRedirect::File(
                _,
                _,
                ast::IoFileRedirectTarget::Filename(word) | ast::IoFileRedirectTarget::Duplicate(word),
            )
            | ast::IoRedirect::OutputAndError(word, _) => self.target(&word.value),
            ast::IoRedirect::File(_, _, ast::IoFileRedirectTarget::Fd(_)) => {}
            ast::IoRedirect::File(_, _, ast::IoFileRedirectTarget::ProcessSubstitution(_, subshell)) => self.list(&subshell.list),
            ast::IoRedirect::HereString(_, word) => {
                // `xargs cat <<< path`.
                self.target(&word.value);
                fed.push(Word::read(&word.value).text);
            }
            ast::IoRedirect::HereDocument(_, document) => {
                // Here-documents are removed before. If one is left, it counts as everything that it may be.
                self.word(&document.doc.value);
                fed.push(document.doc.value.clone());
            }
        }
    }

    /// Handles `a=b`. The value may be a path, or a part of a path later.
    fn assignment(&mut self, raw: &str) {
        if let Some((name, value)) = raw.split_once('=') {
            self.line.assign(name.trim_end_matches('+'), value);
            self.target(value);
        }
    }

    /// Adds the file of a redirection as a word, so that rules see it.
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
