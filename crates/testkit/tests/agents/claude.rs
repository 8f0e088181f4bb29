//! Claude Code with a host on its stdin and stdout.

use std::path::Path;

use anyhow::Result;
use sayso_testkit::agents::{Home, Host};
use sayso_testkit::models::{MockModel, ModelBlock, ModelReply, ModelScript, ToolResult};
use serde_json::{Value, json};

use crate::{set_up, which_database};

const ARGUMENTS: [&str; 8] =
    ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--permission-prompt-tool", "stdio"];

fn start(program: &Path, home: &Home, model: &MockModel) -> Result<Host> {
    let mut command = vec![program.display().to_string()];
    command.extend(ARGUMENTS.map(str::to_owned));
    Host::start(&command, &home.claude(model.url()), &home.project())
}

async fn say(agent: &mut Host, text: &str) -> Result<()> {
    let message = json!({"role": "user", "content": text});
    agent.send(&json!({"type": "user", "message": message, "parent_tool_use_id": null, "session_id": ""})).await
}

async fn wait_for_request(agent: &mut Host, tool: &str) -> Result<Value> {
    agent.until(tool, |message| message["type"] == "control_request" && message["request"]["tool_name"] == tool).await
}

async fn allow(agent: &mut Host, request: &Value, input: &Value) -> Result<()> {
    let response = json!({"behavior": "allow", "updatedInput": input});
    let response = json!({"subtype": "success", "request_id": request["request_id"], "response": response});
    agent.send(&json!({"type": "control_response", "response": response})).await
}

async fn answer_a_question(program: &Path, model: &MockModel, home: &Home) -> Result<()> {
    let mut agent = start(program, home, model)?;
    say(&mut agent, "Set up a database").await?;
    let request = wait_for_request(&mut agent, "AskUserQuestion").await?;
    let mut input = request["request"]["input"].clone();
    input["answers"] = json!({"Which database should we use?": "PostgreSQL"});
    allow(&mut agent, &request, &input).await?;

    let result = agent.until("the result", |message| message["type"] == "result").await?;
    assert_eq!((&result["is_error"], &result["result"]), (&json!(false), &json!("PostgreSQL it is.")), "{result}");
    assert!(agent.close().await?.success());
    let text = "Your questions have been answered: \"Which database should we use?\"=\"PostgreSQL\". \
                You can now continue with these answers in mind.";
    assert_eq!(model.tool_results(), [ToolResult { id: "toolu_1".to_owned(), text: text.to_owned(), is_error: false }]);
    assert_eq!(model.last_user_text().as_deref(), Some("Set up a database"));
    Ok(())
}

fn question_script() -> ModelScript {
    ModelScript::turns([
        vec![ModelBlock::text("I need to know."), ModelBlock::call("toolu_1", "AskUserQuestion", which_database())],
        vec![ModelBlock::text("PostgreSQL it is.")],
    ])
}

#[tokio::test]
async fn answer_reaches_the_model() -> Result<()> {
    let (agents, model, home) = set_up(question_script()).await?;
    answer_a_question(&agents.claude, &model, &home).await
}

#[tokio::test]
async fn answer_reaches_the_model_of_the_oldest_version() -> Result<()> {
    let (agents, model, home) = set_up(question_script()).await?;
    answer_a_question(&agents.claude_old, &model, &home).await
}

#[tokio::test]
async fn sessions_with_different_words_share_one_model() -> Result<()> {
    let question = vec![vec![ModelBlock::call("toolu_q", "AskUserQuestion", which_database())], vec![ModelBlock::text("Asked.")]];
    let command = json!({"command": "touch made.txt", "description": "make a file"});
    let command = vec![vec![ModelBlock::call("toolu_b", "Bash", command)], vec![ModelBlock::text("Ran.")]];
    let (agents, model, home) = set_up(ModelScript::by_word([("database", question), ("file", command)])).await?;
    let mut one = start(&agents.claude, &home, &model)?;
    let mut other = start(&agents.claude, &home, &model)?;

    say(&mut one, "Set up a database").await?;
    say(&mut other, "Make a file").await?;
    let asked_one = wait_for_request(&mut one, "AskUserQuestion").await?;
    let asked_other = wait_for_request(&mut other, "Bash").await?;
    allow(&mut other, &asked_other, &asked_other["request"]["input"]).await?;
    let mut input = asked_one["request"]["input"].clone();
    input["answers"] = json!({"Which database should we use?": "SQLite"});
    allow(&mut one, &asked_one, &input).await?;

    for (agent, end) in [(&mut one, "Asked."), (&mut other, "Ran.")] {
        let result = agent.until("the result", |message| message["type"] == "result").await?;
        assert_eq!(result["result"], end, "{result}");
    }
    assert!(model.result_of("toolu_q").await?.text.contains("\"Which database should we use?\"=\"SQLite\""));
    assert!(!model.result_of("toolu_b").await?.is_error);
    assert!(home.project().join("made.txt").exists());
    Ok(())
}

#[tokio::test]
async fn hanging_model_can_be_interrupted() -> Result<()> {
    let hanging = ModelScript::choose(|_| ModelReply::Hang(vec![ModelBlock::text("Let me think")]));
    let (agents, model, home) = set_up(hanging).await?;
    let mut agent = start(&agents.claude, &home, &model)?;
    say(&mut agent, "Think").await?;
    model.wait_for("the prompt", |record| record.request.last_user_text() == Some("Think")).await?;
    agent.send(&json!({"type": "control_request", "request_id": "stop", "request": {"subtype": "interrupt"}})).await?;
    let result = agent.until("the result", |message| message["type"] == "result").await?;
    assert_eq!(result["terminal_reason"], "aborted_streaming", "{result}");
    Ok(())
}
