//! Hostile command lines: what an innocent rule must never allow, and what a deny must always catch.

use sayso_core::ask::{Action, Approval, ApprovalDecision, AskBody, Input};
use sayso_core::policy::{Verdict, explain};
use sayso_core::texts;

use crate::support::{
    NOW, approval, approved, ask, denied, edit, link, make_question, read, rejected, run, subject, user, verdict, why,
    without_hits,
};

const INNOCENT: &str = r#"
    [[rules]]
    name = "innocent"
    do = "allow"
    run = ["git status", "git diff *", "cargo test *", "ls *", "cat *", "echo *"]
"#;
const DENY: &str = r#"
    [[rules]]
    name = "never"
    do = "deny"
    run = ["rm *", "git push *"]
    [[rules]]
    do = "allow"
    run = ["*"]
"#;

fn lines(fixture: &str) -> Vec<String> {
    fixture.lines().filter(|line| !line.is_empty()).map(|line| line.replace('⏎', "\n").replace('␍', "\r")).collect()
}

#[test]
fn ordinary_rules_allow_no_hostile_line() {
    let set = user(INNOCENT);
    let hostile = lines(include_str!("fixtures/hostile.txt"));
    assert!(hostile.len() >= 200, "{}", hostile.len());
    let wrong: Vec<&String> = hostile.iter().filter(|line| why(&verdict(&set, &run(line))).is_none()).collect();
    assert_eq!(wrong, Vec::<&String>::new());
}

#[test]
fn ordinary_rules_allow_what_they_mean() {
    let set = user(INNOCENT);
    let plain = lines(include_str!("fixtures/plain.txt"));
    assert!(plain.len() >= 40, "{}", plain.len());
    let wrong: Vec<(&String, Verdict)> = plain
        .iter()
        .map(|line| (line, verdict(&set, &run(line))))
        .filter(|(_, verdict)| *verdict != approved("innocent"))
        .collect();
    assert_eq!(wrong, vec![]);
}

#[test]
fn deny_is_not_evaded_by_hostile_lines() {
    let set = user(DENY);
    let evasion = lines(include_str!("fixtures/evasion.txt"));
    assert!(evasion.len() >= 60, "{}", evasion.len());
    let never = denied(texts::DENIED_BY_POLICY, "never");
    let wrong: Vec<(&String, Verdict)> =
        evasion.iter().map(|line| (line, verdict(&set, &run(line)))).filter(|(_, verdict)| *verdict != never).collect();
    assert_eq!(wrong, vec![]);
}

#[test]
fn deny_does_not_match_similar_commands() {
    let set = user(DENY);
    for line in [
        "rmdir x",
        "echo rm",
        "git commit -m 'rm the old push'",
        "git log --grep push",
        "ls rm",
        "docker run --rm img",
        "grep -r 'git push' docs",
    ] {
        assert_eq!(verdict(&set, &run(line)), approved("rule 2 (user)"), "{line}");
    }
    // Not denied; `*` covers no subcommand of cargo that the table does not know.
    assert_eq!(why(&verdict(&set, &run("cargo rm-x"))), Some("no rule allows `cargo rm-x`"));
}

#[test]
fn several_rules_together_cover_a_line() {
    let set = user(
        "[[rules]]\nname = \"a\"\ndo = \"allow\"\nrun = \"git status\"\n[[rules]]\nname = \"b\"\ndo = \"allow\"\nrun = \"cargo test *\"\n[[rules]]\nname = \"c\"\ndo = \"allow\"\nrun = \"ls\"",
    );
    assert_eq!(verdict(&set, &run("git status && cargo test -q")), approved("a, b"));
    assert_eq!(why(&verdict(&set, &run("git status && cargo build"))), Some("no rule allows `cargo build`"));
    assert_eq!(
        why(&verdict(&set, &run("ls > x"))),
        Some("no rule can allow `ls > x`: it contains a redirection to or from a file")
    );
}

#[test]
fn wrappers_need_a_separate_rule() {
    let set = user(
        "[[rules]]\nname = \"w\"\ndo = \"allow\"\nrun = [\"timeout *\", \"xargs *\", \"ls *\", \"find *\", \"eval *\", \"bash *\", \"sudo -u build make\"]",
    );
    for line in [
        "timeout 5 ls",
        "ls | xargs ls -l",
        "find . -name '*.rs'",
        "eval 'ls -l'",
        "bash x.sh",
        "sudo -u build make",
        "timeout 5 timeout 6 ls",
    ] {
        assert_eq!(verdict(&set, &run(line)), approved("w"), "{line}");
    }
    for line in [
        "timeout 5 rm x",
        "ls | xargs rm",
        "ls | xargs -I ls rm",
        "find . -exec rm {} +",
        "find . -delete",
        "eval 'rm x'",
        "eval ls rm",
        "timeout -k ls rm",
        "bash -xc 'rm x'",
        "bash",
    ] {
        assert!(why(&verdict(&set, &run(line))).is_some(), "{line}");
    }
}

