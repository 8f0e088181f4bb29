//! Finds the word of a wrapper that names the program it starts, and whether the shell computes that word.
//!
//! `env $x`, `sudo -u root $x` and `find . -exec $x {} +` start a program with an unknown name, like `$x` alone. Finding the
//! word requires the options of each wrapper. If an option is not in the table, both possibilities count: the next word may be
//! its value or the program.

use super::option_list::{OptionList, OptionReading};
use super::words::Word;

/// The largest number of words of one wrapper that are searched.
const SEARCHED: usize = 256;

/// The arguments of a wrapper before the program.
#[derive(Debug, Clone, Copy)]
struct Wrapper {
    /// The number of operands before the program, such as the duration of `timeout` or the host of `ssh`.
    operands: usize,
    options: OptionList,
    /// Options whose value is a script that the wrapper itself splits into words, such as `env -S`.
    script_options: &'static [&'static str],
    /// Whether the program runs on another machine or in a container.
    elsewhere: bool,
    /// Whether the input or found files become words of the command, as for `xargs` and `find -exec`.
    fed: bool,
}

const PLAIN: Wrapper =
    Wrapper { operands: 0, options: OptionList::letters(""), script_options: &[], elsewhere: false, fed: false };

fn wrapper(program: &str) -> Wrapper {
    let options = |options: &'static str| Wrapper { options: OptionList::letters(options), ..PLAIN };
    match program {
        "env" => Wrapper {
            script_options: &["-S", "--split-string"],
            ..options("-i -0 -v -u= -C= -S= --ignore-environment --null --debug --unset= --chdir= --split-string=")
        },
        "sudo" | "doas" => options(
            "-A -b -E -H -n -P -S -k -i -s -u= -g= -h= -p= -C= -T= -D= -R= -U= -r= -t= --user= --group= --chdir= --preserve-env --non-interactive",
        ),
        "timeout" | "gtimeout" => {
            Wrapper { operands: 1, ..options("-v -s= -k= --foreground --preserve-status --verbose --signal= --kill-after=") }
        }
        "nice" => options("-n= --adjustment="),
        "ionice" => options("-c= -n= -t --class= --classdata= --ignore"),
        "stdbuf" => options("-i= -o= -e= --input= --output= --error="),
        "time" | "gtime" => options("-p -v -a -q -f= -o="),
        "exec" => options("-c -l -a="),
        "command" => options("-p"),
        "nohup" | "builtin" | "setsid" | "caffeinate" => options("-c -f -w -i -s -d"),
        "strace" | "ltrace" => options("-f -c -q -t -r -T -v -e= -o= -s= -p= -u="),
        "xargs" | "gxargs" => Wrapper {
            fed: true,
            ..options(
                "-0 -r -t -p -x -o -I= -n= -P= -L= -d= -E= -s= -a= --null --no-run-if-empty --verbose --max-args= --max-procs= --max-lines= --delimiter= --arg-file= --replace=",
            )
        },
        "parallel" => Wrapper { fed: true, ..PLAIN },
        "taskset" | "chrt" | "chroot" | "flock" | "gosu" | "setarch" | "perf" | "direnv" => Wrapper { operands: 1, ..PLAIN },
        "ssh" => Wrapper { operands: 1, elsewhere: true, ..options("-A -C -q -t -T -v -4 -6 -F= -i= -J= -l= -o= -p=") },
        "docker" | "podman" => Wrapper {
            operands: 1,
            elsewhere: true,
            ..options(
                "-d -i -t --detach --init --interactive --privileged --rm --tty -e= -p= -u= -v= -w= --entrypoint= --env= --mount= --name= --network= --user= --volume= --workdir=",
            )
        },
        "kubectl" => Wrapper {
            operands: 1,
            elsewhere: true,
            ..options("-i -q -t --stdin --tty -c= -n= --container= --image= --namespace=")
        },
        _ => PLAIN,
    }
}

/// The programs that a wrapper may start.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct InnerPrograms {
    /// The possible indexes of the program. The last one is certain, if there is one.
    pub(super) places: Vec<usize>,
    /// Whether the program is computed by the shell, or by the wrapper from its input.
    pub(super) computed: bool,
    /// Whether an inner wrapper runs its input, because this one appends words to its command.
    pub(super) fed: bool,
}

