//! Parsing of policy texts, and the messages for invalid ones.

use sayso_core::policy::{Effect, Policy, RuleSpec, SessionPolicy};

use crate::support::policy;

#[test]
fn policy_of_the_design_document_is_parsed() {
    let text = include_str!("fixtures/design.toml");
    let read = policy(text);
    assert_eq!((read.rules.len(), read.profiles.keys().map(String::as_str).collect::<Vec<_>>()), (4, vec!["away"]));
    assert_eq!(read, policy(text));
    let rule = "[[rules]]\ndo = \"deny\"\nrun = \"rm *\"\n";
    for other in [
        "",
        "[questions]\npolicy = \"reject\"",
        "[approvals]\npolicy = \"deny\"",
        "[profiles.away]",
        "[[rules]]\ndo = \"ask\"\nrun = \"rm *\"",
        "[[rules]]\ndo = \"deny\"\nrun = \"rm x\"",
    ] {
        assert_ne!(policy(rule), policy(other), "{other}");
    }
    let twice = policy(&rule.repeat(2));
    assert_ne!(twice.rules[0], twice.rules[1], "rules are told apart by their place");
}

#[test]
fn errors_are_reported_with_their_place() {
    let rule = |body: &str| format!("[[rules]]\n{body}\n");
    for (text, error) in [
        (
            "[questions]\ntimeout = \"10m\"".to_owned(),
            "line 2, column 1: a timeout must say what happens then: write on_timeout = \"reject\" or \"accept-first\"",
        ),
        (
            "[questions]\non_timeout = \"reject\"".to_owned(),
            "line 2, column 1: on_timeout without a timeout: write timeout = \"10m\", or leave both out to wait without a limit",
        ),
        (
            "[questions]\npolicy = \"auto\"\n  timeout = \"10m\"\non_timeout = \"reject\"".to_owned(),
            "line 3, column 3: only forwarded questions wait: write policy = \"forward\" instead of \"auto\", or leave the timeout out",
        ),
        (
            "[questions]\ntimeout = \"10m\"\non_timeout = \"deny\"".to_owned(),
            "line 3, column 1: questions are not denied: write on_timeout = \"reject\" or \"accept-first\"",
        ),
        (
            "[approvals]\npolicy = \"allow\"\ntimeout = \"10m\"".to_owned(),
            "line 3, column 1: only approvals that a person decides wait: write policy = \"ask\" instead of \"allow\", or leave the timeout out",
        ),
        (
            "[questions]\ntimeout = \"0s\"\non_timeout = \"reject\"".to_owned(),
            "line 2, column 1: a timeout of zero leaves no time to answer: write a length such as \"10m\"",
        ),
        (
            "[profiles.away]\napprovals = { timeout = \"0s\" }\n[approvals]\ntimeout = \"10m\"".to_owned(),
            "line 1, column 1: a timeout of zero leaves no time to answer: write a length such as \"10m\"",
        ),
        (rule("do = \"deny\"\nrun = [\"ls\", \" \"]"), "line 3, column 1: run contains an empty text: write a pattern"),
        (
            "[approvals]\ntimeout = \"0s\"".to_owned(),
            "line 2, column 1: a timeout of zero leaves no time to answer: write a length such as \"10m\"",
        ),
        (
            rule("name = \"a\\u0000b\"\ndo = \"deny\"\nrun = \"ls\""),
            "line 2, column 1: the name contains the character U+0000; remove that character",
        ),
        (
            rule("do = \"allow\""),
            "line 2, column 1: an allow rule must say what it allows: write run, edit, read, fetch, mcp or tool",
        ),
        (
            rule("do = \"allow\"\nagent = \"claude\""),
            "line 2, column 1: an allow rule must say what it allows: write run, edit, read, fetch, mcp or tool",
        ),
        (
            rule("do = \"answer\"\nanswer = \"x\""),
            "line 2, column 1: an answer rule must say which question it answers: write header or match",
        ),
        (
            rule("do = \"answer\"\nheader = \"x\""),
            "line 2, column 1: an answer rule must say the answer: write answer = [\"…\"] or pick = 1",
        ),
        (
            rule("do = \"answer\"\nheader = \"x\"\nanswer = \"x\"\npick = 1"),
            "line 5, column 1: answer and pick together: write one of them",
        ),
        (
            rule("do = \"answer\"\nheader = \"x\"\npick = 0"),
            "line 4, column 1: options are counted from 1: write pick = 1 for the first",
        ),
        (
            rule("do = \"answer\"\nheader = \"x\"\nanswer = \"x\"\nrun = \"ls\""),
            "line 5, column 1: run is about approvals, do = \"answer\" about questions: write header or match instead",
        ),
        (
            rule("do = \"deny\"\nheader = \"x\""),
            "line 3, column 1: header is about questions, do = \"deny\" about approvals: write do = \"answer\" or \"reject\"",
        ),
        (
            rule("do = \"deny\"\nrun = \"a | b\""),
            "line 3, column 1: run: `|` joins or redirects commands: a pattern names one simple command, write several patterns",
        ),
        (rule("do = \"deny\"\nrun = []"), "line 3, column 1: run is empty: write at least one pattern, or leave it out"),
        (
            rule("do = \"deny\"\nrun = \"ls\"\nedit = \"x\""),
            "line 4, column 1: run and edit in one rule never hold together: write two rules",
        ),
        (rule("do = \"ask\"\nmatch = \"/(/\""), "line 3, column 1: match: not a regular expression: error: unclosed group"),
        (rule("do = \"deny\"\nedit = \"[\""), "line 3, column 1: edit: `[` is not a glob: unclosed character class; missing ']'"),
        (rule("do = \"deny\"\nproject = \"shop\""), "line 3, column 1: a project is a whole path: write it from / or ~/"),
        (
            rule("do = \"allow\"\nrun = \"ls\"\nmessage = \"x\""),
            "line 4, column 1: message belongs to do = \"deny\" or \"reject\", not to do = \"allow\"",
        ),
        (
            rule("do = \"ask\"\ntool = \"Bash\"\nmatch = \"x\""),
            "line 4, column 1: match is about questions and the rest about approvals: write two rules",
        ),
        (
            rule("do = \"ask\"\nrun = \"ls\"\nheader = \"x\""),
            "line 4, column 1: header is about questions and the rest about approvals: write two rules",
        ),
        (
            rule("id = \"a b\"\ndo = \"deny\""),
            "line 2, column 1: an id has 1 to 64 letters, digits, - and _; leave it out if you need none",
        ),
        (
            rule("id = \"\"\ndo = \"deny\""),
            "line 2, column 1: an id has 1 to 64 letters, digits, - and _; leave it out if you need none",
        ),
        (
            rule(&format!("id = \"{}\"\ndo = \"deny\"", "x".repeat(65))),
            "line 2, column 1: an id has 1 to 64 letters, digits, - and _; leave it out if you need none",
        ),
        (rule("do = \"deny\"\npick = 1"), "line 3, column 1: pick belongs to do = \"answer\", not to \"deny\""),
    ] {
        assert_eq!(Policy::parse(&text).unwrap_err().to_string(), error, "{text}");
    }
}

