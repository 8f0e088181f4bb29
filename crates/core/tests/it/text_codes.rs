//! Codes of the texts that the policy writes.

use sayso_core::text_code::TextCode;

use crate::support::{run, user, verdict, why};

/// A reason without a code stays English on a page in another language.
#[test]
fn reasons_for_hostile_lines_have_codes() {
    let set = user("[[rules]]\ndo = \"allow\"\nrun = [\"git status\", \"cargo test *\"]");
    let lines = include_str!("fixtures/hostile.txt").lines().filter(|line| !line.is_empty());
    let without_code: Vec<String> = lines
        .filter_map(|line| {
            let verdict = verdict(&set, &run(&line.replace('⏎', "\n").replace('␍', "\r")));
            let why = why(&verdict)?.to_owned();
            let code = TextCode::of(&why);
            let has_phrase = code.as_ref().is_some_and(|code| {
                let has = |name: &str| code.params.iter().any(|(param, _)| *param == name);
                !has("found") || has("foundCode")
            });
            (!has_phrase).then_some(why)
        })
        .collect();
    assert_eq!(without_code, Vec::<String>::new());
}
