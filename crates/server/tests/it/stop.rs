//! Graceful stop: streams end, requests finish, and nothing is lost.

use std::time::{Duration, Instant};

use sayso_testkit::{ScriptedAgent, ServerProcess};
use serde_json::json;

use crate::world::{Http, World, id, question};

/// The design allows 10 s, and the machine may be busy. A stream or wait that does not end would take a minute.
const AT_MOST: Duration = Duration::from_secs(40);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_stops_with_open_streams() {
    let world = World::start().await;
    let (agent, ask) = world.start_ask("question").await;
    let mut streams = Vec::new();
    for path in [
        "/v1/events".to_owned(),
        format!("/v1/sessions/{}/events", agent.session()),
        format!("/v1/sessions/{}/stream", agent.session()),
    ] {
        for _ in 0..10 {
            streams.push(world.admin.stream(&path, None).await);
        }
    }
    let began = Instant::now();
    let World { server, admin: _ } = world;
    let dir = server.stop().await;
    assert!(began.elapsed() < AT_MOST, "{:?}", began.elapsed());
    for stream in &mut streams {
        while stream.piece().await.is_some() {}
    }
    // Nothing is lost: the next server has the ask.
    drop(agent);
    let data = dir.path().join("data");
    assert!(!data.join("server.json").exists());
    let options = sayso_server::Options::new(([127, 0, 0, 1], 0).into(), data, dir.path().join("config"));
    let again = sayso_server::Server::start(options).await.unwrap();
    let admin = Http::new(again.url(), again.token());
    assert_eq!(admin.get(&format!("/v1/asks/{}", id(&ask))).await.expect(200), ask);
    again.stop().await;
}

/// A request that waits for an outcome does not delay the stop, and can be repeated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_stops_while_a_request_waits() {
    let world = World::start().await;
    let ask = id(&world.open_ask(question()).await);
    let requests = || async {
        let metrics = world.admin.get("/metrics").await.text;
        metrics.lines().find_map(|line| line.strip_prefix("sayso_requests_total ")).unwrap().parse::<u64>().unwrap()
    };
    let mut own = requests().await;
    let request = world.admin.request(&reqwest::Method::GET, &format!("/v1/asks/{ask}?wait=60s"));
    let waiting = tokio::spawn(async move { request.send().await.map(|response| response.status().as_u16()) });
    // The metrics count the test's own requests. One more means that the held request has arrived.
    sayso_testkit::within("the request to arrive", async {
        loop {
            own += 1;
            if requests().await > own {
                return Ok(());
            }
        }
    })
    .await
    .unwrap();
    let began = Instant::now();
    world.server.stop().await;
    assert!(began.elapsed() < AT_MOST, "{:?}", began.elapsed());
    // Either the request got a response, or the connection ended and the client repeats it.
    if let Ok(status) = waiting.await.unwrap() {
        assert!([200, 503].contains(&status), "{status}");
    }
}

#[tokio::test]
async fn binary_stops_on_sigterm_and_resumes() {
    let dir = tempfile::tempdir().unwrap();
    let mut process = ServerProcess::start(dir.path()).await.unwrap();
    let admin = Http::new(process.url(), process.token());
    let mut agent = ScriptedAgent::start(&process.client().unwrap(), "question").await.unwrap();
    let ask = agent.asks().await.unwrap();
    let _stream = admin.stream("/v1/events", None).await;
    let began = Instant::now();
    let status = process.terminate().await.unwrap();
    assert!(status.success(), "{status}");
    assert!(began.elapsed() < AT_MOST, "{:?}", began.elapsed());
    process.start_again().await.unwrap();
    admin.answer(&ask.id, json!([["SQLite"]])).await.expect(200);
    assert_eq!(agent.finished().await.unwrap(), "You answered: SQLite.");
}

/// Acknowledged writes survive a kill at any moment. The tool `chaos` repeats this a thousand times.
#[tokio::test]
async fn binary_resumes_after_kill_nine() {
    let dir = tempfile::tempdir().unwrap();
    let mut process = ServerProcess::start(dir.path()).await.unwrap();
    let admin = Http::new(process.url(), process.token());
    let mut agent = ScriptedAgent::start(&process.client().unwrap(), "parallel").await.unwrap();
    let mut asks = Vec::new();
    for _ in 0..3 {
        asks.push(agent.asks().await.unwrap().id);
    }
    let opened = admin.post("/v1/asks", question()).await.expect(201);
    let first = admin.answer(&asks[0], json!([["SQLite"]])).await.expect(200);
    process.kill9().await.unwrap();
    process.start_again().await.unwrap();
    assert_eq!(admin.get(&format!("/v1/asks/{}", id(&opened))).await.expect(200), opened);
    assert_eq!(admin.get(&format!("/v1/asks/{}", asks[0])).await.expect(200)["outcome"], first["outcome"]);
    admin.post(&format!("/v1/asks/{}/approve", asks[1]), json!({})).await.expect(200);
    process.kill9().await.unwrap();
    process.start_again().await.unwrap();
    admin.answer(&asks[2], json!([["nextest"]])).await.expect(200);
    let words = agent.finished().await.unwrap();
    assert_eq!(words, "You answered: SQLite.\nApproved: cargo test --workspace\nYou answered: nextest.");
}

/// A second server on the same directory fails with an explanation.
#[tokio::test]
async fn second_server_on_the_same_directory_is_refused() {
    let world = World::start().await;
    let options = sayso_server::Options::new(([127, 0, 0, 1], 0).into(), world.server.data_dir(), world.server.config_dir());
    let refused = sayso_server::Server::start(options).await.unwrap_err();
    assert!(refused.to_string().contains("sayso stop"), "{refused}");
    world.admin.get("/v1/health").await.expect(200);
}
