use anyhow::Result;
use sayso_api::ask::AskStatus;
use sayso_client::question;
use sayso_testkit::{Answerer, Decided, ScriptedAgent, TestServer};

#[tokio::test]
async fn scripted_person_answers_a_scripted_agent() -> Result<()> {
    let server = TestServer::start().await?;
    let client = server.client();
    let script = Answerer::new().on("database", &["SQLite"])?.on("/^Area/", &["Auth"])?.approve("cargo test")?;
    let mut answering = script.run(client.clone());

    let mut agent = ScriptedAgent::start(&client, "question 3 times").await?;
    for _ in 0..3 {
        let asked = agent.asks().await?;
        let Decided::Here(answered) = answering.next().await? else { panic!("answered by another client") };
        assert_eq!((answered.id, answered.status), (asked.id, AskStatus::Answered));
    }
    assert!(agent.finished().await?.starts_with("Asked 3 times."), "{}", agent.last_message().await?);

    let mut agent = ScriptedAgent::start(&client, "approve").await?;
    let asked = agent.asks().await?;
    agent.watch().about("approval.resolved", &asked.id).await?;
    agent.finished().await?;
    assert_eq!(answering.stop().await?.len(), 1);
    server.stop().await;
    Ok(())
}

#[tokio::test]
async fn pending_asks_and_streams_survive_a_restart() -> Result<()> {
    let mut server = TestServer::start().await?;
    let client = server.client();
    let mut watch = server.watch().await?;
    let opened = client.open_ask(&question("Which database?", &["SQLite", "PostgreSQL"])).await?;
    assert_eq!(watch.ask("question.requested").await?.id, opened.id);
    server.restart().await?;
    let answering = Answerer::new().on("database", &["PostgreSQL"])?.run(client.clone());
    let resolved = watch.ask("question.resolved").await?;
    assert_eq!((resolved.id, resolved.status), (opened.id, AskStatus::Answered));
    answering.stop().await?;
    server.stop().await;
    Ok(())
}
