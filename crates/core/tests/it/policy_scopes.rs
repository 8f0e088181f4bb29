//! Scopes, profiles, trust, grants, and the explanation of it all.

use std::sync::Arc;

use sayso_core::id::GrantId;
use sayso_core::policy::{
    Effect, Grant, PolicySet, ProjectPolicy, Rule, RuleSpec, Scope, SessionPolicy, Subject, Texts, Verdict, decide, explain,
    matches_ask, project_hash,
};
use sayso_core::texts;
use sayso_core::time::Time;

use crate::support::{
    NOW, answered, approved, ask, choice, denied, policy, rejected, run, subject, user, verdict, why, without_hits,
};

fn project(base: &str, text: &str, trusted: bool) -> PolicySet {
    user(base).with_project(Arc::new(ProjectPolicy { policy: policy(text), trusted }))
}

#[test]
fn an_untrusted_project_may_only_make_things_stricter() {
    let text = "[approvals]\npolicy = \"allow\"\n[questions]\npolicy = \"accept-first\"\n[[rules]]\ndo = \"allow\"\nrun = \"make *\"\n[[rules]]\ndo = \"deny\"\nrun = \"curl *\"\n[[rules]]\ndo = \"answer\"\nmatch = \"which\"\npick = 1\n";
    let question = ask(&[choice("", "Which?", &["A"])]);
    let untrusted = project("", text, false);
    assert_eq!(why(&verdict(&untrusted, &run("make"))), Some("no rule allows `make`"));
    assert_eq!(verdict(&untrusted, &run("curl x")), denied(texts::DENIED_BY_POLICY, "rule 2 (project)"));
    assert_eq!(why(&verdict(&untrusted, &question)), Some("no rule answers `Which?`"));
    let trusted = project("", text, true);
    assert_eq!(verdict(&trusted, &run("make")), approved("rule 1 (project)"));
    assert_eq!(verdict(&trusted, &run("ls")), approved("approvals.policy = \"allow\""));
    assert_eq!(verdict(&trusted, &question), answered(&[&["A"]], "rule 3 (project)"));
    assert_ne!(trusted.fingerprint(), untrusted.fingerprint());

    let strict = project(
        "[approvals]\npolicy = \"allow\"\n[questions]\npolicy = \"accept-first\"",
        "[approvals]\npolicy = \"deny\"\n[questions]\npolicy = \"reject\"\nmessage = \"Not here.\"",
        false,
    );
    assert_eq!(verdict(&strict, &run("ls")), denied(texts::DENIED_BY_POLICY, "approvals.policy = \"deny\""));
    assert_eq!(verdict(&strict, &question), rejected("Not here.", "questions.policy = \"reject\""));
    let lax = project("[approvals]\npolicy = \"deny\"", "[approvals]\npolicy = \"ask\"", false);
    assert_eq!(verdict(&lax, &run("ls")), denied(texts::DENIED_BY_POLICY, "approvals.policy = \"deny\""));
}

