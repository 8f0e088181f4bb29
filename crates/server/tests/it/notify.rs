//! Notifications: when they are sent, how often, and how failed deliveries are retried.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use sayso_server::FakeClock;
use sayso_testkit::PATIENCE;
use sayso_testkit::receivers::{ReceivedCall, Receiver};
use serde_json::{Value, json};

use crate::world::{World, approval, id, question};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// One webhook.
fn hook(name: &str, url: &str, more: &str) -> String {
    format!(
        "[[notify]]\nname = \"{name}\"\nkind = \"webhook\"\nurl = \"{url}\"\nsecret_env = \"HOOK\"\nallow_private = true\n{more}\n"
    )
}

/// A server with a fake clock and this configuration.
async fn world(config: String) -> (World, Arc<FakeClock>) {
    let mut clock = None;
    let world = World::with(|setup| {
        clock = Some(setup.fake_clock());
        setup.options.environment.push(("HOOK".to_owned(), SECRET.to_owned()));
        setup.config = Some(config);
    })
    .await;
    (world, clock.unwrap())
}

/// Returns the kind of event and the ask id of each call.
fn received_events(calls: &[ReceivedCall]) -> Vec<(String, String)> {
    let one = |call: &ReceivedCall| {
        let event = call.json();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&event["type"]), text(&event["data"]["askId"]))
    };
    calls.iter().map(one).collect()
}

fn waiting(ask: &Value) -> (String, String) {
    ("ask.waiting".to_owned(), id(ask))
}

