//! Policy decisions before an ask is opened, and at its deadline.

use std::time::Duration;

use sayso_testkit::ScriptedAgent;
use serde_json::{Value, json};

use crate::world::{World, approval, id, question};

const TEN_MINUTES: &str =
    "[questions]\npolicy = \"forward\"\ntimeout = \"10m\"\non_timeout = \"reject\"\n[approvals]\ntimeout = \"10m\"\n";

async fn started(world: &World, new: Value) -> ScriptedAgent {
    let new: sayso_client::api::session::NewSession = serde_json::from_value(new).unwrap();
    ScriptedAgent::with(&world.server.client(), &new).await.unwrap()
}

/// The only ask of a session.
async fn only_ask(world: &World, session: &str) -> Value {
    let asks = world.admin.get(&format!("/v1/asks?session={session}")).await.expect(200);
    assert_eq!(asks["data"].as_array().unwrap().len(), 1, "{asks}");
    asks["data"][0].clone()
}

// The ask is rejected in the commit that opens it and is never pending.
#[tokio::test]
async fn policy_reject_rejects_questions() {
    let world = World::with_policy("[questions]\npolicy = \"reject\"\n").await;
    let mut agent = world.agent("question").await;
    let words = agent.finished().await.unwrap();
    assert_eq!(words, format!("Rejected: {}", sayso_core::texts::REJECTED_BY_POLICY));
    let ask = only_ask(&world, agent.session()).await;
    assert_eq!((&ask["status"], &ask["outcome"]["by"]["kind"]), (&json!("rejected"), &json!("policy")));
    let mut stream = world.admin.stream(&format!("/v1/sessions/{}/events?since=0", agent.session()), None).await;
    let events = stream.up_to(world.session(agent.session()).await["seq"].as_i64().unwrap()).await;
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    assert!(kinds.contains(&"question.resolved") && !kinds.contains(&"question.requested"), "{kinds:?}");
    // The person's own message.
    let world = World::with_policy("[questions]\npolicy = \"reject\"\nmessage = \"I am away.\"\n").await;
    assert_eq!(world.agent("question").await.finished().await.unwrap(), "Rejected: I am away.");
}

// The policy picks the first option of every question and never invents free text.
#[tokio::test]
async fn policy_accept_first_chooses_first_options() {
    let world = World::with_policy("[questions]\npolicy = \"accept-first\"\n").await;
    assert_eq!(world.agent("question").await.finished().await.unwrap(), "You answered: SQLite.");
    let mut agent = world.agent("questions").await;
    assert!(agent.finished().await.unwrap().starts_with("Rejected: "));
    assert_eq!(only_ask(&world, agent.session()).await["status"], "rejected");
    for prompt in ["approve", "plan", "link"] {
        let (_agent, ask) = world.start_ask(prompt).await;
        assert_eq!(ask["status"], "pending", "{prompt} is nothing to accept the first of");
    }
}

// Without a timeout the ask stays pending.
#[tokio::test]
async fn forwarded_question_without_timeout_stays_pending() {
    let (world, clock) = World::timeless("[questions]\npolicy = \"forward\"\n").await;
    let (_agent, ask) = world.start_ask("question").await;
    let (_agent, tool) = world.start_ask("approve").await;
    assert_eq!((&ask["deadlineAt"], &tool["deadlineAt"]), (&Value::Null, &Value::Null));
    // The last deadline is set after all asks, so once it fires, all earlier deadlines were checked.
    let mut wanted = question();
    wanted["timeout"] = json!("8760h");
    let last = id(&world.open_ask(wanted).await);
    clock.advance(Duration::from_secs(8_760 * 3_600));
    assert_eq!(world.outcome(&last).await["outcome"]["by"]["kind"], "timeout");
    assert_eq!(world.ask(&id(&ask)).await, ask);
    assert_eq!(world.ask(&id(&tool)).await, tool);
}