#[test]
fn unknown_words_are_errors_with_their_place() {
    for (text, line, column, part) in [
        ("[question]\n", 1, 2, "unknown field `question`"),
        ("[questions]\npolicy = \"maybe\"", 2, 10, "unknown variant `maybe`"),
        ("[questions]\npolice = \"ask\"", 2, 1, "unknown field `police`"),
        ("[approvals]\non_timeout = \"allow\"", 2, 1, "unknown field `on_timeout`"),
        ("[[rules]]\ndo = \"allow\"\nruns = \"x\"", 3, 1, "unknown field `runs`"),
        ("[[rules]]\nrun = \"x\"", 1, 1, "missing field `do`"),
        ("[[rules]]\ndo = \"allow\"\nrun = 3", 3, 7, "a text or a list of texts"),
        ("[questions]\ntimeout = \"soon\"", 2, 11, "not a duration"),
        ("[[rules]]\ndo = \"deny\"\nuntil = \"soon\"", 3, 9, "not a time"),
        ("x = ", 1, 5, ""),
    ] {
        let error = Policy::parse(text).unwrap_err();
        assert_eq!((error.line, error.column, error.message.contains(part)), (line, column, true), "{text}: {error}");
    }
}

#[test]
fn times_are_parsed_with_or_without_quotes() {
    let until = |text: &str| {
        policy(&format!("[[rules]]\ndo = \"deny\"\nuntil = {text}")).rules[0].spec().until.map(|until| until.to_string())
    };
    assert_eq!(until("\"2026-01-02T03:04:05Z\""), Some("2026-01-02T03:04:05.000Z".to_owned()));
    assert_eq!(until("2026-01-02T03:04:05Z"), Some("2026-01-02T03:04:05.000Z".to_owned()));
    assert!(Policy::parse("[[rules]]\ndo = \"deny\"\nuntil = 2026-01-02").is_err());
}

