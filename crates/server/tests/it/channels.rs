//! Every channel against a receiver that follows its documented interface.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sayso_server::FakeClock;
use sayso_testkit::PATIENCE;
use sayso_testkit::receivers::{FakeNtfy, FakePush, FakeSlack, FakeSmtp, FakeTelegram};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::world::{World, approval, id, question};

/// A server with this channel, which sends the text of asks after one second.
async fn world(channel: &str) -> (World, Arc<FakeClock>) {
    let config =
        format!("[server]\npublic_url = \"https://sayso.test\"\n[[notify]]\nafter = \"1s\"\ncontent = true\n{channel}\n");
    let mut clock = None;
    let world = World::with(|setup| {
        clock = Some(setup.fake_clock());
        for (name, value) in [
            ("NTFY", FakeNtfy::TOKEN),
            ("TELEGRAM", FakeTelegram::TOKEN),
            ("SLACK", FakeSlack::TOKEN),
            ("APP", FakeSlack::APP_TOKEN),
        ] {
            setup.options.environment.push((name.to_owned(), value.to_owned()));
        }
        setup.config = Some(config);
    })
    .await;
    (world, clock.unwrap())
}

async fn open_due_ask(world: &World, clock: &FakeClock, wanted: Value) -> String {
    let ask = id(&world.open_ask(wanted).await);
    clock.advance(Duration::from_secs(1));
    ask
}

#[tokio::test]
async fn ntfy_buttons_answer_and_message_is_cleared_after_the_outcome() {
    let ntfy = FakeNtfy::start().await.unwrap();
    let channel = format!(
        "kind = \"ntfy\"\nurl = \"{}\"\nallow_private = true\ntopic = \"sayso\"\ntoken_env = \"NTFY\"\nperson = \"ada\"",
        ntfy.receiver().url()
    );
    let (world, clock) = world(&channel).await;
    let ask = open_due_ask(&world, &clock, question()).await;
    let message = ntfy.receiver().calls(1).await.unwrap()[0].json();
    assert_eq!(message["message"], "Which database?\n1. SQLite\n2. PostgreSQL – full-featured");
    assert_eq!(message["click"], message["actions"][0]["url"]);
    assert_eq!(ntfy.press(&message, "PostgreSQL", &world.server.url()).await.unwrap(), 204);
    let decided = world.ask(&ask).await;
    assert_eq!(decided["outcome"]["answers"], json!([["PostgreSQL"]]));
    assert_eq!((&decided["outcome"]["by"]["name"], &decided["outcome"]["by"]["via"]), (&json!("ada"), &json!("ntfy")));
    let replaced = ntfy.receiver().calls(2).await.unwrap()[1].json();
    assert_eq!((&replaced["sequence_id"], &replaced["message"]), (&json!("m1"), &json!("No longer waiting: answered by ada")));
    // The message stays visible on another phone, where its button is pressed later.
    assert_eq!(ntfy.press(&message, "SQLite", &world.server.url()).await.unwrap(), 409);
    assert_eq!(world.ask(&ask).await["outcome"]["answers"], json!([["PostgreSQL"]]));
}

#[tokio::test]
async fn ntfy_links_to_the_page_if_buttons_cannot_answer() {
    let ntfy = FakeNtfy::start().await.unwrap();
    let channel = format!(
        "kind = \"ntfy\"\nurl = \"{}\"\nallow_private = true\ntopic = \"sayso\"\ntoken_env = \"NTFY\"\nperson = \"ada\"",
        ntfy.receiver().url()
    );
    let (world, clock) = world(&channel).await;
    let options = json!([{ "label": "A" }, { "label": "B" }, { "label": "C" }, { "label": "D" }]);
    open_due_ask(&world, &clock, json!({ "questions": [{ "text": "Which?", "options": options }] })).await;
    let message = ntfy.receiver().calls(1).await.unwrap()[0].json();
    assert_eq!(message["actions"], json!([{ "action": "view", "label": "Open", "url": message["click"] }]));
}

fn telegram_channel(telegram: &FakeTelegram) -> String {
    format!(
        "kind = \"telegram\"\nurl = \"{}\"\nallow_private = true\nchat = \"77\"\ntoken_env = \"TELEGRAM\"\npeople = {{ 7 = \"ada\", 8 = \"ben\" }}",
        telegram.url()
    )
}

