//! OpenCode, the real program.

use anyhow::{Context as _, Result};
use sayso_client::api::ask::{ActionKind, AnswerRequest, ApproveRequest, AskStatus, Delivery};
use sayso_client::api::session::{IfPending, NewSession, SessionStatus};
use sayso_testkit::models::{Block, Script, Turn};
use serde_json::{Value, json};

use crate::world::World;

const DATABASE: &str = "Which database should we use?";
const FEATURES: &str = "Which features do you want?";

fn question(text: &str, header: &str, multiple: bool, labels: &[&str]) -> Value {
    let options: Vec<Value> =
        labels.iter().map(|label| json!({ "label": label, "description": format!("the {label} one") })).collect();
    json!({ "question": text, "header": header, "multiple": multiple, "options": options })
}

fn which_database() -> Turn {
    ask("call_q", &[question(DATABASE, "Database", false, &["SQLite", "PostgreSQL"])])
}

fn ask(id: &str, questions: &[Value]) -> Turn {
    vec![Block::text("I need to know."), Block::call(id, "question", json!({ "questions": questions }))]
}

fn bash(id: &str, command: &str) -> Turn {
    vec![Block::call(id, "bash", json!({ "command": command, "description": "make a file" }))]
}

fn script(turn: Turn) -> Script {
    Script::turns([turn, vec![Block::text("Done.")]])
}

/// What the model got for a call.
async fn received(world: &World, id: &str) -> Result<String> {
    Ok(world.model.result_of(id).await?.text)
}

fn answered(pairs: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(question, answer)| format!("\"{question}\"=\"{answer}\"")).collect();
    format!("User has answered your questions: {}. You can now continue with the user's answers in mind.", pairs.join(", "))
}

// Checklist 0.21.
#[tokio::test]
async fn an_answer_reaches_the_model() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let mut agent = world.start("opencode", "set up a database").await?;
    let asked = agent.asks().await?;
    assert_eq!((asked.questions[0].text.as_str(), asked.questions[0].header.as_deref()), (DATABASE, Some("Database")));
    assert_eq!(asked.context.as_deref(), Some("I need to know."));
    world.answer(&asked, &[&["PostgreSQL"]]).await?;
    assert_eq!(received(&world, "call_q").await?, answered(&[(DATABASE, "PostgreSQL")]));
    assert_eq!(agent.finished().await?, "Done.");
    assert_eq!(world.client.ask(&asked.id).await?.delivery, Some(Delivery::Confirmed));
    world.close().await
}
