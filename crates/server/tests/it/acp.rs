//! ACP over HTTP with handwritten messages: authentication, refusals, and the state afterwards.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use sayso_testkit::within;
use serde_json::{Value, json};

use crate::world::{Http, Piece, Reply, Stream, World};

/// An ACP client over HTTP.
struct Client {
    http: Http,
    connection: String,
    next: u64,
}

impl Client {
    async fn connect(http: &Http, capabilities: Value) -> Self {
        let reply = http.post("/acp", initialize(capabilities)).await;
        reply.expect(200);
        let connection = reply.headers["acp-connection-id"].to_str().unwrap().to_owned();
        Self { http: http.clone(), connection, next: 1 }
    }

    fn with(&self, request: RequestBuilder) -> RequestBuilder {
        request.header("acp-connection-id", &self.connection)
    }

    async fn post(&self, message: &Value) -> Reply {
        self.http.send(self.with(self.http.request(&Method::POST, "/acp")).json(message)).await
    }

    /// Makes a request; its answer comes on a stream.
    async fn request(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.post(&message).await.expect(202);
        self.next
    }

    async fn answer(&self, id: &Value, result: Value) {
        self.post(&json!({ "jsonrpc": "2.0", "id": id, "result": result })).await.expect(202);
    }

    async fn stream(&self, session: Option<&str>) -> Stream {
        let mut request = self.with(self.http.request(&Method::GET, "/acp")).header("accept", "text/event-stream");
        if let Some(session) = session {
            request = request.header("acp-session-id", session);
        }
        Stream::of(request).await
    }

    /// A session with the mock, and the streams of the connection and of the session.
    async fn session(&mut self) -> (String, Stream, Stream) {
        let mut connection = self.stream(None).await;
        let id = self.request("session/new", new()).await;
        let made = answer_to(&mut connection, id).await;
        let session = made["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
        let stream = self.stream(Some(&session)).await;
        (session, connection, stream)
    }

    async fn prompt(&mut self, session: &str, text: &str) -> u64 {
        self.request("session/prompt", json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] })).await
    }
}

/// A server whose answerers may start sessions anywhere.
async fn world() -> World {
    World::with(|setup| setup.config = Some("roots = [\"/\"]\n".to_owned())).await
}

fn initialize(capabilities: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": 1, "clientCapabilities": capabilities } })
}

fn new() -> Value {
    json!({ "cwd": "/", "mcpServers": [], "_meta": { "sayso": { "agent": "mock" } } })
}

fn all() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "_meta": { "extensions": { "sessionRequestQuestion": true } } })
}

/// The answer to this request.
async fn answer_to(stream: &mut Stream, id: u64) -> Value {
    loop {
        let (_, message) = stream.event().await;
        if message["id"] == id && message.get("method").is_none() {
            return message;
        }
    }
}

/// The next request or notification with this method.
async fn method(stream: &mut Stream, method: &str) -> Value {
    loop {
        let (_, message) = stream.event().await;
        if message["method"] == method {
            return message;
        }
    }
}

/// Collects the agent's text until the end of the turn. Returns it with the response to the prompt.
async fn turn_text(stream: &mut Stream, prompt: u64) -> (String, Value) {
    let mut said = String::new();
    loop {
        let (_, message) = stream.event().await;
        if message["id"] == prompt && message.get("method").is_none() {
            return (said, message["result"]["stopReason"].clone());
        }
        let update = &message["params"]["update"];
        if update["sessionUpdate"] == "agent_message_chunk" {
            said.push_str(update["content"]["text"].as_str().unwrap());
        }
    }
}

