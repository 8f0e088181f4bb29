//! `sayso inbox` with the real binary on a real terminal.

mod files;
mod reading;
mod terminal;

use anyhow::{Context as _, Result};
use rustix::process::{Pid, Signal, kill_process};
use sayso_client::api::ask::{
    ActionKind, AnswerRequest, Approval, Ask, AskStatus, InputKind, Link, NewAsk, Preview, ShownAnswer,
};
use sayso_client::question;
use sayso_testkit::pty::{CTRL_C, Pty};
use sayso_testkit::within;

use crate::support::{Person, ends_well, process_state, processes};

/// Escape sequence of the down key.
const DOWN: &str = "\u{1b}[B";
const PAGE_DOWN: &str = "\u{1b}[6~";
const ESCAPE: &str = "\u{1b}";

/// A person whose decisions are sent at once, so that tests need not wait for the undo time.
async fn person() -> Result<Person> {
    let person = Person::new().await?;
    person.write_config("[terminal]\nhold = \"0s\"\n")?;
    Ok(person)
}

/// Waits for the outcome of an ask.
async fn outcome(person: &Person, id: &str) -> Result<Ask> {
    within("the outcome", async { Ok(person.client()?.wait_for_outcome(id).await?) }).await
}

fn approval(command: &str) -> NewAsk {
    NewAsk {
        title: Some("a thing to run".into()),
        approval: Some(Approval {
            tool: "Bash".into(),
            action: ActionKind::Run,
            command: Some(command.into()),
            paths: Vec::new(),
            url: None,
            server: None,
            title: command.into(),
            input: serde_json::json!({ "command": command }),
            preview: Some(Preview::Command { command: command.into(), cwd: None }),
            choices: Vec::new(),
            editable: true,
            allowed_decisions: None,
            input_schema: None,
            reason: None,
        }),
        ..NewAsk::default()
    }
}

/// Presses a key as soon as the card accepts deciding keys; until then its actions are dimmed.
async fn press(terminal: &mut Pty, key: &str, hint: &str) -> Result<()> {
    terminal.shows_lit(hint).await?;
    terminal.send(key).await
}

/// An action on the card of a question, and of an approval.
const ONE_KEY: &str = "n note";
const APPROVE: &str = "a approve";

async fn leave(terminal: &mut Pty) -> Result<()> {
    terminal.send("q").await?;
    ends_well(terminal).await?;
    assert!(!terminal.is_full_screen(), "{:?}", terminal.visible());
    Ok(())
}

#[tokio::test]
async fn one_key_answers_a_question() -> Result<()> {
    let person = person().await?;
    let id = person.asks(&question("Which database?", &["SQLite", "PostgreSQL"])).await?.id;
    // `sayso` without a command also opens the inbox.
    let mut terminal = person.terminal(&[])?;
    let seen = terminal.shows("Which database?").await?;
    assert!(seen.contains("WAITING FOR YOU") && seen.contains("1 waiting") && terminal.is_full_screen(), "{seen}");
    press(&mut terminal, "2", ONE_KEY).await?;
    terminal.shows("ANSWERED").await?;
    let answered = outcome(&person, &id).await?.outcome.context("it is over")?;
    assert_eq!(answered.answers, Some(vec![ShownAnswer::Entries(vec!["PostgreSQL".into()])]));
    assert_eq!((answered.by.name.as_deref(), answered.by.via.as_deref()), (Some("tester"), Some("terminal")));
    terminal.shows("0 waiting").await?;
    leave(&mut terminal).await
}

#[tokio::test]
async fn long_command_is_shown_completely_and_approved() -> Result<()> {
    let person = person().await?;
    let command = format!("printf '%s' {}", "0123456789".repeat(20));
    let id = person.asks(&approval(&command)).await?.id;
    let mut terminal = person.terminal(&["inbox"])?;
    let seen = terminal.shows("Run a command").await?;
    let joined: String = seen.lines().map(str::trim).collect();
    assert!(joined.contains(&"0123456789".repeat(20)), "{seen}");
    press(&mut terminal, "a", APPROVE).await?;
    terminal.shows("APPROVED").await?;
    assert_eq!(outcome(&person, &id).await?.status, AskStatus::Approved);
    leave(&mut terminal).await
}

