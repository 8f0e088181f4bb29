//! U+0000 in requests: names, ids and paths are refused with 400, and content is kept.

use serde_json::{Value, json};

use crate::world::{World, id, question};

fn with(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}

#[tokio::test]
async fn names_and_ids_with_nul_are_refused() {
    let world = World::start().await;
    let external = |cwd: &str| json!({ "agent": "claude", "sessionId": "s", "cwd": cwd });
    for (path, body, what) in [
        ("/v1/asks", with(question(), "agent", json!("a\0b")), "the name of the agent"),
        ("/v1/asks", with(question(), "project", json!("/a\0b")), "the project"),
        ("/v1/asks", with(question(), "toolCallId", json!("a\0b")), "the id of the tool call"),
        ("/v1/asks", with(question(), "dedupeKey", json!("a\0b")), "the dedupe key"),
        ("/v1/asks", with(question(), "external", external("/a\0b")), "cwd"),
        ("/v1/tokens", json!({ "role": "viewer", "actor": "a\0b" }), "the name"),
        ("/v1/login", json!({ "code": "0", "device": "a\0b" }), "the name of the device"),
    ] {
        let problem = world.admin.post(path, body).await.problem(400, "malformed_request");
        assert_eq!(problem["detail"], format!("{what} contains the character U+0000; remove that character"));
    }
    for query in ["asks?agent=a%00b", "asks?project=%00", "asks?q=%00", "asks?idEndsWith=%00", "asks?label=a%3D%00"] {
        world.admin.get(&format!("/v1/{query}")).await.problem(400, "malformed_request");
    }
    for list in ["sessions", "runs"] {
        world.admin.get(&format!("/v1/{list}?idEndsWith=%00")).await.problem(400, "malformed_request");
    }
    assert_eq!(world.admin.get("/v1/asks").await.expect(200)["data"], json!([]));
    assert_eq!(world.admin.get("/v1/sessions").await.expect(200)["data"], json!([]));
}

#[tokio::test]
async fn content_with_nul_is_shown_as_it_was_sent() {
    let world = World::start().await;
    let asked = json!({ "title": "be\0fore", "questions": [{ "text": "Which\0?" }] });
    let ask = id(&world.open_ask(asked).await);
    world.admin.answer(&ask, json!([["A\0B"]])).await.expect(200);
    let shown = world.ask(&ask).await;
    let texts = [&shown["title"], &shown["questions"][0]["text"], &shown["outcome"]["answers"][0][0]];
    assert_eq!(texts, [&json!("be\0fore"), &json!("Which\0?"), &json!("A\0B")]);
}