/// Finds the program of a wrapper whose arguments begin at `from`. `fed` says that an outer wrapper appends unknown words. Then
/// a wrapper without a program in the line starts one from its input.
pub(super) fn inner_programs(program: &str, words: &[Word], from: usize, fed: bool) -> InnerPrograms {
    let wrapper = wrapper(program);
    let mut search = Search {
        wrapper,
        replaced: if wrapper.fed { placeholder(&words[from.min(words.len())..]) } else { None },
        operands: wrapper.operands,
        value: Value::No,
        ended: false,
        script: false,
        found: InnerPrograms { fed: fed || wrapper.fed, ..InnerPrograms::default() },
    };
    for (at, word) in words.iter().enumerate().skip(from).take(SEARCHED) {
        if search.read_word(at, word) {
            return search.found;
        }
    }
    // There are more words than are searched, or no program, which an outer wrapper may append.
    search.found.computed |= words.len() > from + SEARCHED || fed;
    search.found
}

/// Whether the next word is the value of the option before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    No,
    Maybe,
    Yes,
}

struct Search {
    wrapper: Wrapper,
    replaced: Option<String>,
    operands: usize,
    value: Value,
    /// Whether `--` ended the options.
    ended: bool,
    /// Whether an option made the rest a script, whose first words may be another wrapper.
    script: bool,
    found: InnerPrograms,
}

impl Search {
    /// Handles one word. Returns whether the search is over.
    fn read_word(&mut self, at: usize, word: &Word) -> bool {
        if self.script {
            self.found.computed |= computes_script(word);
            return self.found.computed;
        }
        let value = std::mem::replace(&mut self.value, Value::No);
        // A lone `-` is also an option: `env - rm` means `env -i rm`.
        let is_option = !self.ended && word.text.starts_with('-');
        if is_option && matches!(value, Value::No | Value::Maybe) {
            return self.read_option_word(word);
        }
        let certain = value == Value::No && self.operands == 0 && !is_assignment(&word.text);
        if self.is_computed(word, value) {
            self.found.computed = true;
            return true;
        }
        match value {
            Value::Yes => return false,
            Value::No if !is_assignment(&word.text) => self.operands = self.operands.saturating_sub(1),
            Value::No | Value::Maybe => {}
        }
        self.found.places.push(at);
        certain
    }

    fn read_option_word(&mut self, word: &Word) -> bool {
        if word.text == "--" {
            self.ended = true;
            return false;
        }
        let names_script = |option: &&&str| match option.strip_prefix("--") {
            Some(_) => word.text.split('=').next().is_some_and(|name| name.len() > 2 && option.starts_with(name)),
            None => !word.text.starts_with("--") && word.text.contains(&option[1..]),
        };
        let computes = word.splits || (word.active && word.text.replace("{}", "").contains('{'));
        // The wrapper splits a script and expands its variables.
        let script = self.wrapper.script_options.iter().any(|option| names_script(&option));
        if computes || (script && computes_script(word)) {
            self.found.computed = true;
            return true;
        }
        self.script = script;
        self.value = match self.wrapper.options.read(&word.text) {
            OptionReading::WantsValue => Value::Yes,
            OptionReading::Complete(_) => Value::No,
            OptionReading::Unknown if word.text.contains('=') => Value::No,
            OptionReading::Unknown => Value::Maybe,
        };
        false
    }

    fn is_computed(&self, word: &Word, value: Value) -> bool {
        // The shell does not treat `{}` specially.
        let is_placeholder = word.text == "{}";
        let replaced = self.found.fed
            && (word.text.contains("{}") || self.replaced.as_ref().is_some_and(|replaced| word.text.contains(replaced.as_str())));
        let splits = word.splits || (word.active && !is_placeholder);
        let operand = self.wrapper.elsewhere && (self.operands > 0 || value != Value::No);
        match value {
            Value::Yes => splits && !self.wrapper.elsewhere,
            Value::Maybe | Value::No if operand => false,
            Value::Maybe | Value::No if is_assignment(&word.text) => splits,
            Value::Maybe => splits || word.computed,
            Value::No => splits || word.computed || replaced,
        }
    }
}

/// Whether a word of a script is computed, by the shell or by the wrapper that splits and expands it.
fn computes_script(word: &Word) -> bool {
    word.computed || word.active || word.text.contains(['$', '\\'])
}

