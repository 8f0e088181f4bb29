//! Which rules a decision is counted for.

use sayso_core::policy::decide;

use crate::support::{NOW, ask, choice, hits_of, run, subject, user};

const RULES: &str = r#"
[[rules]]
id = "r1"
name = "reads"
do = "allow"
run = "git status"

[[rules]]
do = "allow"
run = "cargo test *"

[[rules]]
id = "push"
do = "ask"
run = "git push *"

[[rules]]
name = "no rm"
do = "deny"
run = "rm *"

[[rules]]
id = "pm"
do = "answer"
header = "package manager"
answer = "pnpm"
"#;

fn hits(body: &sayso_core::ask::AskBody) -> Vec<String> {
    let set = user(RULES);
    let mut verdict = decide(&set, &subject(body), NOW);
    std::mem::take(hits_of(&mut verdict))
}

#[test]
fn decisions_name_the_ids_of_their_rules() {
    assert_eq!(hits(&run("git status")), ["r1"]);
    assert_eq!(hits(&run("git status && cargo test --all")), ["r1", "rule 2 (user)"]);
    assert_eq!(hits(&run("rm x")), ["no rm"]);
    let manager = choice("Package manager", "Which one?", &["npm", "pnpm"]);
    assert_eq!(hits(&ask(&[manager])), ["pm"]);
}

#[test]
fn asks_that_a_rule_leaves_to_a_person_name_it_too() {
    assert_eq!(hits(&run("git push origin")), ["push"]);
    assert_eq!(hits(&run("sayso away 2h")), ["built in: sayso itself"]);
    assert_eq!(hits(&run("make")), [""; 0]);
}
