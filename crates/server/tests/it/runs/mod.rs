//! Runs of workflows: policies, timeouts, groups, checkpoints, restarts and refusals.

mod ends;

use std::time::Duration;

use sayso_client::question;
use sayso_testkit::{AgentScript, Answerer, within};
use serde_json::{Value, json};

use crate::world::{World, id};

/// A run of these steps.
fn run_of(steps: Value) -> Value {
    json!({ "workflow": { "name": "test", "steps": steps }, "input": {} })
}

/// An agent that asks for a database on every prompt, regardless of its instructions about questions.
fn asking() -> AgentScript {
    let ask = question("Which database?", &["SQLite", "PostgreSQL"]);
    AgentScript::new().on_question("ask", &ask, Duration::ZERO).unwrap()
}

/// One step with that agent.
fn step(more: Value) -> Value {
    let mut step = json!({ "id": "plan", "agent": "asker", "prompt": "ask" });
    step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    step
}

async fn world_with(agent: &AgentScript) -> World {
    World::with(|setup| setup.agent("asker", agent)).await
}

impl World {
    async fn start_run(&self, run: Value) -> String {
        id(&self.admin.post("/v1/runs", run).await.expect(201))
    }

    async fn run(&self, id: &str) -> Value {
        self.admin.get(&format!("/v1/runs/{id}")).await.expect(200)
    }