#[tokio::test]
async fn denial_includes_the_typed_reason() -> Result<()> {
    let person = person().await?;
    let id = person.asks(&approval("terraform apply")).await?.id;
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("terraform apply").await?;
    press(&mut terminal, "r", APPROVE).await?;
    terminal.shows("Why? The agent will see this:").await?;
    terminal.send("use staging\r").await?;
    let denied = outcome(&person, &id).await?.outcome.context("it is over")?;
    assert!(denied.message.as_deref().is_some_and(|message| message.contains("use staging")), "{denied:?}");
    assert_eq!(denied.status, AskStatus::Denied);
    leave(&mut terminal).await
}

#[tokio::test]
async fn edited_input_is_approved() -> Result<()> {
    let person = person().await?;
    let id = person.asks(&approval("make all")).await?.id;
    let editor = person.path("editor");
    std::fs::write(&editor, "#!/bin/sh\necho 'make test' > \"$1\"\n")?;
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&editor, executable)?;
    let mut terminal = person.terminal_with(&["inbox"], &[("EDITOR", &editor.to_string_lossy())])?;
    terminal.shows("make all").await?;
    press(&mut terminal, "e", APPROVE).await?;
    terminal.shows("a approve with changes").await?;
    assert!(terminal.visible().contains("make test"), "{}", terminal.visible());
    press(&mut terminal, "a", APPROVE).await?;
    terminal.shows("APPROVED").await?;
    let approved = outcome(&person, &id).await?.outcome.context("it is over")?;
    assert_eq!(approved.input, Some(serde_json::json!({"command": "make test"})));
    leave(&mut terminal).await
}

#[tokio::test]
async fn set_with_a_secret_is_answered_without_showing_it() -> Result<()> {
    let person = person().await?;
    let mut ask = question("Which runner?", &["Vitest", "Jest"]);
    let mut token = question("The token?", &[]);
    for one in token.questions.iter_mut().flatten() {
        one.secret = true;
        one.header = Some("Token".into());
    }
    ask.questions = ask.questions.zip(token.questions).map(|(one, other)| [one, other].concat());
    let id = person.asks(&ask).await?.id;
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("Which runner?").await?;
    press(&mut terminal, "1", "Tab next question").await?;
    terminal.shows("Secret, not shown").await?;
    terminal.send("\rhunter2-secret").await?;
    terminal.shows("**************").await?;
    terminal.send("\r").await?;
    terminal.shows("2 of 2 answered.").await?;
    terminal.send("\r").await?;
    let answered = outcome(&person, &id).await?.outcome.context("it is over")?;
    let wanted = vec![ShownAnswer::Entries(vec!["Vitest".into()]), ShownAnswer::Secret { secret: true }];
    assert_eq!(answered.answers, Some(wanted));
    terminal.shows("Secret sent, not stored").await?;
    leave(&mut terminal).await?;
    assert!(!String::from_utf8_lossy(terminal.raw()).contains("hunter2"));
    assert_eq!(
        person.client()?.receive(&id).await?.outcome.and_then(|outcome| outcome.answers).map(|answers| answers.len()),
        Some(2)
    );
    Ok(())
}

#[tokio::test]
async fn held_answer_can_be_undone_and_is_sent_on_exit() -> Result<()> {
    let person = Person::new().await?;
    person.write_config("[terminal]\nhold = \"10m\"\nbell = false\ntitle = false\n")?;
    let id = person.asks(&question("Which?", &["A", "B"])).await?.id;
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("Which?").await?;
    press(&mut terminal, "1", ONE_KEY).await?;
    terminal.shows("SENDING \"A\"").await?;
    terminal.send("u").await?;
    terminal.shows("Undone. Nothing was sent.").await?;
    assert_eq!(person.client()?.ask(&id).await?.status, AskStatus::Pending);
    terminal.send("2").await?;
    terminal.shows("SENDING \"B\"").await?;
    leave(&mut terminal).await?;
    let answered = outcome(&person, &id).await?.outcome.context("it is over")?;
    assert_eq!(answered.answers, Some(vec![ShownAnswer::Entries(vec!["B".into()])]));
    assert!(!String::from_utf8_lossy(terminal.raw()).contains("\u{1b}]2;"), "the title must not change");
    Ok(())
}

#[tokio::test]
async fn inbox_updates_live_and_names_who_answered() -> Result<()> {
    let person = person().await?;
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("No agents yet.").await?;
    let id = person.asks(&question("Which?", &["A", "B"])).await?.id;
    terminal.shows("Which?").await?;
    // The title shows the number of pending asks.
    terminal.expect("\u{1b}]2;(1) Sayso\u{7}").await?;
    person.client()?.answer(&id, &AnswerRequest { answers: vec![vec!["B".into()]], note: None }).await?;
    let seen = terminal.shows("over HTTP").await?;
    assert!(seen.contains("ANSWERED") && seen.contains("\"B\""), "{seen}");
    leave(&mut terminal).await
}

