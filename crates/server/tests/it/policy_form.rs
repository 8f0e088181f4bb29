//! The policy as a form: changes to the text, hits of the rules, precedents of an approval.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{World, approval, id, question};

const POLICY: &str = "\
# mine
[[rules]]
name = \"tests\" # often
do = \"allow\"
run = [\"cargo test *\"]

[[rules]]
id = \"push\"
do = \"ask\"
run = \"git push *\"
";

fn run(command: &str) -> Value {
    json!({ "approval": { "tool": "Bash", "action": "run", "command": command, "input": { "command": command } } })
}

async fn edit(world: &World, text: &str, edits: Value) -> Value {
    world.admin.post("/v1/policy/edit", json!({ "text": text, "edits": edits })).await.expect(200)
}

#[tokio::test]
async fn policy_text_is_returned_as_a_form() {
    let world = World::start().await;
    let text =
        format!("{POLICY}\n[questions]\ntimeout = \"10m\"\non_timeout = \"reject\"\n[profiles.away]\napprovals = \"deny\"\n");
    let form = edit(&world, &text, json!([])).await;
    assert_eq!(
        form,
        json!({
            "text": text,
            "questions": { "timeout": "10m", "onTimeout": "reject" },
            "approvals": {},
            "rules": [
                { "place": 1, "key": "tests", "label": "tests", "rule": { "name": "tests", "do": "allow", "run": ["cargo test *"] } },
                { "place": 2, "key": "push", "label": "rule 2 (user)", "rule": { "id": "push", "do": "ask", "run": ["git push *"] } },
            ],
            "profiles": { "away": { "questions": {}, "approvals": { "policy": "deny" } } },
        })
    );
}

#[tokio::test]
async fn edits_keep_comments_and_conflicting_saves_are_refused() {
    let world = World::with_policy(POLICY).await;
    let before = world.admin.get("/v1/policy").await.expect(200);
    let rule = json!({ "id": "push", "do": "deny", "run": ["git push *"], "message": "not now" });
    let form = edit(&world, POLICY, json!([{ "kind": "setRule", "place": 2, "rule": rule }])).await;
    let expected = POLICY.replace("\"ask\"", "\"deny\"") + "message = \"not now\"\n";
    assert_eq!(form["text"], expected);
    assert_eq!(world.admin.get("/v1/policy").await.expect(200), before, "nothing was written");

    let save = json!({ "text": form["text"], "ifFingerprint": before["textFingerprint"] });
    let saved = world.admin.call(&Method::PUT, "/v1/policy", Some(&save)).await.expect(200);
    assert_eq!(saved["text"], expected);
    let late = world.admin.call(&Method::PUT, "/v1/policy", Some(&save)).await;
    late.problem(409, "policy_changed");
}

#[tokio::test]
async fn saved_rule_gets_an_id() {
    let world = World::start().await;
    let rule = json!({ "do": "ask", "run": ["make"] });
    let form = edit(&world, "", json!([{ "kind": "addRule", "rule": rule }])).await;
    let key = form["rules"][0]["key"].as_str().unwrap();
    assert!(key.len() == 11 && key.starts_with('r'), "{key}");
    assert_eq!(form["rules"][0]["rule"]["id"], key);
    assert_eq!(form["text"], format!("[[rules]]\nid = \"{key}\"\ndo = \"ask\"\nrun = [\"make\"]\n"));
}

#[tokio::test]
async fn edits_that_make_the_policy_invalid_are_refused() {
    let world = World::start().await;
    let refused = |body: Value| {
        let admin = world.admin.clone();
        async move { admin.post("/v1/policy/edit", body).await.problem(422, "invalid_policy") }
    };
    let problem = refused(json!({ "text": "", "edits": [{ "kind": "addRule", "rule": { "do": "allow" } }] })).await;
    assert!(problem["detail"].as_str().unwrap().contains("must say what it allows"), "{problem}");
    let problem = refused(json!({ "text": "[[rules]]\ndo = \"alow\"\n" })).await;
    assert_eq!(problem["line"], 2);
    let many: Vec<Value> = (0..101).map(|_| json!({ "kind": "removeRule", "place": 1 })).collect();
    world.admin.post("/v1/policy/edit", json!({ "text": "", "edits": many })).await.problem(422, "limit_exceeded");
    // Viewers can try changes to the policy; agents cannot.
    let (viewer, agent) = (world.role("viewer").await, world.role("agent").await);
    viewer.post("/v1/policy/edit", json!({ "text": "" })).await.expect(200);
    agent.post("/v1/policy/edit", json!({ "text": "" })).await.problem(403, "forbidden");
}

#[tokio::test]
async fn hits_are_counted_by_rule_also_after_it_was_renamed() {
    let (world, clock) = World::timeless(POLICY).await;
    for command in ["cargo test", "cargo test --all", "git push", "make", "sayso away"] {
        world.open_ask(run(command)).await;
    }
    let hits =
        |reply: Value| reply["data"].as_array().unwrap().iter().map(|one| one["hits"].as_i64().unwrap()).collect::<Vec<_>>();
    let counted = world.admin.get("/v1/policy/hits").await.expect(200);
    let rules: Vec<&str> = counted["data"].as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["tests", "push", "built in: sayso itself"]);
    assert_eq!(hits(counted.clone()), [2, 1, 1]);
    let last = counted["data"][0]["lastAt"].clone();
    assert!(last.is_string());

    // A rule gets an id with its first change and keeps its hits. The id stays the same if the rule is renamed.
    let rule = json!({ "name": "tests", "do": "allow", "run": ["cargo test *"], "message": null, "agent": [] });
    let mut rule = rule.as_object().unwrap().clone();
    rule.remove("message");
    let form = edit(&world, POLICY, json!([{ "kind": "setRule", "place": 1, "rule": rule }])).await;
    let text = form["text"].as_str().unwrap();
    save(&world, text).await;
    world.open_ask(run("cargo test")).await;
    assert_eq!(hits(world.admin.get("/v1/policy/hits").await.expect(200)), [3, 1, 1]);
    save(&world, &text.replace("\"tests\"", "\"unit tests\"")).await;
    assert_eq!(hits(world.admin.get("/v1/policy/hits").await.expect(200)), [1, 1, 1]);

    clock.advance(Duration::from_secs(31 * 86_400));
    let counted = world.admin.get("/v1/policy/hits").await.expect(200);
    assert_eq!(hits(counted.clone()), [0, 0, 0]);
    assert!(counted["data"][0]["lastAt"].is_string(), "the last hit is known also when it was long ago");
    assert_eq!(hits(world.admin.get("/v1/policy/hits?days=60").await.expect(200)), [1, 1, 1]);
    world.admin.get("/v1/policy/hits?days=0").await.problem(422, "invalid_request");
}

