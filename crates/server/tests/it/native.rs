//! The native API: lists, opening and deciding asks, and refusals that leave the ask unchanged.

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{World, approval, id, question};

/// Ids that do not exist, in every form: unused, malformed, of another kind, hostile.
const NO_IDS: [&str; 7] = [
    "ask_01890000000070008000000000000000",
    "ses_01890000000070008000000000000000",
    "ask_",
    "0",
    "..%2f..%2fetc%2fpasswd",
    "ask_01890000000070008000000000000000%00",
    "%F0%9F%90%99",
];

// Unknown and malformed ids are 404 on every route.
#[tokio::test]
async fn malformed_id_is_not_found_on_every_route() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("question").await;
    let sid = agent.session();
    let ask = id(&ask);
    let answers = json!({ "answers": [["SQLite"]] });
    for nothing in NO_IDS {
        let asks: Vec<(Method, String, Option<Value>)> = vec![
            (Method::GET, format!("/v1/asks/{nothing}"), None),
            (Method::DELETE, format!("/v1/asks/{nothing}"), None),
            (Method::POST, format!("/v1/asks/{nothing}/receipt"), None),
            (Method::POST, format!("/v1/asks/{nothing}/answer"), Some(answers.clone())),
            (Method::POST, format!("/v1/asks/{nothing}/reject"), None),
            (Method::POST, format!("/v1/asks/{nothing}/approve"), None),
            (Method::POST, format!("/v1/asks/{nothing}/deny"), None),
            (Method::POST, format!("/v1/asks/{nothing}/snooze"), Some(json!({ "until": null }))),
            (Method::POST, format!("/v1/sessions/{sid}/questions/{nothing}/reply"), Some(answers.clone())),
            (Method::POST, format!("/v1/sessions/{sid}/questions/{nothing}/reject"), None),
            (Method::POST, "/v1/policy/explain".to_owned(), Some(json!({ "askId": nothing }))),
        ];
        for (method, path, body) in asks {
            world.admin.call(&method, &path, body.as_ref()).await.problem(404, "ask_not_found");
        }
        let sessions: Vec<(Method, String, Option<Value>)> = vec![
            (Method::GET, format!("/v1/sessions/{nothing}"), None),
            (Method::DELETE, format!("/v1/sessions/{nothing}"), None),
            (Method::GET, format!("/v1/sessions/{nothing}/transcript"), None),
            (Method::GET, format!("/v1/sessions/{nothing}/events"), None),
            (Method::GET, format!("/v1/sessions/{nothing}/stream"), None),
            (Method::POST, format!("/v1/sessions/{nothing}/messages"), Some(json!({ "text": "hi" }))),
            (Method::POST, format!("/v1/sessions/{nothing}/interrupt"), None),
            (Method::POST, format!("/v1/sessions/{nothing}/resume"), None),
            (
                Method::POST,
                format!("/v1/sessions/{nothing}/submit-answers"),
                Some(json!({ "toolCallId": "call-1", "answers": {} })),
            ),
            (Method::POST, format!("/v1/sessions/{nothing}/approve"), Some(json!({ "toolCallId": "call-1" }))),
            (Method::POST, format!("/v1/sessions/{nothing}/deny"), Some(json!({ "toolCallId": "call-1" }))),
        ];
        for (method, path, body) in sessions {
            world.admin.call(&method, &path, body.as_ref()).await.problem(404, "session_not_found");
        }
        // Dialect routes contain the session id and the question id; either can be wrong.
        for verb in ["reply", "reject"] {
            let path = format!("/v1/sessions/{nothing}/questions/{ask}/{verb}");
            let body = (verb == "reply").then_some(&answers);
            assert_eq!(world.admin.call(&Method::POST, &path, body).await.status, 404, "{path}");
        }
        world.admin.delete(&format!("/v1/tokens/{nothing}")).await.problem(404, "not_found");
        let mut of_session = question();
        of_session["sessionId"] = json!(nothing);
        world.admin.post("/v1/asks", of_session).await.problem(404, "session_not_found");
        let filtered = world.admin.get(&format!("/v1/asks?session={nothing}")).await;
        assert!(filtered.status == 404 || filtered.json()["data"] == json!([]), "{nothing}: {}", filtered.text);
    }
    world.admin.get("/v1/nothing").await.problem(404, "not_found");
    world.admin.delete("/v1/agents").await.problem(405, "method_not_allowed");
    assert_eq!(world.ask(&ask).await["status"], "pending");
}

