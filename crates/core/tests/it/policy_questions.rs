//! Questions: policies, rules, timeouts.

use std::time::Duration;

use sayso_core::ask::{AskBody, Deadline, Decision, Input, PolicyNote};
use sayso_core::policy::{OnTimeout, SessionPolicy, Subject, Verdict, decide, timed_out};
use sayso_core::texts;
use sayso_core::time::Span;

use crate::support::{NOW, answered, approval, ask, choice, link, make_question, rejected, subject, user, verdict, without_hits};

fn database() -> sayso_core::ask::Question {
    choice("Database", "Which database should I use?", &["SQLite", "PostgreSQL (Recommended)"])
}

fn free_text() -> sayso_core::ask::Question {
    make_question("Name", "What is it called?", Input::Text { secret: false })
}

fn person(
    set: &sayso_core::policy::PolicySet,
    why: &str,
    preselected: Vec<Option<Vec<String>>>,
    deadline: Option<Deadline>,
) -> Verdict {
    Verdict::Person(PolicyNote {
        why: Some(why.to_owned()),
        preselected,
        rules: Some(set.fingerprint()),
        deadline,
        hits: Vec::new(),
    })
}

fn ten_minutes(then: OnTimeout) -> Deadline {
    let after = Span(Duration::from_secs(600));
    Deadline { at: NOW.plus(after.0), after, then }
}

const ANSWER: &str = "[[rules]]\nname = \"db\"\ndo = \"answer\"\nheader = \"database\"\nanswer = [\"PostgreSQL\"]\n";

#[test]
fn reject_policy_rejects_questions() {
    assert_eq!(
        verdict(&user("[questions]\npolicy = \"reject\""), &ask(&[database()])),
        rejected(texts::REJECTED_BY_POLICY, "questions.policy = \"reject\"")
    );
    assert_eq!(
        verdict(&user("[questions]\npolicy = \"reject\"\nmessage = \"Go on.\""), &ask(&[database()])),
        rejected("Go on.", "questions.policy = \"reject\"")
    );
}

#[test]
fn accept_first_answers_each_question_with_its_first_option() {
    let set = user(
        &format!("[questions]\npolicy = \"accept-first\"\n{ANSWER}").replace("header = \"database\"", "header = \"nothing\""),
    );
    assert_eq!(
        verdict(&set, &ask(&[database(), choice("", "Which?", &["A", "B"])])),
        answered(&[&["SQLite"], &["A"]], "questions.policy = \"accept-first\"")
    );
}

#[test]
fn question_without_options_rejects_the_whole_ask() {
    for policy in ["accept-first", "auto"] {
        let set = user(&format!("[questions]\npolicy = \"{policy}\""));
        for odd in [
            free_text(),
            make_question("", "Sure?", Input::YesNo),
            choice("", "Which?", &[]),
            make_question("", "Token?", Input::Text { secret: true }),
        ] {
            assert_eq!(
                verdict(&set, &ask(&[database(), odd])),
                rejected(texts::REJECTED_BY_POLICY, &format!("questions.policy = \"{policy}\" (a question has no options)"))
            );
        }
        assert_eq!(
            verdict(&set, &ask(&[])),
            rejected(texts::REJECTED_BY_POLICY, &format!("questions.policy = \"{policy}\" (a question has no options)"))
        );
    }
}

#[test]
fn forwarded_question_has_no_deadline_by_default() {
    for text in ["", "[questions]\npolicy = \"forward\""] {
        let set = user(text);
        assert_eq!(verdict(&set, &ask(&[database()])), person(&set, "no rule answers `Database`", vec![], None));
    }
}

// Rules match labels with and without the suffix "(Recommended)".
#[test]
fn rule_answers_a_question() {
    for policy in ["auto", "forward", "reject", "accept-first"] {
        let set = user(&format!("[questions]\npolicy = \"{policy}\"\n{ANSWER}"));
        assert_eq!(verdict(&set, &ask(&[database()])), answered(&[&["PostgreSQL (Recommended)"]], "db"), "{policy}");
    }
    let pick = user("[[rules]]\ndo = \"answer\"\nmatch = \"database\"\npick = 2");
    assert_eq!(verdict(&pick, &ask(&[database()])), answered(&[&["PostgreSQL (Recommended)"]], "rule 1 (user)"));
}