#[test]
fn untrusted_text_is_limited_in_size() {
    assert!(Policy::parse(&"#".repeat(256 * 1024)).is_ok());
    assert_eq!(
        Policy::parse(&"#".repeat(256 * 1024 + 1)).unwrap_err().to_string(),
        "line 1, column 1: the policy has 262145 bytes, the limit is 262144"
    );
    let message = |bytes: usize| format!("[[rules]]\ndo = \"deny\"\nmessage = \"{}\"\n", "x".repeat(bytes));
    assert!(Policy::parse(&message(8192)).is_ok());
    assert_eq!(
        Policy::parse(&message(8193)).unwrap_err().to_string(),
        "line 3, column 1: the message has 8193 bytes, the limit is 8192"
    );
    assert!(Policy::parse(&"[[rules]]\ndo = \"deny\"\n".repeat(1_000)).is_ok());
    assert!(Policy::parse("[[rules]]\ndo = \"ask\"\nmatch = \"/^(delete|drop|remove) [a-z]{1,40} (table|index)s?$/\"").is_ok());
    let many = "[[rules]]\ndo = \"deny\"\n".repeat(1_001);
    assert_eq!(
        Policy::parse(&many).unwrap_err().to_string(),
        "line 2001, column 1: 1001 rules, the limit is 1000: join some, a rule takes lists"
    );
    assert!(Policy::parse(&format!("x = {}", "[".repeat(100_000))).is_err());
    assert!(Policy::parse("[[rules]]\ndo = \"ask\"\nmatch = \"/(\\\\w{200}){200}/\"").is_err());
}

#[test]
fn session_policy_is_parsed_from_json() {
    let json = r#"{"questions":{"policy":"forward","timeout":"10m","onTimeout":"accept-first","message":"m"},"approvals":{"policy":"ask","timeout":"5m"},"rules":[{"do":"allow","run":["git *"]},{"do":"answer","match":"x","answer":["y"],"until":"2026-01-01T00:00:00.000Z"}]}"#;
    let policy: SessionPolicy = serde_json::from_str(json).unwrap();
    policy.check().unwrap();
    assert_eq!(serde_json::to_string(&policy).unwrap(), json);
    let short: SessionPolicy = serde_json::from_str(r#"{"questions":"forward","approvals":"deny"}"#).unwrap();
    assert_eq!(serde_json::to_string(&short).unwrap(), r#"{"questions":{"policy":"forward"},"approvals":{"policy":"deny"}}"#);
    assert_eq!(serde_json::to_string(&SessionPolicy::default()).unwrap(), "{}");
    let many = |count| SessionPolicy { rules: vec![RuleSpec::new(Effect::Deny); count], ..SessionPolicy::default() };
    assert_eq!(many(1_000).check(), Ok(()));
    assert_eq!(many(1_001).check().unwrap_err().to_string(), "1001 rules, the limit is 1000: join some, a rule takes lists");
    for wrong in [
        r#"{"question":"forward"}"#,
        r#"{"questions":"later"}"#,
        r#"{"questions":{"x":1}}"#,
        r#"{"rules":[{"do":"allow","runs":[]}]}"#,
    ] {
        assert!(serde_json::from_str::<SessionPolicy>(wrong).is_err(), "{wrong}");
    }
    let bad: SessionPolicy = serde_json::from_str(r#"{"rules":[{"do":"allow","run":"ls"},{"do":"allow"}]}"#).unwrap();
    assert_eq!(
        bad.check().unwrap_err().to_string(),
        "rule 2: an allow rule must say what it allows: write run, edit, read, fetch, mcp or tool"
    );
}
