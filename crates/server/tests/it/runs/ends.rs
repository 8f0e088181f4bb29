//! Runs that fail, are cancelled or do not start, and who can see them.

use super::*;

#[tokio::test]
async fn step_fails_with_the_reason_when_its_agent_dies() {
    let agent = asking().dies_on("die", "out of memory").unwrap();
    let world = world_with(&agent).await;
    let failed = world.ended(json!({ "prompt": "die" })).await;
    assert_eq!(failed["status"], "failed");
    assert!(failed["reason"].as_str().unwrap().contains("out of memory"), "{failed}");
    // The others of a group are cancelled with what they asked.
    let member = |name: &str, prompt: &str| json!({ "id": name, "agent": "asker", "prompt": prompt, "questions": "forward" });
    let group = json!({ "id": "g", "parallel": [member("asks", "ask"), member("dies", "die")] });
    let run = world.start_run(run_of(json!([group]))).await;
    let failed = world.run_until(&run, "failed").await;
    assert_eq!((&failed["steps"][0]["status"], &failed["pending"]), (&json!("cancelled"), &json!(0)));
    within("what it asked to be taken back", async {
        while world.admin.get("/v1/asks?status=pending").await.expect(200)["data"] != json!([]) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn cancelled_run_stops_agents_and_withdraws_their_asks() {
    let world = world_with(&asking()).await;
    let waiting = world.ended(json!({ "questions": "forward" })).await;
    let (run, ask) = (id(&waiting), id(&waiting["pendingQuestions"][0]));
    let cancelled = world.admin.poke(&format!("/v1/runs/{run}/cancel")).await.expect(200);
    assert_eq!((&cancelled["status"], &cancelled["steps"][0]["status"]), (&json!("cancelled"), &json!("cancelled")));
    assert_eq!(world.outcome(&ask).await["status"], "withdrawn");
    world.admin.poke(&format!("/v1/runs/{run}/cancel")).await.problem(409, "run_ended");
    let listed = world.admin.get("/v1/runs").await.expect(200);
    assert_eq!((id(&listed["data"][0]), &listed["data"][0]["status"]), (run, &json!("cancelled")));
    assert_eq!(world.admin.get("/v1/runs?open=true").await.expect(200)["data"], json!([]));
}

// An invalid workflow is refused with the path of the bad field, and no run is created.
#[tokio::test]
async fn invalid_workflow_is_refused_and_nothing_starts() {
    let world = World::start().await;
    let good = json!({ "id": "a", "agent": "mock", "prompt": "hello" });
    let with = |more: Value| {
        let mut step = good.clone();
        step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        run_of(json!([step]))
    };
    let bad = [
        (with(json!({ "agent": "nobody" })), "steps[0].agent"),
        (with(json!({ "prompt": "{{steps.x.output}}" })), "steps[0].prompt"),
        (with(json!({ "prompt": "{{nothing}}" })), "steps[0].prompt"),
        (with(json!({ "prompt": "{{steps.a.output}}" })), "steps[0].prompt"),
        (run_of(json!([good, good])), "steps[1].id"),
        (with(json!({ "question_timeout": "30s" })), "steps[0].question_timeout"),
        (with(json!({ "rules": [{ "do": "answer", "match": "/(/", "answer": "x" }] })), "steps[0].rules[0]"),
        (with(json!({ "prompt": "{{input.topic}}" })), "inputs"),
        (run_of(json!([])), "steps"),
    ];
    for (body, path) in bad {
        let problem = world.admin.post("/v1/runs", body.clone()).await.problem(422, "invalid_workflow");
        assert_eq!(problem["faults"][0]["path"], path, "{problem}");
        assert!(problem["detail"].as_str().unwrap().starts_with(path), "{problem}");
    }
    let unread = world.admin.post("/v1/runs", with(json!({ "questions": "maybe" }))).await.problem(422, "invalid_workflow");
    assert!(unread["detail"].as_str().unwrap().contains("maybe"), "{unread}");
    world.admin.post("/v1/runs", json!({ "workflow": "absent" })).await.problem(422, "invalid_workflow");
    world.admin.post("/v1/runs", json!({ "workflow": "../policy" })).await.problem(422, "invalid_workflow");
    let strange = json!({ "workflow": { "name": "w", "steps": [good] }, "input": { "x": "1" } });
    world.admin.post("/v1/runs", strange).await.problem(422, "invalid_workflow");
    world.admin.post("/v1/runs", with(json!({ "directory": "/nowhere/at/all" }))).await.problem(422, "directory_not_allowed");
    for path in ["/v1/runs", "/v1/sessions"] {
        assert_eq!(world.admin.get(path).await.expect(200)["data"], json!([]), "{path}");
    }
}

#[tokio::test]
async fn named_workflow_runs_once_per_idempotency_key() {
    let world = World::start().await;
    let dir = world.server.config_dir().join("workflows");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(
        dir.join("greet.toml"),
        "name = \"greet\"\n[[steps]]\nid = \"a\"\nagent = \"mock\"\nprompt = \"Hello {{input.who}}\"\n",
    )
    .unwrap();
    let body = json!({ "workflow": "greet", "input": { "who": 7 } });
    let first = world.admin.keyed("/v1/runs", "k", body.clone()).await.expect(201);
    let again = world.admin.keyed("/v1/runs", "k", body).await.expect(201);
    assert_eq!(id(&first), id(&again));
    let done = world.run_until(&id(&first), "completed").await;
    assert_eq!((&done["workflow"], &done["outputs"]["a"]), (&json!("greet"), &json!("Hello 7")));
    assert_eq!(world.admin.get("/v1/runs").await.expect(200)["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn label_scope_limits_runs_and_their_events() {
    let world = World::start().await;
    let shop = world.token(json!({ "role": "answerer", "actor": "shop", "labels": { "team": "shop" } })).await;
    let mut events = shop.stream("/v1/events", None).await;
    let step = json!([{ "id": "a", "agent": "mock", "prompt": "hello" }]);
    let foreign = world.start_run(run_of(step.clone())).await;
    world.run_until(&foreign, "completed").await;
    shop.get(&format!("/v1/runs/{foreign}")).await.problem(404, "run_not_found");
    let own = shop.post("/v1/runs", run_of(step)).await.expect(201);
    assert_eq!(own["labels"]["team"], "shop");
    assert_eq!(events.until("run.started").await["data"]["runId"], own["id"]);
    assert_eq!(events.until("step.completed").await["data"]["output"], "hello");
    assert_eq!(events.until("run.completed").await["data"]["runId"], own["id"]);
    assert_eq!(shop.get("/v1/runs").await.expect(200)["data"].as_array().unwrap().len(), 1);
    // A replay of stored events contains the same.
    let mut again = shop.stream("/v1/events?since=0", None).await;
    assert_eq!(again.until("run.started").await["data"]["runId"], own["id"]);
}

/// A message that an agent sent before it was stopped is not the output of its step.
#[tokio::test]
async fn interrupted_turn_fails_its_step() {
    let world = World::start().await;
    let plan = json!({ "id": "plan", "agent": "mock", "prompt": "question", "questions": "forward" });
    let next = json!({ "id": "next", "agent": "mock", "prompt": "go on" });
    let run = world.start_run(run_of(json!([plan, next]))).await;
    let waiting = world.run_until(&run, "waiting").await;
    let session = waiting["steps"][0]["sessionId"].as_str().unwrap().to_owned();
    world.admin.post(&format!("/v1/sessions/{session}/interrupt"), json!({})).await.expect(200);
    let over = world.run_until(&run, "failed").await;
    let steps = &over["steps"];
    assert_eq!((&steps[0]["status"], &steps[0]["reason"]), (&json!("failed"), &json!("the turn was interrupted")));
    assert_eq!((&steps[1]["status"], &over["pendingQuestions"]), (&json!("cancelled"), &json!([])));
    let transcript = world.admin.get(&format!("/v1/sessions/{session}/transcript")).await.expect(200);
    let told = transcript["data"].as_array().unwrap().iter().any(|block| block["text"] == "The turn was interrupted.");
    assert!(told, "{transcript}");
}

/// Also when a person denies a tool and stops the agent.
#[tokio::test]
async fn denial_with_stop_fails_the_step() {
    let world = World::start().await;
    let run = world.start_run(run_of(json!([{ "id": "build", "agent": "mock", "prompt": "approve it" }]))).await;
    let waiting = world.run_until(&run, "waiting").await;
    let ask = waiting["pendingApprovals"][0].as_str().unwrap();
    world.admin.post(&format!("/v1/asks/{ask}/deny"), json!({ "stop": true })).await.expect(200);
    let over = world.run_until(&run, "failed").await;
    assert_eq!(over["steps"][0]["reason"], "the turn was interrupted");
}