async fn save(world: &World, text: &str) {
    let fingerprint = world.admin.get("/v1/policy").await.expect(200)["textFingerprint"].clone();
    let body = json!({ "text": text, "ifFingerprint": fingerprint });
    world.admin.call(&Method::PUT, "/v1/policy", Some(&body)).await.expect(200);
}

#[tokio::test]
async fn precedents_count_what_people_decided_about_the_same_action() {
    let world = World::start().await;
    for (path, body) in [("approve", json!({})), ("approve", json!({})), ("deny", json!({}))] {
        let past = id(&world.open_ask(approval()).await);
        world.admin.post(&format!("/v1/asks/{past}/{path}"), body).await.expect(200);
    }
    let other = id(&world.open_ask(run("cargo build")).await);
    world.admin.post(&format!("/v1/asks/{other}/approve"), json!({})).await.expect(200);

    let ask = id(&world.open_ask(approval()).await);
    let found = world.admin.get(&format!("/v1/asks/{ask}/precedents")).await.expect(200);
    assert_eq!((&found["approved"], &found["denied"]), (&json!(2), &json!(1)));
    let asked = id(&world.open_ask(question()).await);
    let none = world.admin.get(&format!("/v1/asks/{asked}/precedents")).await.expect(200);
    assert_eq!(none, json!({ "approved": 0, "denied": 0 }));
    let unknown = "ask_01890000000070008000000000000000";
    world.admin.get(&format!("/v1/asks/{unknown}/precedents")).await.problem(404, "ask_not_found");
    // Asks that a caller cannot see are not counted for it.
    let limited = world.token(json!({ "role": "answerer", "actor": "x", "labels": { "team": "a" } })).await;
    limited.get(&format!("/v1/asks/{ask}/precedents")).await.problem(404, "ask_not_found");
}
