//! Commands that decide without a prompt: lists, suffixes of ids, answers, approvals and refusals.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use sayso_client::api::ask::AskStatus;
use sayso_client::question;

use crate::support::{Person, ending};

#[tokio::test]
async fn list_in_a_pipe_contains_only_asks() -> Result<()> {
    let person = Person::new().await?;
    assert_eq!(person.ok(&["ls"]).await?, "");
    let (_agent, asked) = person.mock_asks("question").await?;
    let listed = person.ok(&["ls"]).await?;
    let wanted = format!("? {}  Which database should this feature use?  mock  project  ", ending(&asked.id));
    assert!(listed.starts_with(&wanted) && listed.lines().count() == 1, "{listed}");
    assert_eq!(person.ok(&[]).await?.split("  ").next(), listed.split("  ").next());
    assert_eq!(person.ok(&["list"]).await?.split("  ").next(), listed.split("  ").next());
    Ok(())
}

#[tokio::test]
async fn show_prints_all_fields_of_an_ask() -> Result<()> {
    let person = Person::new().await?;
    let (_agent, asked) = person.mock_asks("approve").await?;
    let shown = person.ok(&["show", ending(&asked.id)]).await?;
    for wanted in [
        "━━━ mock asks · approve · ~/project (main) · …",
        &format!("Ask       {}", asked.id),
        &format!("Session   {}", asked.session_id.clone().unwrap()),
        "State     Waiting for your approval.",
        "Deadline  No deadline",
        "│ I would like to see whether the tests pass.",
        "  $ cargo test --workspace",
        "\"command\": \"cargo test --workspace\"",
    ] {
        assert!(shown.contains(wanted), "{wanted} is missing in\n{shown}");
    }
    assert!(person.json(&["show", &asked.id, "--raw"]).await?["approval"]["tool"] == "Bash");
    person.ok(&["approve", &asked.id]).await?;
    let shown = person.ok(&["show", ending(&asked.id)]).await?;
    assert!(shown.contains("State     Approved by tester in the terminal."), "{shown}");
    Ok(())
}

#[tokio::test]
async fn unique_suffix_finds_an_ask() -> Result<()> {
    let person = Person::new().await?;
    // With 17 ids, at least two end in the same hexadecimal digit.
    let mut by_digit: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for number in 0..17 {
        let id = person.asks(&question(&format!("Number {number}?"), &[])).await?.id;
        by_digit.entry(id[id.len() - 1..].to_owned()).or_default().push(id);
    }
    let (digit, ids) = by_digit.iter().find(|(_, ids)| ids.len() > 1).unwrap();
    let ran = person.run(&["show", digit]).await?;
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.starts_with(&format!("Several asks have an id that ends in {digit}.\nType more of the ID:\n")), "{ran:?}");
    assert!(ids.iter().all(|id| ran.err.contains(id.as_str())), "{ran:?}");

    let one = &ids[0];
    for typed in [one.as_str(), &one[4..], &format!("…{}", &one[8..])] {
        assert_eq!(person.json(&["show", typed]).await?["id"], one.as_str(), "{typed}");
    }
    for typed in ["zzzz", ""] {
        let ran = person.run(&["answer", typed, "1"]).await?;
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.err.starts_with("No ask has an id that ends in"), "{ran:?}");
    }

    // A pending ask takes precedence over decided ones with the same suffix.
    let others = &ids[1..];
    for id in others {
        person.ok(&["answer", id, "done"]).await?;
    }
    assert_eq!(person.json(&["answer", digit, "mine"]).await?["id"], one.as_str());
    Ok(())
}

