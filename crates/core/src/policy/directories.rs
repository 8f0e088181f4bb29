//! The directories in which a line may run: `cd x && cat y` reads `x/y`.

use super::command_line::CommandLine;
use super::expansion::{ANY, ShellNames};
use super::words::Word;

/// How many directories are followed. With more, the directory of the line is unknown.
const FOLLOWED: usize = 16;
/// Options of common programs that change the directory first: `git -C`, `env --chdir`, `npm --prefix`.
const CHDIR: &[&str] = &["-C", "-D", "--chdir", "--directory", "--cwd", "--prefix", "--work-tree", "--git-dir"];

/// Adds every directory that the line may change to. Order and subshells do not matter: more directories than the shell
/// visits are fine. Returns whether it may change to an unknown one.
pub(super) fn follow(line: &CommandLine, names: &mut ShellNames) -> bool {
    let mut unknown = names.directories.is_empty();
    let targets: Vec<Target> = line.commands().flat_map(|(program, words)| targets(program, words)).collect();
    // A second round, because a loop or a function may come back to an earlier `cd`.
    for target in targets.iter().chain(&targets) {
        let Target::Directory(raw) = target else {
            unknown = true;
            continue;
        };
        for pattern in names.expand(raw) {
            unknown |= pattern.starts_with(ANY);
            for directory in joined(&pattern, &names.directories) {
                if !names.directories.contains(&directory) {
                    names.directories.push(directory);
                }
            }
        }
        if names.directories.len() > FOLLOWED {
            names.directories.truncate(FOLLOWED);
            return true;
        }
    }
    unknown
}

/// The absolute patterns that a pattern means in these directories.
pub(super) fn joined(pattern: &str, directories: &[String]) -> Vec<String> {
    if pattern.starts_with('/') {
        vec![pattern.to_owned()]
    } else if pattern.starts_with(ANY) {
        Vec::new()
    } else {
        directories.iter().map(|directory| format!("{}/{pattern}", directory.trim_end_matches('/'))).collect()
    }
}

enum Target {
    /// As it is written.
    Directory(String),
    Unknown,
}

fn targets(program: &str, words: &[Word]) -> Vec<Target> {
    let arguments = words.get(1..).unwrap_or_default();
    match program {
        "cd" | "chdir" | "pushd" => {
            let operand = arguments.iter().find(|word| !word.text.starts_with(['-', '+']) || word.text == "-");
            match operand {
                Some(word) if word.text == "-" => vec![Target::Unknown],
                Some(word) => vec![Target::Directory(word.raw.clone())],
                None if program == "pushd" => vec![Target::Unknown],
                None => vec![Target::Directory("~".to_owned())],
            }
        }
        "popd" => vec![Target::Unknown],
        _ => arguments
            .iter()
            .enumerate()
            .filter_map(|(at, word)| {
                let (name, value) =
                    word.raw.split_once('=').map_or((word.raw.as_str(), None), |(name, value)| (name, Some(value)));
                match value {
                    Some(value) => CHDIR.contains(&name).then(|| Target::Directory(value.to_owned())),
                    None if CHDIR.contains(&name) => arguments.get(at + 1).map(|next| Target::Directory(next.raw.clone())),
                    None => name.strip_prefix("-C").map(|attached| Target::Directory(attached.to_owned())),
                }
            })
            .collect(),
    }
}