// Malformed JSON is 400, any other invalid body is 422, and the ask stays pending.
#[tokio::test]
async fn invalid_bodies_do_not_change_the_ask() {
    let world = World::start().await;
    let ask = world.open_ask(question()).await;
    let tool = world.open_ask(approval()).await;
    let (question_id, tool_id) = (id(&ask), id(&tool));
    for broken in ["", "{", "[1,", "{\"answers\":[[\"SQLite\"]]} more", "\u{0}", "{\"answers\": nope}"] {
        world.admin.raw(&format!("/v1/asks/{question_id}/answer"), broken).await.problem(400, "malformed_request");
    }
    let bytes: Vec<u8> = b"{\"answers\":[[\"\xff\xfe\"]]}".to_vec();
    assert!([400, 422].contains(&world.admin.raw(&format!("/v1/asks/{question_id}/answer"), bytes).await.status));
    for wrong in [
        json!(null),
        json!([]),
        json!("SQLite"),
        json!({}),
        json!({ "answers": "SQLite" }),
        json!({ "answers": ["SQLite"] }),
        json!({ "answers": [[1]] }),
        json!({ "answers": [["SQLite"]], "extra": true }),
        json!({ "answers": [["SQLite"]], "note": 7 }),
    ] {
        world.admin.post(&format!("/v1/asks/{question_id}/answer"), wrong).await.problem(422, "invalid_request");
    }
    let too_long = "x".repeat(70_000);
    for (wrong, reason) in [
        (json!([]), None),
        (json!([["SQLite"], ["SQLite"]]), None),
        (json!([[]]), Some("an answer is required")),
        (json!([[""]]), Some("an answer is required")),
        (json!([["SQLite", "PostgreSQL"]]), Some("takes one answer, got 2")),
        (json!([[too_long]]), Some("an answer may have 65536 bytes, this one has 70000")),
    ] {
        let problem = world.admin.answer(&question_id, wrong).await.problem(422, "invalid_answers");
        match reason {
            None => assert!(problem["problems"].as_array().is_none_or(Vec::is_empty)),
            Some(reason) => assert_eq!(problem["problems"], json!([{ "index": 0, "key": "0", "reason": reason }])),
        }
    }
    let post = |ask: &str, verb: &str, body: Value| {
        let (path, admin) = (format!("/v1/asks/{ask}/{verb}"), world.admin.clone());
        async move { admin.post(&path, body).await }
    };
    post(&question_id, "answer", json!({ "answers": [["SQLite"]], "note": too_long })).await.problem(422, "limit_exceeded");
    post(&question_id, "reject", json!({ "message": too_long })).await.problem(422, "limit_exceeded");
    post(&question_id, "reject", json!({ "because": "no" })).await.problem(422, "invalid_request");
    post(&question_id, "snooze", json!({ "until": "tomorrow" })).await.problem(422, "invalid_request");
    post(&question_id, "snooze", json!({ "for": "1h" })).await.problem(422, "invalid_request");
    post(&tool_id, "approve", json!({ "choice": "always" })).await.problem(422, "invalid_request");
    post(&tool_id, "approve", json!({ "input": {} })).await.problem(422, "invalid_request");
    post(&tool_id, "deny", json!({ "stop": "yes" })).await.problem(422, "invalid_request");
    // Decisions of the wrong kind are refused.
    post(&question_id, "approve", json!({})).await.problem(422, "wrong_kind");
    post(&question_id, "deny", json!({})).await.problem(422, "wrong_kind");
    post(&tool_id, "answer", json!({ "answers": [["SQLite"]] })).await.problem(422, "wrong_kind");
    post(&tool_id, "reject", json!({})).await.problem(422, "wrong_kind");
    assert_eq!(world.ask(&question_id).await, ask);
    assert_eq!(world.ask(&tool_id).await, tool);
}