fn over(ask: &Value) -> (String, String) {
    ("ask.over".to_owned(), id(ask))
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Waits until the condition holds for the channel, and returns the channel as an admin sees it.
async fn channel(world: &World, name: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let looking = async {
        loop {
            let list = world.admin.get("/v1/notify").await.expect(200);
            let found = list["data"].as_array().unwrap().iter().find(|channel| channel["name"] == name).cloned().unwrap();
            if is_so(&found) {
                return found;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, looking).await.unwrap()
}

#[tokio::test]
async fn webhook_is_signed_and_has_no_content_by_default() {
    let receiver = Receiver::with_status(204).await.unwrap();
    let (world, clock) = world(hook("hook", receiver.url(), "")).await;
    let mut wanted = question();
    wanted["agent"] = json!("claude");
    wanted["project"] = json!("/home/ada/shop-api");
    let ask = world.open_ask(wanted).await;
    clock.advance(secs(20));
    let calls = receiver.calls(1).await.unwrap();
    standardwebhooks::Webhook::new(SECRET).unwrap().verify(&calls[0].body, &calls[0].headers).unwrap();
    let event = calls[0].json();
    let data = json!({
        "askId": id(&ask), "kind": "question", "agent": "claude", "project": "shop-api",
        "text": "claude in shop-api needs you", "openedAt": ask["openedAt"],
    });
    assert_eq!(event["data"], data);
    assert!(!calls[0].body.windows(8).any(|part| part == b"database"), "the content of the ask is omitted");
    let other = standardwebhooks::Webhook::new("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA").unwrap();
    assert!(other.verify(&calls[0].body, &calls[0].headers).is_err());
}

#[tokio::test]
async fn webhook_includes_content_if_configured() {
    let receiver = Receiver::with_status(200).await.unwrap();
    let (world, clock) = world(hook("hook", receiver.url(), "content = true\nafter = \"1s\"")).await;
    world.open_ask(approval()).await;
    clock.advance(secs(1));
    let event = receiver.calls(1).await.unwrap()[0].json();
    assert!(event["data"]["content"].as_str().unwrap().contains("cargo test"), "{event}");
}

/// The second channel is faster: once it has received a message, the first one would have as well.
#[tokio::test]
async fn notification_is_sent_once_and_only_while_due() {
    let (slow, fast) = (Receiver::with_status(200).await.unwrap(), Receiver::with_status(200).await.unwrap());
    let config = hook("slow", slow.url(), "after = \"20s\"") + &hook("fast", fast.url(), "after = \"19s\"");
    let (world, clock) = world(config).await;
    let answered = world.open_ask(question()).await;
    let kept = world.open_ask(question()).await;
    clock.advance(secs(19));
    assert_eq!(fast.calls(2).await.unwrap().len(), 2);
    assert!(slow.so_far().is_empty(), "too early");
    world.admin.answer(&id(&answered), json!([["SQLite"]])).await.expect(200);
    clock.advance(secs(1));
    slow.calls(1).await.unwrap();
    clock.advance(secs(86_400));
    let last = world.open_ask(question()).await;
    clock.advance(secs(20));
    assert_eq!(received_events(&slow.calls(2).await.unwrap()), [waiting(&kept), waiting(&last)]);
    let mut all = received_events(&fast.calls(4).await.unwrap());
    all.sort();
    let mut expected = vec![waiting(&answered), waiting(&kept), over(&answered), waiting(&last)];
    expected.sort();
    assert_eq!(all, expected);
}

#[tokio::test]
async fn automatic_decisions_send_no_notification() {
    let receiver = Receiver::with_status(200).await.unwrap();
    let (world, clock) = world(hook("hook", receiver.url(), "")).await;
    world.admin.post("/v1/policy/grants", json!({ "run": ["cargo test"], "for": "1h" })).await.expect(201);
    let decided = world.open_ask(approval()).await;
    assert_eq!(decided["status"], "approved");
    let asked = world.open_ask(question()).await;
    clock.advance(secs(20));
    assert_eq!(received_events(&receiver.calls(1).await.unwrap()), [waiting(&asked)]);
}

#[tokio::test]
async fn failed_notification_is_retried_with_the_same_id() {
    let status = Arc::new(AtomicU16::new(500));
    let says = Arc::clone(&status);
    let receiver = Receiver::start(move |_| {
        let status = StatusCode::from_u16(says.load(Ordering::SeqCst)).unwrap();
        async move { status.into_response() }
    });
    let receiver = receiver.await.unwrap();
    let (world, clock) = world(hook("hook", receiver.url(), "")).await;
    let ask = world.open_ask(question()).await;
    clock.advance(secs(20));
    for tries in 1..=3 {
        pass_until(&clock, secs(6), || receiver.so_far().len() >= tries).await;
    }
    channel(&world, "hook", |channel| channel["lastFailure"] == "the receiver responded with status 500").await;
    status.store(200, Ordering::SeqCst);
    pass_until(&clock, secs(30), || receiver.so_far().len() >= 4).await;
    channel(&world, "hook", |channel| channel["lastFailure"].is_null()).await;
    clock.advance(secs(86_400));
    let next = world.open_ask(question()).await;
    clock.advance(secs(20));
    let calls = receiver.calls(5).await.unwrap();
    assert_eq!(received_events(&calls), [waiting(&ask), waiting(&ask), waiting(&ask), waiting(&ask), waiting(&next)]);
    let ids: Vec<&str> = calls.iter().map(|call| call.header("webhook-id")).collect();
    assert!(ids[..4].iter().all(|id| *id == ids[0]) && ids[4] != ids[0], "{ids:?}");
}

#[tokio::test]
async fn notification_is_abandoned_after_its_retries() {
    let receiver = Receiver::with_status(503).await.unwrap();
    let (world, clock) = world(hook("hook", receiver.url(), "")).await;
    let first = world.open_ask(question()).await;
    pass_until(&clock, secs(600), || receiver.so_far().len() >= 6).await;
    clock.advance(secs(86_400));
    let second = world.open_ask(question()).await;
    clock.advance(secs(20));
    let calls = received_events(&receiver.calls(7).await.unwrap());
    assert_eq!(calls, [vec![waiting(&first); 6], vec![waiting(&second)]].concat());
}

/// Advances the clock step by step until the condition holds. Retries are scheduled by a separate task.
async fn pass_until(clock: &FakeClock, step: Duration, is_so: impl Fn() -> bool) {
    let passing = async {
        while !is_so() {
            clock.advance(step);
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, passing).await.unwrap();
}

#[tokio::test]
async fn gone_receiver_gets_no_more_notifications() {
    let receiver = Receiver::with_status(410).await.unwrap();
    let (mut world, clock) = world(hook("hook", receiver.url(), "")).await;
    let first = world.open_ask(question()).await;
    clock.advance(secs(20));
    channel(&world, "hook", |channel| channel["gone"] == true).await;
    world.open_ask(question()).await;
    clock.advance(secs(86_400));
    let tested = world.admin.post("/v1/notify/test", json!({})).await.expect(200);
    assert_eq!(tested["data"][0]["failure"], "the receiver no longer exists");
    assert_eq!(received_events(&receiver.so_far()), [waiting(&first)]);
    // A restart retries channels that were reported as gone.
    world.server.restart().await.unwrap();
    channel(&world, "hook", |channel| channel["gone"] == false).await;
}

#[tokio::test]
async fn dead_channel_delays_neither_answers_nor_other_channels() {
    // One receiver accepts requests and never responds; the other does not listen.
    let silent = Receiver::start(|_| std::future::pending()).await.unwrap();
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let unreachable = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let alive = Receiver::with_status(200).await.unwrap();
    let config = hook("silent", silent.url(), "") + &hook("unreachable", &unreachable, "") + &hook("alive", alive.url(), "");
    let (world, clock) = world(config).await;
    let mut asks = Vec::new();
    for _ in 0..40 {
        asks.push(world.open_ask(question()).await);
    }
    let began = std::time::Instant::now();
    clock.advance(secs(20));
    assert_eq!(alive.calls(40).await.unwrap().len(), 40);
    for ask in &asks {
        world.admin.answer(&id(ask), json!([["SQLite"]])).await.expect(200);
    }
    alive.calls(80).await.unwrap();
    channel(&world, "unreachable", |channel| channel["lastFailure"].as_str().is_some_and(|why| why.contains("could not reach")))
        .await;
    // Each attempt is abandoned after ten seconds and repeated.
    let most = 8 * (1 + began.elapsed().as_secs() / 10);
    assert!((silent.so_far().len() as u64) <= most, "a few at once, and no more");
}

#[tokio::test]
async fn restart_neither_repeats_nor_loses_a_notification() {
    let receiver = Receiver::with_status(200).await.unwrap();
    let (mut world, clock) = world(hook("hook", receiver.url(), "")).await;
    let told = world.open_ask(question()).await;
    clock.advance(secs(20));
    receiver.calls(1).await.unwrap();
    let soon = world.open_ask(question()).await;
    world.server.restart().await.unwrap();
    world.server.restart().await.unwrap();
    clock.advance(secs(20));
    assert_eq!(received_events(&receiver.calls(2).await.unwrap()), [waiting(&told), waiting(&soon)]);
    world.server.restart().await.unwrap();
    // Both channels are told about the outcome, including the ask from three restarts ago.
    for ask in [&told, &soon] {
        world.admin.answer(&id(ask), json!([["SQLite"]])).await.expect(200);
        receiver.until("the end of it", |calls| received_events(calls).contains(&over(ask))).await.unwrap();
    }
    assert_eq!(receiver.so_far().len(), 4);
}

#[tokio::test]
async fn new_channel_ignores_older_asks() {
    let receiver = Receiver::with_status(200).await.unwrap();
    let (mut world, clock) = world(String::new()).await;
    world.open_ask(question()).await;
    clock.advance(secs(1));
    std::fs::write(world.server.config_dir().join("config.toml"), hook("hook", receiver.url(), "")).unwrap();
    world.server.restart().await.unwrap();
    clock.advance(secs(3_600));
    let new = world.open_ask(question()).await;
    clock.advance(secs(20));
    assert_eq!(received_events(&receiver.calls(1).await.unwrap()), [waiting(&new)]);
}

#[tokio::test]
async fn unanswered_ask_escalates_to_the_next_channel() {
    let (first, second) = (Receiver::with_status(500).await.unwrap(), Receiver::with_status(200).await.unwrap());
    let config = hook("first", first.url(), "after = \"10s\"\nthen = { name = \"second\", after = \"5m\" }")
        + &hook("second", second.url(), "after = \"0s\"");
    let (world, clock) = world(config).await;
    let (answered, left) = (world.open_ask(question()).await, world.open_ask(question()).await);
    clock.advance(secs(10));
    first.calls(2).await.unwrap();
    world.admin.answer(&id(&answered), json!([["SQLite"]])).await.expect(200);
    assert!(second.so_far().is_empty(), "it waits for the first");
    clock.advance(secs(300));
    assert_eq!(
        received_events(&second.calls(1).await.unwrap()),
        [waiting(&left)],
        "a first channel that fails leads on all the same"
    );
}

#[tokio::test]
async fn snoozed_ask_is_notified_when_it_returns() {
    let receiver = Receiver::with_status(200).await.unwrap();
    let (world, clock) = world(hook("hook", receiver.url(), "")).await;
    let snoozed = world.open_ask(question()).await;
    let now: sayso_core::time::Time = serde_json::from_value(snoozed["openedAt"].clone()).unwrap();
    let until = json!({ "until": now.plus(secs(600)) });
    world.admin.post(&format!("/v1/asks/{}/snooze", id(&snoozed)), until).await.expect(200);
    let other = world.open_ask(question()).await;
    clock.advance(secs(20));
    receiver.calls(1).await.unwrap();
    clock.advance(secs(580));
    assert_eq!(received_events(&receiver.calls(2).await.unwrap()), [waiting(&other), waiting(&snoozed)]);
}

#[tokio::test]
async fn command_gets_the_notification_on_stdin() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("note.json");
    let line = format!("cat > {0}.part; mv {0}.part {0}", file.display());
    let config = format!("[[notify]]\nkind = \"command\"\nafter = \"1s\"\ncommand = [\"sh\", \"-c\", {line:?}]\n");
    let (world, clock) = world(config).await;
    let ask = world.open_ask(question()).await;
    clock.advance(secs(1));
    let reading = async {
        loop {
            if let Ok(text) = std::fs::read_to_string(&file) {
                return serde_json::from_str::<Value>(&text).unwrap();
            }
            tokio::task::yield_now().await;
        }
    };
    let note = tokio::time::timeout(PATIENCE, reading).await.unwrap();
    assert_eq!((&note["askId"], &note["kind"]), (&ask["id"], &json!("question")));
}

#[tokio::test]
async fn hanging_command_is_killed_with_its_children() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    let line = format!("sleep 3600 & echo $! > {}; sleep 3600", file.display());
    let config = format!("[[notify]]\nname = \"stuck\"\nkind = \"command\"\ncommand = [\"sh\", \"-c\", {line:?}]\n");
    let (world, _clock) = world(config).await;
    let tested = world.admin.post("/v1/notify/test", json!({ "name": "stuck" })).await.expect(200);
    let why = tested["data"][0]["failure"].as_str().unwrap();
    assert!(why.contains("was stopped because"), "{why}");
    let child = std::fs::read_to_string(&file).unwrap();
    let state = format!("/proc/{}/stat", child.trim());
    let gone = async {
        // A process that has exited but was not reaped is a zombie.
        while std::fs::read_to_string(&state).is_ok_and(|stat| !stat.contains(") Z ")) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.unwrap();
}

#[tokio::test]
async fn channel_test_reports_each_result_and_list_hides_secrets() {
    let (good, bad) = (Receiver::with_status(200).await.unwrap(), Receiver::with_status(403).await.unwrap());
    let config =
        hook("good", good.url(), "quiet = \"22:00-07:00\"\nperson = \"ada\"") + &hook("bad", bad.url(), "content = true");
    let (world, _clock) = world(config).await;
    let tested = world.admin.post("/v1/notify/test", json!({})).await.expect(200);
    let expected = json!([
        { "name": "good", "kind": "webhook", "sent": true },
        { "name": "bad", "kind": "webhook", "sent": false, "failure": "the receiver responded with status 403" },
    ]);
    assert_eq!(tested["data"], expected);
    assert_eq!(good.calls(1).await.unwrap()[0].json()["type"], "test");
    world.admin.post("/v1/notify/test", json!({ "name": "none" })).await.problem(404, "not_found");
    let list = world.admin.get("/v1/notify").await;
    assert!(!list.text.contains("whsec") && !list.text.contains(good.url()), "{}", list.text);
    let expected = json!([
        { "name": "good", "kind": "webhook", "after": "20s", "quiet": "22:00-07:00", "content": false, "person": "ada", "gone": false },
        { "name": "bad", "kind": "webhook", "after": "20s", "content": true, "gone": false, "lastFailure": "the receiver responded with status 403" },
    ]);
    assert_eq!(list.expect(200)["data"], expected);
}
