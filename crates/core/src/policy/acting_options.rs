//! Options that turn a harmless-looking program into one that writes files or starts programs.
//!
//! A person who allows `git diff *` means "show me changes", not `--output=FILE`. So the `*` at the
//! end of an allowed pattern does not stand for these; whoever wants one writes it out. The table is
//! a help, not a wall: a rule for a program that runs code, such as `cargo test *`, trusts that code.

use super::words::Word;

/// Per program: long options, `find`-style words, and single letters.
const ACTING: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "--output",
            "--ext-diff",
            "--exec",
            "--exec-path",
            "--upload-pack",
            "--receive-pack",
            "--open-files-in-pager",
            "--config-env",
            "-O",
        ],
    ),
    ("find", &["-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls"]),
    ("fd", &["--exec", "--exec-batch", "-x", "-X"]),
    ("sort", &["--output", "--compress-program", "-o"]),
    ("tree", &["--output", "-o"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("tar", &["--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command", "-I"]),
    ("cargo", &["--config"]),
    ("sed", &["--in-place", "-i"]),
    ("man", &["--pager", "--html", "-P", "-H"]),
    ("less", &["--log-file", "--LOG-FILE", "-o", "-O"]),
    ("curl", &["--output", "--output-dir", "--remote-name", "--config", "--upload-file", "-o", "-O", "-K", "-T"]),
    ("wget", &["--output-document", "--output-file", "--use-askpass", "--post-file", "-O", "-o"]),
];

/// Whether a word makes this program act.
pub(super) fn acts(program: &str, word: &Word) -> bool {
    let Some((_, options)) = ACTING.iter().find(|(name, _)| *name == program) else { return false };
    // What the shell makes of such a word is not known.
    if word.active && word.text.starts_with(['-', '{', '[', '*', '?']) {
        return true;
    }
    let name = word.text.split('=').next().unwrap_or_default();
    options.iter().any(|option| {
        if option.starts_with("--") {
            // Programs take long options shortened.
            name.len() > 2 && name.starts_with("--") && (option.starts_with(name) || name.eq_ignore_ascii_case(option))
        } else if option.len() == 2 {
            // Letters may stand together: `-ro file`, `-ofile`.
            name.starts_with('-') && !name.starts_with("--") && name.contains(&option[1..])
        } else {
            name == *option
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_writes_or_runs_is_known() {
        for (program, word) in [
            ("git", "--output=x"),
            ("git", "--outp"),
            ("sort", "-ro"),
            ("find", "-delete"),
            ("cargo", "--config"),
            ("git", "{--output=x,y}"),
        ] {
            assert!(acts(program, &Word::read(word)), "{program} {word}");
        }
        for (program, word) in [
            ("git", "--stat"),
            ("git", "--"),
            ("git", "--oneline"),
            ("cargo", "--color"),
            ("ls", "-o"),
            ("find", "-name"),
            ("git", "src/*.rs"),
        ] {
            assert!(!acts(program, &Word::read(word)), "{program} {word}");
        }
    }
}
