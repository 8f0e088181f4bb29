//! External agents: their asks belong to a session, and asks decided in the terminal are withdrawn.

use serde_json::{Value, json};

use crate::world::{World, approval, id, question};

fn of(session: &str, cwd: &str, mut ask: Value) -> Value {
    ask["external"] = json!({ "agent": "claude", "sessionId": session, "cwd": cwd, "title": "fix it\nand more" });
    ask
}

fn keyed(mut ask: Value, key: &str) -> Value {
    ask["dedupeKey"] = json!(key);
    ask
}

fn news(session: &str, event: &str) -> Value {
    json!({ "agent": "claude", "sessionId": session, "event": event })
}

#[tokio::test]
async fn asks_of_one_agent_belong_to_one_session() {
    let world = World::start().await;
    let mut stream = world.admin.stream("/v1/events?since=0", None).await;
    let agent = world.role("agent").await;
    let project = world.server.project().canonicalize().unwrap();
    let cwd = project.to_str().unwrap();
    let first = agent.post("/v1/asks", of("s-1", cwd, question())).await.expect(201);
    let second = agent.post("/v1/asks", of("s-1", cwd, approval())).await.expect(201);
    assert_eq!(first["sessionId"], second["sessionId"]);
    assert_eq!((&first["agent"], &first["title"], &first["project"]), (&json!("claude"), &json!("fix it"), &json!(cwd)));

    let session = first["sessionId"].as_str().unwrap();
    let shown = world.session(session).await;
    assert_eq!((&shown["external"], &shown["nativeId"], &shown["status"]), (&json!(true), &json!("s-1"), &json!("waiting")));
    assert_eq!(shown["asks"].as_array().unwrap().len(), 2);
    let listed = world.admin.get("/v1/sessions").await.expect(200);
    assert_eq!(listed["data"][0]["external"], true);
    let created = stream.until("session.created").await;
    assert_eq!((&created["data"]["external"], &created["sessionId"]), (&json!(true), &json!(session)));
    stream.until("approval.requested").await;

    // The same session name with another token is another session.
    let other = world.role("agent").await.post("/v1/asks", of("s-1", cwd, question())).await.expect(201);
    assert_ne!(other["sessionId"], first["sessionId"]);
}

#[tokio::test]
async fn messages_to_external_agents_are_refused() {
    let world = World::start().await;
    let ask = world.open_ask(of("s-1", "/nowhere/to/be/seen", question())).await;
    let session = ask["sessionId"].as_str().unwrap();
    assert_eq!(ask["project"], "/nowhere/to/be/seen");
    let message = world.admin.post(&format!("/v1/sessions/{session}/messages"), json!({ "text": "hi" })).await;
    let problem = message.problem(409, "external_session");
    assert_eq!(problem["detail"], "this agent runs in your own terminal; talk to it there");
    for call in ["interrupt", "resume"] {
        world.admin.poke(&format!("/v1/sessions/{session}/{call}")).await.problem(409, "external_session");
    }
    assert_eq!(world.ask(&id(&ask)).await["status"], "pending");

    // Closing an external session only affects Sayso; its next ask reopens it.
    let closed = world.admin.delete(&format!("/v1/sessions/{session}")).await.expect(200);
    assert_eq!(closed["status"], "ended");
    assert_eq!(world.ask(&id(&ask)).await["status"], "withdrawn");
    let again = world.open_ask(of("s-1", "/nowhere/to/be/seen", question())).await;
    assert_eq!(again["sessionId"], ask["sessionId"]);
    assert_eq!(world.session(session).await["status"], "waiting");
}