#[tokio::test]
async fn answer_accepts_numbers_labels_text_and_json() -> Result<()> {
    let person = Person::new().await?;
    for (args, said) in [
        (&["2"][..], "You answered: PostgreSQL."),
        (&["sqlite"], "You answered: SQLite."),
        (&["none of these"], "You answered: none of these."),
        (&["--answers", r#"[["SQLite"]]"#, "--note", "for now"], "You answered: SQLite. Note: for now"),
    ] {
        let (mut agent, asked) = person.mock_asks("question").await?;
        let out = person.ok(&[&["answer", ending(&asked.id)], args].concat()).await?;
        assert!(out.starts_with("✓ Answered by tester in the terminal: \""), "{out}");
        assert_eq!(agent.finished().await?, said);
    }
    let (mut agent, asked) = person.mock_asks("questions").await?;
    person.ok(&["answer", &asked.id, "1", "1-2,mine", "a note"]).await?;
    assert_eq!(agent.finished().await?, "You answered: [Database] SQLite; [Areas] Auth, Billing, mine; [Notes] a note.");

    let (_agent, asked) = person.mock_asks("question").await?;
    for (args, said) in [
        (&["7"][..], "Not sent. There is no option 7."),
        (&["1", "2"], "2 values for 1 question."),
        (&["--answers", "SQLite"], "The answers are not valid"),
    ] {
        let ran = person.run(&[&["answer", &asked.id], args].concat()).await?;
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.starts_with(said) && ran.out.is_empty(), "{ran:?}");
    }
    assert_eq!(person.pending().await?.id, asked.id, "the ask is unchanged");
    Ok(())
}

#[tokio::test]
async fn secret_is_read_from_a_pipe_only() -> Result<()> {
    let person = Person::new().await?;
    let (mut agent, asked) = person.mock_asks("secret").await?;
    let ran = person.run(&["answer", &asked.id, "hunter2"]).await?;
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.starts_with("Other users can read a secret on the command line.\n"), "{ran:?}");
    let ran = person.run_with_input(&["answer", &asked.id, "-"], "hunter2\n").await?;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "✓ Answered by tester in the terminal: \"(secret)\".\n"), "{ran:?}");
    assert_eq!(agent.finished().await?, "I received a secret of 7 characters.");
    Ok(())
}

#[tokio::test]
async fn approve_accepts_a_choice_or_an_edited_input() -> Result<()> {
    let person = Person::new().await?;
    let input = r#"{"command":"cargo test --lib"}"#;
    for (args, said) in [
        (&[][..], "Approved: cargo test --workspace"),
        (&["--choice", "1"], "Approved (always): cargo test --workspace"),
        (&["--input", input], "Approved with another input: cargo test --lib"),
    ] {
        let (mut agent, asked) = person.mock_asks("approve").await?;
        let out = person.ok(&[&["approve", ending(&asked.id)], args].concat()).await?;
        assert_eq!(out, "✓ Approved by tester in the terminal.");
        assert_eq!(agent.finished().await?, said);
    }
    let (_agent, asked) = person.mock_asks("approve").await?;
    for (args, said) in
        [(&["--choice", "9"][..], "The agent does not offer this choice."), (&["--input", "{"], "The input is not valid JSON")]
    {
        let ran = person.run(&[&["approve", &asked.id], args].concat()).await?;
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.starts_with(said), "{ran:?}");
    }
    assert_eq!(person.pending().await?.id, asked.id);
    Ok(())
}

#[tokio::test]
async fn approve_names_the_content_of_executed_files() -> Result<()> {
    let person = Person::new().await?;
    let script = person.project().join("deploy.sh");
    std::fs::write(&script, "echo opened\n")?;
    let (mut agent, asked) = person.mock_asks("deploy").await?;
    let id = ending(&asked.id);
    let refused = async |args: &[&str], code: i32, said: &str| -> Result<()> {
        let ran = person.run(args).await?;
        assert_eq!(ran.code, Some(code), "{ran:?}");
        let next = format!("See the files, and the command that approves them, with: sayso show {id}\n");
        assert_eq!(ran.err, format!("{said}\n{next}"));
        assert_eq!(person.pending().await?.status, AskStatus::Pending);
        Ok(())
    };
    let unnamed = "Not sent. This command executes files, so the approval must name the content that you saw.";
    refused(&["approve", id], 2, unnamed).await?;
    refused(&["approve", id, "--content", "0123456789abcde"], 2, "A content digest has at least 16 hexadecimal digits.").await?;

    // The person sees other content than at the opening, and then the agent restores the file.
    std::fs::write(&script, "echo seen\n")?;
    let shown = person.ok(&["show", id]).await?;
    let command = shown.lines().find_map(|line| line.strip_prefix("Approve this content with: sayso "));
    let command: Vec<&str> = command.context("no command")?.split(' ').collect();
    assert!(shown.contains("\n  echo seen\n") && command[..3] == ["approve", id, "--content"], "{shown}");
    std::fs::write(&script, "echo opened\n")?;
    refused(&command, 1, "Not sent. A file that this command executes has changed since you saw it.").await?;

    std::fs::write(&script, "echo seen\n")?;
    assert_eq!(person.ok(&command).await?, "✓ Approved by tester in the terminal.");
    assert_eq!(agent.finished().await?, "Approved: ./deploy.sh");

    let (_agent, asked) = person.mock_asks("approve").await?;
    let ran = person.run(&["approve", &asked.id, "--content", &"0".repeat(64)]).await?;
    assert_eq!(ran.err, "Not sent. There is no content to compare for this ask.\n");
    Ok(())
}

