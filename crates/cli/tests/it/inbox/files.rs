//! The files that a command executes, on the card.

use sayso_client::api::session::NewSession;

use super::*;

#[tokio::test]
async fn card_shows_what_changed_in_a_file_before_it_was_approved() -> Result<()> {
    let person = person().await?;
    let script = person.path("deploy.sh");
    std::fs::write(&script, "echo to staging\n")?;
    let client = person.client()?;
    let cwd = script.parent().map(|directory| directory.to_string_lossy().into_owned());
    let new = NewSession { agent: "mock".into(), prompt: Some("deploy".into()), cwd, ..NewSession::default() };
    client.start_session(&new).await?;
    let mut terminal = person.terminal(&["inbox"])?;
    let seen = terminal.shows("echo to staging").await?;
    assert!(seen.contains("The agent can still change these files after you approve."), "{seen}");
    let id = client.pending_asks().await?.data.pop().context("no ask")?.id;

    std::fs::write(&script, "echo to production\n")?;
    press(&mut terminal, "a", APPROVE).await?;
    terminal.shows("Not approved: a file that this command executes has changed").await?;
    let seen = terminal.shows("+echo to production").await?;
    assert!(seen.contains("-echo to staging"), "{seen}");
    assert_eq!(client.ask(&id).await?.status, AskStatus::Pending);

    // A long path of the script moves its content below the screen.
    terminal.send(PAGE_DOWN).await?;
    terminal.shows("  echo to production").await?;
    press(&mut terminal, "d", APPROVE).await?;
    assert_eq!(outcome(&person, &id).await?.status, AskStatus::Denied);
    leave(&mut terminal).await
}