    /// Waits until the condition holds, and returns the run.
    async fn run_when(&self, id: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        within(what, async {
            loop {
                let run = self.run(id).await;
                if holds(&run) {
                    return Ok(run);
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
        .unwrap()
    }

    async fn run_until(&self, id: &str, status: &str) -> Value {
        self.run_when(id, &format!("the run to be {status}"), |run| run["status"] == status).await
    }

    /// Starts a run of one asking step and waits for its end.
    async fn ended(&self, more: Value) -> Value {
        let run = self.start_run(run_of(json!([step(more)]))).await;
        self.run_when(&run, "the run to end", |run| run["status"] != "running").await
    }
}

#[tokio::test]
async fn forwarded_question_is_listed_and_answered_once() {
    let world = world_with(&asking()).await;
    let mut events = world.admin.stream("/v1/events", None).await;
    let run = world.start_run(run_of(json!([step(json!({ "questions": "forward" }))]))).await;
    let asked = events.until("agent_question_asked").await;
    let waiting = world.run_until(&run, "waiting").await;
    let pending = &waiting["pendingQuestions"][0];
    let questions = json!([{
        "question": "Which database?", "header": "Which database?", "multiple": false, "custom": true,
        "options": [{ "label": "SQLite" }, { "label": "PostgreSQL" }],
    }]);
    assert_eq!((&pending["stepId"], &pending["questions"]), (&json!("plan"), &questions));
    assert_eq!(waiting["pendingCheckpoints"], json!([]));
    let data = &asked["data"];
    assert_eq!((&data["stepId"], &data["runId"], &data["question"]), (&json!("plan"), &json!(run), pending));
    assert_eq!((&data["sessionId"], &data["timestamp"]), (&pending["sessionId"], &pending["askedAt"]));
    // The inbox contains the ask, with its run and step.
    let ask = world.ask(&id(pending)).await;
    assert_eq!((&ask["runId"], &ask["stepId"]), (&json!(run), &json!("plan")));

    let path = format!("/v1/runs/{run}/questions/{}", id(pending));
    let answered = world.admin.post(&path, json!({ "answers": [["PostgreSQL"]] })).await.expect(200);
    assert_eq!(answered, json!({ "status": "answered" }));
    let told = events.until("agent_question_answered").await;
    let data = &told["data"];
    assert_eq!(
        (&data["stepId"], &data["questionId"], &data["answers"]),
        (&json!("plan"), &pending["id"], &json!([["PostgreSQL"]]))
    );
    assert_eq!((&data["by"]["kind"], &data["by"]["via"]), (&json!("person"), &json!("http")));
    let done = world.run_until(&run, "completed").await;
    assert_eq!(done["outputs"], json!({ "plan": "You answered: PostgreSQL." }));
    assert_eq!(done["pendingQuestions"], json!([]));
    let late = world.admin.post(&path, json!({ "answers": [["SQLite"]] })).await.problem(409, "ask_already_resolved");
    assert_eq!(late["outcome"]["by"]["kind"], "person");
}

#[tokio::test]
async fn rejected_question_lets_the_agent_continue() {
    let agent = asking();
    let world = world_with(&agent).await;
    for more in [json!({ "questions": "reject" }), json!({})] {
        let mut events = world.admin.stream("/v1/events", None).await;
        let done = world.ended(more).await;
        assert_eq!(done["status"], "completed");
        assert!(done["outputs"]["plan"].as_str().unwrap().starts_with("Rejected: "), "{done}");
        let told = events.until("agent_question_answered").await;
        assert_eq!((&told["data"]["status"], &told["data"]["by"]["kind"]), (&json!("rejected"), &json!("policy")));
        assert_eq!(told["data"]["question"]["questions"][0]["question"], "Which database?");
    }
    let told = world.ended(json!({ "questions": "reject", "message": "Guess." })).await;
    assert_eq!(told["outputs"]["plan"], "Rejected: Guess.");
    assert!(agent.asked().iter().all(|asked| asked.answers.is_none()) && agent.asked().len() == 3);
}

// If the policy rejects every question, the prompt tells the agent not to ask.
#[tokio::test]
async fn question_tool_is_disabled_if_questions_are_rejected() {
    let world = World::start().await;
    for (questions, off) in [(json!("reject"), true), (Value::Null, true), (json!("accept-first"), false)] {
        let step = json!({ "id": "a", "agent": "mock", "prompt": "question", "questions": questions });
        let run = world.start_run(run_of(json!([step]))).await;
        let done = world.run_until(&run, "completed").await;
        let said = done["outputs"]["a"].as_str().unwrap().to_owned();
        assert_eq!(said.contains("questions are switched off"), off, "{said}");
    }
}

#[tokio::test]
async fn accept_first_rejects_questions_without_options() {
    let mut both = question("Which database?", &["SQLite", "PostgreSQL"]);
    both.questions.as_mut().unwrap().extend(question("Which cache?", &["None", "Redis"]).questions.unwrap());
    let mut open = both.clone();
    open.questions.as_mut().unwrap().extend(question("What else?", &[]).questions.unwrap());
    let agent = AgentScript::new()
        .on_question("two", &both, Duration::ZERO)
        .and_then(|agent| agent.on_question("open", &open, Duration::ZERO))
        .unwrap();
    let world = world_with(&agent).await;
    let two = world.ended(json!({ "prompt": "two", "questions": "accept-first" })).await;
    assert_eq!(two["outputs"]["plan"], "You answered: SQLite, None.");
    let open = world.ended(json!({ "prompt": "open", "questions": "accept-first" })).await;
    assert!(open["outputs"]["plan"].as_str().unwrap().starts_with("Rejected: "), "{open}");
}

#[tokio::test]
async fn rules_of_a_step_answer_individual_questions() {
    let mut both = question("Which database?", &["SQLite", "PostgreSQL"]);
    let mut cache = question("Which one keeps it?", &["None", "Redis"]).questions.unwrap();
    cache[0].header = Some("Cache".to_owned());
    both.questions.as_mut().unwrap().extend(cache);
    let agent = AgentScript::new().on_question("ask", &both, Duration::ZERO).unwrap();
    let world = world_with(&agent).await;
    let by_text = json!({ "name": "db", "do": "answer", "match": "/(?i)^which DATA/", "answer": "PostgreSQL" });
    let by_header = json!({ "name": "cache", "do": "answer", "header": "cache", "answer": ["Redis"] });
    let mut events = world.admin.stream("/v1/events", None).await;

    let all = world.ended(json!({ "questions": "auto", "rules": [by_text, by_header] })).await;
    assert_eq!(all["outputs"]["plan"], "You answered: PostgreSQL, Redis.");
    let told = events.until("agent_question_answered").await;
    let rule = told["data"]["by"]["rule"].as_str().unwrap().to_owned();
    assert!(rule.contains("db") && rule.contains("cache"), "{rule}");

    let some = world.ended(json!({ "questions": "auto", "rules": [by_header] })).await;
    assert_eq!(some["outputs"]["plan"], "You answered: SQLite, Redis.", "what no rule answers takes the first option");
    let rejected = world.ended(json!({ "rules": [by_header] })).await;
    assert!(rejected["outputs"]["plan"].as_str().unwrap().starts_with("Rejected: "), "{rejected}");
    let partly = world.ended(json!({ "questions": "forward", "rules": [by_header] })).await;
    assert_eq!(partly["status"], "waiting", "a person answers the rest");
}

#[tokio::test]
async fn timeout_applies_the_fallback_of_the_step() {
    let agent = asking();
    let mut clock = None;
    let world = World::with(|setup| {
        clock = Some(setup.fake_clock());
        setup.agent("asker", &agent);
    })
    .await;
    let clock = clock.unwrap();
    for (more, then, output) in [
        (json!({ "questions": "forward", "question_timeout": "30s" }), json!("accept-first"), Some("You answered: SQLite.")),
        (
            json!({ "questions": "forward", "questionTimeout": "30s", "onTimeout": "reject" }),
            json!("reject"),
            Some("Rejected: User did not respond within 30 seconds"),
        ),
        (json!({ "questions": "forward" }), json!(null), None),
    ] {
        let mut events = world.admin.stream("/v1/events", None).await;
        let waiting = world.ended(more).await;
        assert_eq!(waiting["status"], "waiting");
        // The deadline and its fallback are part of every representation of the question.
        let pending = &waiting["pendingQuestions"][0];
        let ask = world.ask(&id(pending)).await;
        assert_eq!((&pending["deadlineAt"], &pending["onTimeout"]), (&ask["deadlineAt"], &then));
        let asked = events.until("agent_question_asked").await;
        assert_eq!(asked["data"]["question"]["deadlineAt"], ask["deadlineAt"]);
        let run = id(&waiting);
        clock.advance(Duration::from_secs(29));
        assert_eq!(world.run(&run).await["status"], "waiting");
        clock.advance(Duration::from_secs(2));
        match output {
            Some(output) => {
                let done = world.run_until(&run, "completed").await;
                assert_eq!(done["outputs"]["plan"], output);
                assert_eq!(events.until("agent_question_answered").await["data"]["by"]["kind"], "timeout");
            }
            None => {
                clock.advance(Duration::from_secs(86_400));
                assert_eq!(world.run(&run).await["status"], "waiting");
            }
        }
    }
}

// A person's rejection is final; only a timeout uses the fallback.
#[tokio::test]
async fn rejection_by_a_person_is_passed_on_even_with_accept_first() {
    let world = world_with(&asking()).await;
    let waiting = world.ended(json!({ "questions": "forward", "question_timeout": "30s" })).await;
    let path = format!("/v1/runs/{}/questions/{}", id(&waiting), id(&waiting["pendingQuestions"][0]));
    let rejected = world.admin.post(&path, json!({ "reject": true, "message": "Not now." })).await.expect(200);
    assert_eq!(rejected, json!({ "status": "rejected" }));
    let done = world.run_until(&id(&waiting), "completed").await;
    assert_eq!(done["outputs"]["plan"], "Rejected: Not now.");
}

// A question belongs to its run and cannot be answered through another run.
#[tokio::test]
async fn answer_endpoint_explains_invalid_requests() {
    let world = world_with(&asking()).await;
    let waiting = world.ended(json!({ "questions": "forward" })).await;
    let (run, ask) = (id(&waiting), id(&waiting["pendingQuestions"][0]));
    let answers = json!({ "answers": [["SQLite"]] });
    let other = world.open_ask(crate::world::question()).await;
    for (path, code) in [
        (format!("/v1/runs/run_nothing/questions/{ask}"), "run_not_found"),
        (format!("/v1/runs/{}/questions/{ask}", run.replace(&run[30..], "000000")), "run_not_found"),
        (format!("/v1/runs/{run}/questions/ask_nothing"), "question_not_found"),
        (format!("/v1/runs/{run}/questions/{}", id(&other)), "question_not_found"),
    ] {
        let problem = world.admin.post(&path, answers.clone()).await.problem(404, code);
        assert_eq!(problem["error"], code);
    }
    let path = format!("/v1/runs/{run}/questions/{ask}");
    for body in [json!({}), json!({ "reject": false }), json!({ "answers": [["SQLite"]], "reject": true })] {
        let problem = world.admin.post(&path, body).await.problem(400, "malformed_request");
        assert_eq!(problem["error"], "must provide answers or reject");
    }
    world.admin.raw(&path, "{").await.problem(400, "malformed_request");
    world.admin.post(&path, json!({ "answers": [] })).await.problem(422, "invalid_answers");
    assert_eq!(world.run(&run).await["status"], "waiting");
}

// Each question pauses only its own session. Questions are listed oldest first.
#[tokio::test]
async fn parallel_steps_wait_for_their_own_answers() {
    let world = world_with(&asking()).await;
    let member = |name: &str| json!({ "id": name, "agent": "asker", "prompt": format!("ask {name}"), "questions": "forward" });
    let group = json!({ "id": "g", "parallel": [member("a"), member("b"), member("c")] });
    let last = json!({ "id": "end", "agent": "mock", "prompt": "{{steps.a.output}} {{steps.b.output}} {{steps.c.output}}" });
    let run = world.start_run(run_of(json!([group, last]))).await;
    let waiting = world.run_when(&run, "three questions", |run| run["pending"] == 3).await;
    let asked: Vec<Value> = waiting["pendingQuestions"].as_array().unwrap().clone();
    let mut times: Vec<&str> = asked.iter().map(|question| question["askedAt"].as_str().unwrap()).collect();
    times.sort_unstable();
    assert_eq!(times, asked.iter().map(|question| question["askedAt"].as_str().unwrap()).collect::<Vec<_>>());
    let inbox = world.admin.get("/v1/asks?status=pending").await.expect(200);
    let order = |list: &Value| list.as_array().unwrap().iter().map(id).collect::<Vec<_>>();
    assert_eq!(order(&inbox["data"]), order(&waiting["pendingQuestions"]), "the inbox has the same order");
    // The last question is answered first, and only its step continues.
    let answer = async |index: usize| {
        let path = format!("/v1/runs/{run}/questions/{}", id(&asked[index]));
        world.admin.post(&path, json!({ "answers": [["SQLite"]] })).await.expect(200);
    };
    answer(2).await;
    let partly = world
        .run_when(&run, "one step to be done", |run| run["pending"] == 2 && run["outputs"].as_object().unwrap().len() == 1)
        .await;
    assert_eq!(partly["outputs"].as_object().unwrap().keys().next().unwrap(), asked[2]["stepId"].as_str().unwrap());
    answer(0).await;
    answer(1).await;
    let done = world.run_until(&run, "completed").await;
    assert_eq!(done["outputs"]["end"], "You answered: SQLite. You answered: SQLite. You answered: SQLite.");
}

// A checkpoint is an ask in the same inbox and pauses the run.
#[tokio::test]
async fn checkpoint_pauses_the_run_and_outputs_its_answer() {
    let mut world = World::with_policy("[questions]\npolicy = \"accept-first\"\n").await;
    let checkpoint = json!({ "header": "Go on", "question": "Use {{steps.a.output}}?", "options": ["Yes", "No"] });
    let steps = json!([
        { "id": "a", "agent": "mock", "prompt": "the idea of {{input.who}}" },
        { "id": "ok", "checkpoint": checkpoint },
        { "id": "b", "agent": "mock", "prompt": "Said: {{steps.ok.output}}" },
    ]);
    let run = json!({ "workflow": { "name": "test", "steps": steps }, "input": { "who": "ada" }, "labels": { "team": "shop" } });
    let run = world.start_run(run).await;
    let waiting = world.run_when(&run, "the checkpoint", |run| !run["pendingCheckpoints"].as_array().unwrap().is_empty()).await;
    assert_eq!((&waiting["status"], &waiting["pendingQuestions"]), (&json!("waiting"), &json!([])));
    let ask = waiting["pendingCheckpoints"][0].as_str().unwrap().to_owned();
    let shown = world.ask(&ask).await;
    assert_eq!(shown["questions"][0]["text"], "Use the idea of ada?", "a policy that accepts does not answer a checkpoint");
    assert_eq!((&shown["runId"], &shown["stepId"], &shown["labels"]["team"]), (&json!(run), &json!("ok"), &json!("shop")));
    world.server.restart().await.unwrap();
    assert_eq!(world.run(&run).await["pendingCheckpoints"], json!([ask]));
    world.admin.answer(&ask, json!([["Maybe"]])).await.problem(422, "invalid_answers");
    world.admin.answer(&ask, json!([["Yes"]])).await.expect(200);
    let done = world.run_until(&run, "completed").await;
    assert_eq!(done["outputs"], json!({ "a": "the idea of ada", "ok": "Yes", "b": "Said: Yes" }));
    assert_eq!(world.ask(&ask).await["delivery"], "delivered");
}

#[tokio::test]
async fn restart_during_a_step_repeats_nothing() {
    let mut world = World::start().await;
    let steps = json!([
        { "id": "a", "agent": "mock", "prompt": "hello" },
        { "id": "b", "agent": "mock", "prompt": "question", "questions": "forward" },
        { "id": "c", "agent": "mock", "prompt": "{{steps.a.output}} {{steps.b.output}}" },
    ]);
    let run = world.start_run(run_of(steps)).await;
    let waiting = world.run_until(&run, "waiting").await;
    world.server.restart().await.unwrap();
    let after = world.run(&run).await;
    assert_eq!((&after["steps"], &after["pendingQuestions"]), (&waiting["steps"], &waiting["pendingQuestions"]));
    let path = format!("/v1/runs/{run}/questions/{}", id(&waiting["pendingQuestions"][0]));
    world.admin.post(&path, json!({ "answers": [["SQLite"]] })).await.expect(200);
    let done = world.run_until(&run, "completed").await;
    assert_eq!(done["outputs"]["c"], "hello You answered: SQLite.");
    assert!(done["steps"].as_array().unwrap().iter().all(|step| step["attempts"] == 1), "{done}");
    let sessions = world.admin.get("/v1/sessions").await.expect(200);
    assert_eq!(sessions["data"].as_array().unwrap().len(), 3);
}

// Tests a workflow with a scripted agent through the calls of the client.
#[tokio::test]
async fn scripted_workflow_completes_all_steps() {
    let agent = AgentScript::new()
        .on_question("plan", &question("Which database?", &["SQLite", "PostgreSQL"]), Duration::ZERO)
        .and_then(|agent| agent.on("/^plan/", "1. Add a table."))
        .unwrap();
    let world = world_with(&agent).await;
    let client = world.server.client();
    let person = Answerer::new().on("/^Which data/", &["SQLite"]).unwrap().run(client.clone());
    let steps = json!([
        { "id": "plan", "agent": "asker", "prompt": "plan it", "questions": "forward" },
        { "id": "echo", "agent": "asker", "prompt": "Then: {{steps.plan.output}}" },
    ]);
    let run = world.start_run(run_of(steps)).await;
    let done = world.run_until(&run, "completed").await;
    assert_eq!(done["outputs"], json!({ "plan": "1. Add a table.", "echo": "Then: 1. Add a table." }));
    let asked = agent.asked();
    assert_eq!((asked.len(), asked[0].answers.clone()), (1, Some(vec![vec!["SQLite".to_owned()]])));
    assert_eq!(person.stop().await.unwrap().len(), 1);

    let missing = client.answer_question("run_x", "ask_x", vec![]).await.unwrap_err();
    assert_eq!(missing.code(), Some(sayso_client::api::error::ErrorCode::RunNotFound));
    let run = world.start_run(run_of(json!([step(json!({ "prompt": "plan", "questions": "forward" }))]))).await;
    let waiting = world.run_until(&run, "waiting").await;
    let answered = client.reject_question(&run, &id(&waiting["pendingQuestions"][0])).await.unwrap();
    assert_eq!(answered.status, "rejected");
}