#[tokio::test]
async fn question_times_out_after_ten_minutes() {
    let (world, clock) = World::timeless(TEN_MINUTES).await;
    let (mut agent, ask) = world.start_ask("question").await;
    assert_eq!(ask["onTimeout"], "reject");
    clock.advance(Duration::from_millis(10 * 60_000 - 1));
    assert_eq!(world.ask(&id(&ask)).await["status"], "pending");
    clock.advance(Duration::from_millis(1));
    let ended = world.outcome(&id(&ask)).await;
    assert_eq!(ended["status"], "rejected");
    assert_eq!(ended["outcome"]["message"], "User did not respond within 10 minutes");
    assert_eq!(ended["outcome"]["by"], json!({ "kind": "timeout", "after": "10m" }));
    assert_eq!(ended["outcome"]["at"], ask["deadlineAt"]);
    assert_eq!(agent.finished().await.unwrap(), "Rejected: User did not respond within 10 minutes");
}

#[tokio::test]
async fn approval_times_out_after_ten_minutes() {
    let (world, clock) = World::timeless(TEN_MINUTES).await;
    let (mut agent, ask) = world.start_ask("approve").await;
    assert_eq!(ask["onTimeout"], "deny");
    clock.advance(Duration::from_millis(10 * 60_000 - 1));
    assert_eq!(world.ask(&id(&ask)).await["status"], "pending");
    clock.advance(Duration::from_millis(1));
    let ended = world.outcome(&id(&ask)).await;
    assert_eq!((&ended["status"], &ended["outcome"]["by"]["kind"]), (&json!("denied"), &json!("timeout")));
    assert_eq!(ended["outcome"]["message"], "Tool approval timed out after 10 minutes");
    assert_eq!(agent.finished().await.unwrap(), "Denied: Tool approval timed out after 10 minutes");
}

// A timeout picks the first option only if the policy says so, and never for approvals.
#[tokio::test]
async fn timeout_with_accept_first_chooses_first_options() {
    let policy = "[questions]\npolicy = \"forward\"\ntimeout = \"90s\"\non_timeout = \"accept-first\"\n";
    let (world, clock) = World::timeless(policy).await;
    let (mut agent, ask) = world.start_ask("question").await;
    assert_eq!(ask["onTimeout"], "accept-first");
    let (_agent, free) = world.start_ask("questions").await;
    clock.advance(Duration::from_secs(90));
    assert_eq!(world.outcome(&id(&ask)).await["outcome"]["answers"], json!([["SQLite"]]));
    assert_eq!(agent.finished().await.unwrap(), "You answered: SQLite.");
    let rejected = world.outcome(&id(&free)).await;
    assert_eq!(rejected["status"], "rejected", "free text is never guessed");
    assert_eq!(rejected["outcome"]["message"], "User did not respond within 1 minute 30 seconds");
}

// A person's rejection is final; only a timeout uses the fallback.
#[tokio::test]
async fn rejection_by_a_person_is_passed_on() {
    let policy = "[questions]\npolicy = \"forward\"\ntimeout = \"90s\"\non_timeout = \"accept-first\"\n";
    let (world, clock) = World::timeless(policy).await;
    let (mut agent, ask) = world.start_ask("question").await;
    world.admin.post(&format!("/v1/asks/{}/reject", id(&ask)), json!({})).await.expect(200);
    clock.advance(Duration::from_secs(900));
    assert!(agent.finished().await.unwrap().starts_with("Rejected: The user declined to answer."));
    assert_eq!(world.ask(&id(&ask)).await["outcome"]["by"]["kind"], "person");
}

// Rules match the header or the text, by substring or by regular expression.
#[tokio::test]
async fn matching_rules_answer_questions() {
    for (rule, answer) in [
        ("header = \"database\"\nanswer = [\"PostgreSQL\"]", "PostgreSQL"),
        ("match = \"WHICH data\"\nanswer = [\"PostgreSQL\"]", "PostgreSQL"),
        ("match = \"/^Which d.*use\\\\?$/\"\nanswer = [\"PostgreSQL\"]", "PostgreSQL"),
        ("header = \"database\"\npick = 2", "PostgreSQL"),
        ("header = \"database\"\nanswer = [\"a text of my own\"]", "a text of my own"),
    ] {
        let world = World::with_policy(&format!("[[rules]]\nname = \"mine\"\ndo = \"answer\"\n{rule}\n")).await;
        let mut agent = world.agent("question").await;
        assert_eq!(agent.finished().await.unwrap(), format!("You answered: {answer}."), "{rule}");
        let ask = only_ask(&world, agent.session()).await;
        assert_eq!(ask["outcome"]["by"], json!({ "kind": "policy", "rule": "mine" }), "{rule}");
    }
}

