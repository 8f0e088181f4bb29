//! Terms that a caller sets for the decisions about its asks: JSON Schemas, and the decisions that are allowed.

use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{Http, World, id};

/// An email that can be edited, with its schema.
fn email() -> Value {
    json!({ "approval": {
        "tool": "send_email", "action": "other", "input": { "to": "ada@example.com", "copies": 1 }, "editable": true,
        "inputSchema": {
            "type": "object", "required": ["to"], "additionalProperties": false,
            "properties": { "to": { "type": "string", "pattern": "@example\\.com$" }, "copies": { "type": "integer", "maximum": 3 } },
        },
    } })
}

fn approval_with(terms: &Value) -> Value {
    let mut approval = json!({ "tool": "send_email", "action": "other", "input": { "to": "ada" } });
    approval.as_object_mut().unwrap().extend(terms.as_object().unwrap().clone());
    json!({ "approval": approval })
}

async fn decide(by: &Http, ask: &str, verb: &str, body: Value) -> crate::world::Reply {
    by.post(&format!("/v1/asks/{ask}/{verb}"), body).await
}

#[tokio::test]
async fn edited_input_that_does_not_fit_is_refused_and_the_ask_stays_pending() {
    let world = World::start().await;
    let opened = world.open_ask(email()).await;
    let ask = id(&opened);
    assert_eq!(opened["approval"]["inputSchema"], email()["approval"]["inputSchema"], "people can make a form of it");
    for (input, detail) in [
        (json!({ "to": "eve@example.org" }), "`/to`: the value does not match \"@example\\.com$\""),
        (json!({ "to": "ada@example.com", "copies": 9 }), "`/copies`: the value is greater than the maximum of 3"),
        (json!({ "copies": 1 }), "\"to\" is a required property"),
        (json!("ada@example.com"), "the value is not of type \"object\""),
    ] {
        let problem = decide(&world.admin, &ask, "approve", json!({ "input": input })).await.problem(422, "invalid_input");
        let expected = format!("the changed input does not fit: {detail}; correct it and approve again");
        assert_eq!(problem["detail"], json!(expected));
        assert_eq!(world.ask(&ask).await, opened);
    }
    let edited = json!({ "to": "bob@example.com", "copies": 2 });
    let approved = decide(&world.admin, &ask, "approve", json!({ "input": edited })).await.expect(200);
    assert_eq!((&approved["status"], &approved["outcome"]["input"]), (&json!("approved"), &edited));
    // A late edit gets the outcome, whether it fits or not.
    decide(&world.admin, &ask, "approve", json!({ "input": 7 })).await.problem(409, "ask_already_resolved");
    // Without a change, the agent's own input is not validated.
    let unchanged = id(&world.open_ask(email()).await);
    decide(&world.admin, &unchanged, "approve", json!({})).await.expect(200);
}

#[tokio::test]
async fn unusable_terms_are_refused_when_the_ask_is_opened() {
    let world = World::start().await;
    let before = world.admin.get("/v1/asks").await.expect(200);
    let text = |schema: Value| json!({ "questions": [{ "text": "?", "responseSchema": schema }] });
    let too_long = json!({ "description": "x".repeat(33_000) });
    for (wrong, code, detail) in [
        (
            approval_with(&json!({ "inputSchema": { "type": "strin" } })),
            "invalid_schema",
            "inputSchema cannot be used: `/type`: ",
        ),
        (approval_with(&json!({ "inputSchema": { "$ref": "https://example.com/a" } })), "invalid_schema", "another document"),
        (approval_with(&json!({ "inputSchema": { "properties": { "a": { "$ref": "#" } } } })), "invalid_schema", "itself"),
        (approval_with(&json!({ "inputSchema": [] })), "invalid_schema", "a schema is a JSON object"),
        (approval_with(&json!({ "inputSchema": too_long })), "limit_exceeded", "the inputSchema"),
        (text(json!({ "pattern": "(" })), "invalid_schema", "responseSchema cannot be used: `/pattern`: "),
        (text(too_long.clone()), "limit_exceeded", "the responseSchema"),
        (
            json!({ "questions": [{ "text": "?", "input": "yesNo", "responseSchema": {} }] }),
            "invalid_request",
            "only for questions that accept text",
        ),
        (approval_with(&json!({ "allowedDecisions": [] })), "invalid_request", "allowedDecisions is empty"),
        (
            approval_with(&json!({ "allowedDecisions": ["maybe"] })),
            "invalid_request",
            "expected one of `approve`, `edit`, `deny`",
        ),
        (
            approval_with(&json!({ "allowedDecisions": ["approve"], "editable": true })),
            "invalid_request",
            "allowedDecisions has no \"edit\"",
        ),
    ] {
        let problem = world.admin.post("/v1/asks", wrong.clone()).await.problem(422, code);
        assert!(problem["detail"].as_str().unwrap().contains(detail), "{wrong}: {problem}");
        let group = json!({ "name": "mailer", "asks": [wrong] });
        world.admin.post("/v1/groups", group).await.problem(422, code);
    }
    assert_eq!(world.admin.get("/v1/asks").await.expect(200), before);
}

