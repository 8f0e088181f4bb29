//! With `--json`, all commands print JSON and nothing else.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::support::Person;

/// Parses each line as a document.
fn documents(out: &str) -> Result<Vec<Value>> {
    out.lines().map(|line| serde_json::from_str(line).with_context(|| format!("not JSON: {line}"))).collect()
}

#[tokio::test]
async fn all_commands_print_json() -> Result<()> {
    let person = Person::without_server()?;
    person.write_policy("[profiles.away]\nquestions = { policy = \"reject\" }\n")?;
    person.ok(&["restart", "--json"]).await?;
    std::fs::write(person.project().join(".sayso.toml"), "")?;
    let ask = |text: &'static str| ["ask", text, "--no-wait"];
    let (answered, rejected) = (person.ok(&ask("A?")).await?, person.ok(&ask("B?")).await?);
    let approval = |text: &'static str| ["ask", text, "--approval", "make", "--no-wait"];
    let (approved, denied) = (person.ok(&approval("C?")).await?, person.ok(&approval("D?")).await?);
    let (agent, _asked) = person.mock_asks("hello, a question").await?;
    let session = agent.session();
    let (mut crashed, _asked) = person.mock_asks("crash").await?;
    crashed.watch().event("session.ended").await?;
    let crashed = crashed.session().to_owned();
    let token = person.json(&["token", "create", "ada", "--role", "viewer"]).await?;
    let token = token["id"].as_str().unwrap().to_owned();
    let policy = person.path("config/sayso/policy.toml").to_string_lossy().into_owned();
    let file = |name: &str, text: &str| -> Result<String> {
        let path = person.path(name);
        std::fs::write(&path, text)?;
        Ok(path.to_string_lossy().into_owned())
    };
    let workflow = file("hello.toml", "name = \"hello\"\n[[steps]]\nid = \"say\"\nagent = \"mock\"\nprompt = \"hello\"\n")?;
    let pausing = "name = \"pause\"\n[[steps]]\nid = \"ok\"\n[steps.checkpoint]\nquestion = \"Go on?\"\ninput = \"yes-no\"\n";
    let pausing = file("pause.toml", pausing)?;
    let run = person.json(&["workflow", "run", &pausing, "--detach"]).await?["id"].as_str().unwrap().to_owned();
    let copy = person.path("copy.db").to_string_lossy().into_owned();

    let commands: &[&[&str]] = &[
        &[],
        &["inbox"],
        &["next"],
        &["ls"],
        &["show", &answered],
        &["answer", &answered, "yes"],
        &["reject", &rejected],
        &["approve", &approved],
        &["snooze", &denied, "1h"],
        &["deny", &denied],
        &["history"],
        &["start", "mock", "hello"],
        &["sessions"],
        &["sessions", "show", session],
        &["sessions", "message", session, "SQLite"],
        &["sessions", "log", session],
        &["sessions", "interrupt", session],
        &["sessions", "stop", session],
        &["sessions", "resume", &crashed],
        &["agents"],
        &["ask", "E?", "--no-wait"],
        &["policy"],
        &["policy", "check"],
        &["policy", "test", &policy],
        &["policy", "explain", &answered],
        &["policy", "trust", "."],
        &["allow", "make", "--for", "1h"],
        &["away", "1h"],
        &["away", "off"],
        &["workflow", "check", &workflow],
        &["workflow", "run", &workflow],
        &["workflow", "run", &pausing, "--detach"],
        &["workflow", "list"],
        &["workflow", "show", &run],
        &["workflow", "cancel", &run],
        &["status"],
        &["status", "--line"],
        &["logs"],
        &["connect", "claude", "--yes"],
        &["connect", "opencode", "http://127.0.0.1:1", "--dry-run"],
        &["disconnect", "opencode", "http://127.0.0.1:1"],
        &["doctor"],
        &["disconnect", "claude", "--yes"],
        &["service", "install", "--dry-run"],
        &["service", "status"],
        &["service", "remove"],
        &["phone", "--address", "127.0.0.2", "--yes"],
        &["phone", "--close"],
        &["token", "own"],
        &["token", "list"],
        &["token", "revoke", &token],
        &["notify", "list"],
        &["notify", "test"],
        &["login"],
        &["backup", &copy],
        &["restart"],
        &["stop"],
        &["uninstall", "--dry-run"],
        &["uninstall", "--yes", "--purge"],
    ];
    for args in commands {
        let ran = person.run(&[*args, &["--json"]].concat()).await?;
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
        assert!(!documents(&ran.out).with_context(|| format!("{args:?}"))?.is_empty(), "{args:?}: {ran:?}");
    }

    // Checks that all commands are listed above. The others print no result, or speak to agents.
    let help = person.ok(&["--help"]).await?;
    let listed = help.lines().take_while(|line| *line != "Options").filter_map(|line| line.strip_prefix("  "));
    let listed: BTreeSet<&str> = listed.filter_map(|line| line.split_whitespace().next()).collect();
    let others = ["serve", "completions", "hook", "mcp", "acp", "mock-agent"];
    let tried: BTreeSet<&str> = commands.iter().filter_map(|args| args.first().copied()).chain(others).collect();
    assert_eq!(listed, tried);
    Ok(())
}

#[tokio::test]
async fn errors_are_json() -> Result<()> {
    let person = Person::new().await?;
    let (_agent, asked) = person.mock_asks("question").await?;
    let id = asked.id.as_str();
    for (args, code, name) in [
        (&["show", "zzzz"][..], 1, Value::Null),
        (&["approve", id], 1, "wrong_kind".into()),
        (&["answer", id, "7"], 2, Value::Null),
        (&["answer", id], 2, Value::Null),
        (&["answer", id, "--answers", "[[]]"], 1, "invalid_answers".into()),
        (&["start", "nobody", "hello"], 1, "unknown_agent".into()),
        (&["away", "1h"], 1, "invalid_policy".into()),
    ] {
        let ran = person.run(&[args, &["--json"]].concat()).await?;
        let error: Value = serde_json::from_str(&ran.err).with_context(|| format!("{args:?}: {ran:?}"))?;
        assert_eq!((ran.code, ran.out.as_str(), &error["code"]), (Some(code), "", &name), "{args:?}: {ran:?}");
        assert!(error["error"].as_str().is_some_and(|text| !text.is_empty()), "{args:?}: {ran:?}");
    }
    Ok(())
}

#[tokio::test]
async fn start_with_json_prints_the_events_of_the_session() -> Result<()> {
    let person = Person::new().await?;
    let out = person.ok(&["start", "mock", "hello there", "--json"]).await?;
    let documents = documents(&out)?;
    assert_eq!(documents[0]["agent"], "mock");
    let session = &documents[0]["id"];
    assert!(documents[1..].iter().all(|event| &event["sessionId"] == session), "{out}");
    let said = documents.iter().any(|event| event["data"]["role"] == "assistant" && event["data"]["text"] == "hello there");
    assert!(said, "{out}");
    Ok(())
}