#[test]
fn auto_answers_the_remaining_questions_with_first_options() {
    let set = user(&format!("[questions]\npolicy = \"auto\"\n{ANSWER}"));
    assert_eq!(
        verdict(&set, &ask(&[choice("", "Which?", &["A", "B"]), database()])),
        answered(&[&["A"], &["PostgreSQL (Recommended)"]], "db, questions.policy = \"auto\"")
    );
}

#[test]
fn rule_matches_header_or_text_by_part_or_regex() {
    for (condition, fits) in [
        ("header = \"DATA\"", true),
        ("header = \"should\"", false),
        ("match = \"should i\"", true),
        ("match = \"data\"", true),
        ("match = \"/^Which .* use\\\\?$/\"", true),
        ("header = \"/^Database$/\"", true),
        ("match = \"/^which/\"", false),
        ("header = \"data\"\nmatch = \"use\"", true),
        ("header = \"data\"\nmatch = \"zebra\"", false),
    ] {
        let set = user(&format!("[[rules]]\ndo = \"answer\"\npick = 1\n{condition}"));
        let decided = matches!(verdict(&set, &ask(&[database()])), Verdict::Decided { .. });
        assert_eq!(decided, fits, "{condition}");
    }
}

#[test]
fn rules_are_matched_per_question_and_preselect_the_rest() {
    let set = user(&format!("{ANSWER}[[rules]]\nname = \"name\"\ndo = \"answer\"\nheader = \"name\"\nanswer = \"shop\"\n"));
    assert_eq!(
        verdict(&set, &ask(&[database(), free_text()])),
        answered(&[&["PostgreSQL (Recommended)"], &["shop"]], "db, name")
    );
    let other = choice("Colour", "Which colour?", &["Red"]);
    let preselected = vec![Some(vec!["PostgreSQL (Recommended)".to_owned()]), None];
    assert_eq!(verdict(&set, &ask(&[database(), other])), person(&set, "no rule answers `Colour`", preselected, None));
}

#[test]
fn rule_with_an_answer_that_the_question_refuses_does_not_match() {
    let set = user(
        "[[rules]]\ndo = \"answer\"\nheader = \"database\"\nanswer = \"Oracle\"\n[[rules]]\nname = \"second\"\ndo = \"answer\"\nheader = \"database\"\nanswer = \"SQLite\"",
    );
    assert_eq!(verdict(&set, &ask(&[database()])), answered(&[&["SQLite"]], "second"));
    let set = user("[[rules]]\ndo = \"answer\"\nheader = \"database\"\npick = 3");
    assert_eq!(verdict(&set, &ask(&[database()])), person(&set, "no rule answers `Database`", vec![], None));
}

#[test]
fn secrets_are_never_answered_by_a_rule() {
    let secret = ask(&[make_question("Token", "Your token?", Input::Text { secret: true })]);
    let rule = "[[rules]]\ndo = \"answer\"\nheader = \"token\"\nanswer = \"x\"";
    let set = user(rule);
    assert_eq!(verdict(&set, &secret), person(&set, "no rule answers `Token`", vec![], None));
    for policy in ["auto", "accept-first"] {
        let set = user(&format!("[questions]\npolicy = \"{policy}\"\n{rule}"));
        assert_eq!(
            verdict(&set, &secret),
            rejected(texts::REJECTED_BY_POLICY, &format!("questions.policy = \"{policy}\" (a question has no options)"))
        );
    }
}

#[test]
fn reject_beats_ask_beats_answer() {
    let ask_rule = "[[rules]]\nname = \"mine\"\ndo = \"ask\"\nmatch = \"database\"\n";
    for policy in ["auto", "reject", "accept-first", "forward"] {
        let set = user(&format!("[questions]\npolicy = \"{policy}\"\n{ANSWER}{ask_rule}"));
        let preselected = vec![Some(vec!["PostgreSQL (Recommended)".to_owned()])];
        assert_eq!(verdict(&set, &ask(&[database()])), person(&set, "rule \"mine\" asks for `Database`", preselected, None));
    }
    let set = user(&format!(
        "{ANSWER}{ask_rule}[[rules]]\nname = \"no\"\ndo = \"reject\"\nheader = \"data\"\nmessage = \"Decide yourself.\""
    ));
    assert_eq!(verdict(&set, &ask(&[free_text(), database()])), rejected("Decide yourself.", "no"));
}