#[tokio::test]
async fn own_text_has_to_fit_the_schema_of_the_question() {
    let world = World::start().await;
    let asked = json!({ "questions": [
        { "text": "Which port?", "key": "port", "responseSchema": { "type": "integer", "minimum": 1024 } },
        { "text": "Which tag?", "key": "tag", "options": [{ "label": "latest" }],
          "responseSchema": { "type": "string", "pattern": "^v[0-9]+$" } },
        { "text": "The key?", "key": "key", "secret": true, "input": "text", "required": false,
          "responseSchema": { "type": "string", "minLength": 20 } },
    ] });
    let opened = world.open_ask(asked).await;
    let ask = id(&opened);
    let refused = |index: usize, key: &str, reason: &str| json!([{ "index": index, "key": key, "reason": reason }]);
    for (answers, problems) in [
        (json!([["80"], ["latest"], []]), refused(0, "port", "does not fit: the value is less than the minimum of 1024")),
        (json!([["8080"], ["1"], []]), refused(1, "tag", "does not fit: the value does not match \"^v[0-9]+$\"")),
        (
            json!([["8080"], ["v1"], ["hunter2"]]),
            refused(2, "key", "does not fit: the text does not fit the schema of the question"),
        ),
    ] {
        let problem = world.admin.answer(&ask, answers).await.problem(422, "invalid_answers");
        assert_eq!(problem["problems"], problems);
        assert!(!problem.to_string().contains("hunter2"));
        assert_eq!(world.ask(&ask).await, opened);
    }
    let not_json = world.admin.answer(&ask, json!([["eighty"], ["v1"], []])).await.problem(422, "invalid_answers");
    assert!(not_json["problems"][0]["reason"].as_str().unwrap().starts_with("does not fit: it is not JSON"), "{not_json}");
    let answered = world.admin.answer(&ask, json!([["8080"], ["latest"], []])).await.expect(200);
    assert_eq!(answered["outcome"]["answers"][0], json!(["8080"]));
}

#[tokio::test]
async fn message_and_rule_give_no_own_text_to_a_question_with_a_schema() {
    let world = World::with_policy("[[rules]]\ndo = \"answer\"\nheader = \"port\"\nanswer = \"8080\"\n").await;
    let agent = world.agent("hello").await;
    let with_schema = json!({
        "sessionId": agent.session(),
        "questions": [{ "header": "Port", "text": "Which port?", "responseSchema": { "type": "integer" } }],
    });
    let ask = world.open_ask(with_schema).await;
    assert_eq!(ask["status"], "pending", "{ask}");
    let message = json!({ "text": "8080" });
    world.admin.post(&format!("/v1/sessions/{}/messages", agent.session()), message).await.problem(409, "ask_pending");
    let without = json!({ "questions": [{ "header": "Port", "text": "Which port?" }] });
    assert_eq!(world.open_ask(without).await["outcome"]["answers"], json!([["8080"]]), "the rule answers other questions");
}

#[tokio::test]
async fn decision_that_is_not_allowed_is_refused() {
    let world = World::start().await;
    let bodies = [("approve", json!({})), ("edit", json!({ "input": { "to": "bob" } })), ("deny", json!({}))];
    for allowed in [json!(["approve"]), json!(["approve", "deny"]), json!(["edit", "deny"]), json!(["approve", "edit"])] {
        let names: Vec<&str> = allowed.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        for (decision, body) in &bodies {
            let opened = world.open_ask(approval_with(&json!({ "allowedDecisions": allowed }))).await;
            let ask = id(&opened);
            assert_eq!(opened["approval"]["editable"], json!(names.contains(&"edit")), "`edit` makes the input editable");
            let verb = if *decision == "edit" { "approve" } else { decision };
            let reply = decide(&world.admin, &ask, verb, body.clone()).await;
            if names.contains(decision) {
                reply.expect(200);
            } else if *decision == "edit" {
                reply.problem(422, "invalid_request");
            } else {
                let problem = reply.problem(422, "decision_not_allowed");
                let detail = format!("this approval does not allow the decision `{decision}`; allowed: {}", names.join(", "));
                assert_eq!(problem["detail"], json!(detail));
                assert_eq!(world.ask(&ask).await, opened);
            }
        }
    }
}

