//! Commands that start other commands: `bash -c '…'`, `env`, `sudo`, `xargs`, `find -exec`.
//!
//! Two views of the same thing. For `ask` and `deny` every place where a command might start counts.
//! For `allow` only those forms count in which there is no doubt where it starts.

use super::words::Word;

const SHELLS: &[&str] =
    &["bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "pwsh", "powershell"];
/// Programs whose arguments are, sooner or later, a command on this machine.
const PREFIXES: &[&str] = &[
    "env",
    "sudo",
    "doas",
    "pkexec",
    "nohup",
    "nice",
    "ionice",
    "chrt",
    "taskset",
    "timeout",
    "gtimeout",
    "stdbuf",
    "setsid",
    "command",
    "builtin",
    "exec",
    "time",
    "gtime",
    "xargs",
    "gxargs",
    "parallel",
    "watch",
    "chroot",
    "unshare",
    "nsenter",
    "flock",
    "strace",
    "ltrace",
    "valgrind",
    "caffeinate",
    "busybox",
    "toybox",
    "proot",
    "fakeroot",
    "script",
    "su",
    "runuser",
    "setpriv",
    "gosu",
    "systemd-run",
    "entr",
    "rlwrap",
    "unbuffer",
    "chronic",
    "xvfb-run",
    "firejail",
    "bwrap",
    "gdb",
    "lldb",
    "perf",
    "hyperfine",
    "watchexec",
    "dbus-run-session",
    "torsocks",
    "proxychains",
    "rtk",
    "at",
    "batch",
    "trap",
    "coproc",
    "noglob",
    "nocorrect",
    "-",
];
/// Programs whose arguments may hold a command for elsewhere: only `ask` and `deny` look into them.
const CARRIERS: &[&str] = &[
    "ssh",
    "docker",
    "podman",
    "kubectl",
    "nix-shell",
    "nix",
    "npx",
    "bunx",
    "uvx",
    "poetry",
    "pipenv",
    "direnv",
    "mise",
    "tmux",
    "screen",
    "fd",
];
/// Programs that run code of their own language.
const INTERPRETERS: &[&str] = &[
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "osascript",
    "tclsh",
    "expect",
    "sed",
    "gsed",
    "vim",
    "vi",
    "ex",
    "ed",
    "make",
    "emacs",
    "nvim",
];
/// Interpreters whose first argument is code.
const INLINE: &[&str] = &["awk", "gawk", "mawk", "nawk", "alias", "source", "."];
/// How many places of one command are looked at.
const PLACES: usize = 512;
/// How many words behind a shell are looked at for its script.
const SHELL_WORDS: usize = 16;

/// What stands inside a command, generously.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// Where else in the words a command might start.
    pub(super) starts: Vec<usize>,
    /// Texts that some shell would run.
    pub(super) scripts: Vec<String>,
    /// Whether it runs something that is not written in words: another language, its input.
    pub(super) opaque: bool,
    /// Whether it runs something that the shell computes first.
    pub(super) computed: bool,
}

/// Looks for commands inside a command. `starts` holds at least 0.
pub(super) fn look_inside(words: &[Word]) -> Inside {
    let mut inside = Inside { starts: vec![0], ..Inside::default() };
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
        {
            // Only the outermost of them needs to list the places: they are the same for the inner ones.
            if start == 0 || inside.starts.len() == 1 {
                places(program, words, start, &mut inside);
            }
        } else if is_interpreter(program, arguments) {
            inside.opaque = true;
        }
    }
    inside
}

fn places(program: &str, words: &[Word], start: usize, inside: &mut Inside) {
    let listed = words.len().min(start + 1 + PLACES);
    inside.opaque |= listed < words.len();
    for (at, word) in words.iter().enumerate().take(listed).skip(start + 1) {
        // What only sometimes starts a command does so behind these words.
        let begins = match program {
            "find" => matches!(words[at - 1].text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"),
            "git" => words[at - 1].text == "run" || words[at - 1].text == "foreach",
            "cargo" => false,
            _ => true,
        };
        if begins && !word.text.starts_with('-') {
            inside.starts.push(at);
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
            // `--exec=rm x`, `alias.x=!rm x`: what stands behind the sign is the script.
            let script = word
                .text
                .split_once("=!")
                .or_else(|| word.text.split_once('=').filter(|(name, _)| !name.contains(' ')))
                .map_or(word.text.as_str(), |(_, script)| script);
            inside.scripts.push(script.to_owned());
        }
    }
}

fn shell(arguments: &[Word], inside: &mut Inside) {
    let arguments = &arguments[..arguments.len().min(SHELL_WORDS)];
    let has_script = arguments.iter().any(|word| is_script_option(&word.text));
    if !has_script {
        // It runs a file or what it is fed: neither is seen.
        inside.opaque = true;
        return;
    }
    for word in arguments.iter().filter(|word| !word.text.starts_with('-')) {
        inside.computed |= word.computed;
        inside.scripts.push(word.text.clone());
    }
}

/// `-c`, `-lc`, `--command`, `-Command`.
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

/// What an `allow` has to look at.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ForAllow<'a> {
    /// The command itself.
    Itself,
    /// Not the command, but the script that it hands to a shell: how some agents send every line.
    Script(&'a str),
    /// The command, and the one that it starts.
    AndCommand(&'a [Word]),
    /// The command, and the script that it runs.
    AndScript(&'a str),
    /// It starts something, and where that begins is not clear: only a pattern that spells it out fits.
    Unclear,
}

/// Says what an `allow` has to look at for this command.
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
        "env" if arguments.is_empty() => ForAllow::Itself,
        "timeout" | "gtimeout" => match arguments {
            [length, rest @ ..] if is_literal(length) && length.text.starts_with(|c: char| c.is_ascii_digit()) => inner(rest),
            _ => ForAllow::Unclear,
        },
        "trap" | "alias" | "su" | "script" | "watch" | "parallel" | "at" | "batch" | "flock" | "chroot" | "hyperfine" => {
            ForAllow::Unclear
        }
        "find" | "fd" if arguments.iter().any(|word| super::acting_options::acts(&program, word)) => ForAllow::Unclear,
        prefix if PREFIXES.contains(&prefix) => inner(arguments),
        _ => ForAllow::Itself,
    }
}

fn inner(words: &[Word]) -> ForAllow<'_> {
    match words.first() {
        Some(first) if is_literal(first) && !first.text.starts_with('-') && !first.text.contains('=') => {
            ForAllow::AndCommand(words)
        }
        Some(_) | None => ForAllow::Unclear,
    }
}

/// Exactly `bash -lc SCRIPT`, by its plain name or from where systems keep it.
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
