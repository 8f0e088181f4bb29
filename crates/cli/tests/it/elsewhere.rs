//! Events during an open prompt: others decide, the agent dies, the person leaves, the server dies.

use anyhow::{Context as _, Result};
use sayso_client::Client;
use sayso_client::api::ask::{AnswerRequest, AskStatus};
use sayso_client::api::token::{NewToken, Role};
use sayso_testkit::Watch;
use sayso_testkit::pty::{CTRL_C, CTRL_D};

use crate::support::{Person, ends_well};

const ONE: &str = "Select [1-2, or type your own]: ";

#[tokio::test]
async fn prompt_closes_and_names_another_person_who_answered() -> Result<()> {
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
async fn prompt_closes_when_the_same_person_answers_in_another_terminal() -> Result<()> {
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
async fn withdrawn_ask_closes_its_prompt() -> Result<()> {
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
async fn first_ctrl_c_interrupts_and_second_exits() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "question"])?;
    terminal.expect(ONE).await?;
    let ask = person.pending().await?;
    terminal.send(CTRL_C).await?;
    terminal.expect("Interrupting. Press Ctrl-C again to exit.\n").await?;
    terminal.expect("\n> ").await?;
    assert_eq!(person.client()?.ask(&ask.id).await?.status, AskStatus::Withdrawn);
    terminal.send(CTRL_C).await?;
    terminal.expect("The session stays open. Continue with: sayso sessions message ").await?;
    ends_well(&mut terminal).await
}

#[tokio::test]
async fn ctrl_d_postpones_an_ask() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "question"])?;
    terminal.expect(ONE).await?;
    let ask = person.pending().await?;
    terminal.send(CTRL_D).await?;
    terminal.expect("The ask is still pending. Decide it with: sayso answer ").await?;
    assert_eq!(person.pending().await?.id, ask.id);
    // After an answer from elsewhere, the session on the screen continues.
    person.ok(&["answer", &ask.id, "1"]).await?;
    terminal.expect("✓ Which database should this feature use?: Answered by tester in the terminal: \"SQLite\".\n").await?;
    terminal.expect("You answered: SQLite.\n> ").await?;

    let mut terminal = person.terminal(&["start", "mock", "question"])?;
    terminal.expect(ONE).await?;
    terminal.send(CTRL_D).await?;
    terminal.expect("The ask is still pending.").await?;
    terminal.send(CTRL_C).await?;
    terminal.expect("Interrupting. Press Ctrl-C again to exit.\n").await?;
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
    terminal.expect("The ask is still pending.").await?;
    assert_eq!(terminal.end().await?.code(), Some(130));
    assert_eq!(person.pending().await?.status, AskStatus::Pending);
    Ok(())
}

#[tokio::test]
async fn answer_resumes_an_agent_that_died() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "crash"])?;
    terminal.expect(ONE).await?;
    let session = person.pending().await?.session_id.context("no session")?;
    Watch::session(&person.client()?, &session).event("session.ended").await?;
    terminal.line("1").await?;
    terminal.expect("Before this session was interrupted you asked, and here is the answer:").await?;
    terminal.expect("→ SQLite\n").await?;
    terminal.expect("\n> ").await?;
    assert!(!terminal.screen().contains("has ended"), "{}", terminal.screen());
    Ok(())
}

#[tokio::test]
async fn ask_is_parked_when_its_agent_dies() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "crash"])?;
    terminal.expect(ONE).await?;
    terminal.send(CTRL_D).await?;
    terminal.expect("The ask is still pending. Decide it with: sayso answer ").await?;
    terminal.expect("The session has ended: the mock agent crashed, as it was asked to.").await?;
    assert_eq!(terminal.end().await?.code(), Some(1));
    let listed = person.ok(&["ls"]).await?;
    assert!(listed.starts_with("‖ ") && listed.contains("parked"), "{listed}");
    Ok(())
}

#[tokio::test]
async fn prompt_survives_a_server_restart() -> Result<()> {
    let mut person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "question"])?;
    terminal.expect(ONE).await?;
    let server = person.server.as_mut().context("no server")?;
    server.kill9().await?;
    server.start_again().await?;
    terminal.line("2").await?;
    terminal.expect("You answered: PostgreSQL.\n> ").await?;
    Ok(())
}
