//! Configuration that makes programs run: wildcards do not cover it, and rules ask again after it changed.

use std::collections::BTreeSet;

use sayso_core::ask::{Action, Approval, AskBody};
use sayso_core::policy::{DiskFacts, PROTECTED_CONFIG, PolicySet, Subject, Verdict, decide, explain};
use sayso_core::raw::Raw;

use crate::support::{NOW, approval, approved, denied, edit, read, run, subject, user, verdict, why, without_hits};

const EDIT_ALL: &str = "[[rules]]\ndo = \"allow\"\nedit = [\"**\", \"~/**\", \"/**\"]";
const DEFAULT_ALLOW: &str = "[approvals]\npolicy = \"allow\"";

fn asks(set: &PolicySet, body: &AskBody, reason: &str) {
    assert_eq!(why(&verdict(set, body)), Some(reason), "{body:?}");
}

fn on_disk(set: &PolicySet, body: &AskBody, disk: &DiskFacts) -> Verdict {
    without_hits(decide(set, &Subject { disk: Some(disk), ..subject(body) }, NOW))
}

fn links_to(real_paths: &[&str]) -> DiskFacts {
    DiskFacts { real_paths: real_paths.iter().map(|path| (*path).to_owned()).collect(), ..DiskFacts::default() }
}

fn changed(paths: &[&str]) -> DiskFacts {
    DiskFacts { changed: paths.iter().map(|path| (*path).to_owned()).collect(), ..DiskFacts::default() }
}

fn with_input(tool: &str, action: Action, input: &str) -> AskBody {
    let AskBody::Approval(written) = approval(tool, action) else { panic!("an approval") };
    AskBody::Approval(Approval { input: Raw::parse(input.to_owned()).unwrap(), ..written })
}

fn mcp(tool: &str, input: &str) -> AskBody {
    with_input(&format!("mcp__files__{tool}"), Action::Mcp { server: "files".to_owned(), tool: tool.to_owned() }, input)
}

#[test]
fn wildcards_do_not_cover_configuration() {
    for set in [user(EDIT_ALL), user(DEFAULT_ALLOW), user("[[rules]]\ndo = \"allow\"\ntool = \"Edit\"")] {
        for (kind, entries) in PROTECTED_CONFIG {
            for entry in *entries {
                let path = entry.replace('*', "x");
                let reason = |path: &str| format!("no rule names `{path}`, which is configuration of {}", kind.as_str());
                for path in [path.clone(), format!("deep/er/{path}"), format!("{path}/below"), format!("~/{path}")] {
                    asks(&set, &edit(&[&path]), &reason(&path));
                }
                let upper = path.to_uppercase();
                asks(&set, &edit(&["src/main.rs", &upper]), &reason(&upper));
            }
        }
        assert_eq!(why(&verdict(&set, &edit(&["src/main.rs", "Makefile", ".gitignore", "docs/head.md"]))), None);
    }
}

#[test]
fn reading_configuration_needs_no_literal_rule() {
    let set = user("[[rules]]\ndo = \"allow\"\nread = \"**\"");
    for path in [".git/config", ".github/workflows/ci.yml", ".npmrc"] {
        assert_eq!(verdict(&set, &read(path)), approved("rule 1 (user)"), "{path}");
    }
}

#[test]
fn rule_that_names_the_configuration_allows_it() {
    for (pattern, path, allowed) in [
        (".github/**", ".github/workflows/ci.yml", true),
        (".github/", ".github/workflows/ci.yml", true),
        ("**/.gitattributes", "sub/.gitattributes", true),
        ("~/.config/git/config", "~/.config/git/config", true),
        ("/home/u/shop/.git/config", ".git/config", true),
        (".git*", ".gitattributes", false),
        (".*/**", ".github/workflows/ci.yml", false),
        ("**/config", ".git/config", false),
        (".github/**", ".github/.git/config", false),
        ("~/.config/**", "~/.config/git/config", false),
    ] {
        let set = user(&format!("[[rules]]\ndo = \"allow\"\nedit = [\"{pattern}\"]"));
        let expected = allowed.then(|| approved("rule 1 (user)"));
        let decided = verdict(&set, &edit(&[path]));
        assert_eq!(why(&decided).is_none().then_some(decided), expected, "{pattern} {path}");
    }
    // Each path is named by a rule that allows all of them.
    let set = user("[[rules]]\ndo = \"allow\"\nedit = [\"**\", \".github/**\"]");
    assert_eq!(verdict(&set, &edit(&["src/a.rs", ".github/x"])), approved("rule 1 (user)"));
    let set = user("[[rules]]\ndo = \"allow\"\nedit = \"**\"\n[[rules]]\ndo = \"deny\"\nedit = \".git/**\"\nmessage = \"no\"");
    assert_eq!(verdict(&set, &edit(&[".git/config"])), denied("no", "rule 2 (user)"));
}