// `auto` answers by rule and picks the first option of the remaining questions; `forward` preselects.
#[tokio::test]
async fn ask_stays_pending_if_rules_match_only_a_part() {
    let rule = "[[rules]]\ndo = \"answer\"\nheader = \"areas\"\nanswer = [\"Billing\", \"Search\"]\n";
    let notes = "[[rules]]\ndo = \"answer\"\nheader = \"notes\"\nanswer = [\"none\"]\n";
    let world = World::with_policy(&format!("[questions]\npolicy = \"auto\"\n{rule}{notes}")).await;
    let words = world.agent("questions").await.finished().await.unwrap();
    assert_eq!(words, "You answered: [Database] SQLite; [Areas] Billing, Search; [Notes] none.");
    let world = World::with_policy(&format!("[questions]\npolicy = \"auto\"\n{rule}")).await;
    let words = world.agent("questions").await.finished().await.unwrap();
    assert!(words.starts_with("Rejected"), "free text without a rule: {words}");
    let world = World::with_policy(rule).await;
    let (_agent, ask) = world.start_ask("questions").await;
    assert_eq!(ask["status"], "pending");
    let preselected: Vec<_> = ask["questions"].as_array().unwrap().iter().map(|q| q["preselected"].clone()).collect();
    assert_eq!(preselected, [Value::Null, json!(["Billing", "Search"]), Value::Null]);
}

// A rule whose answer is not valid for the question does not match.
#[tokio::test]
async fn rule_with_an_unknown_option_asks_a_person() {
    let world = World::with_policy("[[rules]]\ndo = \"answer\"\nheader = \"port\"\nanswer = [\"99999\"]\n").await;
    let (_agent, ask) = world.start_ask("form").await;
    assert_eq!(ask["status"], "pending");
}

#[tokio::test]
async fn matching_rule_rejects_a_question() {
    let world = World::with_policy("[[rules]]\nname = \"no databases\"\ndo = \"reject\"\nheader = \"database\"\n").await;
    let mut agent = world.agent("question").await;
    assert!(agent.finished().await.unwrap().starts_with("Rejected: "));
    assert_eq!(only_ask(&world, agent.session()).await["outcome"]["by"]["rule"], "no databases");
}

// Deny beats ask beats allow, in any order.
#[tokio::test]
async fn deny_beats_ask_beats_allow() {
    let rule = |what: &str, run: &str| format!("[[rules]]\nname = \"{what}\"\ndo = \"{what}\"\nrun = [\"{run}\"]\n");
    let (allow, ask, deny) = (rule("allow", "cargo test *"), rule("ask", "cargo *"), rule("deny", "cargo test --workspace"));
    for (policy, expected) in [
        (allow.clone(), "Approved: cargo test --workspace"),
        (format!("{allow}{deny}"), "Denied: "),
        (format!("{deny}{allow}"), "Denied: "),
        (format!("{deny}{ask}{allow}"), "Denied: "),
        (format!("[approvals]\npolicy = \"allow\"\n{deny}"), "Denied: "),
        ("[approvals]\npolicy = \"deny\"\n".to_owned(), "Denied: Tool use denied by the user's policy"),
        ("[approvals]\npolicy = \"allow\"\n".to_owned(), "Approved: "),
    ] {
        let world = World::with_policy(&policy).await;
        let mut agent = world.agent("approve").await;
        let words = agent.finished().await.unwrap();
        assert!(words.starts_with(expected), "{policy}: {words}");
        assert_eq!(only_ask(&world, agent.session()).await["outcome"]["by"]["kind"], "policy");
    }
    for policy in [format!("{allow}{ask}"), format!("{ask}{allow}"), format!("[approvals]\npolicy = \"allow\"\n{ask}")] {
        let world = World::with_policy(&policy).await;
        let (_agent, asked) = world.start_ask("approve").await;
        assert_eq!(asked["status"], "pending", "{policy}");
    }
}