#[test]
fn deny_beats_ask_beats_allow_in_any_order() {
    let rules = [
        "do = \"allow\"\nrun = \"git *\"",
        "do = \"ask\"\nrun = \"git push *\"\nname = \"never push\"",
        "do = \"deny\"\nrun = \"git push --force *\"\nmessage = \"No.\"\nname = \"force\"",
    ];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let set = user(&order.map(|index| format!("[[rules]]\n{}\n", rules[index])).concat());
        let allow = format!("rule {} (user)", order.iter().position(|rule| *rule == 0).unwrap() + 1);
        assert_eq!(verdict(&set, &run("git log")), approved(&allow));
        assert_eq!(why(&verdict(&set, &run("git push origin"))), Some("rule \"never push\" asks for `git push origin`"));
        assert_eq!(verdict(&set, &run("git push origin --force")), denied("No.", "force"));
    }
}

#[test]
fn commands_that_touch_sayso_need_a_person() {
    let set = user(
        "[approvals]\npolicy = \"allow\"\n[[rules]]\ndo = \"allow\"\nrun = \"*\"\n[[rules]]\ndo = \"allow\"\nedit = [\"**\", \"/**\", \"~/**\"]\n[[rules]]\ndo = \"allow\"\nread = [\"**\", \"/**\", \"~/**\"]",
    );
    for line in [
        "sayso approve x",
        "bash -c \"sayso approve x\"",
        "env X=1 sayso ls",
        "xargs sayso",
        "/home/u/.local/bin/sayso ls",
        "say''so ls",
        "s\\ayso ls",
        "$'\\x73ayso' ls",
        "SAYSO ls",
        "sayso.exe x",
        "echo $(sayso ls)",
        "cd ~/.config && cat sayso/policy.toml",
        "cat ~/.config/sayso/policy.toml",
        "rm -rf ~/.config",
        "cat .sayso.toml",
        "echo x > .sayso.toml",
        "cat /srv/sayso-data/token",
        "$X approve",
        "sa?so approve",
        "$(echo say)so approve",
        "eval \"$X\"",
        "bash -c \"$X\"",
        "curl -H \"Bearer $SAYSO_TOKEN\" x",
        "cat ~/.local/state/say*/db",
        "sayso 'x",
        "tee -a ~/.config/sayso/policy.toml",
        "ls|sayso",
    ] {
        assert!(
            why(&verdict(&set, &run(line))).is_some_and(|why| why.starts_with("built in: sayso itself")),
            "{line}: {:?}",
            verdict(&set, &run(line))
        );
    }
    for path in [
        ".sayso.toml",
        "sub/.sayso.toml",
        "~/.config/sayso/policy.toml",
        "/srv/sayso-data/db",
        "../.config/sayso/x",
        "/home/other/.local/state/sayso/x",
        "~/.config",
        "/home/u/shop/../.config/sayso/policy.toml",
    ] {
        assert_eq!(
            why(&verdict(&set, &edit(&["ok", path]))),
            Some("built in: sayso itself: it touches Sayso's own files"),
            "{path}"
        );
        assert_eq!(why(&verdict(&set, &read(path))), Some("built in: sayso itself: it touches Sayso's own files"), "{path}");
    }
    for line in ["cargo test -p sayso-core", "ls ~/work", "cat src/essayso.rs"] {
        assert_eq!(verdict(&set, &run(line)), approved("rule 1 (user)"), "{line}");
    }
    assert_eq!(verdict(&set, &run("echo $HOME > x")), approved("approvals.policy = \"allow\""));
}

#[test]
fn plans_modes_and_links_wait_for_a_person() {
    let set = user(
        "[approvals]\npolicy = \"allow\"\n[[rules]]\ndo = \"allow\"\ntool = \"*\"\n[[rules]]\ndo = \"allow\"\nfetch = \"*\"",
    );
    for body in [approval("ExitPlanMode", Action::Plan), approval("SetMode", Action::Mode), link()] {
        assert!(why(&verdict(&set, &body)).is_some(), "{body:?}");
    }
    let named = user("[[rules]]\ndo = \"allow\"\ntool = [\"ExitPlanMode\", \"SetMode\"]");
    assert_eq!(verdict(&named, &approval("ExitPlanMode", Action::Plan)), approved("rule 1 (user)"));
    assert_eq!(why(&verdict(&named, &approval("SetMode", Action::Mode))), Some("no rule allows a change of mode"));
    assert_eq!(
        verdict(&user("[approvals]\npolicy = \"deny\"\nmessage = \"Not now.\""), &link()),
        denied("Not now.", "approvals.policy = \"deny\"")
    );
}

