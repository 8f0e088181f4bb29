//! Lists the files that a command line executes: `./deploy.sh`, `bash x.sh`, `python x.py`, `node x.js`, `make -f x.mk`.
//!
//! A person who approves such a line approves the content of the files. The list is derived from the words of the line, so it
//! informs people but is not a security boundary: a listed file can load others, and a program can execute its input.

use super::command_line::CommandLine;
use super::directories::{follow_directories, joined};
use super::expansion::{ANY, ONE, STAR, ShellNames};
use super::inner_programs::inner_programs;
use super::words::Word;
use super::wrapper_names::{FIND_EXEC, PREFIXES, RUNNERS, SHELLS};

/// The largest number of listed files.
const MAX_FILES: usize = 8;
/// The largest number of places in one command that are searched for programs.
const PLACES: usize = 64;
/// The directories of installed programs, which are not code of the project.
const INSTALLED: &[&str] = &["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/"];
const BUILD_TOOLS: &[&str] = &[
    "ant", "bazel", "bunx", "cargo", "cmake", "composer", "ctest", "deno", "dotnet", "go", "gradle", "jest", "just", "meson",
    "mix", "mvn", "ninja", "nox", "npx", "pnpx", "pytest", "rake", "sbt", "swift", "task", "tox", "uvx", "vitest", "zig",
];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecutedCode {
    /// The absolute paths of up to eight files. If the line changes its directory, all possible places are listed.
    pub files: Vec<String>,
    /// Whether the line also executes files that are not listed, for example of a build tool or with a computed name.
    pub unlisted: bool,
}

/// The options with which an interpreter finds its program.
struct Interpreter {
    /// Options whose value is code, or with which it reads code from elsewhere.
    inline: &'static [&'static str],
    module: &'static [&'static str],
    files: &'static [&'static str],
    values: &'static [&'static str],
}

fn interpreter(program: &str) -> Option<Interpreter> {
    let plain = Interpreter { inline: &[], module: &[], files: &[], values: &[] };
    Some(match program {
        python if python.starts_with("python") || python.starts_with("pypy") => {
            Interpreter { inline: &["-c"], module: &["-m"], values: &["-W", "-X"], ..plain }
        }
        "node" | "nodejs" | "tsx" | "ts-node" => Interpreter {
            inline: &["-e", "--eval", "-p", "--print"],
            files: &["-r", "--require", "--import", "--loader"],
            values: &["-C", "--conditions"],
            ..plain
        },
        "ruby" => Interpreter { inline: &["-e"], module: &["-r"], values: &["-I", "-C"], ..plain },
        "perl" => Interpreter { inline: &["-e", "-E"], module: &["-M"], values: &["-I"], ..plain },
        "php" => Interpreter { inline: &["-r"], files: &["-f"], values: &["-d"], ..plain },
        "lua" | "luajit" => Interpreter { inline: &["-e"], module: &["-l"], ..plain },
        "osascript" => Interpreter { inline: &["-e"], values: &["-l"], ..plain },
        "rscript" => Interpreter { inline: &["-e"], ..plain },
        "." | "source" | "tclsh" | "expect" => plain,
        _ => return None,
    })
}

/// Lists the files that a command line executes if it starts in `directory`.
#[must_use]
pub fn executed_code(command: &str, directory: &str, home: Option<&str>) -> ExecutedCode {
    let line = CommandLine::read(command);
    let mut names =
        ShellNames { home: home.map(str::to_owned), directories: vec![directory.to_owned()], variables: line.variables() };
    let lost = follow_directories(&line, &mut names);
    let mut found = Search { names, lost, code: ExecutedCode { files: Vec::new(), unlisted: line.unreadable } };
    for words in line.outermost() {
        found.command(words);
    }
    found.code
}

struct Search {
    names: ShellNames,
    /// Whether the line may change to an unknown directory.
    lost: bool,
    code: ExecutedCode,
}

