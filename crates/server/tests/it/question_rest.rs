//! The question REST dialect.

use serde_json::{Value, json};

use crate::world::{World, id, question};

async fn event_of(world: &World, kind: &str, ask: &str) -> Value {
    let mut stream = world.admin.stream("/v1/events?since=0", None).await;
    loop {
        let data = stream.until(kind).await;
        if id(&data["data"]) == ask {
            return data["data"].clone();
        }
    }
}

#[tokio::test]
async fn reply_answers_the_question() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("question").await;
    let qid = id(&ask);
    let requested = event_of(&world, "question.requested", &qid).await["question"].clone();
    assert_eq!(requested["questionId"], json!(qid));
    assert_eq!(requested["prompt"], "Which database should this feature use?");
    assert_eq!(requested["options"], json!(["SQLite", "PostgreSQL"]));
    assert_eq!((&requested["response"], &requested["status"]), (&Value::Null, &json!("requested")));
    assert_eq!(requested["questions"], ask["questions"]);
    let reply = world
        .admin
        .post(&format!("/v1/sessions/{}/questions/{qid}/reply", agent.session()), json!({ "answers": [["PostgreSQL"]] }))
        .await;
    assert_eq!((reply.status, reply.text.as_str()), (204, ""));
    assert_eq!(agent.finished().await.unwrap(), "You answered: PostgreSQL.");
    let resolved = event_of(&world, "question.resolved", &qid).await;
    assert_eq!((&resolved["question"]["status"], &resolved["question"]["response"]), (&json!("answered"), &json!("PostgreSQL")));
    assert_eq!(resolved["outcome"]["by"]["via"], "question-rest");
    assert_eq!(resolved["status"], "answered", "the native ask has the same outcome");
}

// The body of reject is optional and holds the person's message.
#[tokio::test]
async fn reject_rejects_the_question() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("question").await;
    let path = format!("/v1/sessions/{}/questions/{}/reject", agent.session(), id(&ask));
    let reply = world.admin.poke(&path).await;
    assert_eq!((reply.status, reply.text.as_str()), (204, ""));
    assert!(agent.finished().await.unwrap().starts_with("Rejected: The user declined to answer."));
    let resolved = event_of(&world, "question.resolved", &id(&ask)).await;
    assert_eq!((&resolved["question"]["status"], &resolved["question"]["response"]), (&json!("rejected"), &Value::Null));
    let (mut agent, ask) = world.start_ask("question").await;
    let path = format!("/v1/sessions/{}/questions/{}/reject", agent.session(), id(&ask));
    world.admin.post(&path, json!({ "message": "not now" })).await.expect(204);
    assert_eq!(agent.finished().await.unwrap(), "Rejected: not now");
}

// A withdrawn ask is shown as rejected, with the reason.
#[tokio::test]
async fn withdrawn_question_shows_as_rejected_with_a_reason() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("question").await;
    world.admin.poke(&format!("/v1/sessions/{}/interrupt", agent.session())).await.expect(200);
    let question = event_of(&world, "question.resolved", &id(&ask)).await["question"].clone();
    assert_eq!((&question["status"], &question["reason"]), (&json!("rejected"), &json!("The turn was interrupted.")));
    let late = world
        .admin
        .poke(&format!("/v1/sessions/{}/questions/{}/reject", agent.session(), id(&ask)))
        .await
        .problem(409, "ask_already_resolved");
    assert_eq!(late["outcome"]["status"], "withdrawn");
}

#[tokio::test]
async fn reply_is_accepted_once_and_only_in_its_session() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("question").await;
    let (other, other_ask) = world.start_ask("question").await;
    let (sid, qid) = (agent.session(), id(&ask));
    let reply = |session: &str, question: &str| {
        let (path, admin) = (format!("/v1/sessions/{session}/questions/{question}/reply"), world.admin.clone());
        async move { admin.post(&path, json!({ "answers": [["SQLite"]] })).await }
    };
    let unknown = reply(sid, "ask_01890000000070008000000000000000").await.problem(404, "ask_not_found");
    assert_eq!(unknown["error"], unknown["detail"], "the same text under `error`");
    reply(sid, &id(&other_ask)).await.problem(404, "ask_not_found");
    reply(other.session(), &qid).await.problem(404, "ask_not_found");
    assert_eq!(reply("ses_01890000000070008000000000000000", &qid).await.status, 404);
    // An ask without a session.
    reply(sid, &id(&world.open_ask(question()).await)).await.problem(404, "ask_not_found");
    assert_eq!(world.ask(&qid).await, ask);
    reply(sid, &qid).await.expect(204);
    let late = reply(sid, &qid).await.problem(409, "ask_already_resolved");
    assert_eq!((&late["own"], &late["outcome"]["status"], &late["error"]), (&json!(true), &json!("answered"), &late["detail"]));
    world.admin.poke(&format!("/v1/sessions/{sid}/questions/{qid}/reject")).await.problem(409, "ask_already_resolved");
}

