//! Shows how to test a workflow: a scripted agent, a scripted person, and a clock that the test moves.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result};
use sayso_api::run::NewRun;
use sayso_client::question;
use sayso_testkit::{AgentScript, Answerer, ScriptedAsk, TestServer, within};
use serde_json::json;

fn plan_and_build() -> NewRun {
    let steps = json!([
        { "id": "plan", "agent": "planner", "prompt": "plan the login", "questions": "forward", "question_timeout": "30s" },
        { "id": "build", "agent": "planner", "prompt": "build: {{steps.plan.output}}" },
    ]);
    NewRun {
        workflow: json!({ "name": "plan and build", "steps": steps }),
        input: BTreeMap::new(),
        directory: None,
        labels: BTreeMap::new(),
        environment: None,
    }
}

fn planner() -> Result<AgentScript> {
    let ask = question("Which database?", &["SQLite", "PostgreSQL"]);
    AgentScript::new().on_question("plan the", &ask, Duration::from_secs(5))?.on("/^build: /", "Built.")
}

#[tokio::test]
async fn question_is_answered_before_its_timeout() -> Result<()> {
    let agent = planner()?;
    let mut clock = None;
    let server = TestServer::with(|setup| {
        clock = Some(setup.fake_clock());
        setup.agent("planner", &agent);
    })
    .await?;
    let clock = clock.context("no clock")?;
    let mut watch = server.watch().await?;
    let client = server.client();
    let person = Answerer::new().on("database", &["PostgreSQL"])?.run(client.clone());
    let run = client.start_run(&plan_and_build()).await?.id;
    watch.event("step.started").await?;
    assert_eq!(agent.asked(), [], "it waits before it asks");
    // The agent may not have received the prompt yet: advance the time in steps that leave the person enough time.
    within("the question", async {
        while client.run(&run).await?.pending == 0 && agent.asked().is_empty() {
            clock.advance(Duration::from_secs(5));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    })
    .await?;
    watch.event("run.completed").await?;
    let run = client.run(&run).await?;
    assert_eq!((run.outputs["plan"].as_str(), run.outputs["build"].as_str()), ("You answered: PostgreSQL.", "Built."));
    let asked = ScriptedAsk {
        prompt: "plan the login".to_owned(),
        questions: vec!["Which database?".to_owned()],
        answers: Some(vec![vec!["PostgreSQL".to_owned()]]),
    };
    assert_eq!(agent.asked(), [asked]);
    person.stop().await?;
    server.stop().await;
    Ok(())
}

#[tokio::test]
async fn unanswered_question_falls_back_to_the_first_option() -> Result<()> {
    let agent = planner()?;
    let mut clock = None;
    let server = TestServer::with(|setup| {
        clock = Some(setup.fake_clock());
        setup.agent("planner", &agent);
    })
    .await?;
    let clock = clock.context("no clock")?;
    let mut watch = server.watch().await?;
    server.client().start_run(&plan_and_build()).await?;
    watch.event("step.started").await?;
    within("the timeout", async {
        while agent.asked().is_empty() {
            clock.advance(Duration::from_secs(10));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    })
    .await?;
    watch.event("run.completed").await?;
    assert_eq!(agent.asked()[0].answers, Some(vec![vec!["SQLite".to_owned()]]));
    server.stop().await;
    Ok(())
}
