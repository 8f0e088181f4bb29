//! Which rules a decision is counted for.

use sayso_core::policy::{decide, explain};

use crate::support::{NOW, answered, ask, choice, hits_of, run, subject, user};

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
fn asks_left_to_a_person_by_a_rule_name_it() {
    assert_eq!(hits(&run("git push origin")), ["push"]);
    assert_eq!(hits(&run("sayso away 2h")), ["built in: sayso itself"]);
    assert_eq!(hits(&run("make")), [""; 0]);
}

#[test]
fn answers_completed_by_settings_count_for_their_rules() {
    let hits = |policy: &str| {
        let set = user(&format!("[questions]\npolicy = \"{policy}\"\n{RULES}"));
        let body = ask(&[choice("Package manager", "Which one?", &["npm", "pnpm"]), choice("", "Where?", &["here"])]);
        let mut verdict = decide(&set, &subject(&body), NOW);
        (std::mem::take(hits_of(&mut verdict)), verdict)
    };
    let rule = |rule: &str, first: &str| answered(&[&[first], &["here"]], rule);
    assert_eq!(hits("auto"), (vec!["pm".to_owned()], rule("rule 5 (user), questions.policy = \"auto\"", "pnpm")));
    assert_eq!(hits("accept-first"), (vec![], rule("questions.policy = \"accept-first\"", "npm")));
}

#[test]
fn answer_of_the_nearer_scope_wins() {
    let rule = |answer: &str| format!("[[rules]]\ndo = \"answer\"\nheader = \"x\"\nanswer = \"{answer}\"\n");
    let set = user(&format!("{}{}", rule("B"), rule("A")));
    let body = ask(&[choice("X", "Which?", &["A", "B"])]);
    let mut explained = explain(&set, &subject(&body), NOW);
    assert_eq!(std::mem::take(hits_of(&mut explained.verdict)), ["rule 1 (user)"]);
    assert_eq!(explained.verdict, answered(&[&["B"]], "rule 1 (user)"));
    let misses: Vec<Option<&str>> = explained.considered.iter().map(|rule| rule.why_not).collect();
    assert_eq!(misses, [None, Some("a nearer rule answers it")]);
}