// A late answer gets 409 before validation. The body names the winner and says whether the winner is the caller.
#[tokio::test]
async fn late_decision_gets_the_outcome_of_the_winner() {
    let world = World::start().await;
    let (ann, bob) = (
        world.token(json!({ "role": "answerer", "actor": "ann" })).await,
        world.token(json!({ "role": "answerer", "actor": "bob" })).await,
    );
    let ask = id(&world.open_ask(question()).await);
    let won = ann.answer(&ask, json!([["SQLite"]])).await.expect(200);
    let post = |by: &crate::world::Http, verb: &str, body: Value| {
        let (path, http) = (format!("/v1/asks/{ask}/{verb}"), by.clone());
        async move { http.post(&path, body).await }
    };
    let snooze = json!({ "until": "2030-01-01T00:00:00Z" });
    for (verb, body) in [
        ("answer", json!({ "answers": [["PostgreSQL"]] })),
        ("answer", json!({ "answers": [] })),
        ("reject", json!({})),
        ("approve", json!({})),
        ("deny", json!({})),
        ("snooze", snooze),
    ] {
        for (by, own) in [(&ann, true), (&bob, false)] {
            let late = post(by, verb, body.clone()).await.problem(409, "ask_already_resolved");
            assert_eq!(late["own"], own, "{verb}");
            assert_eq!(late["outcome"]["status"], "answered");
            assert_eq!(late["outcome"]["by"], won["outcome"]["by"]);
            assert_eq!(late["outcome"]["at"], won["outcome"]["at"]);
        }
    }
    world.admin.delete(&format!("/v1/asks/{ask}")).await.problem(409, "ask_already_resolved");
    let stored = world.ask(&ask).await;
    assert_eq!(stored["outcome"], won["outcome"]);
}

#[tokio::test]
async fn opening_an_invalid_ask_is_refused() {
    let world = World::start().await;
    let before = world.admin.get("/v1/asks").await.expect(200);
    let q = |question: Value| json!({ "questions": [question] });
    let long = "x".repeat(9_000);
    let many = |n: usize| (0..n).map(|n| json!({ "label": format!("o{n}") })).collect::<Vec<_>>();
    for (wrong, status, code) in [
        (json!({}), 422, "invalid_request"),
        (json!({ "questions": [] }), 422, "invalid_request"),
        (json!({ "questions": [{ "text": "?" }], "link": { "url": "https://example.com" } }), 422, "invalid_request"),
        (json!({ "questions": [{ "text": "?" }], "unknown": 1 }), 422, "invalid_request"),
        (q(json!({ "header": "no text" })), 422, "invalid_request"),
        (q(json!({ "text": "?", "input": "telepathy" })), 422, "invalid_request"),
        (json!({ "questions": [{ "text": "?" }], "timeout": "soon" }), 422, "invalid_request"),
        (q(json!({ "text": long })), 422, "limit_exceeded"),
        (q(json!({ "text": "?", "options": many(65) })), 422, "limit_exceeded"),
        (json!({ "questions": vec![json!({ "text": "?" }); 17] }), 422, "limit_exceeded"),
        (json!({ "approval": { "tool": "x".repeat(300), "action": "other" } }), 422, "limit_exceeded"),
        (json!({ "link": { "url": long } }), 422, "limit_exceeded"),
        (json!({ "questions": [{ "text": "?" }], "labels": { "k": "v".repeat(300) } }), 422, "limit_exceeded"),
    ] {
        world.admin.post("/v1/asks", wrong).await.problem(status, code);
    }
    assert_eq!(world.admin.get("/v1/asks").await.expect(200), before);
}

