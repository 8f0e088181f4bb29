//! The event catalogue: every documented event is emitted, and every emitted event is documented.

use std::collections::BTreeSet;
use std::sync::Arc;

use sayso_agents::translator::{AgentEvent, Command, Input, Output, Saved, Translator};
use sayso_api::event::{Event, FeedEvent, ResetEvent};
use sayso_client::question;
use sayso_core::raw::Raw;
use sayso_core::time::Time;
use sayso_core::transcript::{Role, ToolStatus};
use sayso_server::Embedded;
use sayso_testkit::AgentScript;
use serde_json::{Value, json};

use crate::world::{Http, World, approval, id};

/// An agent that uses a tool, reports an error and sends a message, all at once.
struct Worker;

impl Translator for Worker {
    fn handle(&mut self, _: Time, input: Input) -> Vec<Output> {
        let Input::Command(Command::Start { session, .. }) = input else { return Vec::new() };
        let tool = |input: u8, status| AgentEvent::Tool {
            tool_call_id: "call".to_owned(),
            name: "Bash".to_owned(),
            input: Some(Raw::of(&input)),
            output: None,
            status,
            subagent: None,
        };
        let message = || "words".to_owned();
        [
            AgentEvent::TurnStarted,
            tool(1, ToolStatus::Running),
            tool(2, ToolStatus::Running),
            tool(2, ToolStatus::Complete),
            AgentEvent::Error("the disk is full".to_owned()),
            AgentEvent::MessageDelta { message: message(), text: "Do".to_owned() },
            AgentEvent::Message { message: message(), role: Role::Assistant, text: "Done".to_owned(), subagent: None },
            AgentEvent::Ended { reason: "done".to_owned(), failed: false, resumable: false },
        ]
        .into_iter()
        .map(|event| Output::Event { session, event })
        .collect()
    }

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn save(&self) -> Saved {
        Saved::of(1, &())
    }
}

fn worker() -> Embedded {
    Embedded {
        name: "worker".to_owned(),
        translator: Arc::new(|_: Option<&Saved>| Some(Box::new(Worker) as Box<dyn Translator>)),
    }
}

async fn ask_events(admin: &Http) {
    let open = async |wanted: Value| id(&admin.post("/v1/asks", wanted).await.expect(201));
    let asked = open(crate::world::question()).await;
    admin.post(&format!("/v1/asks/{asked}/snooze"), json!({ "until": "2099-01-01T00:00:00Z" })).await.expect(200);
    admin.answer(&asked, json!([["SQLite"]])).await.expect(200);
    admin.poke(&format!("/v1/asks/{asked}/receipt")).await.expect(200);
    let approved = open(approval()).await;
    admin.post(&format!("/v1/asks/{approved}/approve"), json!({})).await.expect(200);
    let linked = open(json!({ "link": { "url": "https://example.com" } })).await;
    admin.delete(&format!("/v1/asks/{linked}")).await.expect(200);
}

async fn run_events(admin: &Http) {
    let run = async |steps: Value| {
        id(&admin.post("/v1/runs", json!({ "workflow": { "name": "w", "steps": steps } })).await.expect(201))
    };
    let step = |prompt: &str, questions: &str| json!({ "id": "one", "agent": "asker", "prompt": prompt, "questions": questions });
    run(json!([step("ask", "accept-first")])).await;
    run(json!([step("die", "reject"), { "id": "two", "agent": "asker", "prompt": "never" }])).await;
    let cancelled = run(json!([step("ask", "forward")])).await;
    admin.poke(&format!("/v1/runs/{cancelled}/cancel")).await.expect(200);
}

fn scripted() -> AgentScript {
    let ask = question("Which database?", &["SQLite", "PostgreSQL"]);
    let asks = AgentScript::new().on_question("ask", &ask, std::time::Duration::ZERO).unwrap();
    asks.dies_on("die", "out of memory").unwrap()
}

/// Every event of the catalogue is emitted by this scenario, and every event that it emits is in the catalogue and has the
/// documented payload.
#[tokio::test]
async fn every_documented_event_is_emitted_and_every_emitted_event_is_documented() {
    let world = World::with(|setup| {
        setup.agent("asker", &scripted());
        setup.options.embedded.push(worker());
    })
    .await;
    let admin = &world.admin;
    let mut stream = admin.stream("/v1/events", Some("0")).await;
    admin.post("/v1/sessions", json!({ "agent": "worker", "prompt": "go" })).await.expect(201);
    admin.post("/v1/sessions", json!({ "agent": "mock", "prompt": "crash" })).await.expect(201);
    admin.post("/v1/notices", json!({ "text": "deployed" })).await.expect(204);
    admin.post("/v1/policy/grants", json!({ "run": ["ls"], "for": "1h" })).await.expect(201);
    ask_events(admin).await;
    run_events(admin).await;

    let documented: BTreeSet<&str> = Event::NAMES.iter().copied().collect();
    let mut emitted = BTreeSet::new();
    while emitted.len() < documented.len() {
        let (fields, data) = stream.event().await;
        // Events that are not in the catalogue fail to deserialize, and so do events with another payload.
        let event: FeedEvent = serde_json::from_value(data.clone()).unwrap_or_else(|error| panic!("{error}: {data}"));
        assert_eq!(serde_json::to_value(&event).unwrap(), data, "nothing is left out");
        assert_eq!(fields["event"], event.name());
        emitted.insert(event.name());
    }
    assert_eq!(emitted, documented);
}

#[test]
fn openapi_document_and_api_page_list_every_event() {
    let mut names: BTreeSet<String> = Event::NAMES.iter().map(|name| (*name).to_owned()).collect();
    names.insert(ResetEvent::NAME.to_owned());
    let document: Value = serde_json::from_str(include_str!("../../../../docs/openapi.json")).unwrap();
    let mapping = document["components"]["schemas"]["Event"]["discriminator"]["mapping"].as_object().unwrap();
    assert_eq!(mapping.keys().cloned().collect::<BTreeSet<_>>(), names);
    let page = include_str!("../../../../docs/api.md");
    let table = page.split("| event | when |").nth(1).unwrap().split("\n\n").next().unwrap();
    let listed = table.lines().filter_map(|row| row.split('|').nth(1)).flat_map(|cell| cell.split('`').skip(1).step_by(2));
    assert_eq!(listed.map(str::to_owned).collect::<BTreeSet<_>>(), names);
}
