//! The permission mode and the model of a running session.

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Http, Reply, World};

async fn change(http: &Http, session: &str, body: Value) -> Reply {
    http.call(&Method::PATCH, &format!("/v1/sessions/{session}"), Some(&body)).await
}

#[tokio::test]
async fn mode_and_model_change_in_a_running_session() {
    let world = World::start().await;
    let (agent, _ask) = world.start_ask("approve").await;
    let since = world.session(agent.session()).await["seq"].as_i64().unwrap();
    let wanted = json!({ "permissionMode": "plan", "model": "opus" });
    change(&world.admin, agent.session(), wanted).await.expect(202);
    let mut stream = world.admin.stream(&format!("/v1/sessions/{}/events?since={since}", agent.session()), None).await;
    let news = stream.until("session.status").await;
    assert_eq!(news["data"], json!({ "status": "running", "resumable": false, "permissionMode": "plan", "model": "opus" }));
    let session = world.session(agent.session()).await;
    assert_eq!((&session["permissionMode"], &session["model"]), (&json!("plan"), &json!("opus")));
}

#[tokio::test]
async fn mode_refused_by_the_agent_stays_unchanged() {
    let world = World::start().await;
    let (agent, _ask) = world.start_ask("approve").await;
    let since = world.session(agent.session()).await["seq"].as_i64().unwrap();
    change(&world.admin, agent.session(), json!({ "permissionMode": "party" })).await.expect(202);
    let mut stream = world.admin.stream(&format!("/v1/sessions/{}/events?since={since}", agent.session()), None).await;
    let error = stream.until("error").await;
    assert_eq!(error["data"]["text"], "The mock has no permission mode `party`.");
    assert_eq!(world.session(agent.session()).await["permissionMode"], "default");
}

#[tokio::test]
async fn only_admins_choose_modes_that_skip_approvals() {
    let world = World::start().await;
    let (agent, _ask) = world.start_ask("approve").await;
    let answerer = world.role("answerer").await;
    for mode in ["bypassPermissions", "acceptEdits", "yolo"] {
        let refused = change(&answerer, agent.session(), json!({ "permissionMode": mode })).await;
        let problem = refused.problem(403, "forbidden");
        assert!(problem["detail"].as_str().unwrap().contains("admin"), "{problem}");
        let start = json!({ "agent": "mock", "permissionMode": mode });
        answerer.post("/v1/sessions", start).await.problem(403, "forbidden");
    }
    change(&answerer, agent.session(), json!({ "permissionMode": "plan" })).await.expect(202);
    change(&world.admin, agent.session(), json!({ "permissionMode": "bypassPermissions" })).await.expect(202);
    let viewer = world.role("viewer").await;
    change(&viewer, agent.session(), json!({ "permissionMode": "plan" })).await.problem(403, "forbidden");
}

#[tokio::test]
async fn requests_that_change_nothing_are_refused_with_the_next_step() {
    let world = World::start().await;
    let (agent, _ask) = world.start_ask("approve").await;
    for body in [json!({}), json!({ "model": " " })] {
        change(&world.admin, agent.session(), body).await.problem(422, "invalid_request");
    }
    let unknown = "ses_01890000000070008000000000000000";
    change(&world.admin, unknown, json!({ "model": "x" })).await.problem(404, "session_not_found");
    world.admin.delete(&format!("/v1/sessions/{}", agent.session())).await.expect(200);
    let mut stream = world.admin.stream(&format!("/v1/sessions/{}/events?since=0", agent.session()), None).await;
    stream.until("session.ended").await;
    change(&world.admin, agent.session(), json!({ "model": "x" })).await.problem(409, "session_ended");
}
