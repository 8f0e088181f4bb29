//! `sayso ask` from a script.

use anyhow::Result;
use sayso_client::api::token::{NewToken, Role};
use sayso_testkit::Watch;
use sayso_testkit::pty::CTRL_C;
use tokio::task::JoinHandle;

use crate::gate::Gate;
use crate::support::{Person, Ran, ran};

/// Starts `sayso ask` and returns the id of the ask that it opened.
async fn asking(person: &Person, args: &[&str]) -> Result<(JoinHandle<Result<Ran>>, String)> {
    let mut watch = Watch::start(&person.client()?).await?;
    let running = tokio::spawn(ran(person.command(&[&["ask"], args].concat())));
    let opened = watch.until("the ask", |event| event.name().ends_with(".requested")).await?;
    let opened: serde_json::Value = serde_json::from_str(&opened.event.data_json())?;
    Ok((running, opened["id"].as_str().unwrap().to_owned()))
}

#[tokio::test]
async fn answer_is_printed() -> Result<()> {
    let person = Person::new().await?;
    let options = ["Which?", "--option", "A", "--option", "B", "--option", "C"];
    let (script, id) = asking(&person, &options).await?;
    person.ok(&["answer", &id, "2", "--note", "because"]).await?;
    let ran = script.await??;
    assert_eq!(ran, Ran { code: Some(0), out: "B\n".into(), err: "Note: because\n".into() });

    let (script, id) = asking(&person, &[&options[..], &["--multiple"]].concat()).await?;
    person.ok(&["answer", &id, "3,1,my own"]).await?;
    assert_eq!(script.await??, Ran { code: Some(0), out: "C\nA\nmy own\n".into(), err: String::new() });

    let (script, id) = asking(&person, &["Anything?", "--json"]).await?;
    person.ok(&["answer", &id, "a\u{1b}[31mb"]).await?;
    let ran = script.await??;
    let document: serde_json::Value = serde_json::from_str(&ran.out)?;
    assert_eq!((ran.code, &document["outcome"]["answers"]), (Some(0), &serde_json::json!([["a\u{1b}[31mb"]])));
    Ok(())
}

#[tokio::test]
async fn exit_code_tells_yes_from_no() -> Result<()> {
    let person = Person::new().await?;
    let (script, id) = asking(&person, &["Deploy?", "--approval", "make deploy"]).await?;
    person.ok(&["approve", &id]).await?;
    assert_eq!(script.await??, Ran { code: Some(0), out: "approved\n".into(), err: String::new() });

    let (script, id) = asking(&person, &["Deploy?", "--approval", "make deploy"]).await?;
    person.ok(&["deny", &id, "-m", "not on a Friday"]).await?;
    let wanted = "Denied by tester in the terminal: \"not on a Friday\".\n";
    assert_eq!(script.await??, Ran { code: Some(3), out: String::new(), err: wanted.into() });

    let (script, id) = asking(&person, &["Which?"]).await?;
    person.ok(&["reject", &id]).await?;
    let ran = script.await??;
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:?}");
    assert!(ran.err.starts_with("Rejected by tester in the terminal: \"The user declined to answer."), "{ran:?}");
    Ok(())
}

#[tokio::test]
async fn timeout_has_its_own_exit_code() -> Result<()> {
    let person = Person::new().await?;
    let (question, approval) = tokio::join!(
        person.run(&["ask", "Anybody?", "--timeout", "1s"]),
        person.run(&["ask", "Deploy?", "--approval", "make deploy", "--timeout", "1s"]),
    );
    let timed_out =
        |end: &str| Ran { code: Some(4), out: String::new(), err: format!("No answer in 1 second. {end} by timeout.\n") };
    assert_eq!((question?, approval?), (timed_out("Rejected"), timed_out("Denied")));
    Ok(())
}

