//! The server log of the real binary: the stages of one ask.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use anyhow::{Context as _, Result};
use sayso_client::api::ask::{AnswerRequest, Delivery};
use sayso_client::api::session::NewSession;
use sayso_testkit::{PROGRAM, ScriptedAgent, reaches, within, write_config};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::support::{Person, Ran, ending, ran};

const SECRET: &str = "xyzzy-plugh-1234567890-secret";
const ID: &str = "ask_0190a000000070008000000000004f2a";

/// The stages of an ask, as log messages.
const STAGES: [&str; 6] = ["ask opened", "ask committed", "decision received", "ask decided", "ask sent", "ask delivered"];

/// Returns the stages in these lines, in order.
fn stages(log: &str) -> Vec<&'static str> {
    log.lines().filter_map(|line| STAGES.into_iter().find(|stage| line.contains(stage))).collect()
}

/// Starts a background server with this log level, and opens an ask.
async fn start_server(person: &Person, level: &str) -> Result<()> {
    let mut first = person.command(&["ask", "Which?", "--no-wait"]);
    first.env("SAYSO_LOG", level);
    let started = ran(first).await?;
    anyhow::ensure!(started.code == Some(0), "{started:?}");
    Ok(())
}

/// A person whose server left these log files, newest first.
fn person_with_log(files: &[&str]) -> Result<Person> {
    let person = Person::without_server()?;
    let dir = person.data_dir().join("logs");
    fs::create_dir_all(&dir)?;
    for (number, text) in files.iter().enumerate() {
        let name = if number == 0 { "sayso.log".to_owned() } else { format!("sayso.log.{number}") };
        fs::write(dir.join(name), text)?;
    }
    Ok(person)
}

#[tokio::test]
async fn debug_log_shows_the_life_of_an_ask_in_order_and_no_answer() -> Result<()> {
    let person = Person::without_server()?;
    write_config(&person.path(""), "")?;
    start_server(&person, "debug").await?;
    let client = person.client()?;
    for (agent, sent) in [("mock", 1), (PROGRAM, 2)] {
        let cwd = Some(person.project().display().to_string());
        let new = NewSession { agent: agent.to_owned(), prompt: Some("secret".to_owned()), cwd, ..NewSession::default() };
        let mut session = ScriptedAgent::with(&client, &new).await?;
        let ask = session.asks().await?;
        client.answer(&ask.id, &AnswerRequest { answers: vec![vec![SECRET.to_owned()]], note: None }).await?;
        session.finished().await?;
        reaches(&client, &ask.id, Delivery::Delivered).await?;
        let log = person.ok(&["logs", "--ask", ending(&ask.id)]).await?;
        let mut expected = STAGES[..4].to_vec();
        expected.extend(std::iter::repeat_n("ask sent", sent));
        expected.push("ask delivered");
        assert_eq!(stages(&log), expected, "{log}");
        assert!(log.lines().all(|line| line.contains(" DEBUG ") && line.contains(&format!("ask={}", ask.id))), "{log}");
        for span in ["request{", "connection{", "delivery{"] {
            assert!(log.contains(span), "{span} is missing:\n{log}");
        }
    }
    let everything = fs::read_to_string(person.data_dir().join("logs/sayso.log"))?;
    let token = fs::read_to_string(person.data_dir().join("token"))?;
    assert!(!everything.contains(SECRET) && !everything.contains(token.trim()), "{everything}");
    Ok(())
}

#[tokio::test]
async fn ask_of_a_caller_is_logged_until_the_caller_has_its_outcome() -> Result<()> {
    let person = Person::without_server()?;
    start_server(&person, "debug").await?;
    let ask = person.pending().await?;
    person.ok(&["answer", &ask.id, SECRET]).await?;
    person.client()?.receive(&ask.id).await?;
    let log = person.ok(&["logs", "--ask", &ask.id]).await?;
    assert_eq!(stages(&log), STAGES, "{log}");
    assert!(!log.contains(SECRET), "{log}");
    Ok(())
}

#[tokio::test]
async fn default_log_has_no_lines_about_single_asks_and_logs_says_how_to_get_them() -> Result<()> {
    let person = Person::without_server()?;
    start_server(&person, "info").await?;
    let ask = person.pending().await?;
    person.ok(&["answer", &ask.id, "yes"]).await?;
    let log = fs::read_to_string(person.data_dir().join("logs/sayso.log"))?;
    assert!(!log.contains("DEBUG") && !log.contains("request{") && stages(&log).is_empty(), "{log}");
    let err = "The log has no lines about single asks, because the server logs at level info.\n\
               To log more from now on, run: SAYSO_LOG=debug sayso restart\n";
    assert_eq!(person.run(&["logs", "--ask", &ask.id]).await?, Ran { code: Some(1), out: String::new(), err: err.to_owned() });
    Ok(())
}

#[tokio::test]
async fn unusable_log_level_is_named_in_the_log() -> Result<()> {
    let person = Person::without_server()?;
    start_server(&person, "sayso=loud").await?;
    let log = person.ok(&["logs"]).await?;
    assert!(log.contains("WARN") && log.contains("SAYSO_LOG is not valid; logging at info"), "{log}");
    Ok(())
}

#[tokio::test]
async fn logs_of_an_ask_read_rotated_files_in_order() -> Result<()> {
    let line = |second: u8, text: &str| format!("2026-11-17T10:00:0{second}Z DEBUG sayso_server: {text} ask={ID} seq={second}\n");
    let other = "2026-11-17T10:00:09Z DEBUG sayso_server: ask opened ask=ask_0190a000000070008000000000000000\n";
    let files = [line(3, "ask decided") + other, line(2, "ask committed"), line(1, "ask opened")];
    let person = person_with_log(&files.each_ref().map(String::as_str))?;
    assert_eq!(
        person.ok(&["logs", "--ask", "4f2a"]).await?,
        [line(1, "ask opened"), line(2, "ask committed"), line(3, "ask decided")].concat().trim_end()
    );
    assert_eq!(person.ok(&["logs", "--ask", "4f2a", "-n", "1"]).await?, line(3, "ask decided").trim_end());
    let unknown = person.run(&["logs", "--ask", "beef"]).await?;
    assert_eq!(
        (unknown.code, unknown.err.as_str()),
        (
            Some(1),
            "The log has no line about an ask whose id ends in beef.\n\
             Old lines are deleted. See past decisions with: sayso history\n"
        )
    );
    Ok(())
}

#[tokio::test]
async fn followed_log_of_an_ask_shows_only_its_new_lines() -> Result<()> {
    let person = person_with_log(&["2026-11-17T10:00:00Z  INFO sayso_server: started\n"])?;
    let mut child = person.command(&["logs", "--ask", "4f2a", "--follow", "--json"]).stdout(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(child.stdout.take().context("no standard output")?).lines();
    let path = person.data_dir().join("logs/sayso.log");
    let first = within("a line about the ask", async {
        loop {
            // The command may not have opened the file yet, so both lines are appended until one is printed.
            let added = format!("x DEBUG x: other\n2026-11-17T10:00:01Z DEBUG x: ask opened ask={ID}\n");
            fs::File::options().append(true).open(&path)?.write_all(added.as_bytes())?;
            if let Ok(line) = tokio::time::timeout(std::time::Duration::from_millis(300), lines.next_line()).await {
                return line?.context("the command ended");
            }
        }
    })
    .await?;
    assert_eq!(first, format!("{{\"line\":\"2026-11-17T10:00:01Z DEBUG x: ask opened ask={ID}\"}}"));
    child.kill().await?;
    Ok(())
}