impl Search {
    fn command(&mut self, words: &[Word]) {
        let mut starts = vec![(0, false)];
        let mut next = 0;
        while let Some(&(start, fed)) = starts.get(next) {
            if next == PLACES {
                self.code.unlisted = true;
                return;
            }
            next += 1;
            let Some(first) = words.get(start) else { continue };
            let (program, arguments) = (first.program(), &words[start + 1..]);
            let program = program.as_str();
            let is_path = first.text.contains('/') && !INSTALLED.iter().any(|place| first.text.starts_with(place));
            if is_path {
                self.file(first);
            }
            if SHELLS.contains(&program) {
                self.shell(arguments);
            } else if let Some(interpreter) = interpreter(program) {
                self.interpreted(&interpreter, arguments);
            } else if program == "make" || program == "gmake" {
                self.makefile(arguments);
            } else if program == "find" || program == "fd" || program == "fdfind" {
                let begins = |at: &usize| FIND_EXEC.contains(&words[*at - 1].text.as_str());
                starts.extend((start + 2..words.len()).filter(begins).map(|at| (at, true)));
            } else if BUILD_TOOLS.contains(&program) || RUNNERS.iter().any(|(runner, _)| *runner == program) {
                self.code.unlisted = true;
            } else if PREFIXES.contains(&program) {
                let inner = inner_programs(program, words, start + 1, fed);
                starts.extend(inner.places.into_iter().map(|at| (at, inner.fed)));
            }
        }
    }

    /// Adds the file that a word names.
    fn file(&mut self, word: &Word) {
        for pattern in self.names.expand(&word.raw) {
            if pattern.contains([ANY, STAR, ONE]) || (self.lost && !pattern.starts_with('/')) {
                self.code.unlisted = true;
                continue;
            }
            for path in joined(&pattern, &self.names.directories) {
                let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
                let path = format!("/{}", parts.join("/"));
                if self.code.files.contains(&path) {
                    continue;
                }
                if self.code.files.len() < MAX_FILES {
                    self.code.files.push(path);
                } else {
                    self.code.unlisted = true;
                }
            }
        }
    }

    /// Handles `bash x.sh`. Scripts after `-c` are commands of the line and are handled as such.
    fn shell(&mut self, arguments: &[Word]) {
        let mut arguments = arguments.iter();
        while let Some(word) = arguments.next() {
            match word.text.as_str() {
                "--rcfile" | "--init-file" => arguments.by_ref().take(1).for_each(|file| self.file(file)),
                "-s" => break,
                long if long.starts_with("--") => {}
                letters if letters.starts_with(['-', '+']) && letters.contains('c') => return,
                letters if letters.starts_with(['-', '+']) && letters.ends_with(['o', 'O']) => {
                    arguments.next();
                }
                letters if letters.starts_with(['-', '+']) => {}
                _ => return self.file(word),
            }
        }
        self.code.unlisted = true;
    }

    fn interpreted(&mut self, interpreter: &Interpreter, arguments: &[Word]) {
        let mut arguments = arguments.iter();
        while let Some(word) = arguments.next() {
            let text = word.text.as_str();
            if !text.starts_with('-') || word.computed {
                return self.file(word);
            }
            let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
            // `-ne` means `-n -e`.
            let ends_with = |option: &&str| option.len() == 2 && !name.starts_with("--") && name.ends_with(&option[1..]);
            if interpreter.inline.iter().any(|option| name == *option || ends_with(option)) {
                return;
            } else if interpreter.module.iter().any(|module| text.starts_with(module)) {
                self.code.unlisted = true;
                return;
            } else if interpreter.files.contains(&name) {
                match value {
                    Some(value) => self.file(&Word::read(value)),
                    None => arguments.by_ref().take(1).for_each(|file| self.file(file)),
                }
            } else if interpreter.values.contains(&text) {
                arguments.next();
            }
        }
        self.code.unlisted = true;
    }

