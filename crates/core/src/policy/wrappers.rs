//! Finds commands inside commands that start others: `bash -c '…'`, `env`, `sudo`, `xargs`, `find -exec`.
//!
//! There are two views. For `ask` and `deny` rules, every place where a command might start counts. For `allow` rules, only
//! forms count in which the place is certain.

use super::inner_programs::inner_programs;
use super::words::Word;
use super::wrapper_names::{CARRIERS, FIND_EXEC, INLINE, INTERPRETERS, JOINERS, PREFIXES, RUNNERS, SHELLS};

/// The largest number of places in one command that are checked.
const PLACES: usize = 512;
/// The largest number of words after a shell that are searched for its script.
const SHELL_WORDS: usize = 16;

/// The commands that may start inside a command.
#[derive(Debug, Default)]
pub(super) struct InnerCommands {
    /// The indexes of words where a command might start.
    pub(super) starts: Vec<usize>,
    /// Texts that a shell would run.
    pub(super) scripts: Vec<String>,
    /// Whether it runs something that its words do not show, such as another language or its input.
    pub(super) opaque: bool,
    /// Whether it runs something that the shell computes.
    pub(super) computed: bool,
}

/// Finds commands inside a command. `starts` contains at least 0.
pub(super) fn find_inner_commands(words: &[Word]) -> InnerCommands {
    let mut inside = InnerCommands { starts: vec![0], computed: starts_computed(words), ..InnerCommands::default() };
    let mut next = 0;
    while let Some(&start) = inside.starts.get(next) {
        next += 1;
        let Some(first) = words.get(start) else { continue };
        let arguments = &words[start + 1..];
        let program = first.program();
        let program = program.as_str();
        if SHELLS.contains(&program) {
            shell(arguments, &mut inside);
        } else if program == "eval" {
            inside.computed |= arguments.iter().any(|word| word.computed);
            inside.scripts.push(arguments.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "));
        } else if PREFIXES.contains(&program)
            || CARRIERS.contains(&program)
            || program == "find"
            || program == "git"
            || program == "cargo"
            || runner_words(program).is_some()
        {
            // Only the outermost one lists the places, because they are the same for the inner ones.
            if start == 0 || inside.starts.len() == 1 {
                places(program, words, start, &mut inside);
            }
        } else if is_interpreter(program, arguments) {
            inside.opaque = true;
        }
    }
    inside
}

fn places(program: &str, words: &[Word], start: usize, inside: &mut InnerCommands) {
    let listed = words.len().min(start + 1 + PLACES);
    let runs_from = runner_words(program).map(|behind| run_command(program, behind, words, start).unwrap_or(usize::MAX));
    inside.opaque |= listed < words.len();
    for (at, word) in words.iter().enumerate().take(listed).skip(start + 1) {
        // These programs start a command only after certain words.
        let begins = match program {
            "find" => matches!(words[at - 1].text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"),
            "git" => words[at - 1].text == "run" || words[at - 1].text == "foreach",
            "cargo" => false,
            _ => runs_from.is_none_or(|from| at >= from),
        };
        if begins && !word.text.starts_with('-') {
            inside.starts.push(at);
        }
        if program == "env" && begins_split_string(&word.text) {
            let rest = words[at + 1..listed].iter().map(|word| word.text.as_str());
            let head = word.text.split_once(if word.text.starts_with("--") { '=' } else { 'S' }).map_or("", |(_, script)| script);
            inside.scripts.push(std::iter::once(head).chain(rest).collect::<Vec<_>>().join(" "));
        }
        let may_hold_script = match program {
            "git" => {
                word.text.contains('!')
                    || word.text.starts_with("--exec")
                    || matches!(words[at - 1].text.as_str(), "-x" | "--exec" | "-c" | "foreach")
            }
            "find" => false,
            "cargo" => matches!(words[at - 1].text.as_str(), "-s" | "--shell" | "--config"),
            _ => true,
        };
        if may_hold_script && word.text.contains([' ', '\t', '\n', ';', '|', '&', '!', '=']) {
            // In `--exec=rm x` and `alias.x=!rm x`, the script follows the sign.
            let script = word
                .text
                .split_once("=!")
                .or_else(|| word.text.split_once('=').filter(|(name, _)| !name.contains(' ')))
                .map_or(word.text.as_str(), |(_, script)| script);
            inside.scripts.push(script.to_owned());
        }
    }
}

/// Matches `-S…`, also after other letters, and `--split-string=…`, also abbreviated.
fn begins_split_string(text: &str) -> bool {
    match text.strip_prefix("--") {
        Some(name) => name.starts_with('s') && "split-string".starts_with(name.split('=').next().unwrap_or_default()),
        None => text.starts_with('-') && text.contains('S'),
    }
}

fn runner_words(program: &str) -> Option<&'static [&'static str]> {
    RUNNERS.iter().find(|(name, _)| *name == program).map(|(_, words)| *words)
}

/// Returns the index of the command of a runner such as `npm exec`: after its word, which only options and their values
/// precede.
fn run_command(program: &str, behind: &[&str], words: &[Word], start: usize) -> Option<usize> {
    let mut after_option = false;
    for (at, word) in words.iter().enumerate().skip(start + 1) {
        let text = word.text.as_str();
        if behind.contains(&text) {
            return Some(at + 1);
        }
        let option = text.starts_with('-');
        let leads_on = option || after_option || (program == "uv" && text == "tool");
        if !leads_on {
            return None;
        }
        after_option = option;
    }
    None
}

/// Whether a program after wrappers is computed, by the shell or by a wrapper from its input.
fn starts_computed(words: &[Word]) -> bool {
    let mut starts = vec![(0, false)];
    let mut next = 0;
    while let Some(&(start, fed)) = starts.get(next) {
        next += 1;
        if next > PLACES {
            return true;
        }
        let Some(first) = words.get(start) else { continue };
        let (program, arguments) = (first.program(), &words[start + 1..]);
        let program = program.as_str();
        let behind = match program {
            shell if SHELLS.contains(&shell) => {
                if shell_is_computed(arguments, fed) {
                    return true;
                }
                None
            }
            joiner if JOINERS.contains(&joiner) => {
                if arguments.iter().any(|word| word.computed) {
                    return true;
                }
                Some(start + 1)
            }
            "command" if arguments.first().is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V")) => None,
            "find" | "fd" | "fdfind" => {
                let begins = |at: &usize| FIND_EXEC.contains(&words[*at - 1].text.as_str());
                for at in (start + 2..words.len()).filter(begins) {
                    if words[at].computed || words[at].active {
                        return true;
                    }
                    starts.push((at, true));
                }
                None
            }
            "git" if git_is_computed(arguments) => return true,
            "ssh" => Some(start + 1),
            "docker" | "podman" | "kubectl" => run_command(program, &["run", "exec", "debug"], words, start),
            prefix if PREFIXES.contains(&prefix) => Some(start + 1),
            other => runner_words(other).and_then(|behind| run_command(program, behind, words, start)),
        };
        if let Some(from) = behind {
            let inner = inner_programs(program, words, from, fed);
            if inner.computed {
                return true;
            }
            starts.extend(inner.places.into_iter().map(|at| (at, inner.fed)));
        }
    }
    false
}

/// Whether the script of a shell is computed. `fed` says that an unknown word is appended.
fn shell_is_computed(arguments: &[Word], fed: bool) -> bool {
    let operand = arguments.iter().position(|word| word.computed || word.active || !word.text.starts_with('-'));
    match operand.map(|at| &arguments[at]) {
        Some(word) => word.computed || word.active,
        None => fed && arguments.iter().any(|word| is_script_option(&word.text)),
    }
}

/// Whether a command that `git` starts is computed, or a word before its subcommand, which may be `-c alias.x=!…`.
fn git_is_computed(arguments: &[Word]) -> bool {
    let subcommand = arguments.iter().position(|word| !word.text.starts_with('-') && !word.splits).unwrap_or(arguments.len());
    arguments[..subcommand].iter().any(|word| word.splits)
        || arguments.windows(2).any(|pair| match pair[0].text.as_str() {
            "run" | "foreach" => pair[1].computed || pair[1].active,
            "-x" | "--exec" | "-c" | "--config-env" => pair[1].computed,
            _ => false,
        })
}

fn shell(arguments: &[Word], inside: &mut InnerCommands) {
    let arguments = &arguments[..arguments.len().min(SHELL_WORDS)];
    let has_script = arguments.iter().any(|word| is_script_option(&word.text));
    if !has_script {
        // It runs a file or its input, and both are unknown.
        inside.opaque = true;
        return;
    }
    for word in arguments.iter().filter(|word| !word.text.starts_with('-')) {
        inside.computed |= word.computed;
        inside.scripts.push(word.text.clone());
    }
}

/// Matches `-c`, `-lc`, `--command` and `-Command`.
fn is_script_option(text: &str) -> bool {
    text.strip_prefix('-')
        .is_some_and(|letters| if letters.starts_with('-') { letters.starts_with("-c") } else { letters.contains(['c', 'C']) })
}

fn is_interpreter(program: &str, arguments: &[Word]) -> bool {
    INLINE.contains(&program)
        || ((INTERPRETERS.contains(&program) || program.starts_with("python") || program.starts_with("pypy"))
            && (arguments.is_empty()
                || arguments.iter().any(|word| word.text == "-" || word.text.contains([' ', '(', ';', '\n', '!', '/']))))
}

/// The parts of a command that `allow` rules have to cover.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ForAllow<'a> {
    /// The command itself.
    Itself,
    /// Only the script that the command passes to a shell. Some agents send every line in this form.
    Script(&'a str),
    /// The command and the command that it starts.
    AndCommand(&'a [Word]),
    /// The command and the command that it starts with further words from its input, as for `xargs`.
    AndFed(&'a [Word]),
    /// The command and the script that it runs.
    AndScript(&'a str),
    /// The command starts another one at an unclear place. Only a pattern without wildcards can match it.
    Unclear,
}

/// Returns the parts of a command that `allow` rules have to cover.
pub(super) fn for_allow(words: &[Word]) -> ForAllow<'_> {
    let Some((first, arguments)) = words.split_first() else { return ForAllow::Unclear };
    let program = first.program();
    match program.as_str() {
        shell if SHELLS.contains(&shell) => shell_for_allow(first, arguments),
        "eval" => match arguments {
            [only] if is_literal(only) => ForAllow::AndScript(&only.text),
            _ => ForAllow::Unclear,
        },
        "command" if matches!(arguments, [option, _] if matches!(option.text.as_str(), "-v" | "-V")) => ForAllow::Itself,
        "env" | "arch" if arguments.is_empty() => ForAllow::Itself,
        "timeout" | "gtimeout" => match arguments {
            [length, rest @ ..] if is_literal(length) && length.text.starts_with(|c: char| c.is_ascii_digit()) => inner(rest),
            _ => ForAllow::Unclear,
        },
        "chroot" => ForAllow::Unclear,
        joiner if JOINERS.contains(&joiner) => ForAllow::Unclear,
        "find" | "fd" | "fdfind" if arguments.iter().any(|word| starts_command(&program, word)) => ForAllow::Unclear,
        "xargs" | "gxargs" => match inner(arguments) {
            ForAllow::AndCommand(inner) => ForAllow::AndFed(inner),
            unclear => unclear,
        },
        prefix if PREFIXES.contains(&prefix) => inner(arguments),
        other => match runner_words(other).and_then(|behind| run_command(other, behind, words, 0)) {
            // `npm exec -- x`. With options before or after the word, the start of the command is not certain.
            Some(2) => inner(match &words[2..] {
                [end, rest @ ..] if end.text == "--" => rest,
                rest => rest,
            }),
            Some(_) => ForAllow::Unclear,
            None => ForAllow::Itself,
        },
    }
}

/// Whether an option of `find` or `fd` starts a command, or a wildcard may expand to one that does.
fn starts_command(program: &str, word: &Word) -> bool {
    let text = word.text.as_str();
    FIND_EXEC.contains(&text)
        || text.starts_with("--exec")
        || (program != "find" && text.starts_with('-') && !text.starts_with("--") && text.contains(['x', 'X']))
        || (word.active && text.starts_with(['-', '{', '[', '*', '?']))
}

fn inner(words: &[Word]) -> ForAllow<'_> {
    match words.first() {
        Some(first) if is_literal(first) && !first.text.starts_with('-') && !first.text.contains('=') => {
            ForAllow::AndCommand(words)
        }
        Some(_) | None => ForAllow::Unclear,
    }
}

/// Matches exactly `bash -lc SCRIPT`, by name or with the path of a system directory.
fn shell_for_allow<'a>(shell: &Word, arguments: &'a [Word]) -> ForAllow<'a> {
    let known = ["", "/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"]
        .iter()
        .any(|place| shell.text.strip_prefix(place).is_some_and(|name| matches!(name, "bash" | "sh" | "zsh")));
    match arguments {
        [options @ .., script]
            if known
                && !options.is_empty()
                && options.iter().all(|word| matches!(word.text.as_str(), "-c" | "-l" | "-lc" | "-cl"))
                && options.last().is_some_and(|word| word.text.contains('c'))
                && is_literal(script)
                && !script.text.starts_with('-') =>
        {
            ForAllow::Script(&script.text)
        }
        [] => ForAllow::Unclear,
        arguments if arguments.iter().any(|word| is_script_option(&word.text) || word.active || word.computed) => {
            ForAllow::Unclear
        }
        _ => ForAllow::Itself,
    }
}

fn is_literal(word: &Word) -> bool {
    !word.computed && !word.active
}