#[tokio::test]
async fn approve_on_a_terminal_shows_executed_files_first() -> Result<()> {
    let person = Person::new().await?;
    std::fs::write(person.project().join("deploy.sh"), "echo to staging\n")?;
    let (mut agent, asked) = person.mock_asks("deploy").await?;
    let mut terminal = person.terminal(&["approve", ending(&asked.id)])?;
    let shown = terminal.expect("Approve? [y/n/e/r/?]: ").await?;
    assert!(shown.contains("  echo to staging\n"), "{shown}");
    assert_eq!(person.pending().await?.status, AskStatus::Pending);
    terminal.line("y").await?;
    terminal.expect("✓ Approved by tester in the terminal.").await?;
    assert_eq!(agent.finished().await?, "Approved: ./deploy.sh");
    Ok(())
}

#[tokio::test]
async fn refusal_reaches_the_agent_with_its_reason() -> Result<()> {
    let person = Person::new().await?;
    let (mut agent, asked) = person.mock_asks("approve").await?;
    let out = person.ok(&["deny", &asked.id, "-m", "run make test"]).await?;
    assert_eq!(out, "x Denied by tester in the terminal: \"run make test\".");
    assert!(agent.finished().await?.contains("run make test"));

    let (mut agent, asked) = person.mock_asks("question").await?;
    let out = person.ok(&["reject", &asked.id, "-m", "decide yourself"]).await?;
    assert_eq!(out, "x Rejected by tester in the terminal: \"decide yourself\".");
    assert!(agent.finished().await?.contains("decide yourself"));

    let (_agent, asked) = person.mock_asks("plan").await?;
    let out = person.ok(&["deny", &asked.id, "--stop"]).await?;
    assert_eq!(out, "x Denied by tester in the terminal: \"User denied tool execution\". Agent stopped.");
    Ok(())
}

#[tokio::test]
async fn wrong_command_suggests_the_right_one() -> Result<()> {
    let person = Person::new().await?;
    let (_agent, asked) = person.mock_asks("question").await?;
    for (args, next) in [(["approve", &asked.id], "sayso answer ID"), (["deny", &asked.id], "sayso reject ID")] {
        let ran = person.run(&args).await?;
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.err.trim_end().ends_with(next), "{ran:?}");
    }
    assert_eq!(person.pending().await?.id, asked.id);
    person.ok(&["answer", &asked.id, "1"]).await?;

    let (_agent, asked) = person.mock_asks("approve").await?;
    let ran = person.run(&["reject", &asked.id]).await?;
    assert!(ran.code == Some(1) && ran.err.contains("sayso deny ID"), "{ran:?}");
    let ran = person.run(&["answer", &asked.id, "yes"]).await?;
    assert!(ran.code == Some(2) && ran.err.contains("sayso approve ID"), "{ran:?}");
    assert_eq!(person.pending().await?.id, asked.id);
    Ok(())
}

#[tokio::test]
async fn late_decision_names_the_winner() -> Result<()> {
    let person = Person::new().await?;
    let (_agent, asked) = person.mock_asks("question").await?;
    person.ok(&["answer", &asked.id, "1"]).await?;
    for late in [&["answer", &asked.id, "2"][..], &["answer", &asked.id], &["reject", &asked.id]] {
        let ran = person.run(late).await?;
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.err.starts_with("Not sent. Answered by tester in the terminal"), "{ran:?}");
    }
    assert_eq!(person.client()?.ask(&asked.id).await?.status, AskStatus::Answered);
    Ok(())
}

#[tokio::test]
async fn snoozed_ask_is_hidden_but_pending() -> Result<()> {
    let person = Person::new().await?;
    let (_agent, asked) = person.mock_asks("question").await?;
    let out = person.ok(&["snooze", &asked.id, "2h"]).await?;
    assert!(out.starts_with("Snoozed until ") && out.ends_with(". The agent keeps waiting."), "{out}");
    assert_eq!(person.ok(&["ls"]).await?, "");
    assert_eq!(person.ok(&["next"]).await?, "You're all caught up.");
    assert_eq!(person.ok(&["status", "--line"]).await?, "0 waiting");
    let all = person.ok(&["ls", "--all"]).await?;
    assert!(all.contains("snoozed "), "{all}");
    assert_eq!(person.pending().await?.status, AskStatus::Pending);
    assert_eq!(person.ok(&["snooze", &asked.id, "off"]).await?, "The ask is back in your inbox.");
    assert_eq!(person.ok(&["ls"]).await?.lines().count(), 1);
    Ok(())
}

