//! An editor that runs `sayso acp` with the real Claude Code. The editor is the official client of the protocol.

use anyhow::Result;
use sayso_testkit::AcpClient;
use sayso_testkit::models::{ModelBlock, ModelScript};
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn claude_asks_in_the_editor_and_runs_approved_commands() -> Result<()> {
    let options = [json!({ "label": "SQLite", "description": "a file" }), json!({ "label": "PostgreSQL", "description": "" })];
    let question = json!({ "question": "Which database?", "header": "Database", "multiSelect": false, "options": options });
    let world = World::new(ModelScript::turns([
        vec![ModelBlock::call("toolu_q", "AskUserQuestion", json!({ "questions": [question] }))],
        vec![ModelBlock::call("toolu_b", "Bash", json!({ "command": "touch a.txt", "description": "make a file" }))],
        vec![ModelBlock::text("Done.")],
    ]))
    .await?;
    let mut acp = world.server.command()?;
    acp.args(["acp", "--agent", "claude"]);
    let mut editor = AcpClient::stdio(acp, &world.home.project(), "claude", &["set up a database"]).await?;
    let turn = editor.next().await?;
    assert_eq!(turn["stopReason"], "end_turn", "{turn}");
    assert_eq!(turn["asked"][0]["question"]["options"][0], json!(["SQLite", "SQLite"]), "{turn}");
    assert_eq!(turn["asked"][1]["permission"]["toolCall"]["rawInput"]["command"], "touch a.txt", "{turn}");
    assert!(turn["said"].as_str().is_some_and(|said| said.contains("Done.")), "{turn}");
    let told = world.model.result_of("toolu_q").await?;
    assert!(!told.is_error && told.text.contains("SQLite"), "{told:?}");
    assert!(world.home.project().join("a.txt").exists());
    editor.ended().await?;
    world.close().await
}
