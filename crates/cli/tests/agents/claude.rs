//! Claude Code, the real program.

use anyhow::{Context as _, Result};
use sayso_client::api::ask::{AnswerRequest, ApproveRequest, Ask, Delivery};
use sayso_client::api::session::{IfPending, SessionStatus};
use sayso_testkit::models::{Block, Script, Turn};
use serde_json::{Value, json};

use crate::world::World;

const DATABASE: &str = "Which database should we use?";
const FEATURES: &str = "Which features do you want?";

fn option(label: &str) -> Value {
    json!({ "label": label, "description": format!("the {label} one") })
}

fn question(text: &str, header: &str, multiple: bool, labels: [&str; 2]) -> Value {
    json!({ "question": text, "header": header, "multiSelect": multiple, "options": labels.map(option) })
}

fn which_database() -> Turn {
    ask(&[question(DATABASE, "Database", false, ["SQLite", "PostgreSQL"])])
}

fn ask(questions: &[Value]) -> Turn {
    vec![Block::text("I need to know."), Block::call("toolu_q", "AskUserQuestion", json!({ "questions": questions }))]
}

fn bash(command: &str) -> Turn {
    vec![Block::call("toolu_b", "Bash", json!({ "command": command, "description": "make a file" }))]
}

fn script(turn: Turn) -> Script {
    Script::turns([turn, vec![Block::text("Done.")]])
}

/// What the model got, and that the agent's wire showed it.
async fn received(world: &World, ask: &Ask, id: &str) -> Result<(String, bool)> {
    let result = world.model.result_of(id).await?;
    Ok((result.text, result.is_error)).inspect(|_| assert!(!ask.id.is_empty()))
}

// Checklist 0.23.
#[tokio::test]
async fn an_answer_reaches_the_model() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let mut agent = world.start("claude", "set up a database").await?;
    let asked = agent.asks().await?;
    assert_eq!((asked.questions[0].text.as_str(), asked.questions[0].header.as_deref()), (DATABASE, Some("Database")));
    assert_eq!(asked.context.as_deref(), Some("I need to know."));
    world.answer(&asked, &[&["PostgreSQL"]]).await?;
    let told = received(&world, &asked, "toolu_q").await?;
    assert_eq!(told, (format!("Your questions have been answered: \"{DATABASE}\"=\"PostgreSQL\". You can now continue with these answers in mind."), false));
    assert_eq!(agent.finished().await?, "Done.");
    assert_eq!(world.client.ask(&asked.id).await?.delivery, Some(Delivery::Confirmed));
    world.close().await
}
