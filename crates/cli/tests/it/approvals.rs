//! Approvals, plans and links in the prompt.

use anyhow::Result;
use sayso_client::api::ask::{AskStatus, Outcome};

use crate::support::Person;

const APPROVE: &str = "Approve? [y/n/1/e/r/?]: ";

/// Types one line at the approval prompt of the mock agent, and returns the agent's reply and the outcome.
async fn decided_by(typed: &str, environment: &[(&str, &str)]) -> Result<(String, Outcome)> {
    let person = Person::new().await?;
    let mut terminal = person.terminal_with(&["start", "mock", "approve"], environment)?;
    let shown = terminal.expect(APPROVE).await?;
    assert!(shown.contains("Run a command\n  $ cargo test --workspace\n"), "{shown}");
    assert!(shown.contains("\n  1. Always allow cargo test (mock, this session)\n"), "{shown}");
    let ask = person.pending().await?;
    terminal.line(typed).await?;
    terminal.expect("━\n").await?;
    let said = terminal.expect("\n> ").await?;
    let outcome = person.client()?.ask(&ask.id).await?.outcome.unwrap();
    Ok((said, outcome))
}

#[tokio::test]
async fn yes_approves() -> Result<()> {
    let (said, outcome) = decided_by("y", &[]).await?;
    assert!(said.contains("Approved: cargo test --workspace\n"), "{said}");
    assert_eq!((outcome.status, outcome.choice, outcome.input), (AskStatus::Approved, None, None));
    Ok(())
}

#[tokio::test]
async fn no_denies() -> Result<()> {
    let (said, outcome) = decided_by("n", &[]).await?;
    assert!(said.contains("Denied: "), "{said}");
    assert_eq!((outcome.status, outcome.stop), (AskStatus::Denied, false));
    Ok(())
}

#[tokio::test]
async fn number_approves_with_the_agents_own_choice() -> Result<()> {
    let (said, outcome) = decided_by("1", &[]).await?;
    assert!(said.contains("Approved (always): cargo test --workspace\n"), "{said}");
    assert_eq!(outcome.choice.as_deref(), Some("always"));
    Ok(())
}

#[tokio::test]
async fn edited_input_is_approved() -> Result<()> {
    let (said, outcome) = decided_by("e", &[("EDITOR", "sed -i s/--workspace/--lib/")]).await?;
    assert!(said.contains("Approved with another input: cargo test --lib\n"), "{said}");
    assert_eq!(outcome.input, Some(serde_json::json!({ "command": "cargo test --lib" })));
    Ok(())
}

#[tokio::test]
async fn stop_denies_and_ends_the_turn() -> Result<()> {
    let (_, outcome) = decided_by("s", &[]).await?;
    assert_eq!((outcome.status, outcome.stop), (AskStatus::Denied, true));
    Ok(())
}

#[tokio::test]
async fn unclear_input_decides_nothing() -> Result<()> {
    let person = Person::new().await?;
    let unchanged = [("VISUAL", "true")];
    let mut terminal = person.terminal_with(&["start", "mock", "approve"], &unchanged)?;
    for (typed, said) in [
        ("", "Nothing was sent. Type y, n, or ? for help."),
        ("maybe", "Type y, n, or ? for help."),
        ("yy", "Type y, n, or ? for help."),
        ("2", "Type y, n, or ? for help."),
        ("?", "  y  approve\n  n  deny\n  1  approve: Always allow cargo test (mock, this session)\n"),
        ("e", "The input is unchanged. Nothing was sent."),
    ] {
        terminal.expect(APPROVE).await?;
        terminal.line(typed).await?;
        terminal.expect(said).await?;
    }
    terminal.expect(APPROVE).await?;
    assert_eq!(person.pending().await?.status, AskStatus::Pending);
    terminal.line("r").await?;
    terminal.expect("Why? The agent will see this: ").await?;
    terminal.line("use make instead").await?;
    terminal.expect("Denied: use make instead").await?;
    Ok(())
}

#[tokio::test]
async fn keys_typed_before_the_prompt_do_not_approve() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "approve"])?;
    terminal.line("y").await?;
    terminal.expect(APPROVE).await?;
    assert_eq!(person.pending().await?.status, AskStatus::Pending);
    terminal.line("n").await?;
    terminal.expect("Denied: ").await?;
    Ok(())
}

#[tokio::test]
async fn plan_is_shown_completely() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "plan"])?;
    let shown = terminal.expect("Approve? [y/n/e/r/?]: ").await?;
    let plan = "1. Add `GET /health` to the router.\n2. Answer 200 while the database takes writes.\n3. Test both.\n";
    assert!(shown.contains("Start with this plan?\n\n# Add a health check\n\n") && shown.contains(plan), "{shown}");
    terminal.line("y").await?;
    terminal.expect("Approved: the plan").await?;
    Ok(())
}

#[tokio::test]
async fn link_prompt_shows_its_host() -> Result<()> {
    let person = Person::new().await?;
    let mut terminal = person.terminal(&["start", "mock", "link"])?;
    let shown = terminal.expect("Done? [y/n/o/?]: ").await?;
    let link =
        "Open a link\nSign in there with the code MOCK-1234.\n  https://example.com/device?code=MOCK-1234\n  Host: example.com\n";
    assert!(shown.contains(link), "{shown}");
    terminal.line("later").await?;
    terminal.expect("Type y, n, o, or ? for help.").await?;
    terminal.line("y").await?;
    terminal.expect("Opened: https://example.com/device?code=MOCK-1234").await?;
    Ok(())
}
