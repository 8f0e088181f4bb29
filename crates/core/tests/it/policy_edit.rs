//! Edits of a policy text change only the keys that they name.

use proptest::prelude::*;
use sayso_core::policy::{
    ApprovalPolicy, ApprovalSettings, Effect, OnTimeout, Policy, PolicyEdit, QuestionPolicy, QuestionSettings, RuleSpec, Texts,
    edit_policy,
};
use sayso_core::time::Span;

use crate::support::policy;

const FILE: &str = r#"# My policy.
[questions]
policy = "forward" # ask me

# Reading is fine.
[[rules]]
name = "reads"   # a name
do   = "allow"
run  = [
    "git status", # often
    "git diff *",
]

# ---- dangerous ----

# Never.
[[rules]]
do = "deny"
# about rm
run = "rm -rf *"

[profiles.away]
approvals = "deny"
"#;

fn texts(list: &[&str]) -> Option<Texts> {
    Some(Texts(list.iter().map(|text| (*text).to_owned()).collect()))
}

fn rule(text: &str, place: usize) -> RuleSpec {
    policy(text).rules[place - 1].spec().clone()
}

fn edited(text: &str, edit: PolicyEdit) -> String {
    edit_policy(text, &edit).unwrap()
}

#[test]
fn changed_rule_keeps_its_comments_and_layout() {
    let rule = RuleSpec { name: Some("reading".to_owned()), run: texts(&["git status", "git log *"]), ..rule(FILE, 1) };
    let expected = FILE.replace("\"reads\" ", "\"reading\" ").replace("git diff *", "git log *");
    assert_eq!(edited(FILE, PolicyEdit::SetRule { place: 1, rule }), expected);
}

#[test]
fn removed_key_leaves_the_comment_above_it() {
    let wanted = RuleSpec { run: None, tool: texts(&["WebSearch"]), ..rule(FILE, 2) };
    let expected = FILE.replace("# about rm\nrun = \"rm -rf *\"\n", "tool = [\"WebSearch\"]\n# about rm\n");
    assert_eq!(edited(FILE, PolicyEdit::SetRule { place: 2, rule: wanted }), expected);
}

#[test]
fn new_rule_is_added_at_the_end() {
    let rule = RuleSpec { id: Some("r9".to_owned()), run: texts(&["make"]), ..RuleSpec::new(Effect::Ask) };
    let added = "[[rules]]\nid = \"r9\"\ndo = \"ask\"\nrun = [\"make\"]\n";
    assert_eq!(edited(FILE, PolicyEdit::AddRule { rule: rule.clone() }), format!("{FILE}\n{added}"));
    assert_eq!(edited("", PolicyEdit::AddRule { rule: rule.clone() }), added);
    let windows = FILE.replace('\n', "\r\n");
    let after = edited(&windows, PolicyEdit::AddRule { rule });
    assert_eq!(after, format!("{FILE}\n{added}").replace('\n', "\r\n"));
}

#[test]
fn removed_rule_takes_only_its_own_comment_along() {
    let (start, end) = (FILE.find("# Reading").unwrap(), FILE.find("# ---- dangerous").unwrap());
    let expected = format!("{}{}", &FILE[..start], &FILE[end..]);
    assert_eq!(edited(FILE, PolicyEdit::RemoveRule { place: 1 }), expected);
}

#[test]
fn moved_rule_takes_its_comment_along() {
    let after = edited(FILE, PolicyEdit::MoveRule { place: 2, to: 1 });
    let never = "# Never.\n[[rules]]\ndo = \"deny\"\n# about rm\nrun = \"rm -rf *\"\n";
    let expected = FILE.replace(&format!("{never}\n"), "").replace("# Reading", &format!("{never}\n# Reading"));
    assert_eq!(after, expected);
    // Moves the rule back, after the last one.
    let back = edited(&after, PolicyEdit::MoveRule { place: 1, to: 2 });
    assert_eq!([rule(&back, 1), rule(&back, 2)], [rule(FILE, 1), rule(FILE, 2)]);
    assert_eq!(edited(FILE, PolicyEdit::MoveRule { place: 1, to: 1 }), FILE);
}