// Malformed JSON and missing required fields are 400; invalid answers are 422.
#[tokio::test]
async fn invalid_replies_leave_the_question_pending() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("question").await;
    let path = format!("/v1/sessions/{}/questions/{}/reply", agent.session(), id(&ask));
    for broken in ["", "{", "{}", "null", "{\"answer\":[[\"SQLite\"]]}", "{\"answers\":\"SQLite\"}", "{\"answers\":[\"SQLite\"]}"]
    {
        let problem = world.admin.raw(&path, broken).await.problem(400, "malformed_request");
        assert_eq!(problem["error"], problem["detail"]);
    }
    for wrong in [json!([]), json!([[]]), json!([["SQLite"], ["x"]]), json!([["SQLite", "PostgreSQL"]])] {
        world.admin.post(&path, json!({ "answers": wrong })).await.problem(422, "invalid_answers");
    }
    assert_eq!(world.ask(&id(&ask)).await, ask);
}

#[tokio::test]
async fn several_questions_are_one_prompt() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("questions").await;
    let requested = event_of(&world, "question.requested", &id(&ask)).await["question"].clone();
    let texts = ["Which database should this feature use?", "Which areas should the tests cover?", "What else should I know?"];
    assert_eq!(requested["prompt"], texts.join("\n"));
    assert_eq!(requested["options"], json!(["SQLite", "PostgreSQL"]));
    let path = format!("/v1/sessions/{}/questions/{}/reply", agent.session(), id(&ask));
    world.admin.post(&path, json!({ "answers": [["SQLite"], ["Auth", "Search"], ["nothing"]] })).await.expect(204);
    assert_eq!(agent.finished().await.unwrap(), "You answered: [Database] SQLite; [Areas] Auth, Search; [Notes] nothing.");
}

// A plan exit is listed as a question: reply approves it, reject denies it. Other approvals are not listed.
#[tokio::test]
async fn plan_exit_is_answered_like_a_question() {
    let world = World::start().await;
    let path = |session: &str, ask: &Value, verb: &str| format!("/v1/sessions/{session}/questions/{}/{verb}", id(ask));
    let (mut agent, ask) = world.start_ask("plan").await;
    let requested = event_of(&world, "approval.requested", &id(&ask)).await["question"].clone();
    assert_eq!((&requested["questionId"], &requested["status"]), (&ask["id"], &json!("requested")));
    world.admin.post(&path(agent.session(), &ask, "reply"), json!({ "answers": [["yes"]] })).await.expect(204);
    assert_eq!(agent.finished().await.unwrap(), "Approved: the plan");
    let (mut agent, ask) = world.start_ask("plan").await;
    world.admin.poke(&path(agent.session(), &ask, "reject")).await.expect(204);
    assert_eq!(agent.finished().await.unwrap(), "Denied: User denied tool execution");
    let (agent, ask) = world.start_ask("approve").await;
    for (verb, body) in [("reply", json!({ "answers": [["yes"]] })), ("reject", json!({}))] {
        let refused = world.admin.post(&path(agent.session(), &ask, verb), body).await;
        assert!([404, 422].contains(&refused.status), "{}", refused.text);
    }
    assert_eq!(world.ask(&id(&ask)).await, ask);
}

#[tokio::test]
async fn secret_answer_has_no_response() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("secret").await;
    let path = format!("/v1/sessions/{}/questions/{}/reply", agent.session(), id(&ask));
    world.admin.post(&path, json!({ "answers": [["hunter2"]] })).await.expect(204);
    agent.finished().await.unwrap();
    let question = event_of(&world, "question.resolved", &id(&ask)).await["question"].clone();
    assert_eq!((&question["status"], &question["response"]), (&json!("answered"), &Value::Null));
}