fn step(policy: &SessionPolicy, body: &AskBody, base: &str) -> Verdict {
    let set = user(base).with_session(policy).unwrap();
    without_hits(decide(&set, &Subject { step: true, ..subject(body) }, NOW))
}

#[test]
fn steps_reject_by_default() {
    let nothing = SessionPolicy::default();
    for base in [
        "",
        "[questions]\npolicy = \"forward\"\ntimeout = \"1m\"\non_timeout = \"accept-first\"",
        "[questions]\npolicy = \"accept-first\"",
    ] {
        assert_eq!(
            step(&nothing, &ask(&[database()]), base),
            rejected(texts::REJECTED_BY_POLICY, "questions.policy = \"reject\"")
        );
    }
    assert_eq!(step(&nothing, &ask(&[database()]), ANSWER), answered(&[&["PostgreSQL (Recommended)"]], "db"));
}

#[test]
fn step_with_a_timeout_answers_with_first_options_by_default() {
    for (json, then) in [
        (r#"{"questions":{"policy":"forward","timeout":"10m"}}"#, OnTimeout::AcceptFirst),
        (r#"{"questions":{"policy":"forward","timeout":"10m","onTimeout":"reject"}}"#, OnTimeout::Reject),
    ] {
        let policy: SessionPolicy = serde_json::from_str(json).unwrap();
        policy.check_step().unwrap();
        let set = user("").with_session(&policy).unwrap();
        assert_eq!(
            step(&policy, &ask(&[database()]), ""),
            person(&set, "no rule answers `Database`", vec![], Some(ten_minutes(then)))
        );
    }
    let session: SessionPolicy = serde_json::from_str(r#"{"questions":{"policy":"forward","timeout":"10m"}}"#).unwrap();
    assert!(session.check().is_err(), "in a session silence must be written out");
}

#[test]
fn timeout_requires_forward() {
    for policy in ["reject", "accept-first", "auto"] {
        let session: SessionPolicy =
            serde_json::from_str(&format!(r#"{{"questions":{{"policy":"{policy}","timeout":"10m","onTimeout":"reject"}}}}"#))
                .unwrap();
        assert!(session.check().is_err() && session.check_step().is_err(), "{policy}");
    }
    let silent: SessionPolicy = serde_json::from_str(r#"{"questions":{"timeout":"10m"}}"#).unwrap();
    assert!(silent.check_step().is_err());
}

// Only a timeout uses the fallback, and only where the policy names one.
#[test]
fn deadline_applies_the_fallback_of_the_policy() {
    let first = Decision::Answered { answers: vec![vec!["SQLite".to_owned()]], note: None };
    let silence = Decision::Rejected { message: "User did not respond within 10 minutes".to_owned(), stop: false };
    let denied = Decision::Denied { message: "Tool approval timed out after 10 minutes".to_owned(), stop: false };
    assert_eq!(timed_out(&ask(&[database()]), &ten_minutes(OnTimeout::AcceptFirst)), first);
    assert_eq!(timed_out(&ask(&[database()]), &ten_minutes(OnTimeout::Reject)), silence);
    assert_eq!(timed_out(&ask(&[database(), free_text()]), &ten_minutes(OnTimeout::AcceptFirst)), silence);
    assert_eq!(timed_out(&ask(&[]), &ten_minutes(OnTimeout::AcceptFirst)), silence);
    for body in [approval("ExitPlanMode", sayso_core::ask::Action::Plan), link()] {
        assert_eq!(timed_out(&body, &ten_minutes(OnTimeout::AcceptFirst)), denied);
    }
}

#[test]
fn approval_is_denied_at_its_deadline() {
    let set = user("[approvals]\ntimeout = \"10m\"");
    let Verdict::Person(note) = verdict(&set, &crate::support::run("make")) else { panic!("decided") };
    assert_eq!(
        note,
        PolicyNote {
            why: Some("no rule allows `make`".to_owned()),
            preselected: vec![],
            rules: Some(set.fingerprint()),
            deadline: Some(ten_minutes(OnTimeout::Deny)),
            hits: Vec::new(),
        }
    );
}