// Long headers and many options break a recommendation, so they are accepted.
#[tokio::test]
async fn opened_ask_keeps_all_its_fields() {
    let world = World::start().await;
    let options: Vec<_> = (0..20).map(|n| json!({ "label": format!("Option {n}"), "value": format!("o{n}") })).collect();
    let ask = world
        .open_ask(json!({
            "agent": "deploy.sh", "title": "Deploy to production", "project": "/srv/shop", "branch": "main",
            "context": "All tests pass.", "labels": { "env": "prod" }, "timeout": "10m",
            "questions": [{ "header": "A header of more than thirty characters", "text": "Where?", "options": options }],
        }))
        .await;
    for (field, value) in [
        ("agent", json!("deploy.sh")),
        ("title", json!("Deploy to production")),
        ("project", json!("/srv/shop")),
        ("branch", json!("main")),
        ("context", json!("All tests pass.")),
        ("labels", json!({ "env": "prod" })),
        ("sessionId", Value::Null),
        ("onTimeout", json!("reject")),
    ] {
        assert_eq!(ask[field], value, "{field}");
    }
    assert_eq!(ask["toolCallId"], ask["id"], "every ask can be named by a tool call");
    assert!(ask["deadlineAt"].is_string());
    let answered = world.admin.answer(&id(&ask), json!([["Option 7"]])).await.expect(200);
    assert_eq!(answered["outcome"]["answers"], json!([["o7"]]), "a label stored for its value");

    let approval = world
        .open_ask(json!({ "approval": {
            "tool": "Bash", "action": "run", "command": "make deploy", "input": { "command": "make deploy" }, "reason": "it writes",
            "choices": [{ "id": "always", "label": "Always allow make deploy" }], "editable": true,
        } }))
        .await;
    assert_eq!(approval["approval"]["reason"], "it writes");
    let approved =
        world.admin.post(&format!("/v1/asks/{}/approve", id(&approval)), json!({ "choice": "always" })).await.expect(200);
    assert_eq!(approved["outcome"]["choice"], "always");
}

#[tokio::test]
async fn waiting_caller_gets_the_outcome_which_counts_as_delivered() {
    let world = World::start().await;
    let agent = world.role("agent").await;
    let ask = id(&agent.post("/v1/asks", question()).await.expect(201));
    let waiting = {
        let (agent, path) = (agent.clone(), format!("/v1/asks/{ask}?wait=30s"));
        tokio::spawn(async move { agent.get(&path).await.expect(200) })
    };
    // Another caller reading the ask does not count as delivery.
    world.admin.get(&format!("/v1/asks/{ask}")).await.expect(200);
    world.admin.answer(&ask, json!([["SQLite"]])).await.expect(200);
    let got = waiting.await.unwrap();
    assert_eq!(got["outcome"]["answers"], json!([["SQLite"]]));
    assert_eq!(world.ask(&ask).await["delivery"], "queued", "looking is no receipt");
    let receipt = format!("/v1/asks/{ask}/receipt");
    world.admin.poke(&receipt).await.problem(404, "ask_not_found");
    for _ in 0..2 {
        let taken = agent.poke(&receipt).await.expect(200);
        assert_eq!((&taken["delivery"], &taken["outcome"]), (&json!("delivered"), &got["outcome"]));
    }
    let waiting = id(&agent.post("/v1/asks", question()).await.expect(201));
    agent.poke(&format!("/v1/asks/{waiting}/receipt")).await.problem(409, "ask_pending");
    agent.get(&format!("/v1/asks/{ask}?wait=soon")).await.problem(422, "invalid_request");
}

#[tokio::test]
async fn caller_withdraws_only_its_own_asks() {
    let world = World::start().await;
    let agent = world.role("agent").await;
    let mine = id(&agent.post("/v1/asks", question()).await.expect(201));
    let withdrawn = agent.delete(&format!("/v1/asks/{mine}")).await.expect(200);
    assert_eq!(
        (&withdrawn["status"], &withdrawn["outcome"]["message"]),
        (&json!("withdrawn"), &json!("The caller withdrew it."))
    );
    agent.delete(&format!("/v1/asks/{mine}")).await.problem(409, "ask_already_resolved");
    let theirs = id(&world.open_ask(question()).await);
    agent.delete(&format!("/v1/asks/{theirs}")).await.problem(404, "ask_not_found");
    let (_agent, of_mock) = world.start_ask("question").await;
    world.admin.delete(&format!("/v1/asks/{}", id(&of_mock))).await.problem(404, "ask_not_found");
    assert_eq!(world.ask(&id(&of_mock)).await, of_mock);
}

#[tokio::test]
async fn equal_dedupe_keys_open_one_ask() {
    let world = World::start().await;
    let open = || {
        let mut wanted = question();
        wanted["dedupeKey"] = json!("deploy");
        wanted
    };
    let first = world.open_ask(open()).await;
    assert_eq!(world.open_ask(open()).await, first);
    world.admin.answer(&id(&first), json!([["SQLite"]])).await.expect(200);
    assert_ne!(id(&world.open_ask(open()).await), id(&first));
}

