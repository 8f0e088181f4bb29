//! Policy decisions stay fast for any input from an agent or from a project file.
//!
//! A pattern with exponential cost would never finish here. The target is a median of 1 ms per decision of a command with
//! 1,000 rules in a release build; run with `--release -- --nocapture` to read the numbers. No time is asserted, because machines differ.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use sayso_core::ask::{AskBody, Input};

use crate::support::{ask, choice, make_question, run, user, verdict};

#[expect(clippy::print_stdout, reason = "the numbers are for people")]
fn timed(name: &str, policy: &str, body: &AskBody) {
    let set = user(policy);
    let decide = || {
        let start = Instant::now();
        let _ = verdict(&set, body);
        start.elapsed()
    };
    // The median of many decisions where they are quick.
    let runs = if decide() < Duration::from_millis(5) { 101 } else { 1 };
    let mut took: Vec<Duration> = (0..runs).map(|_| decide()).collect();
    took.sort_unstable();
    println!("{name:32} {:?}", took[runs / 2]);
}

fn thousand(rule: impl Fn(usize) -> String) -> String {
    (0..1_000).fold(String::new(), |mut text, index| {
        let _ = write!(text, "[[rules]]\n{}\n", rule(index));
        text
    })
}

#[test]
fn hostile_policies_and_lines_take_bounded_time() {
    let allow = thousand(|index| format!("do = \"allow\"\nrun = [\"tool{index} *\", \"git sub{index} *\"]"));
    let deny = thousand(|index| format!("do = \"deny\"\nrun = [\"tool{index} *\", \"git sub{index} *\"]"));
    timed("1000 allows, git status", &allow, &run("git status && cargo test 2>&1 | tail -5"));
    timed("1000 denies, git status", &deny, &run("git status && cargo test 2>&1 | tail -5"));
    timed("1000 allows, 16 KiB", &allow, &run(&"git x; ".repeat(2_300)));
    timed("1000 denies, 16 KiB", &deny, &run(&"git x; ".repeat(2_300)));
    timed("1000 denies, wrappers", &deny, &run(&format!("sudo {} rm", "env ".repeat(3_000))));
    timed("1000 denies, unreadable", &deny, &run(&"git x ( ".repeat(10_000)));
    timed("1000 denies, 4 MiB", &deny, &run(&"git x; ".repeat(500_000)));
    let paths = thousand(|index| format!("do = \"deny\"\nedit = [\"dir{index}/**/*.rs\"]"));
    timed("1000 globs", &paths, &crate::support::edit(&["src/deep/er/file.rs"; 20]));
    let long = "a".repeat(8_000);
    let questions: Vec<_> = (0..16).map(|_| choice(&long, &long, &["A"])).collect();
    let parts = thousand(|index| format!("do = \"ask\"\nmatch = \"never{index}\""));
    timed("1000 parts, 16 long questions", &parts, &ask(&questions));
    for (name, regex) in
        [("nested", "(a+)+b"), ("counted", "(a?){60}a{60}b"), ("dotted", "(.*a){8}b"), ("unicode", "(\\\\w\\\\w)*\\\\d$")]
    {
        timed(
            &format!("one regex, {name}"),
            &format!("[[rules]]\ndo = \"ask\"\nmatch = \"/{regex}/\""),
            &ask(&[make_question("", &long, Input::YesNo)]),
        );
        timed(
            &format!("many regexes, {name}"),
            &"[[rules]]\ndo = \"ask\"\nmatch = \"/R/\"\n".replace('R', regex).repeat(50),
            &ask(&questions),
        );
    }
}