// If the file does not parse, the last valid policy stays in force and the error names the line.
#[tokio::test]
async fn invalid_file_keeps_the_last_valid_policy() {
    let world = World::with_policy("[questions]\npolicy = \"reject\"\n").await;
    let path = world.server.config_dir().join("policy.toml");
    for broken in [
        "[questions]\npolicy = \"sometimes\"\n",
        "[questions]\npolicy = \"forward\"\ntimeout = \"10m\"\n",
        "[questions]\npolicy = \"accept-first\"\ntimeout = \"10m\"\non_timeout = \"reject\"\n",
        "[questions\n",
        "[[rules]]\ndo = \"allow\"\n",
    ] {
        std::fs::write(&path, broken).unwrap();
        // Changes are detected by the modification time, which may be as coarse as the clock, so set a different one.
        let later = std::time::SystemTime::now() + Duration::from_secs(u64::try_from(broken.len()).unwrap());
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        let view = world.admin.get("/v1/policy").await.expect(200);
        let error = view["error"].as_str().unwrap_or_else(|| panic!("{broken}: {view}"));
        assert!(error.contains("line"), "{error}");
        assert!(world.agent("question").await.finished().await.unwrap().starts_with("Rejected"), "{broken}");
    }
    std::fs::write(&path, "").unwrap();
    std::fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(std::time::SystemTime::now() + Duration::from_secs(9_999))
        .unwrap();
    assert_eq!(world.admin.get("/v1/policy").await.expect(200)["error"], Value::Null);
    let (_agent, ask) = world.start_ask("question").await;
    assert_eq!(ask["status"], "pending", "the new one is in force");
}

/// A server that starts with an invalid policy file allows nothing automatically.
#[tokio::test]
async fn invalid_file_at_start_means_no_policy() {
    let world = World::with_policy("[approvals]\npolicy = \"allow\"\nnonsense = 1\n").await;
    let (_agent, ask) = world.start_ask("approve").await;
    assert_eq!(ask["status"], "pending");
    assert!(world.admin.get("/v1/policy").await.expect(200)["error"].is_string());
}

// The policy of a session takes precedence over the policy of the person.
#[tokio::test]
async fn session_policy_overrides_the_file() {
    let world = World::start().await;
    let mut agent =
        started(&world, json!({ "agent": "mock", "prompt": "question", "policy": { "questions": "accept-first" } })).await;
    assert_eq!(agent.finished().await.unwrap(), "You answered: SQLite.");
    let (_agent, ask) = world.start_ask("question").await;
    assert_eq!(ask["status"], "pending", "others are not touched");
    let mut agent = started(&world, json!({ "agent": "mock", "prompt": "question", "policy": { "questions": "reject" } })).await;
    // An agent that was told that questions are rejected does not have to ask.
    assert!(agent.finished().await.unwrap().contains("questions are switched off"));
}

// An untrusted project can only add deny and ask rules.
#[tokio::test]
async fn untrusted_project_cannot_allow() {
    let world = World::start().await;
    let project = world.server.project();
    let file = project.join(".sayso.toml");
    let start = || started(&world, json!({ "agent": "mock", "prompt": "approve", "cwd": project }));
    std::fs::write(&file, "[[rules]]\ndo = \"allow\"\nrun = [\"cargo test *\"]\n").unwrap();
    assert!(start().await.asks().await.unwrap().approval.is_some(), "an untrusted allow");
    let trusted = world.admin.post("/v1/policy/trust", json!({ "directory": project })).await.expect(200);
    assert!(trusted["hash"].as_str().is_some_and(|hash| !hash.is_empty()));
    assert_eq!(start().await.finished().await.unwrap(), "Approved: cargo test --workspace");
    std::fs::write(&file, "[[rules]]\ndo = \"allow\"\nrun = [\"cargo *\"]\n").unwrap();
    assert!(start().await.asks().await.unwrap().approval.is_some(), "another text is not trusted");
    std::fs::write(&file, "[[rules]]\ndo = \"deny\"\nrun = [\"cargo *\"]\n").unwrap();
    assert!(start().await.finished().await.unwrap().starts_with("Denied"), "stricter is taken from anybody");
}

