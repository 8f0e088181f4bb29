//! What happens while a prompt is open: others decide, the agent goes, the person leaves, the server dies.

use anyhow::{Context as _, Result};
use sayso_client::Client;
use sayso_client::api::ask::{AnswerRequest, AskStatus};
use sayso_client::api::token::{NewToken, Role};
use sayso_testkit::Watch;
use sayso_testkit::pty::{CTRL_C, CTRL_D};

use crate::support::{Person, ends_well};

const ONE: &str = "Select [1-2, or type your own]: ";

#[tokio::test]
async fn somebody_else_is_first_and_the_prompt_says_who() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "question"])?;
    terminal.expect(ONE).await?;
    let ask = person.pending().await?;
    let new = NewToken::new(Role::Answerer, "ada");
    let token = person.client()?.create_token(&new).await?.token.unwrap_or_default();
    let ada = Client::new(&person.server_file()?.url, &token)?;
    ada.answer(&ask.id, &AnswerRequest { answers: vec![vec!["PostgreSQL".into()]], note: None }).await?;
    terminal.expect("Answered by ada over HTTP: \"PostgreSQL\". Nothing was sent from here.\n").await?;
    terminal.expect("You answered: PostgreSQL.\n> ").await?;
    // The keyboard belongs to the session again.
    terminal.line("thank you").await?;
    terminal.expect("thank you\nthank you\n> ").await?;
    Ok(())
}

#[tokio::test]
async fn the_same_person_in_another_terminal_is_named_too() -> Result<()> {
    let person = Person::new().await?;
    let mut first = person.terminal(&["start", "mock", "question"])?;
    first.expect(ONE).await?;
    let mut second = person.terminal(&["next"])?;
    second.expect(ONE).await?;
    second.line("1").await?;
    second.expect("✓ Answered by tester in the terminal: \"SQLite\".").await?;
    ends_well(&mut second).await?;
    first.expect("Answered by tester in the terminal: \"SQLite\". Nothing was sent from here.").await?;
    Ok(())
}

#[tokio::test]
async fn an_ask_that_is_withdrawn_closes_its_prompt() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "withdraw"])?;
    terminal.expect(ONE).await?;
    terminal.expect("\nWithdrawn. ").await?;
    terminal.expect("Nothing was sent from here.\n").await?;
    terminal.expect("\n> ").await?;
    assert_eq!(person.ok(&["ls"]).await?, "");
    Ok(())
}

#[tokio::test]
async fn ctrl_c_interrupts_the_turn_and_then_leaves() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "question"])?;
    terminal.expect(ONE).await?;
    let ask = person.pending().await?;
    terminal.send(CTRL_C).await?;
    terminal.expect("Interrupting. Ctrl-C again leaves.\n").await?;
    terminal.expect("\n> ").await?;
    assert_eq!(person.client()?.ask(&ask.id).await?.status, AskStatus::Withdrawn);
    terminal.send(CTRL_C).await?;
    terminal.expect("The session stays. Go on with: sayso sessions message ").await?;
    ends_well(&mut terminal).await
}

#[tokio::test]
async fn ctrl_d_leaves_an_ask_for_later() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "question"])?;
    terminal.expect(ONE).await?;
    let ask = person.pending().await?;
    terminal.send(CTRL_D).await?;
    terminal.expect("It still waits. Decide it with: sayso answer ").await?;
    assert_eq!(person.pending().await?.id, ask.id);
    // Answered from somewhere else, the session that is still on the screen goes on.
    person.ok(&["answer", &ask.id, "1"]).await?;
    terminal.expect("✓ Which database should this feature use?: Answered by tester in the terminal: \"SQLite\".\n").await?;
    terminal.expect("You answered: SQLite.\n> ").await?;

    let mut terminal = person.terminal(&["start", "mock", "question"])?;
    terminal.expect(ONE).await?;
    terminal.send(CTRL_D).await?;
    terminal.expect("It still waits.").await?;
    terminal.send(CTRL_C).await?;
    terminal.expect("Interrupting. Ctrl-C again leaves.\n").await?;
    terminal.expect("\n> ").await?;
    terminal.send(CTRL_D).await?;
    ends_well(&mut terminal).await
}

#[tokio::test]
async fn ctrl_c_at_a_prompt_without_a_session_sends_nothing() -> Result<()> {
    let person = Person::new().await?;
    person.ok(&["ask", "Which?", "--option", "A", "--option", "B", "--no-wait"]).await?;
    let mut terminal = person.terminal(&["next"])?;
    terminal.expect(ONE).await?;
    terminal.send(CTRL_C).await?;
    terminal.expect("It still waits.").await?;
    assert_eq!(terminal.end().await?.code(), Some(130));
    assert_eq!(person.pending().await?.status, AskStatus::Pending);
    Ok(())
}

#[tokio::test]
async fn an_agent_that_dies_is_taken_up_again_by_the_answer() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "crash"])?;
    terminal.expect(ONE).await?;
    let session = person.pending().await?.session_id.context("it has a session")?;
    Watch::session(&person.client()?, &session).event("session.ended").await?;
    terminal.line("1").await?;
    terminal.expect("Before this session was interrupted you asked, and here is the answer:").await?;
    terminal.expect("→ SQLite\n").await?;
    terminal.expect("\n> ").await?;
    assert!(!terminal.screen().contains("has ended"), "{}", terminal.screen());
    Ok(())
}

#[tokio::test]
async fn an_agent_that_dies_leaves_its_ask_parked() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "crash"])?;
    terminal.expect(ONE).await?;
    terminal.send(CTRL_D).await?;
    terminal.expect("It still waits. Decide it with: sayso answer ").await?;
    terminal.expect("The session has ended: the mock agent crashed, as it was asked to.").await?;
    assert_eq!(terminal.end().await?.code(), Some(1));
    let listed = person.ok(&["ls"]).await?;
    assert!(listed.starts_with("‖ ") && listed.contains("parked"), "{listed}");
    Ok(())
}

#[tokio::test]
async fn a_prompt_outlives_the_server() -> Result<()> {
    let mut person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "question"])?;
    terminal.expect(ONE).await?;
    let server = person.server.as_mut().context("it has a server")?;
    server.kill9().await?;
    server.start_again().await?;
    terminal.line("2").await?;
    terminal.expect("You answered: PostgreSQL.\n> ").await?;
    Ok(())
}