#[test]
fn rules_in_one_array_are_edited_in_place() {
    let text = "rules = [\n    { do = \"ask\", run = \"a\" }, # first\n    { do = \"deny\", run = \"b\" },\n]\n";
    let set = RuleSpec { run: texts(&["c"]), ..rule(text, 2) };
    assert_eq!(
        edited(text, PolicyEdit::SetRule { place: 2, rule: set }),
        "rules = [\n    { do = \"ask\", run = \"a\" }, # first\n    { do = \"deny\", run = [\"c\"] },\n]\n"
    );
    let specs = |text: &str| policy(text).rules.iter().map(|rule| rule.spec().clone()).collect::<Vec<_>>();
    let moved = edited(text, PolicyEdit::MoveRule { place: 1, to: 2 });
    assert_eq!(specs(&moved), [rule(text, 2), rule(text, 1)]);
    assert!(moved.contains("# first"));
    assert_eq!(specs(&edited(text, PolicyEdit::RemoveRule { place: 1 })), [rule(text, 2)]);
    let added = RuleSpec { run: texts(&["d"]), ..RuleSpec::new(Effect::Allow) };
    assert_eq!(specs(&edited(text, PolicyEdit::AddRule { rule: added.clone() })), [rule(text, 1), rule(text, 2), added]);
}

#[test]
fn settings_are_edited_in_each_of_their_spellings() {
    let questions = QuestionSettings {
        policy: Some(QuestionPolicy::Forward),
        timeout: Some("10m".parse::<Span>().unwrap()),
        on_timeout: Some(OnTimeout::Reject),
        message: None,
    };
    let approvals = ApprovalSettings { policy: Some(ApprovalPolicy::Ask), ..ApprovalSettings::default() };
    let defaults = PolicyEdit::SetDefaults { questions: questions.clone(), approvals: approvals.clone() };
    let after = edited(FILE, defaults.clone());
    let filled = "policy = \"forward\" # ask me\ntimeout = \"10m\"\non_timeout = \"reject\"\n";
    let expected = FILE.replace("policy = \"forward\" # ask me\n", filled);
    assert_eq!(after, format!("{expected}\n[approvals]\npolicy = \"ask\"\n"));

    for text in [
        "",
        "questions = \"reject\" # why\n",
        "questions = { policy = \"reject\" }\n",
        "[questions]\nonTimeout = \"reject\"\ntimeout = \"1m\"\n",
    ] {
        let parsed = policy(&edited(text, defaults.clone()));
        assert_eq!((parsed.questions, parsed.approvals), (questions.clone(), approvals.clone()), "{text}");
    }
    let nothing = PolicyEdit::SetDefaults { questions: QuestionSettings::default(), approvals: ApprovalSettings::default() };
    assert_eq!(policy(&edited(&after, nothing)).questions, QuestionSettings::default());
}

#[test]
fn profiles_are_edited_or_added() {
    let away = |approvals: ApprovalSettings| PolicyEdit::SetProfile {
        name: "away".to_owned(),
        questions: QuestionSettings::default(),
        approvals,
    };
    let wait = ApprovalSettings { timeout: Some("15m".parse().unwrap()), ..ApprovalSettings::default() };
    let expected = FILE.replace("approvals = \"deny\"", "approvals = { timeout = \"15m\" }");
    assert_eq!(edited(FILE, away(wait.clone())), expected);
    assert_eq!(edited("", away(wait)), "[profiles.away]\n\n[profiles.away.approvals]\ntimeout = \"15m\"\n");
}

