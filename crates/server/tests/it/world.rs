//! Helpers: a real server, HTTP requests without a client library, and streams as bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use reqwest::Method;
use reqwest::header::HeaderMap;
use sayso_server::FakeClock;
use sayso_testkit::{PATIENCE, ScriptedAgent, Setup, TestServer};
use serde_json::{Value, json};

/// A server and its admin.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) server: TestServer,
    pub(crate) admin: Http,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Setup)) -> Self {
        let server = TestServer::with(change).await.unwrap();
        let admin = Http::new(&server.url(), server.token());
        Self { server, admin }
    }

    /// A server with this policy.
    pub(crate) async fn with_policy(policy: &str) -> Self {
        Self::with(|setup| setup.policy = Some(policy.to_owned())).await
    }

    /// A server with a fake clock and this policy.
    pub(crate) async fn timeless(policy: &str) -> (Self, Arc<FakeClock>) {
        let mut clock = None;
        let world = Self::with(|setup| {
            clock = Some(setup.fake_clock());
            setup.policy = Some(policy.to_owned());
        })
        .await;
        (world, clock.unwrap())
    }

    /// Calls with this token.
    pub(crate) fn http(&self, token: &str) -> Http {
        Http::new(&self.server.url(), token)
    }

    /// Creates a token and returns a client that uses it.
    pub(crate) async fn token(&self, wanted: Value) -> Http {
        let made = self.admin.post("/v1/tokens", wanted).await.expect(201);
        self.http(made["token"].as_str().unwrap())
    }

    /// Calls with a new token of this role.
    pub(crate) async fn role(&self, role: &str) -> Http {
        self.token(json!({ "role": role, "actor": role })).await
    }

    /// A session with the mock.
    pub(crate) async fn agent(&self, prompt: &str) -> ScriptedAgent {
        ScriptedAgent::start(&self.server.client(), prompt).await.unwrap()
    }

    /// A session with the mock and its first ask.
    pub(crate) async fn start_ask(&self, prompt: &str) -> (ScriptedAgent, Value) {
        let mut agent = self.agent(prompt).await;
        let ask = agent.asks().await.unwrap();
        let ask = self.ask(&ask.id).await;
        (agent, ask)
    }

    /// Opens an ask as the admin.
    pub(crate) async fn open_ask(&self, wanted: Value) -> Value {
        self.admin.post("/v1/asks", wanted).await.expect(201)
    }

    pub(crate) async fn ask(&self, id: &str) -> Value {
        self.admin.get(&format!("/v1/asks/{id}")).await.expect(200)
    }

    /// Waits until the ask has an outcome, and returns it.
    pub(crate) async fn outcome(&self, id: &str) -> Value {
        let ask = self.admin.get(&format!("/v1/asks/{id}?wait=30s")).await.expect(200);
        assert_ne!(ask["status"], "pending", "{ask}");
        ask
    }

    pub(crate) async fn session(&self, id: &str) -> Value {
        self.admin.get(&format!("/v1/sessions/{id}")).await.expect(200)
    }
}

/// A question that accepts SQLite, PostgreSQL or text.
pub(crate) fn question() -> Value {
    let options = json!([{ "label": "SQLite" }, { "label": "PostgreSQL", "description": "full-featured" }]);
    json!({ "questions": [{ "header": "Database", "text": "Which database?", "options": options }] })
}

pub(crate) fn approval() -> Value {
    json!({ "approval": { "tool": "Bash", "action": "run", "command": "cargo test", "input": { "command": "cargo test" } } })
}

pub(crate) fn id(thing: &Value) -> String {
    thing["id"].as_str().unwrap().to_owned()
}

/// HTTP with one token.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    client: reqwest::Client,
    url: String,
    token: String,
}

/// The response to a request.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    call: String,
}

impl Http {
    pub(crate) fn new(url: &str, token: &str) -> Self {
        Self { client: sayso_testkit::http(), url: url.to_owned(), token: token.to_owned() }
    }

    /// The token, for the same caller at a server that was restarted.
    pub(crate) fn secret(&self) -> &str {
        &self.token
    }

    pub(crate) fn request(&self, method: &Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.client.request(method.clone(), format!("{}{path}", self.url)).timeout(2 * PATIENCE);
        if self.token.is_empty() { request } else { request.bearer_auth(&self.token) }
    }

    pub(crate) async fn send(&self, request: reqwest::RequestBuilder) -> Reply {
        let request = request.build().unwrap();
        let call = format!("{} {}", request.method(), request.url().path());
        let response = self.client.execute(request).await.unwrap();
        Reply {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text: response.text().await.unwrap(),
            call,
        }
    }

