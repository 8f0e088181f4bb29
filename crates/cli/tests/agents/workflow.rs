//! A workflow whose steps run a real agent.

use std::collections::BTreeMap;

use anyhow::Result;
use sayso_client::api::run::{NewRun, Run, RunStatus};
use sayso_testkit::models::{ModelBlock, ModelScript};
use serde_json::json;

use crate::world::{World, until};

/// Waits until the condition holds or the run is finished, and returns the run.
async fn run_when(world: &World, id: &str, holds: impl Fn(&Run) -> bool) -> Result<Run> {
    let holds = |run: &Run| holds(run) || run.status.is_over();
    until("so far", || async { Ok(Some(world.client.run(id).await?).filter(|run| holds(run))) }).await
}

// The question pauses the step, and the answer reaches the model. The output of the step is part of the prompt of the next step,
// which runs in another process.
#[tokio::test]
async fn claude_code_runs_two_steps_with_an_answer_in_between() -> Result<()> {
    let question = json!({ "question": "Which database?", "header": "Database", "multiSelect": false, "options": [
        { "label": "SQLite", "description": "a file" }, { "label": "PostgreSQL", "description": "a server" } ] });
    let asks = vec![ModelBlock::call("toolu_q", "AskUserQuestion", json!({ "questions": [question] }))];
    let world = World::new(ModelScript::by_word([
        ("Build this", vec![vec![ModelBlock::text("Built.")]]),
        ("Plan the", vec![asks, vec![ModelBlock::text("Use one table.")]]),
    ]))
    .await?;
    let run = world
        .client
        .start_run(&NewRun {
            workflow: json!({ "name": "feature", "steps": [
                { "id": "plan", "agent": "claude", "prompt": "Plan the storage.", "questions": "forward" },
                { "id": "build", "agent": "claude", "prompt": "Build this: {{steps.plan.output}}" },
            ] }),
            input: BTreeMap::new(),
            directory: Some(world.home.project().display().to_string()),
            labels: BTreeMap::new(),
            environment: None,
        })
        .await?;
    let waiting = run_when(&world, &run.id, |run| !run.pending_questions.is_empty()).await?;
    assert_eq!((waiting.status, waiting.steps[0].status.as_str()), (RunStatus::Waiting, "running"), "{waiting:?}");
    let asked = &waiting.pending_questions[0];
    assert_eq!((asked.step_id.as_str(), asked.questions[0].header.as_str()), ("plan", "Database"));
    world.client.answer_question(&run.id, &asked.id, vec![vec!["SQLite".to_owned()]]).await?;
    assert!(world.model.result_of("toolu_q").await?.text.contains("SQLite"));

    let over = run_when(&world, &run.id, |_| false).await?;
    assert_eq!(over.status, RunStatus::Completed, "{over:?}");
    let said: Vec<(&str, &str)> = over.outputs.iter().map(|(step, said)| (step.as_str(), said.as_str())).collect();
    assert_eq!(said, [("build", "Built."), ("plan", "Use one table.")]);
    assert_ne!(over.steps[0].session_id, over.steps[1].session_id);
    let prompt = world.model.last_user_text().unwrap_or_default();
    assert!(prompt.contains("Build this: Use one table."), "{prompt}");
    world.close().await
}