#[test]
fn edits_of_a_file_from_windows_keep_its_line_endings() {
    let windows = |text: &str| text.replace('\n', "\r\n");
    let add = RuleSpec { run: texts(&["make"]), ..RuleSpec::new(Effect::Ask) };
    let approvals = ApprovalSettings { policy: Some(ApprovalPolicy::Deny), ..ApprovalSettings::default() };
    let questions = QuestionSettings { policy: Some(QuestionPolicy::Reject), ..QuestionSettings::default() };
    for edit in [
        PolicyEdit::SetRule { place: 1, rule: RuleSpec { name: None, ..rule(FILE, 1) } },
        PolicyEdit::SetRule { place: 2, rule: RuleSpec { run: None, tool: texts(&["x"]), ..rule(FILE, 2) } },
        PolicyEdit::AddRule { rule: add },
        PolicyEdit::RemoveRule { place: 1 },
        PolicyEdit::RemoveRule { place: 2 },
        PolicyEdit::MoveRule { place: 1, to: 2 },
        PolicyEdit::MoveRule { place: 2, to: 1 },
        PolicyEdit::SetDefaults { questions: questions.clone(), approvals: approvals.clone() },
        PolicyEdit::SetProfile { name: "home".to_owned(), questions, approvals },
    ] {
        assert_eq!(edited(&windows(FILE), edit.clone()), windows(&edited(FILE, edit.clone())), "{edit:?}");
    }
    // Comments after a removed rule stay, without the empty lines between them.
    for blank in ["", "\n", "\n\n"] {
        let text = format!("[[rules]]\ndo = \"deny\"\n{blank}# loose\n\n[[rules]]\ndo = \"ask\"\n");
        assert_eq!(edited(&text, PolicyEdit::RemoveRule { place: 1 }), "# loose\n\n[[rules]]\ndo = \"ask\"\n");
        let without = edited(&windows(&text), PolicyEdit::RemoveRule { place: 1 });
        assert_eq!(without, windows("# loose\n\n[[rules]]\ndo = \"ask\"\n"));
    }
}

#[test]
fn edit_with_an_invalid_result_is_refused() {
    let refusal = |text: &str, edit: PolicyEdit| edit_policy(text, &edit).unwrap_err().to_string();
    let missing = refusal(FILE, PolicyEdit::RemoveRule { place: 3 });
    assert_eq!(missing, "there is no rule 3: the policy has 2 rules");
    let empty = refusal(FILE, PolicyEdit::AddRule { rule: RuleSpec::new(Effect::Allow) });
    assert!(empty.ends_with("an allow rule must say what it allows: write run, edit, read, fetch, mcp or tool"), "{empty}");
    let broken = refusal("[[rules]]\ndo = \"alow\"\n", PolicyEdit::RemoveRule { place: 1 });
    assert!(broken.starts_with("line 2, column 6: "), "{broken}");
    let twice = "[[rules]]\nid = \"a\"\ndo = \"deny\"\n[[rules]]\nid = \"a\"\ndo = \"deny\"\n";
    let error = Policy::parse(twice).unwrap_err().to_string();
    assert_eq!(error, "line 5, column 1: another rule has the id \"a\" already: write another one, or leave it out");
}

/// A piece of a file: a rule or something else, with comments of its own.
fn piece() -> impl Strategy<Value = (bool, String)> {
    let comment = prop::sample::select(vec!["", "# c\n", "  # indented\n", "# a\n\n# b [[rules]]\n"]);
    let rule = prop::sample::select(vec![
        "[[rules]]\ndo = \"deny\" # why\nrun = \"rm *\"\n",
        "[[ rules ]] # head\nname='x'\ndo=\"allow\"\nrun = [\"a\", 'b *',\n  \"c\", # see\n]\n",
        "  [[rules]]\n  do = \"ask\"\n  # which\n  edit = [\"src/**\"]\n",
        "[[rules]]\nmessage = \"\"\"\n# text\n[[rules]]\n\"\"\"\ndo = \"reject\"\nheader = \"x\"\n",
    ]);
    let gap = prop::sample::select(vec!["", "\n", "\n\n", "\n# loose\n\n"]);
    (comment, rule, gap).prop_map(|(comment, rule, gap)| (true, format!("{comment}{rule}{gap}")))
}