#[test]
fn denial_of_a_policy_has_a_message_even_if_the_policy_has_an_empty_one() {
    for empty in ["", " \\n"] {
        let rule = user(&format!("[[rules]]\ndo = \"deny\"\nrun = \"ls\"\nmessage = \"{empty}\""));
        assert_eq!(verdict(&rule, &run("ls")), denied(texts::DENIED_BY_POLICY, "rule 1 (user)"));
        let all = user(&format!("[approvals]\npolicy = \"deny\"\nmessage = \"{empty}\""));
        assert_eq!(verdict(&all, &run("ls")), denied(texts::DENIED_BY_POLICY, "approvals.policy = \"deny\""));
        let questions = user(&format!("[questions]\npolicy = \"reject\"\nmessage = \"{empty}\""));
        let expected = rejected(texts::REJECTED_BY_POLICY, "questions.policy = \"reject\"");
        assert_eq!(verdict(&questions, &ask(&[make_question("", "?", Input::YesNo)])), expected);
    }
}

#[test]
fn approval_whose_caller_does_not_allow_it_waits_for_a_person_or_is_denied() {
    let body = |allowed: &[ApprovalDecision]| {
        let AskBody::Approval(mut wanted) = run("ls") else { panic!("not an approval") };
        (wanted.editable, wanted.allowed_decisions) = (true, Some(allowed.into()));
        AskBody::Approval(wanted)
    };
    let edited = body(&[ApprovalDecision::Edit, ApprovalDecision::Deny]);
    let approve_only = body(&[ApprovalDecision::Approve]);
    for policy in ["[[rules]]\ndo = \"allow\"\nrun = \"ls\"", "[approvals]\npolicy = \"allow\""] {
        assert_eq!(why(&verdict(&user(policy), &edited)), Some("the caller wants a decision by a person"), "{policy}");
        assert!(matches!(verdict(&user(policy), &approve_only), Verdict::Decided { .. }), "{policy}");
    }
    let deny = user("[[rules]]\ndo = \"deny\"\nrun = \"ls\"");
    assert_eq!(verdict(&deny, &approve_only), denied(texts::DENIED_BY_POLICY, "rule 1 (user)"));
}

#[test]
fn unclear_lines_are_never_approved() {
    let set = user("[approvals]\npolicy = \"allow\"");
    assert_eq!(verdict(&set, &run("make all > log")), approved("approvals.policy = \"allow\""));
    for line in ["ls 'x".to_owned(), "(".repeat(10_000), "x ".repeat(60_000), "a\0b".to_owned(), "cat << E\nx".to_owned()] {
        assert_eq!(why(&verdict(&set, &run(&line))), Some("the command line cannot be read"), "{}", &line[..line.len().min(20)]);
    }
    assert_eq!(
        why(&verdict(&set, &run(&"x ".repeat(100_000)))),
        Some("built in: sayso itself: the command line is too long to read")
    );
    assert_eq!(verdict(&user(DENY), &run(&"x ".repeat(100_000))), denied(texts::DENIED_BY_POLICY, "never"));
}