/// Returns the data of a button.
fn data(message: &Value, label: &str) -> String {
    let button = message["buttons"].as_array().unwrap().iter().find(|button| button["text"] == label).unwrap();
    button["callback_data"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn telegram_accepts_buttons_of_configured_people_only() {
    let telegram = FakeTelegram::start().await.unwrap();
    let (world, clock) = world(&telegram_channel(&telegram)).await;
    let ask = open_due_ask(&world, &clock, approval()).await;
    let message = telegram.message(|message| message["message_id"] == 1).await.unwrap();
    assert!(message["text"].as_str().unwrap().contains("cargo test"), "{message}");
    let approve = data(&message, "Approve");
    assert_eq!(telegram.press(&approve, 666).await.unwrap(), "You do not have permission to answer here");
    for wrong in
        ["", "approve", "approve|", "approve|ask_0", "choose:1|x", &approve.replace("approve", "choose:0"), &"x".repeat(9_000)]
    {
        assert!(telegram.press(wrong, 7).await.unwrap().contains("no longer works"), "{wrong:.30}");
    }
    assert_eq!(world.ask(&ask).await["status"], "pending");
    // A malformed update does not stop the others.
    telegram.send_invalid(json!({ "callback_query": 7 }));
    telegram.send_invalid(json!({ "message": { "text": "hello" } }));
    assert_eq!(telegram.press(&approve, 8).await.unwrap(), "Done");
    let decided = world.ask(&ask).await;
    assert_eq!((&decided["status"], &decided["outcome"]["by"]["name"]), (&json!("approved"), &json!("ben")));
    let changed = telegram.message(|message| message["text"] == "No longer waiting: approved by ben").await.unwrap();
    assert_eq!(changed["buttons"], json!([]));
    let late = telegram.press(&data(&message, "Deny"), 7).await.unwrap();
    assert_eq!(late, "No longer waiting: approved by ben");
}

#[tokio::test]
async fn one_decision_wins_when_two_people_press_in_telegram() {
    let telegram = FakeTelegram::start().await.unwrap();
    let (world, clock) = world(&telegram_channel(&telegram)).await;
    let ask = open_due_ask(&world, &clock, question()).await;
    let message = telegram.message(|message| message["message_id"] == 1).await.unwrap();
    let answering = world.admin.answer(&ask, json!([["SQLite"]]));
    let pressed = data(&message, "PostgreSQL");
    let (http, press) = tokio::join!(answering, telegram.press(&pressed, 7));
    let winner = world.ask(&ask).await["outcome"]["answers"].clone();
    match press.unwrap().as_str() {
        "Done" => assert_eq!((http.status, winner), (409, json!([["PostgreSQL"]]))),
        late => {
            assert!(late.starts_with("No longer waiting: answered"), "{late}");
            assert_eq!((http.status, winner), (200, json!([["SQLite"]])));
        }
    }
}

#[tokio::test]
async fn slack_accepts_buttons_of_configured_people_only() {
    let slack = FakeSlack::start().await.unwrap();
    let channel = format!(
        "kind = \"slack\"\nurl = \"{}\"\nallow_private = true\nchannel = \"#agents\"\ntoken_env = \"SLACK\"\napp_token_env = \"APP\"\npeople = {{ U1 = \"ada\" }}",
        slack.url()
    );
    let (world, clock) = world(&channel).await;
    let mut wanted = question();
    wanted["agent"] = json!("<!channel> & co");
    let ask = open_due_ask(&world, &clock, wanted).await;
    let message = slack.message(|message| message["blocks"][1]["type"] == "actions").await.unwrap();
    assert_eq!(message["text"], "&lt;!channel&gt; &amp; co needs you", "mentions in agent text are escaped");
    let elements = message["blocks"][1]["elements"].as_array().unwrap();
    assert_eq!(elements[1]["text"]["text"], "PostgreSQL");
    let value = elements[1]["value"].as_str().unwrap();
    slack.press(value, "U666").await.unwrap();
    assert_eq!(slack.ephemeral_message("U666").await.unwrap()["text"], "You do not have permission to answer here");
    slack.send_invalid("not json").await.unwrap();
    slack.send_invalid("[]").await.unwrap();
    slack.envelope(json!({ "user": { "id": "U1" }, "actions": "none" })).await.unwrap();
    assert!(slack.ephemeral_message("U1").await.unwrap()["text"].as_str().unwrap().contains("no longer works"));
    assert_eq!(world.ask(&ask).await["status"], "pending");
    slack.press(value, "U1").await.unwrap();
    let decided = world.outcome(&ask).await;
    assert_eq!(decided["outcome"]["answers"], json!([["PostgreSQL"]]));
    assert_eq!((&decided["outcome"]["by"]["name"], &decided["outcome"]["by"]["via"]), (&json!("ada"), &json!("slack")));
    slack.message(|message| message["text"] == "No longer waiting: answered by ada").await.unwrap();
}

#[tokio::test]
async fn mail_contains_the_link_and_no_injected_headers() {
    let smtp = FakeSmtp::start("250 OK").await.unwrap();
    let channel = format!(
        "kind = \"email\"\nurl = \"{}\"\nfrom = \"Sayso <sayso@sayso.test>\"\nto = \"ada@sayso.test\"\nperson = \"ada\"",
        smtp.url()
    );
    let (world, clock) = world(&channel).await;
    let mut wanted = question();
    wanted["agent"] = json!("claude\r\nBcc: all@sayso.test");
    let ask = open_due_ask(&world, &clock, wanted).await;
    let mail = smtp.mails(1).await.unwrap().remove(0);
    assert_eq!(mail.to, [" TO:<ada@sayso.test>"]);
    assert!(!mail.text.lines().any(|line| line.starts_with("Bcc:")), "{}", mail.text);
    let whole = mail.text.replace("=\n", "").replace("=3D", "=");
    assert!(whole.contains("https://sayso.test/a/") && whole.contains("Which database?"), "{}", mail.text);
    assert!(mail.text.contains(&format!("Message-ID: <{ask}_email@sayso>")), "{}", mail.text);
}

#[tokio::test]
async fn mail_server_refusal_is_reported() {
    let smtp = FakeSmtp::start("550 no such mailbox").await.unwrap();
    let channel = format!("kind = \"email\"\nurl = \"{}\"\nfrom = \"sayso@sayso.test\"\nto = \"ada@sayso.test\"", smtp.url());
    let (world, _clock) = world(&channel).await;
    let tested = world.admin.post("/v1/notify/test", json!({})).await.expect(200);
    assert_eq!(tested["data"][0]["failure"], "the mail server rejected the email");
}

/// Installs a program with this name in a directory that comes first in `PATH`. It records its arguments.
fn pretend(dir: &std::path::Path, name: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let program = dir.join(name);
    let kept = dir.join("arguments");
    let script =
        format!("#!/bin/sh\nfor a in \"$@\"; do printf '%s\\n' \"$a\"; done > {0}.part\nmv {0}.part {0}\n", kept.display());
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", dir.display(), std::env::var("PATH").unwrap_or_default())
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn desktop_notification_escapes_markup() {
    let dir = tempfile::tempdir().unwrap();
    let path = pretend(dir.path(), "notify-send");
    let mut clock = None;
    let world = World::with(|setup| {
        clock = Some(setup.fake_clock());
        setup.options.environment.retain(|(name, _)| name != "PATH");
        setup.options.environment.push(("PATH".to_owned(), path));
        setup.config = Some("[[notify]]\nkind = \"desktop\"\nafter = \"1s\"\ncontent = true\n".to_owned());
    })
    .await;
    world.open_ask(json!({ "agent": "claude", "questions": [{ "text": "<b>Which</b>?", "input": "text" }] })).await;
    clock.unwrap().advance(Duration::from_secs(1));
    let reading = async {
        loop {
            if let Ok(text) = std::fs::read_to_string(dir.path().join("arguments")) {
                return text;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let arguments = tokio::time::timeout(PATIENCE, reading).await.unwrap();
    assert_eq!(arguments, "--app-name=sayso\n--\nclaude needs you\n&lt;b&gt;Which&lt;/b&gt;?\n");
}

const WEBPUSH: &str = "kind = \"webpush\"\ncontact = \"mailto:ada@sayso.test\"\nallow_private = true";

/// The subscription of a browser behind this push service.
fn subscription(push: &FakePush) -> Value {
    let (key, auth) = push.keys();
    let keys = json!({ "p256dh": URL_SAFE_NO_PAD.encode(key), "auth": URL_SAFE_NO_PAD.encode(auth) });
    json!({ "endpoint": format!("{}/browser", push.receiver().url()), "keys": keys })
}

#[tokio::test]
async fn push_notification_answers_with_a_button() {
    let push = FakePush::start(201).await.unwrap();
    let (world, clock) = world(WEBPUSH).await;
    let ada = world.token(json!({ "role": "answerer", "actor": "ada" })).await;
    let key = ada.get("/v1/push").await.expect(200)["publicKey"].as_str().unwrap().to_owned();
    assert_eq!(ada.post("/v1/push", subscription(&push)).await.status, 204);
    world.role("agent").await.post("/v1/push", subscription(&push)).await.problem(403, "forbidden");
    for wrong in [json!({ "p256dh": "x", "auth": "y" }), json!({ "p256dh": "A".repeat(87), "auth": "A" })] {
        ada.post("/v1/push", json!({ "endpoint": "https://push.test", "keys": wrong })).await.problem(422, "invalid_request");
    }
    let ask = open_due_ask(&world, &clock, approval()).await;
    let call = push.receiver().calls(1).await.unwrap().remove(0);
    assert_eq!((call.path.as_str(), call.header("content-encoding")), ("/browser", "aes128gcm"));
    assert!(
        call.header("authorization").starts_with("vapid t=") && call.header("authorization").ends_with(&format!(", k={key}"))
    );
    let read = push.read(&call).unwrap();
    assert!(read["body"].as_str().unwrap().contains("cargo test"), "{read}");
    assert_eq!(read["buttons"], json!([{ "label": "Approve", "press": "approve" }, { "label": "Deny", "press": "deny" }]));
    let pressed = world.http("").raw(read["path"].as_str().unwrap(), "press=approve").await;
    assert_eq!(pressed.status, 204, "{}", pressed.text);
    let decided = world.ask(&ask).await;
    assert_eq!((&decided["outcome"]["by"]["name"], &decided["outcome"]["by"]["via"]), (&json!("ada"), &json!("webpush")));
    let over = push.read(&push.receiver().calls(2).await.unwrap()[1]).unwrap();
    assert_eq!((&over["body"], &over["tag"]), (&json!("No longer waiting: approved by ada"), &read["tag"]));
}

#[tokio::test]
async fn push_message_is_encrypted_for_its_browser() {
    let (push, other) = (FakePush::start(201).await.unwrap(), FakePush::start(201).await.unwrap());
    let (world, clock) = world(WEBPUSH).await;
    world.admin.post("/v1/push", subscription(&push)).await;
    open_due_ask(&world, &clock, question()).await;
    let call = push.receiver().calls(1).await.unwrap().remove(0);
    assert!(push.read(&call).is_ok() && other.read(&call).is_err());
}

#[tokio::test]
async fn push_subscription_ends_with_its_browser_or_token() {
    for status in [404, 410] {
        let push = FakePush::start(status).await.unwrap();
        let (world, _clock) = world(WEBPUSH).await;
        world.admin.post("/v1/push", subscription(&push)).await;
        let tested = || async { world.admin.post("/v1/notify/test", json!({})).await.expect(200)["data"][0].clone() };
        tested().await;
        assert_eq!(tested().await["failure"], "no browser is subscribed");
        assert_eq!(push.receiver().so_far().len(), 1);
    }
    let push = FakePush::start(201).await.unwrap();
    let (world, _clock) = world(WEBPUSH).await;
    let made = world.admin.post("/v1/tokens", json!({ "role": "viewer", "actor": "ben" })).await.expect(201);
    let ben = world.http(made["token"].as_str().unwrap());
    assert_eq!(ben.post("/v1/push", subscription(&push)).await.status, 204);
    let tested = world.admin.post("/v1/notify/test", json!({})).await.expect(200);
    assert_eq!(tested["data"][0]["sent"], true);
    world.admin.delete(&format!("/v1/tokens/{}", id(&made))).await.expect(200);
    let tested = world.admin.post("/v1/notify/test", json!({})).await.expect(200);
    assert_eq!(tested["data"][0]["failure"], "no browser is subscribed");
    assert_eq!(push.receiver().so_far().len(), 1);
}

/// A browser of `ada` with a token of its own: the token's id, and the receiver of its push messages.
async fn browser_of_ada(world: &World) -> (String, FakePush) {
    let push = FakePush::start(201).await.unwrap();
    let made = world.admin.post("/v1/tokens", json!({ "role": "answerer", "actor": "ada", "expiresIn": "1h" })).await.expect(201);
    let http = world.http(made["token"].as_str().unwrap());
    assert_eq!(http.post("/v1/push", subscription(&push)).await.status, 204);
    (id(&made), push)
}

/// The path that the first push message of a browser carries.
async fn pushed_path(push: &FakePush) -> String {
    let call = push.receiver().calls(1).await.unwrap().remove(0);
    push.read(&call).unwrap()["path"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn revoked_browser_cannot_decide_by_an_earlier_notification() {
    let (world, clock) = world(WEBPUSH).await;
    // The same person has another browser, whose token stays valid.
    let (phone, phone_push) = browser_of_ada(&world).await;
    let (laptop, laptop_push) = browser_of_ada(&world).await;
    let ask = open_due_ask(&world, &clock, approval()).await;
    let (on_phone, on_laptop) = (pushed_path(&phone_push).await, pushed_path(&laptop_push).await);
    assert_eq!(world.http("").get(&on_phone).await.status, 200);
    world.admin.delete(&format!("/v1/tokens/{phone}")).await.expect(200);
    world.http("").raw(&on_phone, "press=approve").await.problem(404, "invalid_link");
    world.http("").get(&on_phone).await.problem(404, "invalid_link");
    assert_eq!(world.ask(&ask).await["status"], "pending");
    assert_eq!(world.http("").raw(&on_laptop, "press=approve").await.status, 204);
    let by = json!({ "kind": "person", "name": "ada", "via": "webpush", "tokenId": laptop });
    assert_eq!(world.ask(&ask).await["outcome"]["by"], by);
}

#[tokio::test]
async fn expired_token_of_a_browser_ends_its_links() {
    let (world, clock) = world(WEBPUSH).await;
    let (_, push) = browser_of_ada(&world).await;
    let ask = open_due_ask(&world, &clock, approval()).await;
    let path = pushed_path(&push).await;
    clock.advance(Duration::from_secs(3_600));
    world.http("").raw(&path, "press=approve").await.problem(404, "invalid_link");
    assert_eq!(world.ask(&ask).await["status"], "pending");
}

#[tokio::test]
async fn token_is_checked_again_after_a_slow_form_arrived() {
    let (world, clock) = world(WEBPUSH).await;
    let (phone, push) = browser_of_ada(&world).await;
    let ask = open_due_ask(&world, &clock, approval()).await;
    let path = pushed_path(&push).await;
    let address = world.server.url().strip_prefix("http://").unwrap().to_owned();
    let form = "press=approve";
    let head = format!("POST {path} HTTP/1.1\r\nhost: {address}\r\nexpect: 100-continue\r\nconnection: close\r\n");
    let mut socket = TcpStream::connect(&address).await.unwrap();
    socket.write_all(format!("{head}content-length: {}\r\n\r\n", form.len()).as_bytes()).await.unwrap();
    // The server asks for the form after it has accepted the link.
    let mut continued = [0; 25];
    socket.read_exact(&mut continued).await.unwrap();
    assert_eq!(&continued, b"HTTP/1.1 100 Continue\r\n\r\n");
    world.admin.delete(&format!("/v1/tokens/{phone}")).await.expect(200);
    socket.write_all(form.as_bytes()).await.unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 404 ") && response.contains("\"code\":\"invalid_link\""), "{response}");
    assert_eq!(world.ask(&ask).await["status"], "pending");
}
