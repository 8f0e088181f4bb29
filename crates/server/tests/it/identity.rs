//! The identity of agents: what their token proves, and what they only report.

use serde_json::{Value, json};

use crate::world::{World, approval, id, question};

const ALLOWS_CLAUDE: &str = "[[rules]]\nagent = \"claude\"\nrun = [\"cargo test\"]\ndo = \"allow\"\n";
const DENIES_CLAUDE: &str = "[[rules]]\nagent = \"claude\"\nrun = [\"cargo test\"]\ndo = \"deny\"\n";

fn with(mut ask: Value, key: &str, value: Value) -> Value {
    ask[key] = value;
    ask
}

fn external(agent: &str, cwd: &str) -> Value {
    json!({ "agent": agent, "sessionId": "s-1", "cwd": cwd })
}

#[tokio::test]
async fn token_of_one_agent_may_not_call_itself_another() {
    let world = World::start().await;
    let claude = world.token(json!({ "role": "agent", "actor": "laptop", "agent": "claude" })).await;
    let opened = claude.post("/v1/asks", question()).await.expect(201);
    assert_eq!((&opened["agent"], &opened["askedBy"]), (&json!("claude"), &json!("laptop")));
    assert_eq!(opened["agentReported"], Value::Null);
    claude.post("/v1/asks", with(question(), "agent", json!("claude"))).await.expect(201);
    claude.post("/v1/asks", with(question(), "external", external("claude", "/p"))).await.expect(201);
    claude.post("/v1/asks", with(question(), "agent", json!("codex"))).await.problem(403, "identity_refused");
    claude.post("/v1/asks", with(question(), "external", external("codex", "/p"))).await.problem(403, "identity_refused");
    let news = json!({ "agent": "codex", "sessionId": "s-1", "event": "ended" });
    claude.post("/v1/external", news).await.problem(403, "identity_refused");
    claude.post("/v1/notices", json!({ "text": "hi", "agent": "codex" })).await.problem(403, "identity_refused");
    let listed = world.admin.get("/v1/tokens").await.expect(200);
    let row = listed["data"].as_array().unwrap().iter().find(|row| row["actor"] == "laptop").unwrap();
    assert_eq!(row["agent"], "claude");
}

#[tokio::test]
async fn agent_sets_only_labels_of_its_token() {
    let world = World::start().await;
    let shop = world.token(json!({ "role": "agent", "actor": "ci", "labels": { "team": "shop" } })).await;
    let bank = world.token(json!({ "role": "answerer", "actor": "bob", "labels": { "team": "bank" } })).await;
    let opened = shop.post("/v1/asks", question()).await.expect(201);
    assert_eq!(opened["labels"], json!({ "team": "shop" }));
    shop.post("/v1/asks", with(question(), "labels", json!({ "team": "bank" }))).await.problem(403, "identity_refused");
    let unlabelled = world.role("agent").await;
    unlabelled.post("/v1/asks", with(question(), "labels", json!({ "team": "bank" }))).await.problem(403, "identity_refused");
    assert_eq!(bank.get("/v1/asks").await.expect(200)["data"], json!([]));
    // The name of an agent's terminal is not a secret and grants no access.
    let placed = shop.post("/v1/asks", with(question(), "labels", json!({ "tmuxPane": "%3" }))).await.expect(201);
    assert_eq!(placed["labels"], json!({ "team": "shop", "tmuxPane": "%3" }));
}

#[tokio::test]
async fn every_ask_of_a_caller_shows_the_actor_of_its_token() {
    let world = World::start().await;
    let shared = world.token(json!({ "role": "agent", "actor": "agents" })).await;
    let opened = shared.post("/v1/asks", with(question(), "agent", json!("claude"))).await.expect(201);
    let shown = |ask: &Value| (ask["agent"].clone(), ask["askedBy"].clone(), ask["agentReported"].clone());
    let wanted = (json!("claude"), json!("agents"), json!(true));
    assert_eq!(shown(&opened), wanted);
    assert_eq!(shown(&world.ask(&id(&opened)).await), wanted);
    assert_eq!(shown(&world.admin.get("/v1/asks").await.expect(200)["data"][0]), wanted);
    let mut stream = world.admin.stream("/v1/events?since=0", None).await;
    assert_eq!(shown(&stream.until("question.requested").await["data"]), wanted);
    let own = shared.post("/v1/asks", question()).await.expect(201);
    assert_eq!(shown(&own), (json!("agents"), json!("agents"), Value::Null));
}