#[test]
fn tool_arguments_that_name_configuration_need_a_person() {
    let rules = "[[rules]]\ndo = \"allow\"\nmcp = \"files\"\n[[rules]]\ndo = \"allow\"\ntool = [\"Write2\", \"Edit\"]";
    for set in [user(rules), user(DEFAULT_ALLOW)] {
        for (input, named) in [
            (r#"{"path":".git/config","text":"x"}"#, ".git/config"),
            (r#"{"edits":[{"file":{"name":"a/.HUSKY/x"}}]}"#, "a/.HUSKY/x"),
            (r#"{"files":{".npmrc":"x"}}"#, ".npmrc"),
            (r#"{"uri":"file:///home/u/shop/%2Egithub/x"}"#, "/home/u/shop/.github/x"),
        ] {
            for body in [
                mcp("write", input),
                with_input("Write2", Action::Other, input),
                with_input("Edit", Action::Edit { paths: Vec::new() }, input),
            ] {
                let decided = verdict(&set, &body);
                let reason = why(&decided).unwrap_or_default();
                assert!(reason.starts_with(&format!("it names `{named}`, which is configuration of ")), "{input}: {reason}");
            }
        }
        for input in [r#"{"path":"src/a.rs"}"#, r#"{"head":"HEAD","body":"see .github/workflows for it"}"#, "null", "[1,true]"] {
            assert_eq!(why(&verdict(&set, &mcp("write", input))), None, "{input}");
        }
        for input in [r#"{"path":"~/.config/sayso/policy.toml"}"#, r#"["/srv/sayso-data/token"]"#, r#"{".sayso.toml":1}"#] {
            asks(&set, &mcp("write", input), "built in: sayso itself: it touches Sayso's own files");
        }
        asks(&set, &mcp("write", r#"{"path":"../.local/state/sayso"}"#), "built in: sayso itself: it touches Sayso's own files");
    }
}

#[test]
fn commands_that_write_configuration_need_a_pattern_that_names_it() {
    let set = user("[[rules]]\ndo = \"allow\"\nrun = [\"cp *\", \"tee * x\", \"cat *\", \"mv a .github/*\", \"ln -s x .envrc\"]");
    for line in [
        "cp x .git/hooks/pre-commit",
        "cp -t.git/hooks x",
        "cp --target-directory=.git/hooks x",
        "cp .bashrc x",
        "tee .npmrc x",
        "mv a .github/.git/config",
    ] {
        assert!(why(&verdict(&set, &run(line))).is_some(), "{line}");
    }
    for line in ["cp x y", "cat .git/config", "mv a .github/x", "ln -s x .envrc"] {
        assert_eq!(verdict(&set, &run(line)), approved("rule 1 (user)"), "{line}");
    }
    let set = user("[[rules]]\ndo = \"allow\"\ntool = \"Bash\"");
    asks(&set, &run("cat .git/config"), "no rule allows `cat .git/config`");
    asks(&set, &run("dd if=x of=.git/config"), "no rule allows `dd if=x of=.git/config`");
    assert_eq!(verdict(&set, &run("cat src/main.rs")), approved("rule 1 (user)"));
}

#[test]
fn links_are_judged_by_their_targets() {
    let allow = user("[[rules]]\ndo = \"allow\"\nedit = \"**\"\n[[rules]]\ndo = \"allow\"\nread = \"**\"");
    let body = edit(&["docs/x"]);
    assert_eq!(on_disk(&allow, &body, &DiskFacts::default()), approved("rule 1 (user)"));
    assert_eq!(on_disk(&allow, &body, &links_to(&["/home/u/shop/src/x"])), approved("rule 1 (user)"));
    for (real, reason) in [
        ("/home/u/shop/.git/config", "no rule names `/home/u/shop/.git/config`, which is configuration of version control"),
        ("/etc/passwd", "no rule allows `docs/x, /etc/passwd`"),
        ("/home/u/.local/state/sayso/token", "built in: sayso itself: it touches Sayso's own files"),
    ] {
        assert_eq!(why(&on_disk(&allow, &body, &links_to(&[real]))), Some(reason));
    }
    assert_eq!(why(&on_disk(&allow, &read("docs/x"), &links_to(&["/etc/passwd"]))), Some("no rule allows `docs/x, /etc/passwd`"));
    let deny = user("[[rules]]\ndo = \"deny\"\nread = \".env\"\nmessage = \"no\"");
    assert_eq!(on_disk(&deny, &read("x"), &links_to(&["/home/u/shop/.env"])), denied("no", "rule 1 (user)"));
    let all = user("[[rules]]\ndo = \"allow\"\nrun = \"*\"\n[[rules]]\ndo = \"allow\"\nmcp = \"files\"");
    let token = links_to(&["/srv/sayso-data/token"]);
    for body in [run("cat x"), mcp("read", r#"{"path":"x"}"#)] {
        assert_eq!(why(&on_disk(&all, &body, &token)), Some("built in: sayso itself: it touches Sayso's own files"));
    }
    assert_eq!(
        why(&on_disk(&all, &mcp("read", r#"{"path":"x"}"#), &links_to(&["/home/u/shop/.envrc"]))),
        Some("it names `/home/u/shop/.envrc`, which is configuration of shells")
    );
}

#[test]
fn changed_configuration_suspends_rules_for_its_programs() {
    let rules = "[[rules]]\ndo = \"allow\"\nrun = [\"git status\", \"git log *\", \"timeout *\", \"cargo test *\", \"xargs *\"]\n\
                 [[rules]]\ndo = \"deny\"\nrun = \"git push *\"\nmessage = \"no\"";
    let disk = changed(&["/home/u/shop/.git/config"]);
    let reason = "`/home/u/shop/.git/config` changed since the session began, and git reads it";
    for set in [user(rules), user(&format!("{DEFAULT_ALLOW}\n{rules}"))] {
        for line in ["git status", "cargo test && git log -1", "timeout 5 git status", "bash -c 'git status'"] {
            assert_eq!(why(&on_disk(&set, &run(line), &disk)), Some(reason), "{line}");
            assert_eq!(why(&on_disk(&set, &run(line), &DiskFacts::default())), None, "{line}");
        }
        assert_eq!(on_disk(&set, &run("cargo test"), &disk), approved("rule 1 (user)"));
        assert_eq!(on_disk(&set, &run("git push"), &disk), denied("no", "rule 2 (user)"));
        assert_eq!(
            why(&on_disk(&set, &run("cargo test"), &changed(&["/p/x", "/home/u/.cargo/config.toml"]))),
            Some("`/home/u/.cargo/config.toml` changed since the session began, and cargo reads it")
        );
    }
    assert_eq!(why(&on_disk(&user(DEFAULT_ALLOW), &run("/usr/bin/GIT status"), &disk)), Some(reason));
}

#[test]
fn unresponsive_disk_needs_a_person() {
    let disk = DiskFacts { unknown: true, ..DiskFacts::default() };
    let set = user("[approvals]\npolicy = \"allow\"\n[[rules]]\ndo = \"deny\"\nrun = \"rm *\"\nmessage = \"no\"");
    for body in [edit(&["a"]), run("ls"), mcp("write", "{}")] {
        assert_eq!(why(&on_disk(&set, &body, &disk)), Some("links in its paths cannot be followed"));
    }
    assert_eq!(on_disk(&set, &run("rm x"), &disk), denied("no", "rule 1 (user)"));
}

#[test]
fn explain_says_that_a_rule_does_not_name_the_configuration() {
    let set = user("[[rules]]\ndo = \"allow\"\nedit = \"**\"\n[[rules]]\ndo = \"allow\"\nedit = \"src/**\"");
    let body = edit(&[".git/config"]);
    let explained = explain(&set, &subject(&body), NOW);
    let misses: Vec<Option<&str>> = explained.considered.iter().map(|rule| rule.why_not).collect();
    assert_eq!(
        misses,
        [
            Some("it does not touch Sayso"),
            Some("it does not name the configuration that is changed"),
            Some("not every path matches")
        ]
    );
    let reason = "no rule names `.git/config`, which is configuration of version control";
    assert_eq!(why(&explained.verdict), Some(reason));
}

/// The rows of a table in the guide: the words of the first column, and the names in backticks of the second.
fn documented() -> Vec<(String, BTreeSet<String>)> {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/policy.md");
    let text = std::fs::read_to_string(guide).unwrap();
    let table = text.split("## Configuration that makes programs run").nth(1).unwrap();
    let rows = table.lines().skip_while(|line| !line.starts_with("|---")).skip(1).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let kind = cells.next().unwrap().to_owned();
        let names = cells.next().unwrap().split('`').skip(1).step_by(2).map(str::to_lowercase).collect();
        (kind, names)
    })
    .collect()
}

#[test]
fn documented_configuration_is_the_table() {
    let table: Vec<(String, BTreeSet<String>)> = PROTECTED_CONFIG
        .iter()
        .map(|(kind, entries)| (kind.as_str().to_owned(), entries.iter().map(|entry| (*entry).to_owned()).collect()))
        .collect();
    assert_eq!(documented(), table);
}
