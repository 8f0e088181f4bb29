//! Tests of claude-agent-acp.

use anyhow::Result;
use sayso_testkit::agents::Host;
use sayso_testkit::models::{ModelBlock, ModelScript, ToolResult};
use serde_json::json;

use crate::{answer, open_session, prompt, set_up, which_database};

#[tokio::test]
async fn accepted_form_reaches_the_model() -> Result<()> {
    let turns =
        [vec![ModelBlock::call("toolu_1", "AskUserQuestion", which_database())], vec![ModelBlock::text("PostgreSQL it is.")]];
    let (agents, model, home) = set_up(ModelScript::turns(turns)).await?;
    let mut agent = Host::start(&agents.claude_acp, &home.claude_acp(model.url()), &home.project())?;
    let session = open_session(&mut agent, &home).await?;
    let request = prompt(&mut agent, &session, "Set up a database", "elicitation/create").await?;
    assert_eq!(request["params"]["toolCallId"], "toolu_1");
    answer(&mut agent, &request, json!({"action": "accept", "content": {"question_0": "PostgreSQL"}})).await?;

    let text = "Your questions have been answered: \"Which database should we use?\"=\"PostgreSQL\". \
                You can now continue with these answers in mind.";
    assert_eq!(model.tool_results(), [ToolResult { id: "toolu_1".to_owned(), text: text.to_owned(), is_error: false }]);
    Ok(())
}