fn file() -> impl Strategy<Value = Vec<(bool, String)>> {
    let other = prop::sample::select(vec![
        "[questions]\npolicy = \"auto\" # q\n\n",
        "[profiles.away]\nquestions = {policy=\"reject\"}\n",
    ]);
    (prop::collection::vec(piece(), 1..5), prop::option::of(other), any::<prop::sample::Index>(), any::<bool>()).prop_map(
        |(mut pieces, other, at, windows)| {
            if let Some(other) = other {
                let at = at.index(pieces.len() + 1);
                pieces.insert(at, (false, other.to_owned()));
            }
            if windows {
                for (_, text) in &mut pieces {
                    *text = text.replace('\n', "\r\n");
                }
            }
            pieces
        },
    )
}

fn comments(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.contains("# text"));
    lines.filter_map(|line| line.split_once('#').map(|(_, comment)| comment.trim().to_owned())).collect()
}

proptest! {
    #[test]
    fn edit_of_one_rule_changes_no_other_byte(pieces in file(), which in any::<prop::sample::Index>(), name in "[a-z\"\\\\ ]{1,8}") {
        let text: String = pieces.iter().map(|(_, text)| text.as_str()).collect();
        let places: Vec<usize> = pieces.iter().enumerate().filter(|(_, (is_rule, _))| *is_rule).map(|(at, _)| at).collect();
        let place = which.index(places.len()) + 1;
        let at = places[place - 1];
        let before: String = pieces[..at].iter().map(|(_, text)| text.as_str()).collect();
        let after: String = pieces[at + 1..].iter().map(|(_, text)| text.as_str()).collect();

        let changed = RuleSpec { name: Some(name), agent: texts(&["codex"]), ..rule(&text, place) };
        let result = edit_policy(&text, &PolicyEdit::SetRule { place, rule: changed.clone() }).unwrap();
        let middle = result.strip_prefix(before.as_str()).and_then(|rest| rest.strip_suffix(after.as_str()));
        prop_assert!(middle.is_some(), "{result}");
        prop_assert_eq!(comments(middle.unwrap_or_default()), comments(&pieces[at].1));
        prop_assert_eq!(middle.unwrap_or_default().replace("\r\n", "").contains('\n'), !text.contains('\r'), "line endings");

        let mut expected: Vec<RuleSpec> = policy(&text).rules.iter().map(|rule| rule.spec().clone()).collect();
        expected[place - 1] = changed;
        let specs: Vec<RuleSpec> = policy(&result).rules.iter().map(|rule| rule.spec().clone()).collect();
        prop_assert_eq!(specs, expected);
    }

    #[test]
    fn removing_or_moving_a_rule_does_not_change_others(pieces in file(), which in any::<prop::sample::Index>(), target in any::<prop::sample::Index>()) {
        let text: String = pieces.iter().map(|(_, text)| text.as_str()).collect();
        let specs = |text: &str| policy(text).rules.iter().map(|rule| rule.spec().clone()).collect::<Vec<_>>();
        let mut expected = specs(&text);
        let (from, to) = (which.index(expected.len()), target.index(expected.len()));
        let moved = edit_policy(&text, &PolicyEdit::MoveRule { place: from + 1, to: to + 1 }).unwrap();
        let rule = expected.remove(from);
        let removed = edit_policy(&text, &PolicyEdit::RemoveRule { place: from + 1 }).unwrap();
        prop_assert_eq!(specs(&removed), expected.clone());
        expected.insert(to, rule);
        prop_assert_eq!(specs(&moved), expected);
        let sorted = |text: &str| { let mut found = comments(text); found.sort(); found };
        prop_assert_eq!(sorted(&moved), sorted(&text));
        prop_assert_eq!(policy(&removed).questions, policy(&text).questions);
    }
}
