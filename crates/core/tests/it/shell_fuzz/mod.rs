//! Differential fuzzing of the policy against bash and dash.
//!
//! Random command lines are decided by a policy with a few `allow` rules. bash and dash run every line that the policy
//! approves, with recorders as the only programs. An **escape** is a recorded command that the rules do not allow by
//! itself: an approved line executed something that no rule names.
//!
//! `make fuzz` runs it long. `SAYSO_FUZZ_LINES` is the number of lines, `SAYSO_FUZZ_SEED` repeats a run.

mod lines;
mod shells;

use std::collections::HashSet;

use sayso_core::policy::PolicySet;

use crate::support::{run, user, verdict, why};
use lines::{Random, random_line};
use shells::Shells;

/// Lines of the run in `make test`.
const SHORT: usize = 6_000;
/// The seed of the run in `make test`.
const SEED: u64 = 19;
/// The number of lines after which a long run reports progress.
const PROGRESS: usize = 50_000;
/// How many approved lines one process of a shell runs.
const BATCH: usize = 300;

const RULES: &str = r#"
    [[rules]]
    do = "allow"
    run = ["git status", "git diff *", "git log *", "ls *", "cat *", "echo *", "sort *", "sed *", "find *", "grep *", "true",
           "cd *", "test *", "env *", "timeout *", "nice *", "nohup *", "xargs *", "stdbuf *", "setsid *", "uniq *"]
"#;

fn number(name: &str, otherwise: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is a number")),
        Err(_) => otherwise,
    }
}

fn is_allowed(set: &PolicySet, line: &str) -> bool {
    why(&verdict(set, &run(line))).is_none()
}

/// A command as a line with every word in quotes.
fn quoted(words: &[String]) -> String {
    let quote = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// The commands of approved lines that the rules do not allow.
fn escapes(set: &PolicySet, shells: &Shells, lines: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for shell in ["bash", "dash"] {
        for (at, command) in shells.run(shell, lines) {
            // The program by its name, as the rules write it.
            if !is_allowed(set, &quoted(&command)) {
                found.push(format!("{shell}: {:?} ran {command:?}", lines[at]));
            }
        }
    }
    found
}

#[test]
fn approved_lines_execute_only_what_rules_name() {
    let (count, seed) = (number("SAYSO_FUZZ_LINES", SHORT as u64) as usize, number("SAYSO_FUZZ_SEED", SEED));
    let (set, shells, mut random) = (user(RULES), Shells::new(), Random::new(seed));
    let (mut approved, mut ran, mut found) = (HashSet::new(), 0, Vec::new());
    for at in 0..count {
        let line = random_line(&mut random);
        if is_allowed(&set, &line) {
            approved.insert(line);
        }
        if approved.len() == BATCH || at + 1 == count {
            let mut batch: Vec<String> = approved.drain().collect();
            batch.sort();
            ran += batch.len();
            found.extend(escapes(&set, &shells, &batch));
        }
        if !found.is_empty() {
            break;
        }
        if (at + 1) % PROGRESS == 0 {
            println!("{} lines with seed {seed} so far, {ran} of them approved and run, no escape", at + 1);
        }
    }
    println!("{count} lines with seed {seed}, {ran} of them approved and run in bash and dash, {} escapes", found.len());
    assert_eq!(found, Vec::<String>::new());
    assert!(ran * 20 >= count, "too few lines are approved to find anything: {ran} of {count}");
}

/// Checks that recorders see what shells run, and that a policy that allows too much is detected.
#[test]
fn fuzzer_finds_an_escape_of_a_lax_policy() {
    let shells = Shells::new();
    let lines = ["git status && env evil 'a b'", "echo $(evil)", "sed '1e evil' a", "echo a | xargs cat"].map(str::to_owned);
    for shell in ["bash", "dash"] {
        let names: Vec<(usize, Vec<String>)> = shells.run(shell, &lines);
        let expected = [
            (0, vec!["git", "status"]),
            (0, vec!["env", "evil", "a b"]),
            (0, vec!["evil", "a b"]),
            (1, vec!["evil"]),
            (2, vec!["sed", "1e evil", "a"]),
            (2, vec!["evil"]),
            (3, vec!["xargs", "cat"]),
            (3, vec!["cat", "a"]),
        ];
        let expected: Vec<(usize, Vec<String>)> =
            expected.into_iter().map(|(at, words)| (at, words.into_iter().map(str::to_owned).collect())).collect();
        assert_eq!(names, expected, "{shell}");
    }
    let found = escapes(&user(RULES), &shells, &lines);
    assert_eq!(found.len(), 2 * 5, "{found:?}");
}