#[tokio::test]
async fn inbox_survives_a_server_restart() -> Result<()> {
    let mut person = person().await?;
    let id = person.asks(&question("Which?", &["A", "B"])).await?.id;
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("Which?").await?;
    let server = person.server.as_mut().context("no server")?;
    server.kill9().await?;
    terminal.shows("DISCONNECTED. Trying again in").await?;
    assert!(terminal.visible().contains("Which?"), "the card stays readable");
    // Decisions made in the meantime are queued and sent after reconnecting.
    press(&mut terminal, "2", ONE_KEY).await?;
    terminal.shows("1 queued, sent on reconnect, u undo").await?;
    server.start_again().await?;
    let answered = outcome(&person, &id).await?.outcome.context("it is over")?;
    assert_eq!(answered.answers, Some(vec![ShownAnswer::Entries(vec!["B".into()])]));
    terminal.shows_that("the connection", |seen| seen.contains("connected") && !seen.contains("DISCONNECTED")).await?;
    let late = person.asks(&question("Another?", &["C", "D"])).await?.id;
    terminal.shows("1 waiting").await?;
    assert_eq!(person.client()?.ask(&late).await?.status, AskStatus::Pending);
    leave(&mut terminal).await
}

/// Yes-no questions use the keys of approvals. `d` answers no and does not reject.
#[tokio::test]
async fn keys_a_and_d_answer_a_yes_no_question() -> Result<()> {
    let person = person().await?;
    for (key, value) in [("d", "false"), ("a", "true")] {
        let mut ask = question("Retry flaky tests?", &[]);
        for one in ask.questions.iter_mut().flatten() {
            one.input = InputKind::YesNo;
        }
        let id = person.asks(&ask).await?.id;
        let mut terminal = person.terminal(&["inbox"])?;
        let seen = terminal.shows("Retry flaky tests?").await?;
        assert!(seen.contains(" a Yes") && seen.contains(" d No") && !seen.contains("d reject"), "{seen}");
        press(&mut terminal, key, "a yes").await?;
        let answered = outcome(&person, &id).await?.outcome.context("it is over")?;
        assert_eq!(answered.answers, Some(vec![ShownAnswer::Entries(vec![value.into()])]), "{key}");
        leave(&mut terminal).await?;
    }
    Ok(())
}

/// Key reports of terminals with kitty's keyboard protocol.
const PRESS_A: &str = "\u{1b}[97;1:1u";
const REPEAT_A: &str = "\u{1b}[97;1:2u";
const RELEASE_A: &str = "\u{1b}[97;1:3u";

#[tokio::test]
async fn held_key_decides_only_one_card() -> Result<()> {
    let person = person().await?;
    let first = person.asks(&approval("make first")).await?.id;
    let second = person.asks(&approval("make second")).await?.id;
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("make first").await?;
    // The inbox asks the terminal to report repeats and releases.
    terminal.expect("\u{1b}[=15;1u").await?;
    press(&mut terminal, PRESS_A, APPROVE).await?;
    assert_eq!(outcome(&person, &first).await?.status, AskStatus::Approved);
    terminal.shows("1 waiting").await?;
    press(&mut terminal, REPEAT_A, APPROVE).await?;
    terminal.shows("Release the key, then press it again").await?;
    assert_eq!(person.client()?.ask(&second).await?.status, AskStatus::Pending);
    terminal.send(RELEASE_A).await?;
    terminal.send(PRESS_A).await?;
    assert_eq!(outcome(&person, &second).await?.status, AskStatus::Approved);
    leave(&mut terminal).await?;
    assert!(terminal.raw().windows(5).any(|bytes| bytes == b"\x1b[<1u"), "the keyboard mode is restored");
    Ok(())
}

#[tokio::test]
async fn decisions_of_one_key_are_undone_together() -> Result<()> {
    let person = Person::new().await?;
    person.write_config("[terminal]\nhold = \"10m\"\n")?;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(person.asks(&approval("cargo test")).await?.id);
    }
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("3 waiting").await?;
    terminal.send("X").await?;
    press(&mut terminal, "a", "a approve 3").await?;
    terminal.shows("SENDING \"Approve\" x3").await?;
    terminal.send("u").await?;
    terminal.shows("Undid all 3. Nothing was sent.").await?;
    leave(&mut terminal).await?;
    for id in ids {
        assert_eq!(person.client()?.ask(&id).await?.status, AskStatus::Pending);
    }
    Ok(())
}