#[test]
fn a_session_overrides_settings_but_never_a_deny() {
    let session: SessionPolicy =
        serde_json::from_str(r#"{"questions":"reject","approvals":"allow","rules":[{"do":"allow","run":"rm *"}]}"#).unwrap();
    session.check().unwrap();
    let set = user("[[rules]]\nname = \"no\"\ndo = \"deny\"\nrun = \"rm *\"").with_session(&session).unwrap();
    assert_eq!(verdict(&set, &run("rm x")), denied(texts::DENIED_BY_POLICY, "no"));
    assert_eq!(verdict(&set, &run("make")), approved("approvals.policy = \"allow\""));
    assert_eq!(
        verdict(&set, &ask(&[choice("", "Which?", &["A"])])),
        rejected(texts::REJECTED_BY_POLICY, "questions.policy = \"reject\"")
    );
}

#[test]
fn a_profile_holds_until_its_time() {
    let text = "[profiles.away]\nquestions = { timeout = \"15m\", on_timeout = \"reject\" }\napprovals = \"deny\"";
    let until = Time::from_millis(NOW.as_millis() + 1);
    let set = user(text).with_profile("away", Some(until)).unwrap();
    assert_eq!(verdict(&set, &run("ls")), denied(texts::DENIED_BY_POLICY, "approvals.policy = \"deny\""));
    let body = run("ls");
    assert_eq!(why(&decide(&set, &subject(&body), until)), Some("no rule allows `ls`"));
    let Verdict::Person(note) = verdict(&set, &ask(&[choice("", "Which?", &["A"])])) else { panic!("decided") };
    assert_eq!(note.deadline.map(|deadline| deadline.after.to_string()), Some("15m".to_owned()));
    assert_eq!(
        user(text).with_profile("home", None).unwrap_err().to_string(),
        "there is no profile home: write [profiles.home] in policy.toml"
    );
}

#[test]
fn a_grant_allows_for_a_while() {
    let id = GrantId::new(NOW, [1; 10]);
    let grant = Grant {
        run: vec!["npm test *".to_owned()],
        agent: Some("claude".to_owned()),
        ..Grant::new(id, Some(Time::from_millis(NOW.as_millis() + 10)))
    };
    let set = user("").with_grants(std::slice::from_ref(&grant)).unwrap();
    let body = run("npm test --watch");
    assert_eq!(verdict(&set, &body), approved(&format!("grant {id}")));
    assert!(why(&decide(&set, &subject(&body), Time::from_millis(NOW.as_millis() + 10))).is_some());
    assert!(why(&decide(&set, &Subject { agent: "codex", ..subject(&body) }, NOW)).is_some());
    assert!(user("").with_grants(&[Grant { run: vec![], ..grant.clone() }]).is_err());
    assert_eq!(serde_json::from_str::<Grant>(&serde_json::to_string(&grant).unwrap()).unwrap(), grant);
}

#[test]
fn the_fingerprint_names_the_rules() {
    let set = user("[approvals]\npolicy = \"ask\"");
    assert_eq!(set.fingerprint(), user("[approvals]\npolicy = \"ask\"").fingerprint());
    assert_ne!(set.fingerprint(), user("").fingerprint());
    assert_eq!(set.fingerprint().len(), 16);
    assert_eq!(project_hash("").len(), 64);
}

#[test]
fn an_explanation_shows_every_rule() {
    let set = project(
        "[[rules]]\nname = \"tests\"\ndo = \"allow\"\nrun = \"cargo test *\"\n[[rules]]\nname = \"pushes\"\ndo = \"ask\"\nrun = \"git push *\"\n[[rules]]\ndo = \"answer\"\nheader = \"x\"\npick = 1",
        "[[rules]]\ndo = \"allow\"\nrun = \"git push\"",
        false,
    );
    let body = run("cargo test && git push");
    let explanation = explain(&set, &subject(&body), NOW);
    let json = serde_json::to_value(&explanation).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "verdict": "person",
            "why": "rule \"pushes\" asks for `git push`",
            "preselected": [],
            "rules": set.fingerprint(),
            "deadline": null,
            "hits": ["pushes"],
            "considered": [
                {"scope": "builtIn", "name": "built in: sayso itself", "effect": "ask", "matched": false, "whyNot": "it does not touch Sayso"},
                {"scope": "project", "name": "rule 1 (project)", "effect": "allow", "matched": false, "whyNot": "the project is not trusted, so it may only deny, ask and reject"},
                {"scope": "user", "name": "tests", "effect": "allow", "matched": true},
                {"scope": "user", "name": "pushes", "effect": "ask", "matched": true},
                {"scope": "user", "name": "rule 3 (user)", "effect": "answer", "matched": false, "whyNot": "it is about questions"},
            ],
            "questions": "forward",
            "approvals": "ask",
            "fingerprint": set.fingerprint(),
        })
    );
    assert_eq!(without_hits(explanation.verdict), verdict(&set, &body));
    assert_eq!(explanation.considered[1].scope, Scope::Project);
}

#[test]
fn one_rule_is_tried_on_past_asks() {
    let rule =
        |effect, run: &str| Rule::new(RuleSpec { run: Some(Texts(vec![run.to_owned()])), ..RuleSpec::new(effect) }).unwrap();
    let tried = |rule: &Rule, line: &str| matches_ask(rule, &subject(&run(line)), NOW);
    assert!(tried(&rule(Effect::Allow, "git *"), "git log && git diff"));
    assert!(!tried(&rule(Effect::Allow, "git *"), "git log && ls"));
    assert!(tried(&rule(Effect::Deny, "rm *"), "ls; rm x") && !tried(&rule(Effect::Deny, "rm *"), "ls"));
    assert!(tried(&rule(Effect::Ask, "rm *"), "sudo rm x") && !tried(&rule(Effect::Ask, "rm *"), "ls"));
    let answer = Rule::new(RuleSpec { header: Some("x".to_owned()), pick: Some(1), ..RuleSpec::new(Effect::Answer) }).unwrap();
    assert!(matches_ask(&answer, &subject(&ask(&[choice("X", "?", &["A"])])), NOW));
    assert!(!matches_ask(&answer, &subject(&ask(&[choice("X", "?", &["A"]), choice("Y", "?", &["A"])])), NOW));
    assert!(!matches_ask(&answer, &subject(&run("ls")), NOW));
}