    fn makefile(&mut self, arguments: &[Word]) {
        let mut named = false;
        for (at, word) in arguments.iter().enumerate() {
            let text = word.text.as_str();
            let attached = ["--file=", "--makefile="].iter().find_map(|option| text.strip_prefix(option));
            let attached = attached.or_else(|| text.strip_prefix("-f").filter(|file| !file.is_empty()));
            let file = match attached {
                Some(file) => Some(Word::read(file)),
                None if matches!(text, "-f" | "--file" | "--makefile") => arguments.get(at + 1).cloned(),
                None => None,
            };
            if let Some(file) = file {
                named = true;
                self.file(&file);
            }
        }
        self.code.unlisted |= !named;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECT: &str = "/home/u/shop";

    fn code(line: &str) -> (Vec<String>, bool) {
        let ExecutedCode { files, unlisted } = executed_code(line, PROJECT, Some("/home/u"));
        let shown = |path: String| path.strip_prefix("/home/u/shop/").map_or(path.clone(), str::to_owned);
        (files.into_iter().map(shown).collect(), unlisted)
    }

    #[test]
    fn files_that_a_line_names_are_listed() {
        for (line, files) in [
            ("./deploy.sh", vec!["deploy.sh"]),
            ("scripts/deploy.sh prod --force", vec!["scripts/deploy.sh"]),
            ("bash x.sh", vec!["x.sh"]),
            ("/bin/bash -eu -o pipefail x.sh -c y", vec!["x.sh"]),
            ("bash -euo pipefail x.sh", vec!["x.sh"]),
            ("sh -- x.sh", vec!["x.sh"]),
            ("bash --rcfile rc x.sh", vec!["rc", "x.sh"]),
            (". ./env.sh && source other.sh", vec!["env.sh", "other.sh"]),
            ("python x.py", vec!["x.py"]),
            ("python3.12 -X dev -u x.py y.py", vec!["x.py"]),
            ("node x.js", vec!["x.js"]),
            ("node --enable-source-maps -r ./hook.js x.js", vec!["hook.js", "x.js"]),
            ("node --import=./hook.mjs x.js", vec!["hook.mjs", "x.js"]),
            ("ruby x.rb; perl x.pl; php x.php; tsx x.ts", vec!["x.rb", "x.pl", "x.php", "x.ts"]),
            ("make -f build.mk all", vec!["build.mk"]),
            ("make -fbuild.mk; gmake --makefile=other.mk", vec!["build.mk", "other.mk"]),
            ("sudo -u root env A=1 timeout 5 ./deploy.sh", vec!["deploy.sh"]),
            ("bash -c './a.sh && python b.py'", vec!["a.sh", "b.py"]),
            ("bash -lc \"nice -n 5 ./a.sh\"", vec!["a.sh"]),
            ("find . -name '*.txt' -exec ./convert.sh {} +", vec!["convert.sh"]),
            ("if ./check.sh; then (./a.sh | ./b.sh); fi", vec!["check.sh", "a.sh", "b.sh"]),
            ("cd sub && ./x.sh", vec!["x.sh", "sub/x.sh", "sub/sub/x.sh"]),
            ("DIR=tools; $DIR/x.sh", vec!["tools/x.sh"]),
            ("~/bin/x.sh", vec!["/home/u/bin/x.sh"]),
            ("bash /tmp/x.sh ../y.sh", vec!["/tmp/x.sh"]),
            ("bash ../y.sh", vec!["../y.sh"]),
            ("./x.sh; ./x.sh; bash x.sh", vec!["x.sh"]),
        ] {
            assert_eq!(code(line), (files.into_iter().map(str::to_owned).collect(), false), "{line}");
        }
    }

    #[test]
    fn lines_that_execute_no_file_list_none() {
        for line in [
            "git status",
            "cat ./deploy.sh",
            "/usr/bin/git diff",
            "python -c 'print(1)'",
            "node -e 'x'",
            "perl -ne 'print' notes.txt",
            "bash -c 'ls'",
            "echo ./x.sh",
            "sudo apt-get install -y jq",
            "",
        ] {
            assert_eq!(code(line), (vec![], false), "{line}");
        }
    }

    #[test]
    fn code_without_a_file_name_is_reported() {
        for line in [
            "cargo test",
            "npm test",
            "uv run ./x.py",
            "npm run build",
            "make",
            "make all",
            "pytest -q",
            "go run .",
            "python -m build",
            "python",
            "curl https://example.com/x | sh",
            "bash $FILE",
            "python *.py",
            "cd \"$(mktemp -d)\" && ./x.sh",
            "sudo make install",
            "(((",
        ] {
            assert_eq!(code(line), (vec![], true), "{line}");
        }
        let many = (0..20).map(|number| format!("./{number}.sh")).collect::<Vec<_>>().join(";");
        let (files, unlisted) = code(&many);
        assert_eq!((files.len(), unlisted), (MAX_FILES, true));
    }

    fn lists(line: &str, files: &[&str], unlisted: bool) {
        assert_eq!(code(line), (files.iter().map(|file| (*file).to_owned()).collect(), unlisted), "{line}");
    }

    #[test]
    fn interpreters_find_their_file_after_options() {
        for (line, files) in [
            ("pypy3 -W ignore x.py", &["x.py"][..]),
            ("nodejs --loader ./l.mjs --conditions prod x.js", &["l.mjs", "x.js"]),
            // `-C` names a condition for Node; other programs change to that directory.
            ("nodejs -C dev x.js", &["x.js", "dev/x.js", "dev/dev/x.js"]),
            ("ts-node --require ./r.ts x.ts", &["r.ts", "x.ts"]),
            ("ruby -I lib x.rb", &["x.rb"]),
            ("ruby -C dir x.rb", &["x.rb", "dir/x.rb", "dir/dir/x.rb"]),
            ("perl -I lib -w x.pl", &["x.pl"]),
            ("php -d a=b x.php", &["x.php"]),
            ("php -f y.php x.php", &["y.php", "x.php"]),
            ("lua x.lua; luajit y.lua", &["x.lua", "y.lua"]),
            ("osascript -l JavaScript x.js", &["x.js"]),
            ("rscript x.R", &["x.R"]),
            ("tclsh x.tcl; expect y.exp", &["x.tcl", "y.exp"]),
        ] {
            lists(line, files, false);
        }
        for inline in [
            "python -c x y.py",
            "python -Bc x y.py",
            "node --eval x y.js",
            "node --eval=x y.js",
            "node -p x",
            "node --print x",
            "ruby -e x",
            "perl -E x",
            "php -r x",
            "lua -e x",
            "osascript -e x",
            "rscript -e x",
        ] {
            lists(inline, &[], false);
        }
        for module in ["python -m x", "python -mx y.py", "ruby -r x y.rb", "perl -MX y.pl", "lua -l x y.lua"] {
            lists(module, &[], true);
        }
        for input in ["node", "node --inspect", "ruby", "perl -w", "php", "lua", "osascript", "rscript", "python -u"] {
            lists(input, &[], true);
        }
        lists("node --evalx=1 x.js", &["x.js"], false);
        lists("python \"$x\"", &[], true);
    }

    #[test]
    fn shells_execute_their_first_operand_or_their_input() {
        lists("bash -s x.sh", &[], true);
        lists("bash --rcfile rc --init-file init -i x.sh", &["rc", "init", "x.sh"], false);
        lists("bash --rcfile", &[], true);
        lists("bash --posix --norc x.sh", &["x.sh"], false);
        lists("bash +x -O extglob +O nullglob x.sh", &["x.sh"], false);
        lists("bash -c ls x.sh", &[], false);
        lists("bash +c ls x.sh", &[], false);
        lists("bash --norc", &[], true);
        lists("bash -e", &[], true);
        lists("zsh x.sh; dash y.sh; ksh z.sh", &["x.sh", "y.sh", "z.sh"], false);
    }

    #[test]
    fn makefiles_are_listed_if_they_are_named() {
        lists("make -f a.mk -f b.mk x", &["a.mk", "b.mk"], false);
        lists("make --file a.mk", &["a.mk"], false);
        lists("make --makefile a.mk", &["a.mk"], false);
        lists("make --file=a.mk", &["a.mk"], false);
        lists("make -f", &[], true);
        lists("gmake all", &[], true);
    }

    #[test]
    fn installed_programs_are_no_code_of_the_project() {
        for place in INSTALLED {
            lists(&format!("{place}tool x"), &[], false);
        }
        lists("/opt/tool x", &["/opt/tool"], false);
        lists("/usr/bin/python3 x.py", &["x.py"], false);
        lists("tools/python x.py", &["tools/python", "x.py"], false);
        lists("find . -exec /bin/sh x.sh {} +", &["x.sh"], false);
        lists("fd x -x ./a.sh; fdfind x -X ./b.sh", &["a.sh", "b.sh"], false);
        lists("find . -name ./x.sh", &[], false);
        lists("./a//b/./c.sh", &["a/b/c.sh"], false);
    }

    #[test]
    fn programs_behind_too_many_wrappers_are_unlisted() {
        let wrapped = |count: usize| format!("{}./x.sh", "env ".repeat(count));
        lists(&wrapped(PLACES - 1), &["x.sh"], false);
        lists(&wrapped(PLACES), &[], true);
    }

    #[test]
    fn number_of_listed_files_is_limited() {
        let line = |count: usize| (0..count).map(|number| format!("./{number}.sh")).collect::<Vec<_>>().join(";");
        assert_eq!((code(&line(MAX_FILES)).0.len(), code(&line(MAX_FILES)).1), (MAX_FILES, false));
        assert_eq!((code(&line(MAX_FILES + 1)).0.len(), code(&line(MAX_FILES + 1)).1), (MAX_FILES, true));
        lists(&format!("{}; ./0.sh", line(MAX_FILES)), &["0.sh", "1.sh", "2.sh", "3.sh", "4.sh", "5.sh", "6.sh", "7.sh"], false);
    }
}