#[tokio::test]
async fn offline_approval_is_queued_and_can_be_undone() -> Result<()> {
    let mut person = person().await?;
    let id = person.asks(&approval("make deploy")).await?.id;
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("$ make deploy").await?;
    let server = person.server.as_mut().context("no server")?;
    server.kill9().await?;
    terminal.shows("DISCONNECTED").await?;
    press(&mut terminal, "a", APPROVE).await?;
    terminal.shows("1 queued, sent on reconnect, u undo").await?;
    terminal.shows("QUEUED \"Approve\". No connection. u undo").await?;
    terminal.send("u").await?;
    terminal.shows("Undone. Nothing was sent.").await?;
    server.start_again().await?;
    terminal.shows_that("the connection", |seen| seen.contains("connected") && !seen.contains("DISCONNECTED")).await?;
    assert_eq!(person.client()?.ask(&id).await?.status, AskStatus::Pending);
    leave(&mut terminal).await
}

#[tokio::test]
async fn opened_browser_leaves_no_zombie() -> Result<()> {
    let person = person().await?;
    let link = Link { url: "https://example.com/sign-in".into(), message: None };
    person.asks(&NewAsk { link: Some(link), ..NewAsk::default() }).await?;
    let programs = person.path("programs");
    std::fs::create_dir(&programs)?;
    let browser = programs.join(if cfg!(target_os = "macos") { "open" } else { "xdg-open" });
    std::fs::write(&browser, format!("#!/bin/sh\necho \"$1\" > '{}'\n", person.path("opened").display()))?;
    std::fs::set_permissions(&browser, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let path = format!("{}:{}", programs.display(), std::env::var("PATH")?);
    let mut terminal = person.terminal_with(&["inbox"], &[("PATH", &path)])?;
    terminal.shows("Host: example.com").await?;
    press(&mut terminal, "\r", "Enter open").await?;
    terminal.shows("Opened in your browser.").await?;
    let inbox = terminal.pid().context("no process")?;
    within("the browser to be gone", async {
        loop {
            let opened = std::fs::read_to_string(person.path("opened")).unwrap_or_default();
            if opened.trim() == "https://example.com/sign-in" && processes()?.iter().all(|process| process.parent != inbox) {
                return Ok(());
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    })
    .await?;
    leave(&mut terminal).await
}

#[tokio::test]
async fn snoozed_ask_disappears_under_the_cursor() -> Result<()> {
    let person = person().await?;
    person.asks(&question("Which?", &["A", "B"])).await?;
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("Which?").await?;
    press(&mut terminal, "s", ONE_KEY).await?;
    // The event may arrive before the response to the request; the row disappears with the response.
    let gone = |seen: &str| seen.contains("1 snoozed, z shows them") && !seen.contains("Which?");
    terminal.shows_that("the row gone", gone).await?;
    leave(&mut terminal).await
}

#[tokio::test]
async fn new_rule_approves_pending_asks() -> Result<()> {
    let person = person().await?;
    let first = person.asks(&approval("cargo test --workspace")).await?.id;
    let twin = person.asks(&approval("cargo test -p core")).await?.id;
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("cargo test --workspace").await?;
    press(&mut terminal, "m", APPROVE).await?;
    terminal.shows("Make a rule").await?;
    terminal.shows("Enter save and approve 2").await?;
    terminal.send("\r").await?;
    for id in [&first, &twin] {
        assert_eq!(outcome(&person, id).await?.status, AskStatus::Approved);
    }
    let grants = person.client()?.policy().await?.grants;
    assert_eq!(grants.iter().map(|grant| grant.run.clone()).collect::<Vec<_>>(), [["cargo test *"]]);
    terminal.shows("0 waiting").await?;
    leave(&mut terminal).await
}

#[tokio::test]
async fn session_started_in_the_inbox_asks_there() -> Result<()> {
    let person = person().await?;
    let mut terminal = person.terminal(&["inbox"])?;
    terminal.shows("No agents yet.").await?;
    terminal.send("c").await?;
    terminal.shows("New session").await?;
    terminal.send("question").await?;
    terminal.shows_that("the agents", |seen| seen.contains('[')).await?;
    terminal.send(DOWN).await?;
    for _ in 0..20 {
        if terminal.visible().contains("[mock]") {
            break;
        }
        let before = terminal.visible();
        terminal.send(" ").await?;
        terminal.shows_that("another agent", |seen| seen != before).await?;
    }
    terminal.send("\r").await?;
    terminal.shows("Which database should this feature use?").await?;
    assert_eq!(person.pending().await?.agent, "mock");
    leave(&mut terminal).await
}