#[tokio::test]
async fn dialects_refuse_decisions_that_are_not_allowed() {
    let world = World::start().await;
    let agent = world.agent("hello").await;
    let session = agent.session();
    let open = |action: &str, call: &str, allowed: Value| {
        let mut wanted = approval_with(&json!({ "allowedDecisions": allowed, "action": action }));
        (wanted["sessionId"], wanted["toolCallId"]) = (json!(session), json!(call));
        wanted
    };
    let tool = id(&world.open_ask(open("other", "call-9", json!(["approve", "edit"]))).await);
    let edit = id(&world.open_ask(open("other", "call-10", json!(["edit", "deny"]))).await);
    let gateway = |verb: &str, call: &str| {
        let (path, admin) = (format!("/v1/sessions/{session}/{verb}"), world.admin.clone());
        let body = json!({ "toolCallId": call });
        async move { admin.post(&path, body).await }
    };
    gateway("deny", "call-9").await.problem(422, "decision_not_allowed");
    gateway("approve", "call-10").await.problem(422, "decision_not_allowed");
    let plan = id(&world.open_ask(open("plan", "call-11", json!(["approve"]))).await);
    world.admin.poke(&format!("/v1/sessions/{session}/questions/{plan}/reject")).await.problem(422, "decision_not_allowed");
    for ask in [&tool, &edit, &plan] {
        assert_eq!(world.ask(ask).await["status"], "pending");
    }
    gateway("approve", "call-9").await.expect(200);
    gateway("deny", "call-10").await.expect(200);
    world.admin.post(&format!("/v1/sessions/{session}/questions/{plan}/reply"), json!({ "answers": [] })).await.expect(204);
}

const RULES: &str = "[[rules]]\ndo = \"allow\"\ntool = \"send_email\"\n[[rules]]\ndo = \"deny\"\ntool = \"drop_table\"\n";

// A rule approves only if the caller allows an approval. A rule or a deadline can always deny.
#[tokio::test]
async fn rule_approves_only_what_the_caller_allows_and_always_denies() {
    let world = World::with_policy(RULES).await;
    let open = |tool: &str, allowed: Value| json!({ "approval": { "tool": tool, "action": "other", "input": {}, "allowedDecisions": allowed } });
    assert_eq!(world.open_ask(open("send_email", json!(["approve"]))).await["status"], "approved");
    let edited = world.open_ask(open("send_email", json!(["edit", "deny"]))).await;
    assert_eq!((&edited["status"], &edited["why"]), (&json!("pending"), &json!("the caller wants a decision by a person")));
    assert_eq!(world.open_ask(open("drop_table", json!(["approve"]))).await["status"], "denied");
    let (timed, clock) = World::timeless("").await;
    let mut wanted = open("send_email", json!(["approve"]));
    wanted["timeout"] = json!("10m");
    let ask = id(&timed.open_ask(wanted).await);
    clock.advance(Duration::from_secs(601));
    assert_eq!(timed.outcome(&ask).await["status"], "denied");
}

#[tokio::test]
async fn other_terms_under_the_same_key_are_another_ask() {
    let world = World::start().await;
    let open = |terms: Value| {
        let mut wanted = approval_with(&terms);
        wanted["dedupeKey"] = json!("mail");
        wanted
    };
    let first = world.open_ask(open(json!({ "allowedDecisions": ["approve", "edit"] }))).await;
    assert_eq!(world.open_ask(open(json!({ "allowedDecisions": ["approve", "edit"] }))).await, first);
    for other in [json!({}), json!({ "allowedDecisions": ["approve"] }), json!({ "inputSchema": { "type": "object" } })] {
        world.admin.post("/v1/asks", open(other)).await.problem(409, "dedupe_key_reused");
    }
}