/// The question arrives on the stream, the client posts its response, and the agent continues.
#[tokio::test]
async fn client_answers_a_question_of_the_agent() {
    let world = world().await;
    let mut client = Client::connect(&world.role("answerer").await, all()).await;
    let (session, _connection, mut stream) = client.session().await;
    let prompt = client.prompt(&session, "ask me a question").await;
    let asked = method(&mut stream, "_sandboxagent/session/request_question").await;
    let params = &asked["params"];
    assert_eq!(
        (&params["sessionId"], &params["options"]),
        (&json!(session), &json!([["SQLite", "SQLite"], ["PostgreSQL", "PostgreSQL"]]))
    );
    let ask = params["questionId"].as_str().unwrap().to_owned();
    client.answer(&asked["id"], json!({ "status": "answered", "answers": [["SQLite"]] })).await;
    let (words, stop) = turn_text(&mut stream, prompt).await;
    assert!(words.contains("SQLite"), "{words}");
    assert_eq!(stop, "end_turn");
    let outcome = world.outcome(&ask).await;
    assert_eq!((&outcome["status"], &outcome["outcome"]["by"]["via"]), (&json!("answered"), &json!("acp")));
    assert_eq!(outcome["outcome"]["by"]["name"], "answerer");
    // The person's own prompt is not echoed to the client, and the transcript contains it once.
    let log = world.admin.get(&format!("/v1/sessions/{session}/transcript")).await.expect(200);
    assert_eq!(log["data"].as_array().unwrap().iter().filter(|block| block["role"] == "user").count(), 1);
}

/// A rejected question, a denied tool and a declined link.
#[tokio::test]
async fn denial_at_the_client_reaches_the_agent() {
    let world = world().await;
    let mut client = Client::connect(&world.admin, all()).await;
    let (session, _connection, mut stream) = client.session().await;
    for (prompt, way, result, wanted) in [
        ("question", "_sandboxagent/session/request_question", json!({ "status": "rejected" }), "Rejected"),
        ("approve", "session/request_permission", json!({ "outcome": { "outcome": "selected", "optionId": "deny" } }), "Denied"),
        ("link", "elicitation/create", json!({ "action": "decline" }), "Denied"),
        ("form", "elicitation/create", json!({ "action": "decline" }), "Rejected"),
    ] {
        let id = client.prompt(&session, prompt).await;
        let asked = method(&mut stream, way).await;
        client.answer(&asked["id"], result).await;
        let (words, _) = turn_text(&mut stream, id).await;
        assert!(words.contains(wanted), "{prompt}: {words}");
    }
}

#[tokio::test]
async fn tool_calls_and_permissions_are_reported_to_the_client() {
    let world = world().await;
    let mut client = Client::connect(&world.admin, json!({})).await;
    let (session, _connection, mut stream) = client.session().await;
    let id = client.prompt(&session, "approve").await;
    let asked = method(&mut stream, "session/request_permission").await;
    let call = asked["params"]["toolCall"]["toolCallId"].clone();
    assert_eq!(asked["params"]["options"][1]["kind"], "allow_always");
    client.answer(&asked["id"], json!({ "outcome": { "outcome": "selected", "optionId": "option-0" } })).await;
    let mut statuses = Vec::new();
    loop {
        let (_, message) = stream.event().await;
        let update = &message["params"]["update"];
        if update["toolCallId"] == call {
            statuses.push(update["status"].clone());
        }
        if message["id"] == id {
            break;
        }
    }
    assert_eq!(statuses.last(), Some(&json!("completed")), "{statuses:?}");
}

