//! Follows the directory changes of a line: `cd x && cat y` reads `x/y`.

use super::command_line::CommandLine;
use super::expansion::{ANY, ShellNames};
use super::words::Word;

/// The largest number of directories to follow. With more, the directory is unknown.
const FOLLOWED: usize = 16;
/// Options of common programs that change the directory: `git -C`, `env --chdir`, `npm --prefix`.
const CHDIR: &[&str] = &["-C", "-D", "--chdir", "--directory", "--cwd", "--prefix", "--work-tree", "--git-dir"];

/// Adds every directory to which the line may change. Order and subshells are ignored, because extra directories are harmless.
/// Returns whether it may change to an unknown one.
pub(super) fn follow_directories(line: &CommandLine, names: &mut ShellNames) -> bool {
    let mut unknown = names.directories.is_empty();
    let targets: Vec<Target> = line.commands().flat_map(|(program, words)| targets(program, words)).collect();
    // Two rounds, because a loop or function may run an earlier `cd` again.
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

/// Returns the absolute patterns that a pattern means in these directories.
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
    /// A directory as written.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the directories in which a line that starts in `/p` may run, and whether it may run in an unknown one.
    fn followed(line: &str) -> (Vec<String>, bool) {
        let line = CommandLine::read(line);
        let mut names =
            ShellNames { home: Some("/home/u".to_owned()), directories: vec!["/p".to_owned()], variables: line.variables() };
        let unknown = follow_directories(&line, &mut names);
        (names.directories, unknown)
    }

    #[test]
    fn every_directory_that_a_line_may_change_to_is_known() {
        for (line, further) in [
            ("ls x", &[][..]),
            ("cd /a", &["/a"]),
            ("cd", &["/home/u"]),
            ("cd -P", &["/home/u"]),
            ("cd -P /a", &["/a"]),
            ("cd -- /a", &["/a"]),
            ("chdir /a && pushd /b", &["/a", "/b"]),
            ("pushd +1 /a", &["/a"]),
            ("cd /a/; cd b", &["/a/", "/p/b", "/a/b", "/p/b/b", "/a/b/b"]),
            ("git -C /a status", &["/a"]),
            ("git -C/a status", &["/a"]),
            ("tar -D /a", &["/a"]),
            ("env --chdir=/a ls", &["/a"]),
            ("npm --prefix /a test", &["/a"]),
            ("make --directory /a; x --cwd=/b", &["/a", "/b"]),
            ("git --work-tree=/a --git-dir /b log", &["/a", "/b"]),
            ("grep --context=/a x", &[]),
            ("git -C", &[]),
            ("echo cd /a", &[]),
        ] {
            let expected: Vec<String> = ["/p"].iter().chain(further).map(|directory| (*directory).to_owned()).collect();
            assert_eq!(followed(line), (expected, false), "{line}");
        }
    }

    #[test]
    fn directories_that_a_line_does_not_write_out_are_unknown() {
        for line in ["cd -", "cd -P -", "pushd", "pushd +1", "popd", "cd $X", "cd \"$(x)\"", "git -C $X log", "env -C`x` ls"] {
            assert_eq!(followed(line), (vec!["/p".to_owned()], true), "{line}");
        }
        // Known directories are also followed after an unknown one.
        assert_eq!(followed("cd - && cd /a"), (vec!["/p".to_owned(), "/a".to_owned()], true));
        let mut names = ShellNames::default();
        assert!(follow_directories(&CommandLine::read("ls"), &mut names), "the directory where the line starts is not known");
    }

    #[test]
    fn number_of_followed_directories_is_limited() {
        let line = |count: usize| (1..count).map(|number| format!("cd /{number};")).collect::<String>() + "ls";
        let (directories, unknown) = followed(&line(FOLLOWED));
        assert_eq!((directories.len(), unknown), (FOLLOWED, false));
        let (directories, unknown) = followed(&line(FOLLOWED + 1));
        assert_eq!((directories.len(), unknown), (FOLLOWED, true));
    }

    #[test]
    fn relative_paths_are_joined_to_every_directory() {
        let directories = ["/p".to_owned(), "/".to_owned(), "/q/".to_owned()];
        assert_eq!(joined("a/b", &directories), ["/p/a/b", "/a/b", "/q/a/b"]);
        assert_eq!(joined("/a", &directories), ["/a"]);
        assert_eq!(joined(&format!("{ANY}/a"), &directories), [""; 0]);
        assert_eq!(joined(&format!("a{ANY}"), &directories[..1]), [format!("/p/a{ANY}")]);
    }
}