#[tokio::test]
async fn grants_expire() {
    let (world, clock) = World::timeless("").await;
    world.admin.post("/v1/policy/grants", json!({ "run": ["cargo test *"], "for": "1h" })).await.expect(201);
    assert_eq!(world.agent("approve").await.finished().await.unwrap(), "Approved: cargo test --workspace");
    clock.advance(Duration::from_secs(3_600));
    let (_agent, ask) = world.start_ask("approve").await;
    assert_eq!(ask["status"], "pending");
    assert_eq!(world.admin.get("/v1/policy").await.expect(200)["grants"], json!([]));
    for wrong in [json!({ "run": [], "for": "1h" }), json!({ "run": ["x"], "for": "soon" }), json!({ "run": ["x"] })] {
        assert_eq!(world.admin.post("/v1/policy/grants", wrong).await.status, 422);
    }
}

/// Temporary rules that the page creates: any condition of a rule, limited to its project, until the grant is revoked.
#[tokio::test]
async fn grants_of_every_kind_can_be_revoked() {
    let world = World::start().await;
    let edit =
        |path: &str| json!({ "project": "/p", "approval": { "tool": "Edit", "action": "edit", "paths": [path], "input": {} } });
    let granted = world
        .admin
        .post("/v1/policy/grants", json!({ "edit": ["src/**"], "project": "/p", "until": "2100-01-01T00:00:00Z" }))
        .await
        .expect(201);
    let shown =
        json!({ "id": granted["id"], "run": [], "edit": ["src/**"], "project": "/p", "until": "2100-01-01T00:00:00.000Z" });
    assert_eq!(granted, shown);
    assert_eq!(world.admin.get("/v1/policy").await.expect(200)["grants"], json!([shown]));
    assert_eq!(world.open_ask(edit("/p/src/a.rs")).await["status"], "approved");
    assert_eq!(world.open_ask(edit("/p/b.rs")).await["status"], "pending");
    let path = format!("/v1/policy/grants/{}", id(&granted));
    world.admin.delete(&path).await.expect(204);
    assert_eq!(world.open_ask(edit("/p/src/b.rs")).await["status"], "pending");
    world.admin.delete(&path).await.problem(404, "not_found");
    for wrong in [
        json!({ "edit": ["a"], "run": ["b"], "for": "1h" }),
        json!({ "project": "/p", "for": "1h" }),
        json!({ "tool": ["x"], "for": "1h", "until": "2100-01-01T00:00:00Z" }),
        json!({ "tool": ["x"], "until": "2001-01-01T00:00:00Z" }),
        json!({ "tool": ["x"] }),
    ] {
        assert_eq!(world.admin.post("/v1/policy/grants", wrong.clone()).await.status, 422, "{wrong}");
    }
}

#[tokio::test]
async fn policy_file_is_validated_and_conflicting_writes_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::start().await;
    let put = async |text: &str, fingerprint: &Value| {
        let body = json!({ "text": text, "ifFingerprint": fingerprint });
        world.admin.call(&reqwest::Method::PUT, "/v1/policy", Some(&body)).await
    };
    let before = world.admin.get("/v1/policy").await.expect(200);
    let allow = "# mine\n[[rules]]\ndo = \"allow\"\nrun = [\"cargo test *\"]\n";
    let after = put(allow, &before["textFingerprint"]).await.expect(200);
    assert_eq!((&after["text"], &after["error"]), (&json!(allow), &Value::Null));
    assert_ne!(after["fingerprint"], before["fingerprint"]);
    assert_eq!(world.open_ask(approval()).await["status"], "approved", "it is in force at once");
    let file = std::path::PathBuf::from(after["path"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), allow);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

    let refused = put("[[rules]]\ndo = \"perhaps\"\n", &after["textFingerprint"]).await.problem(422, "invalid_policy");
    assert_eq!((&refused["line"], &refused["column"]), (&json!(2), &json!(6)));
    put("", &before["textFingerprint"]).await.problem(409, "policy_changed");
    std::fs::write(&file, "# an editor\n").unwrap();
    put("", &after["textFingerprint"]).await.problem(409, "policy_changed");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "# an editor\n");
    std::fs::write(&file, b"# \xff\n").unwrap();
    put("", &before["textFingerprint"]).await.problem(500, "internal");
    assert_eq!(std::fs::read(&file).unwrap(), b"# \xff\n", "an unreadable file is not replaced");
}