/// The first answer wins. The client is notified if the ask was answered on another surface.
#[tokio::test]
async fn first_answer_wins_across_surfaces() {
    let world = world().await;
    let mut one = Client::connect(&world.admin, all()).await;
    let mut two = Client::connect(&world.role("answerer").await, all()).await;
    let (session, _connection, mut stream) = one.session().await;
    let mut second = two.stream(Some(&session)).await;
    let loaded = two.request("session/load", json!({ "sessionId": session, "cwd": "/", "mcpServers": [] })).await;
    answer_to(&mut second, loaded).await;
    for round in 0..4 {
        one.prompt(&session, "question").await;
        let first = method(&mut stream, "_sandboxagent/session/request_question").await;
        let other = method(&mut second, "_sandboxagent/session/request_question").await;
        let ask = first["params"]["questionId"].as_str().unwrap().to_owned();
        assert_eq!(other["params"]["questionId"], ask, "one ask");
        let answer = |entry: &str| json!({ "status": "answered", "answers": [[entry]] });
        if round == 0 {
            world.admin.answer(&ask, json!([["SQLite"]])).await.expect(200);
        } else {
            let native = world.admin.answer(&ask, json!([["SQLite"]]));
            let (a, b) = (one.answer(&first["id"], answer("SQLite")), two.answer(&other["id"], answer("PostgreSQL")));
            let (native, (), ()) = tokio::join!(native, a, b);
            assert!([200, 409].contains(&native.status), "{}", native.text);
        }
        assert_eq!(world.outcome(&ask).await["status"], "answered");
        if round == 0 {
            let taken_back = method(&mut stream, "$/cancel_request").await;
            assert_eq!(taken_back["params"]["requestId"], first["id"]);
            let taken_back = method(&mut second, "$/cancel_request").await;
            assert_eq!(taken_back["params"]["requestId"], other["id"]);
            // A late response is ignored.
            one.answer(&first["id"], answer("PostgreSQL")).await;
            assert_eq!(world.outcome(&ask).await["outcome"]["answers"], json!([["SQLite"]]));
        }
        within("the turn ends", async {
            loop {
                if world.session(&session).await["status"] == "idle" {
                    return Ok(());
                }
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
    }
}

/// A client that disconnects cancels nothing. A client that loads the session gets its pending asks.
#[tokio::test]
async fn session_load_restores_a_lost_connection() {
    let world = world().await;
    let http = world.role("answerer").await;
    let mut client = Client::connect(&http, all()).await;
    let (session, connection, mut stream) = client.session().await;
    client.prompt(&session, "question").await;
    let asked = method(&mut stream, "_sandboxagent/session/request_question").await;
    drop((connection, stream));
    http.send(client.with(http.request(&Method::DELETE, "/acp"))).await.expect(202);
    let ask = asked["params"]["questionId"].as_str().unwrap();
    assert_eq!(world.ask(ask).await["status"], "pending");

    let mut client = Client::connect(&http, all()).await;
    let mut stream = client.stream(Some(&session)).await;
    let id = client.request("session/load", json!({ "sessionId": session, "cwd": "/", "mcpServers": [] })).await;
    let told = method(&mut stream, "session/update").await;
    assert_eq!(told["params"]["update"]["sessionUpdate"], "user_message_chunk");
    answer_to(&mut stream, id).await;
    let again = method(&mut stream, "_sandboxagent/session/request_question").await;
    assert_eq!(again["params"]["questionId"], ask);
    // The client posts its answer and disconnects before it gets a reply.
    client.answer(&again["id"], json!({ "status": "answered", "answers": [["PostgreSQL"]] })).await;
    drop(stream);
    http.send(client.with(http.request(&Method::DELETE, "/acp"))).await.expect(202);
    assert_eq!(world.outcome(ask).await["outcome"]["answers"], json!([["PostgreSQL"]]));
}

#[tokio::test]
async fn cancelled_prompt_interrupts_the_turn() {
    let world = world().await;
    let mut client = Client::connect(&world.admin, all()).await;
    let (session, _connection, mut stream) = client.session().await;
    let prompt = client.prompt(&session, "question").await;
    let asked = method(&mut stream, "_sandboxagent/session/request_question").await;
    client.post(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } })).await.expect(202);
    assert_eq!(method(&mut stream, "$/cancel_request").await["params"]["requestId"], asked["id"]);
    assert_eq!(answer_to(&mut stream, prompt).await["result"]["stopReason"], "cancelled");
    assert_eq!(world.outcome(asked["params"]["questionId"].as_str().unwrap()).await["status"], "withdrawn");
}

/// An answer that does not fit leaves the ask pending, and the client is asked again.
#[tokio::test]
async fn invalid_answer_is_requested_again() {
    let world = world().await;
    let mut client = Client::connect(&world.admin, json!({ "elicitation": { "form": {} } })).await;
    let (session, _connection, mut stream) = client.session().await;
    let id = client.prompt(&session, "form").await;
    let asked = method(&mut stream, "elicitation/create").await;
    client.answer(&asked["id"], json!({ "action": "accept", "content": { "question_1": "many" } })).await;
    let again = method(&mut stream, "elicitation/create").await;
    assert!(again["params"]["message"].as_str().unwrap().starts_with("Invalid answer"), "{again}");
    let content: serde_json::Map<String, Value> = again["params"]["requestedSchema"]["properties"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, field)| {
            let value = match field["type"].as_str() {
                Some("integer" | "number") => field.get("minimum").cloned().unwrap_or(json!(1)),
                Some("boolean") => json!(true),
                _ => field["oneOf"][0].get("const").cloned().unwrap_or(json!("text")),
            };
            (key.clone(), value)
        })
        .collect();
    client.answer(&again["id"], json!({ "action": "accept", "content": content })).await;
    assert_eq!(turn_text(&mut stream, id).await.1, "end_turn");
}

