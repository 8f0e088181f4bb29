//! The person's token is never used in an agent's shell.

use anyhow::Result;
use sayso_testkit::Watch;

use crate::support::{Person, Ran, ran};

const MARKERS: [(&str, &str); 4] = [("CLAUDECODE", "1"), ("CODEX_SANDBOX", "seatbelt"), ("OPENCODE", "1"), ("GEMINI_CLI", "1")];

async fn as_agent(person: &Person, environment: &[(&str, &str)], args: &[&str]) -> Result<Ran> {
    let mut command = person.command(args);
    command.envs(environment.iter().copied());
    ran(command).await
}

#[tokio::test]
async fn agent_without_a_token_can_do_nothing() -> Result<()> {
    let person = Person::new().await?;
    let (_agent, asked) = person.mock_asks("approve").await?;
    let id = asked.id.as_str();
    let (backup, rules) = (person.path("copy.db"), person.path("rules.toml"));
    let commands: &[&[&str]] = &[
        &["ls"],
        &["next"],
        &["show", id],
        &["history"],
        &["approve", id],
        &["deny", id],
        &["answer", id, "1"],
        &["reject", id],
        &["snooze", id, "1h"],
        &["start", "mock", "hello"],
        &["sessions"],
        &["agents"],
        &["ask", "May I?"],
        &["policy"],
        &["policy", "edit"],
        &["policy", "check", rules.to_str().unwrap()],
        &["policy", "trust", "."],
        &["allow", "rm *", "--for", "1h"],
        &["away", "2h"],
        &["token", "create", "me", "--role", "admin"],
        &["token", "list"],
        &["login"],
        &["backup", backup.to_str().unwrap()],
        &["stop"],
        &["restart"],
        &["uninstall", "--yes", "--purge"],
    ];
    for (marker, value) in MARKERS {
        // A token of the person in the environment must not be used either.
        let token = person.server.as_ref().unwrap().token();
        for environment in [&[(marker, value)][..], &[(marker, value), ("SAYSO_TOKEN", token)]] {
            for args in commands {
                let ran = as_agent(&person, environment, args).await?;
                assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{marker} {args:?}: {ran:?}");
                assert!(
                    ran.err.starts_with(&format!("This shell belongs to an agent ({marker} is set); a person must run this.")),
                    "{args:?}: {ran:?}"
                );
            }
            let line = as_agent(&person, environment, &["status", "--line"]).await?;
            assert_eq!(line, Ran { code: Some(0), out: String::new(), err: String::new() });
        }
    }
    assert!(!backup.exists());
    assert_eq!(person.pending().await?.id, asked.id, "nothing was decided");
    Ok(())
}

#[tokio::test]
async fn agent_token_can_ask_but_not_answer() -> Result<()> {
    let person = Person::new().await?;
    let made = person.run(&["token", "create", "claude", "--role", "agent"]).await?;
    assert!(made.err.contains("SAYSO_AGENT_TOKEN"), "{made:?}");
    let token = made.out.trim().to_owned();
    let environment = [("CLAUDECODE", "1"), ("SAYSO_AGENT_TOKEN", token.as_str())];
    let mut watch = Watch::start(&person.client()?).await?;
    let mut command = person.command(&["ask", "Which?", "--option", "A", "--option", "B"]);
    command.envs(environment);
    let asking = tokio::spawn(ran(command));
    let asked = watch.ask("question.requested").await?;
    assert_eq!(asked.agent, "claude");
    for args in [&["answer", &asked.id, "1"][..], &["reject", &asked.id], &["allow", "rm *", "--for", "1h"], &["token", "list"]] {
        let ran = as_agent(&person, &environment, args).await?;
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{args:?}: {ran:?}");
    }
    assert_eq!(person.pending().await?.id, asked.id);
    person.ok(&["answer", &asked.id, "B"]).await?;
    assert_eq!(asking.await??.out, "B\n");
    Ok(())
}

#[tokio::test]
async fn agent_cannot_start_a_server() -> Result<()> {
    let person = Person::without_server()?;
    let ran = as_agent(&person, &[("CLAUDECODE", "1")], &["ask", "May I?"]).await?;
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
    let own = [("CLAUDECODE", "1"), ("SAYSO_AGENT_TOKEN", "x"), ("SAYSO_URL", "http://127.0.0.1:9")];
    let ran = as_agent(&person, &own, &["ask", "May I?"]).await?;
    assert!(ran.code == Some(1) && ran.err.starts_with("Cannot reach the server at http://127.0.0.1:9"), "{ran:?}");
    assert!(!person.data_dir().join("server.json").exists());
    Ok(())
}
