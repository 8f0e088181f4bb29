//! Gemini CLI as an ACP agent.

use anyhow::Result;
use sayso_testkit::agents::Host;
use sayso_testkit::models::{Api, ModelBlock, ModelScript};
use serde_json::json;

use crate::{answer, open_session, prompt, set_up};

#[tokio::test]
async fn allowed_command_runs_and_its_output_reaches_the_model() -> Result<()> {
    let command = json!({"command": "touch made.txt && echo made it", "description": "Make a file"});
    let turns = [vec![ModelBlock::call("call_1", "run_shell_command", command)], vec![ModelBlock::text("Done.")]];
    let (agents, model, home) = set_up(ModelScript::turns(turns)).await?;
    let mut command = agents.gemini.clone();
    command.push("--acp".to_owned());
    let mut agent = Host::start(&command, &home.gemini(model.url()), &home.project())?;
    let session = open_session(&mut agent, &home).await?;
    let request = prompt(&mut agent, &session, "Make a file", "session/request_permission").await?;
    let options = request["params"]["options"].as_array().unwrap();
    let once = options.iter().find(|option| option["kind"] == "allow_once").unwrap();
    let outcome = json!({"outcome": "selected", "optionId": once["optionId"]});
    answer(&mut agent, &request, json!({"outcome": outcome})).await?;

    let results = model.tool_results();
    let [result] = results.as_slice() else { panic!("{results:?}") };
    assert_eq!((result.id.as_str(), result.is_error), ("call_1", false));
    assert!(result.text.contains("made it"), "{result:?}");
    assert!(home.project().join("made.txt").exists());
    let record = model.wait_for("the prompt", |record| record.request.last_user_text() == Some("Make a file")).await?;
    assert_eq!(record.request.api, Api::Gemini);
    Ok(())
}