#[tokio::test]
async fn rules_that_allow_do_not_believe_a_reported_name() {
    for (policy, by_name, by_token) in [(ALLOWS_CLAUDE, "pending", "approved"), (DENIES_CLAUDE, "denied", "denied")] {
        let world = World::with_policy(policy).await;
        let shared = world.token(json!({ "role": "agent", "actor": "agents" })).await;
        let claude = world.token(json!({ "role": "agent", "actor": "laptop", "agent": "claude" })).await;
        let named = world.token(json!({ "role": "agent", "actor": "claude" })).await;
        let ask = with(approval(), "agent", json!("claude"));
        let in_session = with(approval(), "external", external("claude", "/p"));
        for ask in [&ask, &in_session] {
            let reported = shared.post("/v1/asks", ask.clone()).await.expect(201);
            assert_eq!(reported["status"], by_name, "{policy}");
            let explained = world.admin.post("/v1/policy/explain", json!({ "askId": id(&reported) })).await.expect(200);
            assert_eq!(explained["data"][0]["verdict"] == "ask", by_name == "pending", "{explained}");
            assert_eq!(claude.post("/v1/asks", ask.clone()).await.expect(201)["status"], by_token, "{policy}");
            assert_eq!(named.post("/v1/asks", ask.clone()).await.expect(201)["status"], by_token, "{policy}");
        }
    }
}

#[tokio::test]
async fn token_of_one_project_may_not_ask_from_another() {
    let world = World::start().await;
    let project = world.server.project().canonicalize().unwrap();
    let shop = project.join("shop");
    std::fs::create_dir(&shop).unwrap();
    std::os::unix::fs::symlink(&project, shop.join("out")).unwrap();
    let shop = shop.to_str().unwrap();
    let pinned = world.token(json!({ "role": "agent", "actor": "claude", "project": shop })).await;
    assert_eq!(pinned.post("/v1/asks", question()).await.expect(201)["project"], shop);
    for inside in [shop.to_owned(), format!("{shop}/src")] {
        pinned.post("/v1/asks", with(question(), "project", json!(inside))).await.expect(201);
    }
    pinned.post("/v1/asks", with(question(), "external", external("claude", shop))).await.expect(201);
    for outside in [project.to_str().unwrap().to_owned(), format!("{shop}/.."), format!("{shop}2"), "/".to_owned()] {
        pinned.post("/v1/asks", with(question(), "project", json!(outside))).await.problem(403, "identity_refused");
    }
    // The target of a symbolic link decides.
    for outside in ["out", ".."] {
        let mut named = external("claude", &format!("{shop}/{outside}"));
        named["sessionId"] = json!(outside);
        pinned.post("/v1/asks", with(question(), "external", named)).await.problem(403, "identity_refused");
    }
    for wrong in
        [json!({ "role": "viewer", "actor": "v", "project": "/p" }), json!({ "role": "agent", "actor": "a", "project": "p" })]
    {
        world.admin.post("/v1/tokens", wrong).await.problem(422, "invalid_request");
    }
}

/// The built-in rule ignores the path of the project in a command line, because a project may live in a directory that is
/// called sayso. A project that is only reported could be the path of the program.
#[tokio::test]
async fn reported_project_does_not_disable_the_guard() {
    let world = World::with_policy("[approvals]\npolicy = \"allow\"\n").await;
    let agent = world.role("agent").await;
    for (project, command) in [
        ("/usr/bin/sayso", "/usr/bin/sayso approve 4f2a"),
        ("/sayso", "/usr/local/bin/sayso approve 4f2a"),
        ("/bin/sayso", "env /usr/bin/sayso approve 4f2a"),
    ] {
        let mut ask = approval();
        ask["approval"]["command"] = json!(command);
        ask["approval"]["input"] = json!({ "command": command });
        for place in [json!({ "project": project }), json!({ "external": external("claude", project) })] {
            let mut ask = ask.clone();
            ask.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
            let opened = agent.post("/v1/asks", ask).await.expect(201);
            assert_eq!(opened["status"], "pending", "{project} {command}");
        }
    }
    let mut harmless = approval();
    harmless["project"] = json!("/src/shop");
    assert_eq!(agent.post("/v1/asks", harmless).await.expect(201)["status"], "approved");
}
