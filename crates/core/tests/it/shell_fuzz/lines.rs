//! Random command lines: approved lines, mutated with all features of a shell.

/// `SplitMix64`: small, and the same on every machine.
pub(super) struct Random(u64);

impl Random {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// Whether something with this chance in percent happens.
    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// Commands that the rules allow.
const ALLOWED: &[&str] = &[
    "git status",
    "git diff a",
    "git diff --stat",
    "git log -p -n 1",
    "ls a",
    "ls -la",
    "cat a",
    "echo a b",
    "echo evil",
    "sort a",
    "sort -u",
    "sed -n 1p a",
    "sed s/e/x/ a",
    "sed -e 1d a",
    "find . -name a",
    "grep evil a",
    "true",
    "cd .",
    "test -e a",
    "uniq a",
];
/// Commands that the rules do not allow, which mutations try to hide.
const FORBIDDEN: &[&str] = &[
    "evil",
    "evil a",
    "rm a",
    "git push",
    "./evil",
    "sed 1e a",
    "sed '1e evil' a",
    "sed s/e/evil/e a",
    "git diff --ext-diff=evil",
    "eval evil",
    "exec evil",
    "command evil",
    ". ./a",
    "source ./a",
    "find . -exec evil {} ;",
    "find . -execdir evil {} +",
    "xargs evil",
    "sort --compress-program=evil a",
    "alias ls=evil",
    "trap evil EXIT",
    "uniq a b",
    "find . -ok evil ;",
    "hash -p ./evil ls",
];
const WRAPPERS: &[&str] = &[
    "env",
    "env -i",
    "env A=b",
    "env -u A",
    "env -S",
    "env --split-string=",
    "env -",
    "env --",
    "env -C .",
    "env -iu A",
    "timeout 5",
    "timeout -k 1 5",
    "timeout -s TERM 5",
    "timeout --signal=TERM 5",
    "timeout --",
    "nice",
    "nice -n 5",
    "nice -5",
    "nice --adjustment 5",
    "nohup",
    "stdbuf -o0",
    "stdbuf -o L",
    "setsid",
    "setsid -w",
    "xargs",
    "xargs -n 1",
    "xargs -I a",
    "xargs -a a",
    "xargs -r --",
    "xargs -0",
    "find . -exec",
    "find a -execdir",
    "command",
    "command --",
    "exec",
    "exec -a x",
    "builtin",
    "time",
    "time -p",
    "!",
    "bash -c",
    "bash -lc",
    "sh -c",
    "bash -xc",
    "sh -c --",
    "eval",
    "env timeout 5 nice",
    "xargs env",
    "find . -exec env",
];
const JOINTS: &[&str] = &[
    "; ", ";", " && ", "&&", " || ", " | ", "|", "\n", " \n", "\\\n", " \\\n", " & ", "&", " |& ", ";;", " ;& ", "\r\n", "\r",
    "\t;", " #\n", "\n#\n",
];
/// Texts that go between words or into them.
const EXTRAS: &[&str] = &[
    "$(evil)",
    "`evil`",
    "\"$(evil)\"",
    "\"`evil`\"",
    "$((evil))",
    "$[evil]",
    "$x",
    "${x}",
    "${x:-$(evil)}",
    "\"${x:=`evil`}\"",
    "$?",
    "\"$?\"",
    "$$",
    "$@",
    "<(evil)",
    ">(evil)",
    "<<<evil",
    "<<< \"$(evil)\"",
    "<<EOF\n$(evil)\nEOF\n",
    "<<'EOF'\n$(evil)\nEOF\n",
    "<<-EOF\n\tevil\n\tEOF\n",
    "<<EOF\nEOF\nevil\n",
    "<<\\EOF\nevil\nEOF",
    "<<\"E\"OF\n`evil`\nEOF\n",
    "<< a\na\nevil",
    ">/dev/null",
    "> /dev/null",
    "2>&1",
    ">&2",
    "2>/dev/null",
    "&>/dev/null",
    "</dev/null",
    "> a",
    ">a",
    ">>a",
    "2>a",
    "<a",
    "< a",
    "<>a",
    ">|a",
    ">&a",
    "&>a",
    "2>& 1",
    "1>&2;",
    "*",
    "?",
    "[ae]",
    "*il",
    "./*",
    "-*",
    "--*",
    "{a,evil}",
    "{evil,}",
    "~",
    "~+",
    "~/evil",
    "@(evil)",
    "!(a)",
    "A=b",
    "PATH=.",
    "A=$(evil)",
    "IFS=x",
    "a[0]=$(evil)",
    "# evil",
    "#evil",
    "; #",
    "\\",
    "\\\n",
    "\\;",
    "\\|",
    "\\&",
    "\\$(evil)",
    "\\`evil\\`",
    "'",
    "\"",
    "''",
    "\"\"",
    "$''",
    "$'\\x65vil'",
    "$\"evil\"",
    "$'a\\'; evil'",
    "{ evil; }",
    "(evil)",
    "( evil",
    ")",
    "{",
    "}",
    "if true; then evil; fi",
    "for x in a; do evil; done",
    "while evil; do evil; done",
    "case a in a) evil;; esac",
    "f() { evil; }; f",
    "f() evil",
    "function f { evil; }",
    "coproc evil",
    "[[ a ]]",
    "[[ -n $(evil) ]]",
    "((evil))",
    "let x",
    "!!",
    "!evil",
    "!-1",
    "^a^evil",
    "in",
    "do",
    "then",
    "esac",
    "\u{a0}",
    "\u{2028}",
    "\u{b}",
    "\u{c}",
    "\u{1}",
    "\u{7f}",
    "é",
    "--",
    "-",
    "-e",
    "-c",
    "-I{}",
    "{}",
    "+",
    ";",
    "\u{85}",
    "\t",
    "%1",
    "-exec evil {} +",
    "--output=x",
];
/// Characters with a meaning in the shell.
const SIGNS: &[char] = &[
    '\'', '"', '\\', '$', '`', '(', ')', '{', '}', '[', ']', '<', '>', '|', '&', ';', '#', '!', '*', '?', '~', '=', '\n', ' ',
    '\t', '-', '%', '^', ':', ',', '.', 'e', 'v', '\r', '1', '@', '+',
];

pub(super) fn random_line(random: &mut Random) -> String {
    let mut line = list(random, 0);
    if random.chance(25) {
        for _ in 0..=random.below(2) {
            spoil(random, &mut line);
        }
    }
    line
}

fn list(random: &mut Random, depth: usize) -> String {
    let mut line = command(random, depth);
    for _ in 0..[0, 0, 0, 1, 1, 2][random.below(6)] {
        line.push_str(if random.chance(75) { random.pick(&JOINTS[..8]) } else { random.pick(JOINTS) });
        line.push_str(&command(random, depth));
    }
    line
}

fn command(random: &mut Random, depth: usize) -> String {
    let plain = if random.chance(85) { random.pick(ALLOWED) } else { random.pick(FORBIDDEN) };
    let mut words: Vec<String> = plain.split(' ').map(|word| styled(random, word)).collect();
    if random.chance(25) {
        let at = random.below(words.len() + 1);
        words.insert(at, random.pick(EXTRAS).to_owned());
    }
    if random.chance(8) {
        let at = random.below(words.len());
        words[at].push_str(random.pick(EXTRAS));
    }
    let mut line = words.join(" ");
    if random.chance(25) {
        line = wrapped(random, line, depth);
    }
    line
}

fn wrapped(random: &mut Random, inner: String, depth: usize) -> String {
    let wrapper = random.pick(WRAPPERS);
    let is_script =
        wrapper.contains("c") && (wrapper.contains("sh -") || wrapper.contains("bash")) || matches!(wrapper, "env -S" | "eval");
    let behind = if wrapper.contains("-exec") { random.pick(&[" {} ;", " {} \\;", " {} +", " \\;", " ';'", ""]) } else { "" };
    if is_script {
        let script = if depth < 2 && random.chance(50) { list(random, depth + 1) } else { inner };
        let script = match random.below(4) {
            0 => format!("'{}'", script.replace('\'', "'\\''")),
            1 => format!("\"{}\"", script.replace(['"', '\\'], "\\\"")),
            2 => format!("'{script}'"),
            _ => format!("\"{script}\""),
        };
        return format!("{wrapper} {script}{}", random.pick(&["", "", " a", " evil", "; evil"]));
    }
    format!("{wrapper} {inner}{behind}")
}

/// Writes a word, sometimes with different quotes.
fn styled(random: &mut Random, word: &str) -> String {
    if random.chance(70) {
        return word.to_owned();
    }
    let (left, right) = word.split_at(word.char_indices().nth(random.below(word.chars().count().max(1))).map_or(0, |(at, _)| at));
    match random.below(9) {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        2 => format!("\\{word}"),
        3 => format!("{left}'{right}'"),
        4 => format!("{left}\"\"{right}"),
        5 => format!("\"{left}\"{right}"),
        6 => format!("$'{word}'"),
        7 => format!("{left}\\\n{right}"),
        _ => word.chars().flat_map(|c| ['\\', c]).collect(),
    }
}

/// Inserts, removes, replaces or repeats a few characters.
fn spoil(random: &mut Random, line: &mut String) {
    let mut chars: Vec<char> = line.chars().collect();
    for _ in 0..=random.below(2) {
        let at = random.below(chars.len() + 1);
        let sign = SIGNS[random.below(SIGNS.len())];
        match random.below(4) {
            0 | 1 => chars.insert(at, sign),
            2 if at < chars.len() => {
                chars.remove(at);
            }
            _ if at < chars.len() => chars[at] = sign,
            _ => chars.push(sign),
        }
    }
    *line = chars.into_iter().collect();
}
