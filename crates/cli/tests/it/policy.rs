//! Policies: check, explain, test, trust, allow, away.

use anyhow::Result;

use crate::support::{Person, Ran, ending};

const RULES: &str = "\
[[rules]]
name = \"tests\"
do = \"allow\"
run = [\"cargo test *\"]

[[rules]]
name = \"the usual database\"
do = \"answer\"
header = \"database\"
answer = [\"PostgreSQL\"]

[profiles.away]
questions = { policy = \"reject\", message = \"No one is here.\" }
";

#[tokio::test]
async fn policy_is_shown_checked_and_tested() -> Result<()> {
    let person = Person::new().await?;
    let shown = person.ok(&["policy"]).await?;
    assert!(
        shown.ends_with("No rules yet. Every ask comes to you and waits until you answer. Add rules with: sayso policy edit"),
        "{shown}"
    );
    assert!(person.ok(&["policy", "check"]).await?.ends_with("policy.toml is valid."));

    let (_agent, approval) = person.mock_asks("approve").await?;
    let (_agent, question) = person.mock_asks("secret").await?;
    let file = person.path("rules.toml");
    std::fs::write(&file, RULES)?;
    let file = file.to_str().unwrap();
    let checked = person.ok(&["policy", "check", file]).await?;
    assert!(checked.ends_with("rules.toml is valid. It would decide 1 of 2 pending asks."), "{checked}");

    let tested = person.ok(&["policy", "test", file]).await?;
    assert!(tested.ends_with("It would decide 1 of 2 asks."), "{tested}");
    let line = |id: &str, verdict: &str| tested.contains(&format!("{}  {verdict:<8} ", ending(id)));
    assert!(line(&approval.id, "approve") && line(&question.id, "ask"), "{tested}");
    let explained = person.ok(&["policy", "explain", &approval.id]).await?;
    assert!(explained.starts_with(&format!("{}  ask      ", ending(&approval.id))), "{explained}");
    assert_eq!(person.client()?.pending_asks().await?.data.len(), 2, "testing decides nothing");

    std::fs::write(file, "[[rules]]\ndo = \"perhaps\"\n")?;
    for args in [&["policy", "check", file][..], &["policy", "test", file]] {
        let ran = person.run(args).await?;
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
        assert!(ran.err.contains("rules.toml: line 2, column ") && ran.err.contains("perhaps"), "{ran:?}");
    }
    let ran = person.run(&["policy", "check", "/not/there.toml"]).await?;
    assert!(ran.code == Some(1) && ran.err.starts_with("Cannot read /not/there.toml: "), "{ran:?}");
    Ok(())
}

#[tokio::test]
async fn rules_decide_without_asking_a_person() -> Result<()> {
    let person = Person::with_policy(RULES).await?;
    let ran = person.run(&["ask", "May I?", "--approval", "cargo test --lib"]).await?;
    assert_eq!(ran, Ran { code: Some(0), out: "approved\n".into(), err: String::new() });
    let ran = person.run(&["ask", "Which?", "--header", "Database", "--option", "SQLite", "--option", "PostgreSQL"]).await?;
    assert_eq!(ran, Ran { code: Some(0), out: "PostgreSQL\n".into(), err: String::new() });
    let id = person.json(&["history"]).await?["data"][0]["id"].as_str().unwrap().to_owned();
    let explained = person.ok(&["policy", "explain", &id]).await?;
    assert!(explained.contains("matched  answer the usual database"), "{explained}");
    assert!(person.ok(&["history"]).await?.contains("Allowed by rule \"tests\"."));

    let streamed = person.run(&["start", "mock", "approve"]).await?;
    assert_eq!(streamed.code, Some(0), "{streamed:?}");
    assert!(streamed.out.contains("✓ cargo test --workspace: Allowed by rule \"tests\".\n"), "{streamed:?}");
    Ok(())
}

#[tokio::test]
async fn temporary_permission_covers_only_its_command() -> Result<()> {
    let person = Person::new().await?;
    let out = person.ok(&["allow", "cargo test *", "--for", "1h"]).await?;
    assert!(out.starts_with("Allowed until ") && out.ends_with(": cargo test *"), "{out}");
    assert_eq!(person.ok(&["ask", "May I?", "--approval", "cargo test -q"]).await?, "approved");
    person.ok(&["ask", "May I?", "--approval", "cargo test -q; rm -rf ~", "--no-wait"]).await?;
    assert_eq!(person.pending().await?.title, "May I?", "only the allowed command is approved");
    assert!(person.ok(&["policy"]).await?.contains(": cargo test *"));

    let project = person.project();
    person.ok(&["allow", "make", "deploy", "--for", "5m", "--project", project.to_str().unwrap()]).await?;
    assert_eq!(person.ok(&["ask", "Deploy?", "--approval", "make deploy"]).await?, "approved");
    let mut elsewhere = person.command(&["ask", "Deploy?", "--approval", "make deploy", "--no-wait"]);
    elsewhere.current_dir(person.path("home"));
    crate::support::ran(elsewhere).await?;
    assert_eq!(person.client()?.pending_asks().await?.data.len(), 2);
    Ok(())
}

#[tokio::test]
async fn away_rules_apply_until_away_is_off() -> Result<()> {
    let person = Person::with_policy(RULES).await?;
    let out = person.ok(&["away", "2h"]).await?;
    assert!(
        out.starts_with("Away is on until") && out.ends_with(". Your away rules apply. To turn it off: sayso away off"),
        "{out}"
    );
    let ran = person.run(&["ask", "Anybody?"]).await?;
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:?}");
    assert!(person.ok(&["policy"]).await?.contains("Profile \"away\" is on until "));
    assert_eq!(person.ok(&["away", "off"]).await?, "Away is off. Your away rules no longer apply.");
    person.ok(&["ask", "Anybody?", "--no-wait"]).await?;
    person.pending().await?;
    assert_eq!(person.ok(&["away"]).await?, "Away is on. Your away rules apply. To turn it off: sayso away off");

    let without = Person::new().await?;
    let ran = without.run(&["away", "2h"]).await?;
    assert!(ran.code == Some(1) && ran.err.contains("[profiles.away]"), "{ran:?}");
    Ok(())
}

#[tokio::test]
async fn project_is_trusted_in_its_current_version() -> Result<()> {
    let person = Person::new().await?;
    let file = person.project().join(".sayso.toml");
    std::fs::write(&file, "[[rules]]\ndo = \"allow\"\nrun = [\"cargo test *\"]\n")?;
    let (_agent, asked) = person.mock_asks("approve").await?;
    assert_eq!(person.pending().await?.id, asked.id, "an untrusted project allows nothing");
    person.ok(&["deny", &asked.id]).await?;

    assert_eq!(person.ok(&["policy", "trust", "."]).await?, "Trusted in its current version: ~/project/.sayso.toml");
    let allowed = person.run(&["start", "mock", "approve"]).await?;
    assert!(allowed.out.contains("Allowed by rule "), "{allowed:?}");

    std::fs::write(&file, "[[rules]]\ndo = \"allow\"\nrun = [\"cargo *\"]\n")?;
    let (_agent, asked) = person.mock_asks("approve").await?;
    assert_eq!(person.pending().await?.id, asked.id, "another text is not trusted");
    let ran = person.run(&["policy", "trust", "/not/there"]).await?;
    assert!(ran.code == Some(1) && ran.err.starts_with("Cannot use /not/there: "), "{ran:?}");
    Ok(())
}

#[tokio::test]
async fn edit_checks_the_written_policy() -> Result<()> {
    let person = Person::new().await?;
    let edit = async |editor: &str| {
        let mut command = person.command(&["policy", "edit"]);
        command.env("EDITOR", editor);
        crate::support::ran(command).await
    };
    std::fs::remove_file(person.path("config/sayso/policy.toml"))?;
    let ran = edit("true").await?;
    assert!(ran.code == Some(0) && ran.out.ends_with("policy.toml is valid.\n"), "{ran:?}");
    let written = std::fs::read_to_string(person.path("config/sayso/policy.toml"))?;
    assert!(written.starts_with("# Rules decide asks before they reach you."), "{written}");
    let ran = edit("sh -c 'echo x = 1 >> \"$0\"'").await?;
    assert!(ran.code == Some(1) && ran.err.contains("unknown field `x`"), "{ran:?}");
    let ran = edit("false").await?;
    assert!(ran.code == Some(1) && ran.err.starts_with("The editor `false` failed."), "{ran:?}");
    Ok(())
}