/// Each kind of invalid input has its own error.
#[tokio::test]
async fn unauthorized_clients_get_a_reason() {
    let world = world().await;
    let hello = || initialize(json!({}));
    world.http("").post("/acp", hello()).await.problem(401, "unauthorized");
    world.http("sayso_wrong").post("/acp", hello()).await.problem(401, "unauthorized");
    let (timeless, clock) = World::timeless("").await;
    let brief = timeless.token(json!({ "role": "answerer", "actor": "brief", "expiresIn": "1m" })).await;
    let client = Client::connect(&brief, json!({})).await;
    clock.advance(Duration::from_secs(61));
    brief.post("/acp", hello()).await.problem(401, "unauthorized");
    client.post(&json!({ "jsonrpc": "2.0", "id": 9, "method": "session/list" })).await.problem(401, "unauthorized");
    world.role("viewer").await.post("/acp", hello()).await.problem(403, "forbidden");
    world.role("agent").await.post("/acp", hello()).await.problem(403, "forbidden");

    let owner = world.role("answerer").await;
    let client = Client::connect(&owner, json!({})).await;
    // A connection id is valid only with the token that opened the connection.
    let stranger = world.role("answerer").await;
    let ping = json!({ "jsonrpc": "2.0", "id": 9, "method": "session/list" });
    let stolen = stranger.send(client.with(stranger.request(&Method::POST, "/acp")).json(&ping)).await;
    stolen.problem(404, "not_found");
    let stolen = client.with(stranger.request(&Method::GET, "/acp")).header("accept", "text/event-stream");
    stranger.send(stolen).await.problem(404, "not_found");
    stranger.send(client.with(stranger.request(&Method::DELETE, "/acp"))).await.problem(404, "not_found");
    client.post(&ping).await.expect(202);
}

#[tokio::test]
async fn scoped_token_lists_only_its_sessions() {
    let world = world().await;
    let (mine, _) = world.start_ask("question").await;
    let (other, _) = world.start_ask("question").await;
    let scoped = world.token(json!({ "role": "answerer", "actor": "page", "sessionId": mine.session() })).await;
    let mut client = Client::connect(&scoped, all()).await;
    let mut connection = client.stream(None).await;
    let listed = client.request("session/list", json!({})).await;
    let listed = answer_to(&mut connection, listed).await;
    let ids: Vec<&Value> = listed["result"]["sessions"].as_array().unwrap().iter().map(|found| &found["sessionId"]).collect();
    assert_eq!(ids, [&json!(mine.session())]);
    let refused = client.request("session/load", json!({ "sessionId": other.session(), "cwd": "/" })).await;
    assert_eq!(answer_to(&mut connection, refused).await["error"]["data"]["code"], "session_not_found");
    let refused = client.request("session/new", new()).await;
    assert_eq!(answer_to(&mut connection, refused).await["error"]["data"]["code"], "forbidden");
    let mut stream = client.stream(Some(mine.session())).await;
    client.request("session/resume", json!({ "sessionId": mine.session(), "cwd": "/" })).await;
    let asked = method(&mut stream, "_sandboxagent/session/request_question").await;
    assert_eq!(asked["params"]["sessionId"], mine.session());
}

#[tokio::test]
async fn revocation_ends_the_streams_of_a_connection() {
    let world = world().await;
    let made = world.admin.post("/v1/tokens", json!({ "role": "answerer", "actor": "gone" })).await.expect(201);
    let http = world.http(made["token"].as_str().unwrap());
    let mut client = Client::connect(&http, all()).await;
    let (session, _connection, mut stream) = client.session().await;
    client.prompt(&session, "question").await;
    let asked = method(&mut stream, "_sandboxagent/session/request_question").await;
    world.admin.delete(&format!("/v1/tokens/{}", made["id"].as_str().unwrap())).await.expect(200);
    let late = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "status": "answered", "answers": [["SQLite"]] } });
    client.post(&late).await.problem(401, "unauthorized");
    let ask = asked["params"]["questionId"].as_str().unwrap();
    world.admin.answer(ask, json!([["PostgreSQL"]])).await.expect(200);
    loop {
        match stream.piece().await {
            None => break,
            Some(Piece::Comment) => {}
            Some(Piece::Event(_, said)) => panic!("{said}"),
        }
    }
}