#[tokio::test]
async fn history_lists_decisions_newest_first() -> Result<()> {
    let person = Person::new().await?;
    assert_eq!(person.ok(&["history"]).await?, "No decisions yet.");
    let (_agent, first) = person.mock_asks("question").await?;
    person.ok(&["answer", &first.id, "1"]).await?;
    let (_agent, second) = person.mock_asks("approve").await?;
    person.ok(&["deny", &second.id, "-m", "no"]).await?;
    let history = person.ok(&["history"]).await?;
    let lines: Vec<&str> = history.lines().collect();
    assert!(lines[0].starts_with(&format!("x {}  ", ending(&second.id))), "newest first: {history}");
    assert!(
        lines[0].contains("  cargo test --workspace  ") && lines[0].contains("Denied by tester in the terminal: \"no\"."),
        "{history}"
    );
    assert!(lines[1].starts_with(&format!("✓ {}  ", ending(&first.id))), "{history}");
    assert!(lines[1].contains("Answered by tester in the terminal: \"SQLite\"."), "{history}");
    assert_eq!(person.ok(&["history", "-n", "1"]).await?.lines().count(), 1);
    Ok(())
}

#[tokio::test]
async fn sessions_are_listed_messaged_and_stopped() -> Result<()> {
    let person = Person::new().await?;
    let started = person.run(&["start", "mock", "hello there"]).await?;
    assert_eq!((started.code, started.out.as_str()), (Some(0), "hello there\n"), "{started:?}");
    let piped = person.run_with_input(&["start", "mock"], "from a pipe\n").await?;
    assert_eq!((piped.code, piped.out.as_str()), (Some(0), "from a pipe\n"), "{piped:?}");
    let listed = person.json(&["sessions"]).await?;
    let id = listed["data"].as_array().unwrap().iter().find(|session| session["title"] == "hello there").unwrap()["id"].clone();
    let id = id.as_str().unwrap();
    let shown = person.ok(&["sessions", "show", id]).await?;
    assert!(shown.contains("Project   ~/project (main)") && shown.contains("State     idle"), "{shown}");

    let (mut agent, asked) = person.mock_asks("question").await?;
    let session = agent.session().to_owned();
    assert_eq!(
        person.ok(&["sessions", "message", &session, "MySQL"]).await?,
        "Your message answered: Which database should this feature use?"
    );
    assert_eq!(agent.finished().await?, "You answered: MySQL.");
    assert_eq!(person.client()?.ask(&asked.id).await?.status, AskStatus::Answered);
    let log = person.ok(&["sessions", "log", ending(&session)]).await?;
    assert!(log.starts_with("> question\n") && log.ends_with("You answered: MySQL."), "{log}");

    let (_agent, asked) = person.mock_asks("approve").await?;
    let session = asked.session_id.unwrap();
    let ran = person.run(&["sessions", "message", &session, "yes"]).await?;
    assert!(ran.code == Some(1) && ran.err.contains("sayso next"), "a message never approves: {ran:?}");
    person.ok(&["sessions", "interrupt", &session]).await?;
    assert_eq!(person.ok(&["sessions", "stop", &session]).await?, "The session has ended.");
    assert_eq!(person.json(&["sessions", "show", &session]).await?["status"], "ended");
    assert!(!person.ok(&["sessions"]).await?.contains(ending(&session)));
    assert!(person.ok(&["sessions", "--all"]).await?.contains(ending(&session)));
    let agents = person.ok(&["agents"]).await?;
    assert!(agents.starts_with("mock "), "{agents}");
    Ok(())
}

#[tokio::test]
async fn start_without_a_terminal_follows_the_session() -> Result<()> {
    let person = Person::new().await?;
    let (mut agent, asked) = person.mock_asks("question").await?;
    person.ok(&["answer", &asked.id, "1"]).await?;
    agent.finished().await?;
    let mut command = person.command(&["start", "mock", "question"]);
    let mut watch = sayso_testkit::Watch::start(&person.client()?).await?;
    let running = tokio::spawn(crate::support::ran({
        command.stdin(std::process::Stdio::null());
        command
    }));
    let asked = watch.ask("question.requested").await?;
    person.ok(&["answer", &asked.id, "2"]).await?;
    let ran = running.await??;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.ends_with("You answered: PostgreSQL.\n") && !ran.out.contains('\u{1b}'), "{ran:?}");
    Ok(())
}