#[tokio::test]
async fn ask_decided_in_the_terminal_is_withdrawn() {
    let world = World::start().await;
    let agent = world.role("agent").await;
    let mut asks = Vec::new();
    for key in ["s-1:aa:0", "s-1:aa:1", "s-1:bb:0"] {
        asks.push(id(&agent.post("/v1/asks", keyed(of("s-1", "/p", question()), key)).await.expect(201)));
    }
    let elsewhere = id(&agent.post("/v1/asks", of("s-2", "/p", question())).await.expect(201));

    let mut done = news("s-1", "toolDone");
    agent.post("/v1/external", done.clone()).await.problem(422, "invalid_request");
    done["dedupeKey"] = json!("s-1:aa:");
    for expected in [&asks[..1], &asks[1..2], &[]] {
        let taken = agent.post("/v1/external", done.clone()).await.expect(200);
        assert_eq!(taken["withdrawn"], json!(expected));
    }
    let withdrawn = world.ask(&asks[0]).await;
    assert_eq!(withdrawn["status"], "withdrawn");
    assert_eq!(withdrawn["outcome"]["message"], "It was answered in the terminal.");

    let taken = agent.post("/v1/external", news("s-1", "turnEnded")).await.expect(200);
    assert_eq!(taken["withdrawn"], json!([asks[2]]));
    let session = world.ask(&asks[0]).await["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(world.session(&session).await["status"], "idle");
    agent.post("/v1/external", news("s-1", "prompted")).await.expect(200);
    assert_eq!(world.session(&session).await["status"], "running");
    agent.post("/v1/external", news("s-1", "ended")).await.expect(200);
    assert_eq!(world.session(&session).await["status"], "ended");
    assert_eq!(world.ask(&elsewhere).await["status"], "pending");

    // Asks of other tokens and unknown asks are not affected.
    let other = world.role("agent").await;
    for session in ["s-2", "s-9"] {
        let taken = other.post("/v1/external", news(session, "ended")).await.expect(200);
        assert_eq!(taken["withdrawn"], json!([]));
    }
    assert_eq!(world.ask(&elsewhere).await["status"], "pending");
}

#[tokio::test]
async fn project_policy_applies_to_external_agents() {
    let world = World::start().await;
    let project = world.server.project();
    std::fs::write(project.join(".sayso.toml"), "[[rules]]\ndo = \"deny\"\nrun = [\"cargo test *\", \"cargo test\"]\n").unwrap();
    let agent = world.role("agent").await;
    let denied = agent.post("/v1/asks", of("s-1", project.to_str().unwrap(), approval())).await.expect(201);
    assert_eq!((&denied["status"], &denied["outcome"]["by"]["kind"]), (&json!("denied"), &json!("policy")));
    let asked = agent.post("/v1/asks", of("s-2", "/elsewhere", approval())).await.expect(201);
    assert_eq!(asked["status"], "pending");
    // The token that opened an ask collects the outcome and cannot decide it.
    agent.poke(&format!("/v1/asks/{}/receipt", id(&denied))).await.expect(200);
    agent.poke(&format!("/v1/asks/{}/approve", id(&asked))).await.problem(403, "forbidden");
}

#[tokio::test]
async fn invalid_names_are_refused() {
    let world = World::start().await;
    let agent = world.role("agent").await;
    for (session, cwd) in [("", "/p"), ("a\nb", "/p"), ("s", "relative"), (&*"x".repeat(300), "/p")] {
        assert_eq!(agent.post("/v1/asks", of(session, cwd, question())).await.status, 422, "{session:?} {cwd}");
    }
    let mut both = of("s-1", "/p", question());
    both["sessionId"] = json!("ses_019a8b6c4d007a10b2c3d4e5f6a7b8c9");
    agent.post("/v1/asks", both).await.problem(422, "invalid_request");
    world.role("answerer").await.post("/v1/asks", of("s-1", "/p", question())).await.problem(403, "forbidden");
}

#[tokio::test]
async fn policy_only_request_opens_no_ask() {
    let world = World::with_policy("[[rules]]\ndo = \"allow\"\nrun = [\"cargo test\"]\n").await;
    let agent = world.role("agent").await;
    let only = |mut ask: Value| {
        ask["policyOnly"] = json!(true);
        ask
    };
    let allowed = agent.post("/v1/asks", only(of("s-1", "/p", approval()))).await.expect(201);
    assert_eq!(allowed["status"], "approved");
    agent.post("/v1/asks", only(of("s-1", "/p", question()))).await.problem(409, "not_decided");
    assert_eq!(world.admin.get("/v1/asks?status=pending").await.expect(200)["data"], json!([]));
}

#[tokio::test]
async fn withdrawal_keeps_its_reason() {
    let world = World::start().await;
    let agent = world.role("agent").await;
    let ask = id(&agent.post("/v1/asks", of("s-1", "/p", approval())).await.expect(201));
    agent.delete(&format!("/v1/asks/{ask}?reason={}", "x".repeat(300))).await.problem(422, "limit_exceeded");
    let withdrawn = agent.delete(&format!("/v1/asks/{ask}?reason=answer%20it%20there")).await.expect(200);
    assert_eq!(withdrawn["outcome"]["message"], "answer it there");
}

#[tokio::test]
async fn uncollected_outcome_is_undeliverable() {
    let world = World::start().await;
    let agent = world.role("agent").await;
    let ask = id(&agent.post("/v1/asks", keyed(of("s-1", "/p", question()), "s-1:aa:0")).await.expect(201));
    world.admin.answer(&ask, json!([["SQLite"]])).await.expect(200);
    let mut done = news("s-1", "toolDone");
    done["dedupeKey"] = json!("s-1:bb:");
    agent.post("/v1/external", done).await.expect(200);
    assert_eq!(world.ask(&ask).await["delivery"], "queued", "another call");
    agent.post("/v1/external", news("s-1", "prompted")).await.expect(200);
    let late = world.ask(&ask).await;
    assert_eq!((&late["status"], &late["delivery"]), (&json!("answered"), &json!("undeliverable")));
    assert_eq!(late["deliveryReason"], "The terminal was first; this did not reach the agent.");
}

#[tokio::test]
async fn files_that_block_or_never_end_do_not_block_the_server() {
    let world = World::start().await;
    let agent = world.role("agent").await;
    let project = world.server.project().canonicalize().unwrap();
    let fifo = |path: &std::path::Path| {
        // The program, because macOS lacks `mkfifoat`.
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    // The FIFO has no writer, the device never ends, and the huge file would fill the memory.
    let traps = ["fifo", "device", "huge"].map(|name| project.join(name));
    for trap in &traps {
        std::fs::create_dir_all(trap.join(".git")).unwrap();
    }
    fifo(&traps[0].join(".git/HEAD"));
    fifo(&traps[0].join(".sayso.toml"));
    std::os::unix::fs::symlink("/dev/zero", traps[1].join(".git/HEAD")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", traps[1].join(".sayso.toml")).unwrap();
    std::fs::File::create(traps[2].join(".git/HEAD")).unwrap().set_len(3 << 30).unwrap();

    for (at, trap) in traps.iter().cycle().take(30).enumerate() {
        let ask = agent.post("/v1/asks", of(&format!("s-{at}"), trap.to_str().unwrap(), question())).await.expect(201);
        assert_eq!((&ask["branch"], &ask["status"]), (&json!(null), &json!("pending")));
    }
    let trusted = world.admin.post("/v1/policy/trust", json!({ "directory": traps[0] })).await;
    assert_eq!(trusted.status, 422);
    assert_eq!(world.admin.get("/v1/asks?status=pending&limit=100").await.expect(200)["data"].as_array().unwrap().len(), 30);
}
