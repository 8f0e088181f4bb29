//! Scopes, profiles, trust and grants, and how they are explained.

use std::sync::Arc;

use sayso_core::ask::{Action, AskBody, Claims};
use sayso_core::id::GrantId;
use sayso_core::policy::{
    Effect, Grant, OnTimeout, PolicySet, ProjectPolicy, Rule, RuleSpec, Scope, SessionPolicy, Subject, Texts, Verdict, decide,
    explain, matches_ask, project_hash,
};
use sayso_core::texts;
use sayso_core::time::Time;

use crate::support::{
    NOW, answered, approval, approved, ask, choice, denied, edit, link, policy, read, rejected, run, subject, user, verdict, why,
    without_hits,
};

fn project(base: &str, text: &str, trusted: bool) -> PolicySet {
    user(base).with_project(Arc::new(ProjectPolicy { policy: policy(text), trusted }))
}

#[test]
fn untrusted_project_can_only_make_the_policy_stricter() {
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
fn session_overrides_settings_but_never_a_deny() {
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
fn rules_of_a_session_are_counted_from_one() {
    let session: SessionPolicy =
        serde_json::from_str(r#"{"rules":[{"do":"allow","run":"ls"},{"do":"allow","run":"make"}]}"#).unwrap();
    let set = user("").with_session(&session).unwrap();
    assert_eq!(verdict(&set, &run("ls")), approved("rule 1 (session)"));
    assert_eq!(verdict(&set, &run("make")), approved("rule 2 (session)"));
}

#[test]
fn unknown_project_path_matches_deny_but_not_allow() {
    let set = user(
        "[[rules]]\nname = \"no\"\ndo = \"deny\"\nrun = \"rm *\"\nproject = \"~/shop\"\n[[rules]]\ndo = \"allow\"\nrun = \"ls\"\nproject = \"~/shop\"",
    );
    let decided = |line: &str, home, project| without_hits(decide(&set, &Subject { home, project, ..subject(&run(line)) }, NOW));
    let (home, shop) = (Some("/home/u"), Some("/home/u/shop"));
    assert_eq!(decided("rm x", home, shop), denied(texts::DENIED_BY_POLICY, "no"));
    assert_eq!(decided("rm x", None, shop), denied(texts::DENIED_BY_POLICY, "no"));
    assert_eq!(why(&decided("rm x", home, None)), Some("no rule allows `rm x`"));
    assert_eq!(why(&decided("rm x", home, Some("/home/u/other"))), Some("no rule allows `rm x`"));
    assert_eq!(decided("ls", home, shop), approved("rule 2 (user)"));
    assert_eq!(why(&decided("ls", None, shop)), Some("no rule allows `ls`"));
    let body = run("ls");
    let explained = explain(&set, &Subject { home: None, ..subject(&body) }, NOW);
    assert_eq!(explained.considered[2].why_not, Some("its project is not known"));
}

#[test]
fn links_match_rules_about_their_address_and_general_rules() {
    let denies = |rule: &str| {
        let set = user(&format!("[[rules]]\nname = \"no\"\ndo = \"deny\"\n{rule}"));
        verdict(&set, &link()) == denied(texts::DENIED_BY_POLICY, "no")
    };
    for rule in ["", "agent = \"claude\"", "fetch = \"example.com\"", "fetch = [\"x.test\", \"https://example.com/*\"]"] {
        assert!(denies(rule), "{rule}");
    }
    for rule in ["tool = \"*\"", "run = \"*\"", "edit = \"**\"", "read = \"**\"", "mcp = \"*\"", "fetch = \"x.test\""] {
        assert!(!denies(rule), "{rule}");
    }
}

#[test]
fn profile_applies_until_its_end() {
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
fn grant_allows_until_its_end() {
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
fn every_field_of_a_grant_allows_what_it_names_and_nothing_else() {
    let mcp = |server: &str| approval("mcp", Action::Mcp { server: server.to_owned(), tool: "get".to_owned() });
    let fetch = |url: &str| approval("WebFetch", Action::Fetch { url: url.to_owned() });
    let texts = |text: &str| vec![text.to_owned()];
    let empty = || Grant::new(GrantId::new(NOW, [1; 10]), None);
    for (grant, granted, other) in [
        (Grant { run: texts("ls *"), ..empty() }, run("ls -l"), run("cat x")),
        (Grant { edit: texts("src/**"), ..empty() }, edit(&["src/a"]), edit(&["b"])),
        (Grant { read: texts("src/**"), ..empty() }, read("src/a"), read("b")),
        (Grant { fetch: texts("docs.rs"), ..empty() }, fetch("https://docs.rs/x"), fetch("https://evil.test/")),
        (Grant { mcp: texts("github/get*"), ..empty() }, mcp("github"), mcp("files")),
        (Grant { tool: texts("Task"), ..empty() }, approval("Task", Action::Other), approval("Other", Action::Other)),
        (Grant { run: texts("ls"), project: Some("/home/u".to_owned()), ..empty() }, run("ls"), run("cat")),
    ] {
        let set = user("").with_grants(std::slice::from_ref(&grant)).unwrap();
        assert_eq!(verdict(&set, &granted), approved(&format!("grant {}", grant.id)), "{grant:?}");
        assert!(why(&verdict(&set, &other)).is_some(), "{grant:?}");
        let elsewhere = Grant { project: Some("/home/other".to_owned()), ..grant.clone() };
        let set = user("").with_grants(std::slice::from_ref(&elsewhere)).unwrap();
        assert!(why(&verdict(&set, &granted)).is_some(), "{elsewhere:?}");
        assert_eq!(elsewhere.check(), Ok(()));
    }
    assert!(empty().check().is_err());
}

#[test]
fn untrusted_project_can_only_shorten_timeouts() {
    let deadline = |base: &str, text: &str, body: &AskBody| match verdict(&project(base, text, false), body) {
        Verdict::Person(note) => note.deadline.map(|deadline| (deadline.after.to_string(), deadline.then)),
        Verdict::Decided { .. } => panic!("decided"),
    };
    let wait = |time: &str, then: &str| format!("[questions]\ntimeout = \"{time}\"\non_timeout = \"{then}\"");
    let question = ask(&[choice("", "Which?", &["A"])]);
    let rejects = |time: &str| Some((time.to_owned(), OnTimeout::Reject));
    for (base, text, expected) in [
        (String::new(), wait("5m", "reject"), rejects("5m")),
        (String::new(), wait("5m", "accept-first"), None),
        (wait("10m", "reject"), wait("5m", "reject"), rejects("5m")),
        (wait("5m", "reject"), wait("10m", "reject"), rejects("5m")),
        (wait("5m", "accept-first"), wait("10m", "reject"), rejects("10m")),
        (wait("5m", "reject"), wait("1m", "accept-first"), rejects("5m")),
    ] {
        assert_eq!(deadline(&base, &text, &question), expected, "{base} / {text}");
    }
    let approvals = |time: &str| format!("[approvals]\ntimeout = \"{time}\"");
    let denies = |time: &str| Some((time.to_owned(), OnTimeout::Deny));
    for (base, text, expected) in [
        (String::new(), approvals("5m"), denies("5m")),
        (approvals("10m"), approvals("5m"), denies("5m")),
        (approvals("5m"), approvals("10m"), denies("5m")),
    ] {
        assert_eq!(deadline(&base, &text, &run("ls")), expected, "{base} / {text}");
    }
    // The same policy is not stricter, so its message does not replace the person's.
    let same = |message: &str| {
        format!(
            "[approvals]\npolicy = \"deny\"\nmessage = \"{message}\"\n[questions]\npolicy = \"reject\"\nmessage = \"{message}\""
        )
    };
    let set = project(&same("mine"), &same("theirs"), false);
    assert_eq!(verdict(&set, &run("ls")), denied("mine", "approvals.policy = \"deny\""));
    assert_eq!(verdict(&set, &question), rejected("mine", "questions.policy = \"reject\""));
}

#[test]
fn question_rules_do_not_match_approvals() {
    for rule in ["header = \"ls\"", "match = \"ls\""] {
        let set = user(&format!("[[rules]]\ndo = \"ask\"\n{rule}"));
        let body = run("ls");
        let explained = explain(&set, &subject(&body), NOW);
        assert_eq!(explained.considered[1].why_not, Some("it is about questions"), "{rule}");
        assert_eq!(why(&explained.verdict), Some("no rule allows `ls`"));
    }
    let set = user("[[rules]]\ndo = \"allow\"\nrun = \"ls *\"");
    let body = run("ls > x");
    let explained = explain(&set, &subject(&body), NOW);
    assert_eq!(explained.considered[1].why_not, Some("rules cannot allow this kind of line"));
}

#[test]
fn fingerprint_identifies_the_rules() {
    let session = |json: &str| user("").with_session(&serde_json::from_str(json).unwrap()).unwrap().fingerprint();
    assert_ne!(session(r#"{"approvals":"deny"}"#), session(r#"{"approvals":"ask"}"#));
    let grants = |run: &str| {
        let grant = Grant { run: vec![run.to_owned()], ..Grant::new(GrantId::new(NOW, [1; 10]), None) };
        user("").with_grants(&[grant]).unwrap().fingerprint()
    };
    assert_ne!(grants("ls"), grants("make"));
    let set = user("[approvals]\npolicy = \"ask\"");
    assert_eq!(set.fingerprint(), user("[approvals]\npolicy = \"ask\"").fingerprint());
    assert_ne!(set.fingerprint(), user("").fingerprint());
    assert_eq!(set.fingerprint().len(), 16);
    assert_eq!(project_hash("").len(), 64);
}

#[test]
fn explanation_shows_every_rule() {
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
fn single_rule_is_tested_with_past_asks() {
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
    let asks = |agent: &str| {
        let agent = Some(Texts(vec![agent.to_owned()]));
        Rule::new(RuleSpec { header: Some("x".to_owned()), agent, ..RuleSpec::new(Effect::Ask) }).unwrap()
    };
    let question = |header: &str| ask(&[choice(header, "?", &["A"])]);
    assert!(matches_ask(&asks("claude"), &subject(&question("X")), NOW));
    assert!(!matches_ask(&asks("claude"), &subject(&question("Y")), NOW));
    assert!(!matches_ask(&asks("codex"), &subject(&question("X")), NOW));
}

#[test]
fn project_named_sayso_needs_a_person_only_if_it_is_only_reported() {
    let set = user("[approvals]\npolicy = \"allow\"");
    let decided = |set: &PolicySet, project: &str, line: &str| {
        without_hits(decide(set, &Subject { project: Some(project), ..subject(&run(line)) }, NOW))
    };
    let named = Some("built in: sayso itself: it names sayso or its files");
    let line = "cat /home/u/sayso/src/main.rs";
    for project in ["/home/u/sayso", "/home/u/sayso/"] {
        assert_eq!(decided(&set, project, line), approved("approvals.policy = \"allow\""), "{project}");
        assert_eq!(why(&decided(&set, project, "sayso approve 4f2a")), named);
    }
    for project in ["/home/u/shop", "/"] {
        assert_eq!(why(&decided(&set, project, line)), named, "{project}");
    }
    let reported = set.with_claims(Claims { agent: false, project: true });
    assert_eq!(why(&decided(&reported, "/home/u/sayso", line)), named);
}

#[test]
fn unreadable_lines_are_searched_for_the_name_with_and_without_quotes() {
    let set = user("[approvals]\npolicy = \"allow\"");
    for line in ["sayso approve 'x", "say''so approve 'x", "s\\ayso approve \"x", "echo a'sayso' 'x"] {
        let named = Some("built in: sayso itself: it names sayso or its files");
        assert_eq!(why(&verdict(&set, &run(line))), named, "{line}");
    }
    assert_eq!(why(&verdict(&set, &run("echo essayso 'x"))), Some("the command line cannot be read"));
}