/// Returns the text that `xargs -I` replaces by its input.
fn placeholder(arguments: &[Word]) -> Option<String> {
    arguments.iter().enumerate().find_map(|(at, word)| {
        let attached = word.text.strip_prefix("--replace=").or_else(|| word.text.strip_prefix("-I"))?;
        let text = if attached.is_empty() { arguments.get(at + 1)?.text.as_str() } else { attached };
        (!text.is_empty()).then(|| text.to_owned())
    })
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(line: &str) -> (Vec<usize>, bool) {
        let words: Vec<Word> = line.split(' ').map(Word::read).collect();
        let found = inner_programs(&words[0].program(), &words, 1, false);
        (found.places, found.computed)
    }

    #[test]
    fn the_program_is_found_behind_options_values_and_assignments() {
        for (line, places) in [
            ("env rm x", vec![1]),
            ("env A=1 rm x", vec![1, 2]),
            ("env -u A rm x", vec![3]),
            ("env -uA -- rm x", vec![3]),
            ("env -x rm y z", vec![2, 3]),
            ("timeout 5 rm x", vec![1, 2]),
            ("timeout -s KILL 5 rm x", vec![3, 4]),
            ("sudo -E -u root rm", vec![4]),
            ("nice -n 5 rm", vec![3]),
            ("xargs -I {} rm {}", vec![3]),
            ("exec -a name rm", vec![3]),
            ("env A=\"$x\" rm", vec![1, 2]),
            ("env -u \"$x\" rm", vec![3]),
            ("docker -v $x img rm", vec![3, 4]),
            ("env", vec![]),
            ("env - rm x", vec![2, 3]),
            ("env -- -x rm", vec![2]),
            ("env --=x rm", vec![2]),
            ("env --foo=bar rm x", vec![2]),
            ("env =x rm", vec![1]),
            ("env 1a=x rm", vec![1]),
            ("env a-b=x rm", vec![1]),
            ("env a_b=x rm", vec![1, 2]),
            ("timeout A=1 5 rm x", vec![1, 2, 3]),
            ("ionice -c 2 rm x", vec![3]),
            ("ionice -t rm x", vec![2]),
            ("stdbuf -o L rm x", vec![3]),
            ("time -f %e rm x", vec![3]),
            ("gtime -p rm x", vec![2]),
            ("command -p rm x", vec![2]),
            ("nohup -- rm x", vec![2]),
            ("setsid -f rm x", vec![2]),
            ("strace -f rm x", vec![2]),
            ("ltrace -e trace=file rm x", vec![3]),
            ("taskset 1 rm x", vec![1, 2]),
            ("chroot / rm x", vec![1, 2]),
            ("doas -u root rm x", vec![3]),
            ("kubectl -n shop pod rm x", vec![3, 4]),
        ] {
            assert_eq!(look(line), (places, false), "{line}");
        }
    }

    #[test]
    fn computed_words_up_to_the_program_count() {
        for line in [
            "env $x",
            "env \"$x\"",
            "env A=$x rm",
            "env -u $x rm",
            "env -x \"$x\" rm",
            "env /bin/r[m]",
            "env {rm,x}",
            "env -S$x",
            "env -S\"$x\"",
            "env -S 'say${x}o'",
            "env -S'say${x}o'",
            "env --split-string=${x}",
            "env -S timeout 5 \"$x\"",
            "env -vS'timeout 5' \"$x\"",
            "env --split=a\\\\_b",
            "timeout $x rm",
            "timeout 5 $x",
            "sudo -u root $x",
            "xargs {}",
            "xargs -I% %",
            "xargs -I % ./%",
            "ssh host $x",
            "env - $x",
            "sudo -u$x rm",
            "parallel {}",
            "gxargs {}",
        ] {
            assert!(look(line).1, "{line}");
        }
        let words = [Word::read("env")];
        assert!(inner_programs("env", &words, 1, true).computed, "fed by xargs");
        let assignments = |count: usize| look(&format!("env {}", vec!["A=1"; count].join(" ")));
        assert!(!assignments(SEARCHED).1, "no program at all");
        assert!(assignments(SEARCHED + 1).1, "more words than are searched");
    }
}