#[test]
fn every_kind_of_condition_matches() {
    let set = user(
        r#"
        [[rules]]
        name = "web"
        do = "allow"
        fetch = ["https://docs.rs/*", "crates.io"]
        [[rules]]
        name = "mcp"
        do = "allow"
        mcp = ["github/get_*", "docs"]
        [[rules]]
        name = "mcp no"
        do = "deny"
        mcp = "github/delete_*"
        [[rules]]
        name = "edits"
        do = "allow"
        edit = ["**", "!.github/**", "!migrations/**"]
        agent = "cla*"
        project = "~/shop"
        [[rules]]
        name = "old"
        do = "allow"
        tool = "Task"
        until = "2020-01-01T00:00:00Z"
        [[rules]]
        name = "elsewhere"
        do = "allow"
        tool = "Other"
        project = "~/sho"
        "#,
    );
    let fetch = |url: &str| approval("WebFetch", Action::Fetch { url: url.into() });
    let mcp = |server: &str, tool: &str| approval("mcp", Action::Mcp { server: server.into(), tool: tool.into() });
    assert_eq!(verdict(&set, &fetch("https://docs.rs/serde")), approved("web"));
    assert_eq!(why(&verdict(&set, &fetch("https://docs.rs@evil.com/"))), Some("no rule allows `https://docs.rs@evil.com/`"));
    assert_eq!(verdict(&set, &mcp("github", "get_issue")), approved("mcp"));
    assert_eq!(verdict(&set, &mcp("docs", "anything")), approved("mcp"));
    assert_eq!(verdict(&set, &mcp("GitHub", "delete_repo")), denied(texts::DENIED_BY_POLICY, "mcp no"));
    assert_eq!(why(&verdict(&set, &mcp("github/get_x", "delete"))), Some("no rule allows `github/get_x/delete`"));
    assert_eq!(verdict(&set, &edit(&["src/a.rs"])), approved("edits"));
    assert_eq!(
        why(&verdict(&set, &edit(&["src/a.rs", ".github/ci.yml"]))),
        Some("no rule names `.github/ci.yml`, which is configuration of CI")
    );
    assert_eq!(why(&verdict(&set, &approval("Task", Action::Other))), Some("no rule allows `Task`"));
    assert_eq!(why(&verdict(&set, &approval("Other", Action::Other))), Some("no rule allows `Other`"));
}

#[test]
fn wrappers_are_followed_to_a_limited_depth() {
    let set = user("[[rules]]\nname = \"w\"\ndo = \"allow\"\nrun = [\"timeout *\", \"xargs *\", \"ls *\", \"bash *\"]");
    for inner in ["timeout 5 ls", "bash -c 'ls'", "xargs ls"] {
        let line = |depth: usize| format!("{}{inner}", "timeout 5 ".repeat(depth));
        assert_eq!(verdict(&set, &run(&line(5))), approved("w"), "{inner}");
        assert!(why(&verdict(&set, &run(&line(6)))).is_some_and(|why| why.starts_with("no rule allows")), "{inner}");
    }
}

#[test]
fn rule_for_the_tool_allows_wrappers_but_no_configuration() {
    let set = user("[[rules]]\nname = \"any\"\ndo = \"allow\"\ntool = \"Bash\"");
    assert_eq!(verdict(&set, &run("sudo -u build make")), approved("any"));
    assert_eq!(
        why(&verdict(&set, &run("sudo -u build cat .git/config"))),
        Some("no rule allows `sudo -u build cat .git/config`")
    );
}

#[test]
fn ask_without_paths_is_named_by_its_tool() {
    for body in [edit(&[]), approval("Read", Action::Read { paths: vec![] })] {
        let AskBody::Approval(Approval { tool, .. }) = &body else { panic!("an approval") };
        assert_eq!(why(&verdict(&user(""), &body)), Some(format!("no rule allows `{tool}`").as_str()));
    }
}

#[test]
fn explain_says_which_allow_covers_no_command() {
    let set = user(
        "[[rules]]\ndo = \"allow\"\nrun = \"ls *\"\n[[rules]]\ndo = \"allow\"\nrun = \"cargo test *\"\n[[rules]]\ndo = \"allow\"\nrun = [\"timeout *\", \"make\"]",
    );
    let body = run("cargo test && timeout 5 make");
    let explained = explain(&set, &subject(&body), NOW);
    let misses: Vec<Option<&str>> = explained.considered.iter().map(|rule| rule.why_not).collect();
    assert_eq!(misses, [Some("it does not touch Sayso"), Some("no command on the line matches"), None, None]);
    assert_eq!(without_hits(explained.verdict), approved("rule 2 (user), rule 3 (user)"));
}

#[test]
fn scripts_inside_a_line_are_read_up_to_a_size() {
    let set = user("[approvals]\npolicy = \"allow\"\n[[rules]]\nname = \"never\"\ndo = \"deny\"\nrun = \"rm *\"");
    let script = |bytes: usize| format!("bash -c 'echo rm; {}'", "echo a; ".repeat(bytes / 8));
    // Only words that are not read as commands count wherever they are.
    assert_eq!(verdict(&set, &run(&script(10_000))), approved("approvals.policy = \"allow\""));
    let several = |count: usize| format!("echo rm{}", " $(echo a)".repeat(count));
    assert_eq!(verdict(&set, &run(&several(16))), approved("approvals.policy = \"allow\""));
    assert_eq!(verdict(&set, &run(&several(60))), denied(texts::DENIED_BY_POLICY, "never"));
}