#[tokio::test]
async fn lists_filter_and_page_and_refuse_invalid_parameters() {
    let world = World::start().await;
    let (agent, of_mock) = world.start_ask("question").await;
    let mut labelled = approval();
    labelled["labels"] = json!({ "team": "shop" });
    labelled["project"] = json!("/srv/shop");
    let tool = world.open_ask(labelled).await;
    let ids = |query: &str| {
        let (path, admin) = (format!("/v1/asks{query}"), world.admin.clone());
        async move { admin.get(&path).await.expect(200)["data"].as_array().unwrap().iter().map(id).collect::<Vec<_>>() }
    };
    let (mock_id, tool_id) = (id(&of_mock), id(&tool));
    assert_eq!(ids("").await, [tool_id.as_str(), mock_id.as_str()]);
    assert_eq!(ids("?status=pending").await, [mock_id.as_str(), tool_id.as_str()]);
    assert_eq!(ids("?kind=approval").await, [tool_id.as_str()]);
    assert_eq!(ids("?label=team%3Dshop").await, [tool_id.as_str()]);
    assert_eq!(ids("?agent=mock").await, [mock_id.as_str()]);
    assert_eq!(ids(&format!("?session={}", agent.session())).await, [mock_id.as_str()]);
    assert_eq!(ids(&format!("?idEndsWith={}", &tool_id[tool_id.len() - 8..])).await, [tool_id.as_str()]);
    assert_eq!(ids(&format!("?idEndsWith={}", "0".repeat(80))).await, Vec::<String>::new(), "no id ends like this");
    assert_eq!(ids("?project=%2Fsrv%2F").await, [tool_id.as_str()], "subdirectories match");
    assert_eq!(ids("?project=%2Fsrv%2Fsho").await, Vec::<String>::new());
    assert_eq!(ids("?q=CARGO").await, [tool_id.as_str()]);
    assert_eq!(ids("?since=2100-01-01T00:00:00Z").await, Vec::<String>::new());
    assert_eq!(ids("?until=2100-01-01T00:00:00Z").await, [tool_id.as_str(), mock_id.as_str()]);
    world.admin.post(&format!("/v1/asks/{tool_id}/deny"), json!({})).await.expect(200);
    assert_eq!(ids("?status=denied").await, [tool_id.as_str()]);
    assert_eq!(ids("?status=resolved").await, [tool_id.as_str()]);
    let page = world.admin.get("/v1/asks?limit=1").await.expect(200);
    assert_eq!((page["pending"].clone(), page["data"].as_array().unwrap().len()), (json!(1), 1));
    let next = world.admin.get(&format!("/v1/asks?limit=1&cursor={}", page["nextCursor"].as_str().unwrap())).await.expect(200);
    assert_eq!((id(&next["data"][0]), &next["nextCursor"]), (mock_id, &Value::Null));
    for wrong in ["?limit=0", "?limit=501", "?limit=x", "?cursor=x", "?status=maybe", "?kind=none", "?label=x", "?color=red"] {
        world.admin.get(&format!("/v1/asks{wrong}")).await.problem(422, "invalid_request");
        if wrong != "?status=maybe" && wrong != "?kind=none" {
            world.admin.get(&format!("/v1/sessions{wrong}")).await.problem(422, "invalid_request");
        }
    }
}

#[tokio::test]
async fn snoozing_does_not_decide_the_ask() {
    let world = World::start().await;
    let ask = world.open_ask(question()).await;
    let path = format!("/v1/asks/{}/snooze", id(&ask));
    let hidden = world.admin.post(&path, json!({ "until": "2030-01-01T00:00:00Z" })).await.expect(200);
    assert_eq!((&hidden["snoozedUntil"], &hidden["status"]), (&json!("2030-01-01T00:00:00.000Z"), &json!("pending")));
    let back = world.admin.post(&path, json!({ "until": null })).await.expect(200);
    assert_eq!(back, ask);
}

#[tokio::test]
async fn oversized_body_is_refused() {
    let world = World::start().await;
    let ask = world.open_ask(question()).await;
    let huge = json!({ "answers": [["x".repeat(7 * 1024 * 1024)]] }).to_string();
    world.admin.raw(&format!("/v1/asks/{}/answer", id(&ask)), huge).await.problem(413, "too_large");
    assert_eq!(world.ask(&id(&ask)).await, ask);
}

