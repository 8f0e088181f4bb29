//! A secret answer reaches only the agent, and appears in no response, event, log or file.

use std::path::Path;

use sayso_testkit::{ScriptedAgent, ServerProcess};
use serde_json::{Value, json};

use crate::world::{Http, World, id};

const VALUE: &str = "xyzzy-plugh-1234567890-secret";

/// Which files below the directory hold the value.
fn files_with_it(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if std::fs::read(&path).is_ok_and(|bytes| bytes.windows(VALUE.len()).any(|window| window == VALUE.as_bytes()))
            {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

/// Waits until no file contains the value; a deletion completes within a second. Nothing else writes in that time, which could
/// overwrite a value that was not removed.
async fn assert_gone(dir: &Path) {
    let started = std::time::Instant::now();
    while !files_with_it(dir).is_empty() {
        assert!(started.elapsed() < std::time::Duration::from_secs(30), "still in {:?}", files_with_it(dir));
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// The real binary with the most detailed log level, through every HTTP dialect.
#[tokio::test]
async fn secret_is_in_no_reply_event_log_or_file() {
    let dir = tempfile::tempdir().unwrap();
    let mut process = ServerProcess::with_env(dir.path(), &[("SAYSO_LOG", "trace")]).await.unwrap();
    let admin = Http::new(process.url(), process.token());
    let client = process.client().unwrap();
    let mut said = Vec::new();
    for surface in ["native", "question-rest", "gateway"] {
        let mut agent = ScriptedAgent::start(&client, "secret").await.unwrap();
        let ask = agent.asks().await.unwrap();
        let session = agent.session().to_owned();
        let reply = match surface {
            "native" => admin.keyed(&format!("/v1/asks/{}/answer", ask.id), "k", json!({ "answers": [[VALUE]] })).await,
            "question-rest" => {
                admin.post(&format!("/v1/sessions/{session}/questions/{}/reply", ask.id), json!({ "answers": [[VALUE]] })).await
            }
            _ => {
                admin
                    .post(
                        &format!("/v1/sessions/{session}/submit-answers"),
                        json!({ "toolCallId": ask.tool_call_id, "answers": { "0": VALUE } }),
                    )
                    .await
            }
        };
        assert!(reply.status < 300, "{}", reply.text);
        assert_eq!(agent.finished().await.unwrap(), format!("I received a secret of {} characters.", VALUE.len()), "{surface}");
        said.push(reply.text);
        // A second answer, an invalid one, and one that is refused.
        said.push(admin.keyed(&format!("/v1/asks/{}/answer", ask.id), "k", json!({ "answers": [[VALUE]] })).await.text);
        said.push(admin.answer(&ask.id, json!([[VALUE], [VALUE]])).await.text);
        for path in [
            format!("/v1/asks/{}?raw=true", ask.id),
            format!("/v1/sessions/{session}"),
            format!("/v1/sessions/{session}/transcript"),
        ] {
            said.push(admin.get(&path).await.text);
        }
    }
    said.push(admin.get("/v1/asks").await.text);
    said.push(admin.get("/metrics").await.text);
    let end = admin.get("/v1/asks?limit=1").await.expect(200)["seq"].as_i64().unwrap();
    said.extend(admin.stream("/v1/events?since=0", None).await.up_to(end).await.iter().map(Value::to_string));
    for text in &said {
        assert!(!text.contains(VALUE), "{text}");
    }
    assert_gone(dir.path()).await;
    process.terminate().await.unwrap();
    assert_eq!(files_with_it(dir.path()), Vec::<String>::new());
    let log = std::fs::read_to_string(process.log_path()).unwrap();
    assert!(log.contains("stopping"), "the log must be the server's: {log}");
    assert!(!log.contains(VALUE) && !log.contains(process.token()));
}

/// The log contains no answers, whether they are secret or not.
#[tokio::test]
async fn answers_are_never_logged() {
    let dir = tempfile::tempdir().unwrap();
    let mut process = ServerProcess::with_env(dir.path(), &[("SAYSO_LOG", "trace")]).await.unwrap();
    let admin = Http::new(process.url(), process.token());
    let client = process.client().unwrap();
    for (prompt, verb, body) in [
        ("question", "answer", json!({ "answers": [[VALUE]], "note": VALUE })),
        ("question", "reject", json!({ "message": VALUE })),
        ("approve", "deny", json!({ "message": VALUE })),
        ("approve", "approve", json!({ "input": { "command": VALUE } })),
    ] {
        let mut agent = ScriptedAgent::start(&client, prompt).await.unwrap();
        let ask = agent.asks().await.unwrap();
        admin.post(&format!("/v1/asks/{}/{verb}", ask.id), body).await.expect(200);
        agent.finished().await.unwrap();
        // Broken bodies are not logged either.
        admin.raw(&format!("/v1/asks/{}/{verb}", ask.id), format!("{{\"{VALUE}")).await;
        admin.post(&format!("/v1/sessions/{}/messages", agent.session()), json!({ "text": VALUE })).await.expect(202);
    }
    process.terminate().await.unwrap();
    let log = std::fs::read_to_string(process.log_path()).unwrap();
    assert!(log.contains("stopping"), "the log must be the server's: {log}");
    assert_eq!(log.lines().find(|line| line.contains(VALUE)), None);
}

/// A secret answer survives a server kill before its delivery, and is deleted after the delivery.
#[tokio::test]
async fn secret_survives_kill_nine_and_is_delivered_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut process = ServerProcess::start(dir.path()).await.unwrap();
    let admin = Http::new(process.url(), process.token());
    let mut agent = ScriptedAgent::start(&process.client().unwrap(), "secret").await.unwrap();
    let ask = agent.asks().await.unwrap();
    admin.answer(&ask.id, json!([[VALUE]])).await.expect(200);
    process.kill9().await.unwrap();
    process.start_again().await.unwrap();
    assert_eq!(agent.finished().await.unwrap(), format!("I received a secret of {} characters.", VALUE.len()));
    assert_gone(dir.path()).await;
}

/// A caller that asks for a secret over HTTP gets it once, and no other caller does.
#[tokio::test]
async fn caller_collects_the_secret_of_its_ask() {
    let world = World::start().await;
    let agent = world.role("agent").await;
    let ask = id(&agent
        .post("/v1/asks", json!({ "questions": [{ "text": "Which token?", "input": "text", "secret": true }] }))
        .await
        .expect(201));
    let answered = world.admin.answer(&ask, json!([[VALUE]])).await.expect(200);
    assert_eq!(answered["outcome"]["answers"], json!([{ "secret": true }]));
    assert!(!world.admin.get(&format!("/v1/asks/{ask}")).await.text.contains(VALUE));
    assert!(!agent.get(&format!("/v1/asks/{ask}?wait=1s")).await.text.contains(VALUE));
    let got = agent.poke(&format!("/v1/asks/{ask}/receipt")).await.expect(200);
    assert_eq!(got["outcome"]["answers"], json!([[VALUE]]));
    assert_gone(world.server.data_dir()).await;
}