#[tokio::test]
async fn wrong_requests_are_refused_before_they_reach_a_connection() {
    let world = world().await;
    let client = Client::connect(&world.admin, json!({})).await;
    let http = &world.admin;
    let post =
        |body: String| client.with(http.request(&Method::POST, "/acp")).header("content-type", "application/json").body(body);
    for (body, code) in [
        ("nonsense".to_owned(), -32700),
        (String::new(), -32700),
        ("[]".to_owned(), -32600),
        (format!("[{}]", initialize(json!({}))), -32600),
        (r#"{"id":1}"#.to_owned(), -32600),
        (r#"{"id":[],"method":"x"}"#.to_owned(), -32600),
    ] {
        let reply = http.send(post(body.clone())).await;
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (400, &json!(code)), "{body}");
        assert!(!reply.headers.contains_key("acp-connection-id"));
    }
    http.send(client.with(http.request(&Method::POST, "/acp")).body("{}")).await.problem(415, "malformed_request");
    http.send(post("\u{1}".repeat(7 * 1024 * 1024))).await.problem(413, "too_large");
    let invalid = client.with(http.request(&Method::POST, "/acp")).header("content-type", "application/json").body(vec![0xff]);
    http.send(invalid).await.problem(400, "malformed_request");
    let ping = json!({ "jsonrpc": "2.0", "id": 9, "method": "session/list" });
    http.post("/acp", ping.clone()).await.problem(400, "malformed_request");
    let unknown = http.request(&Method::POST, "/acp").header("acp-connection-id", "nobody").json(&ping);
    http.send(unknown).await.problem(404, "not_found");
    http.send(client.with(http.request(&Method::GET, "/acp"))).await.problem(406, "invalid_request");
    let _stream = client.stream(None).await;
    let second = client.with(http.request(&Method::GET, "/acp")).header("accept", "text/event-stream");
    http.send(second).await.problem(409, "invalid_request");
    http.call(&Method::PUT, "/acp", None).await.problem(405, "method_not_allowed");
}

/// An unexpected or repeated response changes nothing, and the connection continues.
#[tokio::test]
async fn unexpected_responses_are_ignored() {
    let world = world().await;
    let mut client = Client::connect(&world.admin, all()).await;
    let (session, _connection, mut stream) = client.session().await;
    let prompt = client.prompt(&session, "approve").await;
    let asked = method(&mut stream, "session/request_permission").await;
    for id in [json!(77), json!("1"), json!(null), json!(-3)] {
        let yes = json!({ "outcome": { "outcome": "selected", "optionId": "allow" } });
        let reply = client.post(&json!({ "jsonrpc": "2.0", "id": id, "result": yes })).await;
        assert!([202, 400].contains(&reply.status), "{id}: {}", reply.text);
    }
    let no = json!({ "outcome": { "outcome": "selected", "optionId": "deny" } });
    client.answer(&asked["id"], no).await;
    client.answer(&asked["id"], json!({ "outcome": { "outcome": "selected", "optionId": "allow" } })).await;
    let (words, _) = turn_text(&mut stream, prompt).await;
    assert!(words.contains("Denied"), "{words}");
}

#[tokio::test]
async fn session_without_an_agent_uses_the_default_agent() {
    let world = World::with(|setup| setup.config = Some("default_agent = \"mock\"\n".to_owned())).await;
    let mut client = Client::connect(&world.admin, json!({})).await;
    let mut connection = client.stream(None).await;
    let id = client.request("session/new", json!({ "cwd": "/", "mcpServers": [] })).await;
    let made = answer_to(&mut connection, id).await;
    assert_eq!(world.session(made["result"]["sessionId"].as_str().unwrap()).await["agent"], "mock");
    let id = client.request("session/new", json!({ "cwd": "/", "_meta": { "sayso": { "agent": "nobody" } } })).await;
    assert_eq!(answer_to(&mut connection, id).await["error"]["data"]["code"], "unknown_agent");
    let id = client.request("session/new", json!({ "cwd": "relative", "_meta": { "agent": "mock" } })).await;
    assert_eq!(answer_to(&mut connection, id).await["error"]["data"]["code"], "directory_not_allowed");
}