#[tokio::test]
async fn secret_reaches_only_the_script() -> Result<()> {
    let person = Person::new().await?;
    let new = NewToken::new(Role::Answerer, "ada");
    let ada = person.client()?.create_token(&new).await?.token.unwrap_or_default();
    // The answer may come from another person, or from the person whose token the script uses.
    for (name, environment) in [("ada", &[("SAYSO_TOKEN", ada.as_str())][..]), ("tester", &[])] {
        let (script, id) = asking(&person, &["Password?", "--secret"]).await?;
        let mut terminal = person.terminal_with(&["next"], environment)?;
        terminal.expect("Answer [not shown]: ").await?;
        terminal.line("  correct horse ").await?;
        terminal.expect(&format!("✓ Answered by {name} in the terminal: \"(secret)\".")).await?;
        assert!(!String::from_utf8_lossy(terminal.raw()).contains("horse"));
        assert_eq!(script.await??, Ran { code: Some(0), out: "  correct horse \n".into(), err: String::new() });
        for shown in [person.ok(&["show", &id]).await?, person.ok(&["show", &id, "--json"]).await?] {
            assert!(!shown.contains("horse"), "{shown}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn ctrl_c_withdraws_the_question() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["ask", "Which?"])?;
    terminal.expect("Waiting for an answer. Decide it with: sayso answer ").await?;
    let ask = person.pending().await?;
    terminal.send(CTRL_C).await?;
    terminal.expect("Withdrawn.").await?;
    assert_eq!(terminal.end().await?.code(), Some(130));
    assert_eq!(person.json(&["show", &ask.id]).await?["status"], "withdrawn");
    Ok(())
}

#[tokio::test]
async fn ctrl_c_withdraws_a_question_that_is_still_being_sent() -> Result<()> {
    let person = Person::new().await?;
    let token = std::fs::read_to_string(person.data_dir().join("token"))?;
    let gate = Gate::before(&person.server_file()?.url).await?;
    let environment = [("SAYSO_URL", gate.url.as_str()), ("SAYSO_TOKEN", token.trim())];

    let mut terminal = person.terminal_with(&["ask", "Which?"], &environment)?;
    gate.reached().await?;
    terminal.send(CTRL_C).await?;
    gate.lets_pass();
    terminal.expect("Withdrawn.").await?;
    assert_eq!(terminal.end().await?.code(), Some(130));
    assert_eq!(person.ok(&["ls"]).await?, "");
    assert!(person.ok(&["history"]).await?.contains("Which?"));

    // The server does not respond. Ctrl-C must still work.
    let mut terminal = person.terminal_with(&["ask", "And now?"], &environment)?;
    gate.reached().await?;
    terminal.send(CTRL_C).await?;
    terminal.expect("The server did not confirm the question in time").await?;
    assert_eq!(terminal.end().await?.code(), Some(130));
    Ok(())
}

#[tokio::test]
async fn asks_with_the_same_key_are_joined() -> Result<()> {
    let person = Person::new().await?;
    let args = ["ask", "Which?", "--dedupe-key", "k", "--no-wait", "--label", "team=shop"];
    let first = person.ok(&args).await?;
    assert_eq!(person.ok(&args).await?, first);
    let ask = person.pending().await?;
    assert_eq!((ask.id, ask.agent.as_str(), ask.branch.as_deref()), (first, "script", Some("main")));
    assert_eq!(ask.labels.get("team").map(String::as_str), Some("shop"));
    Ok(())
}

#[tokio::test]
async fn invalid_command_line_is_a_usage_error() -> Result<()> {
    let person = Person::new().await?;
    for wrong in [
        &["ask"][..],
        &["ask", "x", "--timeout", "soon"],
        &["ask", "x", "--multiple"],
        &["ask", "x", "--secret", "--option", "A"],
        &["ask", "x", "--label", "team"],
        &["snooze", "x", "later"],
        &["nonsense"],
    ] {
        let ran = person.run(wrong).await?;
        assert!(ran.code == Some(2) && ran.out.is_empty() && !ran.err.is_empty(), "{wrong:?}: {ran:?}");
    }
    assert_eq!(person.ok(&["ls"]).await?, "");
    Ok(())
}