#[tokio::test]
async fn profile_switches_off_at_its_time() {
    let policy = "[profiles.away]\nquestions = { policy = \"reject\" }\n";
    let (world, clock) = World::timeless(policy).await;
    let put = |body: Value| {
        let admin = world.admin.clone();
        async move { admin.call(&reqwest::Method::PUT, "/v1/policy/profile", Some(&body)).await }
    };
    put(json!({ "name": "moon" })).await.problem(422, "invalid_policy");
    let view = put(json!({ "name": "away", "for": "2h" })).await.expect(200);
    assert_eq!(view["profile"]["name"], "away");
    assert!(world.agent("question").await.finished().await.unwrap().starts_with("Rejected"));
    clock.advance(Duration::from_secs(2 * 3_600));
    let (_agent, ask) = world.start_ask("question").await;
    assert_eq!(ask["status"], "pending");
    put(json!({ "name": "away" })).await.expect(200);
    assert_eq!(put(json!({ "name": null })).await.expect(200)["profile"], Value::Null);
}

#[tokio::test]
async fn explain_returns_the_decision_of_a_policy() {
    let world = World::start().await;
    let (_agent, ask) = world.start_ask("approve").await;
    let explain = |body: Value| {
        let admin = world.admin.clone();
        async move { admin.post("/v1/policy/explain", body).await }
    };
    let now = explain(json!({ "askId": id(&ask) })).await.expect(200);
    assert_eq!((&now["data"][0]["verdict"], &now["data"][0]["askId"]), (&json!("ask"), &ask["id"]));
    let candidate = "[[rules]]\nname = \"tests\"\ndo = \"allow\"\nrun = [\"cargo test *\"]\n";
    let then = explain(json!({ "pending": true, "policy": candidate })).await.expect(200);
    assert_eq!((&then["data"][0]["verdict"], &then["data"][0]["because"]), (&json!("approve"), &json!("tests")));
    assert_eq!(world.ask(&id(&ask)).await, ask, "explaining decides nothing");
    let broken = explain(json!({ "pending": true, "policy": "[questions]\npolicy = 1\n" })).await.problem(422, "invalid_policy");
    assert_eq!(broken["line"], 2);
    explain(json!({ "history": 0 })).await.problem(422, "invalid_request");
}

/// The guard rule is built in and cannot be removed.
#[tokio::test]
async fn rules_cannot_allow_sayso_itself() {
    let world = World::with_policy("[approvals]\npolicy = \"allow\"\n[[rules]]\ndo = \"allow\"\nrun = [\"*\"]\n").await;
    let run = |command: String| json!({ "approval": { "tool": "Bash", "action": "run", "command": command, "input": { "command": command } } });
    let allowed = world.open_ask(run("ls".to_owned())).await;
    assert_eq!(allowed["status"], "approved");
    let token = world.server.data_dir().join("token");
    for command in ["sayso approve ask_1".to_owned(), format!("cat {}", token.display())] {
        let asked = world.open_ask(run(command.clone())).await;
        assert_eq!(asked["status"], "pending", "{command}");
    }
}

/// The timeout of a caller can only shorten the timeout of the policy.
#[tokio::test]
async fn timeout_of_a_caller_denies_its_approval() {
    let (world, clock) =
        World::timeless("[questions]\npolicy = \"forward\"\ntimeout = \"10m\"\non_timeout = \"accept-first\"\n").await;
    let with = |mut wanted: Value, timeout: &str| {
        wanted["timeout"] = json!(timeout);
        wanted
    };
    let short = world.open_ask(with(question(), "1m")).await;
    let long = world.open_ask(with(question(), "1h")).await;
    let tool = world.open_ask(with(approval(), "1m")).await;
    let deadlines = [&short, &long, &tool].map(|ask| ask["onTimeout"].clone());
    assert_eq!(deadlines, [json!("reject"), json!("accept-first"), json!("deny")]);
    clock.advance(Duration::from_secs(60));
    assert_eq!(world.outcome(&id(&short)).await["outcome"]["message"], "User did not respond within 1 minute");
    assert_eq!(world.outcome(&id(&tool)).await["outcome"]["message"], "Tool approval timed out after 1 minute");
    clock.advance(Duration::from_secs(540));
    assert_eq!(world.outcome(&id(&long)).await["outcome"]["answers"], json!([["SQLite"]]));
}