/// Content up to the limit is stored unchanged. Content over the limit is refused with an error that names it.
#[tokio::test]
async fn large_inputs_are_stored_completely() {
    let world = World::start().await;
    let open = |size: usize| json!({ "approval": { "tool": "Write", "action": "edit", "paths": ["a"], "input": { "text": "ä".repeat(size / 2) } } });
    let ask = world.open_ask(open(3_000_000)).await;
    assert_eq!(world.ask(&id(&ask)).await["approval"]["input"]["text"].as_str().unwrap().len(), 3_000_000);
    let refused = world.admin.post("/v1/asks", open(5_000_000)).await.problem(422, "limit_exceeded");
    assert!(refused["detail"].as_str().unwrap().contains("4194304"), "{refused}");
}

#[tokio::test]
async fn invalid_session_requests_are_refused() {
    let world = World::start().await;
    let start = |new: Value| {
        let admin = world.admin.clone();
        async move { admin.post("/v1/sessions", new).await }
    };
    start(json!({ "agent": "gpt" })).await.problem(422, "unknown_agent");
    start(json!({ "agent": "mock", "command": "rm" })).await.problem(422, "invalid_request");
    start(json!({ "agent": "mock", "cwd": "relative" })).await.problem(422, "directory_not_allowed");
    start(json!({ "agent": "mock", "cwd": "/nowhere/at/all" })).await.problem(422, "directory_not_allowed");
    start(json!({ "agent": "mock", "policy": { "questions": "maybe" } })).await.problem(422, "invalid_request");
    start(json!({ "agent": "mock", "policy": { "questions": { "timeout": "10m" } } })).await.problem(422, "invalid_policy");
    // Admins may name any directory; others only directories inside the roots.
    let answerer = world.role("answerer").await;
    answerer.post("/v1/sessions", json!({ "agent": "mock", "cwd": "/" })).await.problem(422, "directory_not_allowed");
    let project = world.server.project();
    let escape = format!("{}/../../..", project.display());
    answerer.post("/v1/sessions", json!({ "agent": "mock", "cwd": escape })).await.problem(422, "directory_not_allowed");
    let inside = answerer.post("/v1/sessions", json!({ "agent": "mock", "cwd": project })).await.expect(201);
    assert_eq!(inside["cwd"], json!(project.canonicalize().unwrap()));
    start(json!({ "agent": "mock", "cwd": "/" })).await.expect(201);
    let listed = world.admin.get("/v1/sessions").await.expect(200);
    assert_eq!(listed["data"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn metrics_contain_no_text_of_people_or_agents() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("question").await;
    world.admin.answer(&id(&ask), json!([["words-of-a-person"]])).await.expect(200);
    agent.finished().await.unwrap();
    world.open_ask(approval()).await;
    let metrics = world.admin.get("/metrics").await;
    assert_eq!(metrics.status, 200);
    for line in [
        "sayso_asks_total 2",
        "sayso_asks_pending 1",
        "sayso_outbox 0",
        "sayso_outcomes_total{by=\"person\",status=\"answered\"} 1",
        "sayso_outcomes_total{by=\"policy\",status=\"approved\"} 0",
    ] {
        assert!(metrics.text.lines().any(|found| found == line), "{line} in\n{}", metrics.text);
    }
    assert!(metrics.text.contains("sayso_feed_seq ") && metrics.text.contains("sayso_streams "));
    assert!(!metrics.text.contains("words-of-a-person"));
}

/// The OpenAPI document includes runs and their questions.
#[tokio::test]
async fn health_and_openapi_need_no_token() {
    let world = World::start().await;
    let anonymous = world.http("");
    assert_eq!(anonymous.get("/v1/health").await.expect(200)["status"], "ok");
    let document = anonymous.get("/openapi.json").await.expect(200);
    let generated: Value = serde_json::from_str(&sayso_server::openapi().to_json().unwrap()).unwrap();
    assert_eq!(document, generated);
    for name in ["Run", "NewRun", "QuestionAsked", "QuestionAnswered"] {
        assert!(document["components"]["schemas"][name].is_object(), "{name}");
    }
}