    pub(crate) async fn call(&self, method: &Method, path: &str, body: Option<&Value>) -> Reply {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request = request.json(body);
        }
        self.send(request).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.call(&Method::GET, path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.call(&Method::POST, path, Some(&body)).await
    }

    /// A POST without any body.
    pub(crate) async fn poke(&self, path: &str) -> Reply {
        self.call(&Method::POST, path, None).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.call(&Method::DELETE, path, None).await
    }

    /// A POST whose body is these bytes.
    pub(crate) async fn raw(&self, path: &str, body: impl Into<reqwest::Body>) -> Reply {
        self.send(self.request(&Method::POST, path).header("content-type", "application/json").body(body)).await
    }

    /// A POST under this idempotency key.
    pub(crate) async fn keyed(&self, path: &str, key: &str, body: Value) -> Reply {
        self.send(self.request(&Method::POST, path).header("idempotency-key", key).json(&body)).await
    }

    pub(crate) async fn answer(&self, ask: &str, answers: Value) -> Reply {
        self.post(&format!("/v1/asks/{ask}/answer"), json!({ "answers": answers })).await
    }

    /// Opens a stream that starts after this `seq`, or now.
    pub(crate) async fn stream(&self, path: &str, after: Option<&str>) -> Stream {
        let mut request = self.request(&Method::GET, path);
        if let Some(after) = after {
            request = request.header("last-event-id", after);
        }
        Stream::of(request).await
    }
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{}: {error}: {}", self.call, self.text))
    }

    /// The body of a reply that must have this status.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}: {}", self.call, self.text);
        if self.text.is_empty() { Value::Null } else { self.json() }
    }

    /// Returns the problem document. Fails if the status or the code differ.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, code: &str) -> Value {
        let problem = self.expect(status);
        assert_eq!(problem["code"], code, "{}: {}", self.call, self.text);
        assert_eq!(problem["status"], status, "{}: {}", self.call, self.text);
        assert_eq!(self.headers["content-type"], "application/problem+json", "{}", self.call);
        assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{}", self.text);
        problem
    }
}

/// A stream of server-sent events.
#[derive(Debug)]
pub(crate) struct Stream {
    response: reqwest::Response,
    buffer: String,
}

/// One piece of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    /// An event: its fields by name, and its data.
    Event(BTreeMap<String, String>, Value),
    /// A comment that only keeps the connection alive.
    Comment,
}

impl Stream {
    /// The stream that this request opens.
    pub(crate) async fn of(request: reqwest::RequestBuilder) -> Self {
        // A stream is long-lived; each wait for the next piece has its own timeout.
        let response = request.timeout(20 * PATIENCE).send().await.unwrap();
        assert_eq!(response.status(), 200, "{}", response.url());
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, buffer: String::new() }
    }

    /// Returns the next piece, or `None` at the end.
    pub(crate) async fn piece(&mut self) -> Option<Piece> {
        loop {
            if let Some((block, rest)) = self.buffer.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.buffer = rest;
                let fields: BTreeMap<String, String> = block
                    .lines()
                    .filter_map(|line| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned())))
                    .collect();
                match fields.get("data").map(|data| serde_json::from_str(data).unwrap()) {
                    Some(data) => return Some(Piece::Event(fields, data)),
                    None if block.starts_with(':') => return Some(Piece::Comment),
                    // Other fields, such as `retry:`.
                    None => continue,
                }
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk())
                .await
                .unwrap_or_else(|_| panic!("the stream says nothing"))
                .ok()??;
            self.buffer.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The next event with its fields.
    pub(crate) async fn event(&mut self) -> (BTreeMap<String, String>, Value) {
        loop {
            match self.piece().await.unwrap_or_else(|| panic!("the stream ended")) {
                Piece::Event(fields, data) => return (fields, data),
                Piece::Comment => {}
            }
        }
    }

    /// The data of the next event of this type.
    pub(crate) async fn until(&mut self, kind: &str) -> Value {
        loop {
            let (_, data) = self.event().await;
            if data["type"] == kind {
                return data;
            }
        }
    }

    /// Reads every stored event up to this `seq`.
    pub(crate) async fn up_to(&mut self, seq: i64) -> Vec<Value> {
        let mut found = Vec::new();
        loop {
            let (_, data) = self.event().await;
            let Some(at) = data["seq"].as_i64() else { continue };
            found.push(data);
            if at >= seq {
                return found;
            }
        }
    }
}

/// Returns the `seq` of each event.
pub(crate) fn seqs(events: &[Value]) -> Vec<i64> {
    events.iter().filter_map(|event| event["seq"].as_i64()).collect()
}
