//! Answer links: each lets a person decide one ask without a token.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use reqwest::header::{ACCEPT, ACCEPT_LANGUAGE, CONTENT_TYPE};
use sayso_server::FakeClock;
use sayso_testkit::receivers::{ReceivedCall, Receiver};
use serde_json::{Value, json};

use crate::world::{Http, Reply, World, approval, id, question};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

struct Linked {
    world: World,
    clock: Arc<FakeClock>,
    receiver: Receiver,
    /// A client without a token.
    http: Http,
}

impl Linked {
    /// A server whose webhooks carry links, one for each of these people.
    async fn start(people: &[&str]) -> Self {
        let receiver = Receiver::with_status(200).await.unwrap();
        let mut config = "[server]\npublic_url = \"https://sayso.test/\"\n".to_owned();
        for person in people {
            config += &format!(
                "[[notify]]\nname = \"for-{person}\"\nkind = \"webhook\"\nurl = \"{}\"\nsecret_env = \"HOOK\"\nallow_private = true\n\
                 person = \"{person}\"\nafter = \"1s\"\n",
                receiver.url()
            );
        }
        let mut clock = None;
        let world = World::with(|setup| {
            clock = Some(setup.fake_clock());
            setup.options.environment.push(("HOOK".to_owned(), SECRET.to_owned()));
            setup.config = Some(config);
        })
        .await;
        let http = world.http("");
        Self { world, clock: clock.unwrap(), receiver, http }
    }

    /// An ask, and the paths of the links that people got for it.
    async fn open_ask_with_links(&self, wanted: Value) -> (String, Vec<String>) {
        let ask = id(&self.world.open_ask(wanted).await);
        self.clock.advance(Duration::from_secs(1));
        let people = self.world.admin.get("/v1/notify").await.expect(200)["data"].as_array().unwrap().len();
        let links = |calls: &[ReceivedCall]| -> Vec<String> {
            let events = calls
                .iter()
                .map(ReceivedCall::json)
                .filter(|event| event["type"] == "ask.waiting" && event["data"]["askId"] == *ask);
            let path =
                |event: Value| event["data"]["link"].as_str().unwrap().strip_prefix("https://sayso.test").unwrap().to_owned();
            events.map(path).collect()
        };
        let calls = self.receiver.until("a link for each", |calls| links(calls).len() >= people).await.unwrap();
        let found = links(&calls);
        (ask, found)
    }

    async fn get_html(&self, path: &str) -> Reply {
        self.http.send(self.http.request(&Method::GET, path).header(ACCEPT, "text/html")).await
    }

    /// Sends the form, as a program does.
    async fn send(&self, path: &str, form: &str) -> Reply {
        let request = self.http.request(&Method::POST, path).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        self.http.send(request.body(form.to_owned())).await
    }

    async fn status(&self, ask: &str) -> Value {
        self.world.ask(ask).await["status"].clone()
    }
}

#[tokio::test]
async fn link_decides_only_after_a_confirmation() {
    let linked = Linked::start(&["ada"]).await;
    let (ask, paths) = linked.open_ask_with_links(approval()).await;
    for _ in 0..3 {
        let page = linked.get_html(&paths[0]).await;
        assert_eq!(page.status, 200);
        assert!(page.text.contains("cargo test") && page.text.contains("value=\"approve\""), "{}", page.text);
        let policy = page.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'") && policy.contains("form-action 'self'"), "{policy}");
        assert!(page.headers["cache-control"] == "no-store" && page.headers["x-content-type-options"] == "nosniff");
    }
    // Mail programs prefetch links and send HEAD requests; neither decides anything.
    linked.http.send(linked.http.request(&Method::HEAD, &paths[0])).await;
    linked.http.send(linked.http.request(&Method::GET, &format!("{}?press=approve", paths[0]))).await;
    assert_eq!(linked.status(&ask).await, "pending");
    assert_eq!(linked.send(&paths[0], "press=approve").await.status, 204);
    let decided = linked.world.ask(&ask).await;
    assert_eq!((&decided["status"], &decided["outcome"]["by"]["name"]), (&json!("approved"), &json!("ada")));
    assert_eq!(decided["outcome"]["by"]["via"], "webhook");
    // A used link is refused.
    linked.send(&paths[0], "press=deny").await.problem(409, "ask_already_resolved");
    let page = linked.get_html(&paths[0]).await;
    assert!(page.status == 200 && page.text.contains("No longer waiting: approved by ada"), "{}", page.text);
    assert_eq!(linked.status(&ask).await, "approved");
}

#[tokio::test]
async fn page_of_a_link_has_the_language_of_the_browser() {
    let linked = Linked::start(&["ada"]).await;
    let (_, paths) = linked.open_ask_with_links(approval()).await;
    let get = async |path: &str, languages: &str| {
        let request = linked.http.request(&Method::GET, path).header(ACCEPT, "text/html").header(ACCEPT_LANGUAGE, languages);
        linked.http.send(request).await.text
    };
    let page = get(&paths[0], "zh-CN,zh;q=0.9,en;q=0.8").await;
    assert!(page.contains("<html lang=\"zh-CN\">") && page.contains("等待你处理") && page.contains(">批准</button>"), "{page}");
    assert!(page.contains("cargo test") && !page.contains("Approve"), "{page}");
    assert!(get(&paths[0], "de").await.contains(">Approve</button>"));
    assert!(get("/a/wrong", "zh").await.contains("此链接无效"));
    assert_eq!(linked.send(&paths[0], "press=deny").await.status, 204);
    let page = get(&paths[0], "zh").await;
    assert!(page.contains("已不再等待：ada 已拒绝"), "{page}");
}

#[tokio::test]
async fn link_offers_and_accepts_only_allowed_decisions() {
    let linked = Linked::start(&["ada"]).await;
    let mut edited = approval();
    edited["approval"]["allowedDecisions"] = json!(["edit", "deny"]);
    let (ask, paths) = linked.open_ask_with_links(edited).await;
    let page = linked.get_html(&paths[0]).await.text;
    assert!(page.contains("value=\"deny\"") && !page.contains("value=\"approve\""), "{page}");
    assert!(page.contains("To edit and approve it, open Sayso."), "{page}");
    linked.send(&paths[0], "press=approve").await.problem(422, "decision_not_allowed");
    assert_eq!(linked.status(&ask).await, "pending");
    let mut approved = approval();
    approved["approval"]["allowedDecisions"] = json!(["approve"]);
    let (ask, paths) = linked.open_ask_with_links(approved).await;
    let page = linked.get_html(&paths[0]).await.text;
    assert!(page.contains("value=\"approve\"") && !page.contains("value=\"deny\""), "{page}");
    linked.send(&paths[0], "press=deny").await.problem(422, "decision_not_allowed");
    assert_eq!(linked.send(&paths[0], "press=approve").await.status, 204);
    assert_eq!(linked.status(&ask).await, "approved");
}

#[tokio::test]
async fn link_refuses_text_that_does_not_fit_the_schema() {
    let linked = Linked::start(&["ada"]).await;
    let schema = json!({ "type": "string", "pattern": "^[a-z]+$" });
    let (ask, paths) =
        linked.open_ask_with_links(json!({ "questions": [{ "text": "Which branch?", "responseSchema": schema }] })).await;
    let refused = linked.send(&paths[0], "press=answer&q0=NO").await.problem(422, "invalid_answers");
    assert_eq!(refused["detail"], "question 1: does not fit: the value does not match \"^[a-z]+$\"");
    assert_eq!(linked.status(&ask).await, "pending");
    assert_eq!(linked.send(&paths[0], "press=answer&q0=main").await.status, 204);
}

#[tokio::test]
async fn form_submission_returns_a_page() {
    let linked = Linked::start(&["ada"]).await;
    let (ask, paths) = linked.open_ask_with_links(question()).await;
    let page = linked.get_html(&paths[0]).await;
    assert!(page.text.contains("value=\"PostgreSQL\"") && page.text.contains("full-featured"), "{}", page.text);
    // Under the page's referrer policy, browsers send the origin.
    assert_eq!(page.headers["referrer-policy"], "same-origin");
    let request = |origin: &str| {
        let request = linked.http.request(&Method::POST, &paths[0]).header(ACCEPT, "text/html,*/*;q=0.8");
        request
            .header("origin", origin)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body("press=answer&q0=PostgreSQL")
    };
    linked.http.send(request("https://evil.test")).await.problem(403, "foreign_origin");
    assert_eq!(linked.status(&ask).await, "pending");
    let done = linked.http.send(request(&linked.world.server.url())).await;
    assert!(done.status == 200 && done.text.contains("Done."), "{}", done.text);
    assert_eq!(linked.world.ask(&ask).await["outcome"]["answers"], json!([["PostgreSQL"]]));
}

#[tokio::test]
async fn invalid_answer_is_refused_and_the_link_stays_valid() {
    let linked = Linked::start(&["ada"]).await;
    let (ask, paths) = linked.open_ask_with_links(question()).await;
    for (form, status, code) in [
        ("", 422, "invalid_request"),
        ("press=", 422, "invalid_request"),
        ("press=choose:9", 422, "invalid_request"),
        ("press=choose:-1", 422, "invalid_request"),
        ("press=%ff%fe", 422, "invalid_request"),
        ("answer=SQLite", 422, "invalid_request"),
        ("press=approve", 422, "wrong_kind"),
        ("press=answer", 422, "invalid_answers"),
        ("press=answer&q0=SQLite&q0=PostgreSQL", 422, "invalid_answers"),
    ] {
        linked.send(&paths[0], form).await.problem(status, code);
    }
    let large = format!("press=answer&q0={}", "x".repeat(2 * 1024 * 1024));
    linked.send(&paths[0], &large).await.problem(413, "too_large");
    assert_eq!(linked.status(&ask).await, "pending");
    assert_eq!(linked.send(&paths[0], "press=choose:1").await.status, 204);
    assert_eq!(linked.world.ask(&ask).await["outcome"]["answers"], json!([["PostgreSQL"]]));
}

#[tokio::test]
async fn invalid_and_expired_links_are_refused_with_a_code() {
    let linked = Linked::start(&["ada"]).await;
    let (ask, paths) = linked.open_ask_with_links(approval()).await;
    let good = &paths[0];
    let swapped =
        if good.ends_with('A') { format!("{}B", &good[..good.len() - 1]) } else { format!("{}A", &good[..good.len() - 1]) };
    for wrong in [swapped.as_str(), "/a/x", "/a/%00", &format!("/a/{}", "A".repeat(54)), &format!("/a/{}", "A".repeat(4_000))] {
        linked.send(wrong, "press=approve").await.problem(404, "invalid_link");
        assert_eq!(linked.get_html(wrong).await.status, 404, "{wrong}");
    }
    linked.clock.advance(Duration::from_secs(86_400));
    linked.send(good, "press=approve").await.problem(410, "link_expired");
    assert_eq!(linked.get_html(good).await.status, 410);
    assert_eq!(linked.status(&ask).await, "pending");
}

#[tokio::test]
async fn guessing_links_is_rate_limited() {
    let linked = Linked::start(&["ada"]).await;
    let mut last = 0;
    for _ in 0..200 {
        last = linked.send("/a/wrong", "press=approve").await.status;
        if last == 429 {
            break;
        }
    }
    assert_eq!(last, 429);
}

#[tokio::test]
async fn link_survives_a_restart_but_not_the_removal_of_its_channel() {
    let mut linked = Linked::start(&["ada"]).await;
    let (ask, paths) = linked.open_ask_with_links(approval()).await;
    linked.world.server.restart().await.unwrap();
    assert_eq!(linked.get_html(&paths[0]).await.status, 200);
    std::fs::write(linked.world.server.config_dir().join("config.toml"), "[server]\npublic_url = \"https://sayso.test/\"\n")
        .unwrap();
    linked.world.server.restart().await.unwrap();
    linked.send(&paths[0], "press=approve").await.problem(404, "invalid_link");
    assert_eq!(linked.status(&ask).await, "pending");
}

#[tokio::test]
async fn one_decision_wins_when_two_people_use_links_at_once() {
    let linked = Linked::start(&["ada", "ben"]).await;
    for _ in 0..10 {
        let (ask, paths) = linked.open_ask_with_links(approval()).await;
        let (one, two) = tokio::join!(linked.send(&paths[0], "press=approve"), linked.send(&paths[1], "press=deny"));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [204, 409]);
        let winner = if one.status == 204 { "approved" } else { "denied" };
        assert_eq!(linked.status(&ask).await, winner);
    }
}

#[tokio::test]
async fn secret_cannot_be_answered_by_a_link() {
    let linked = Linked::start(&["ada"]).await;
    let secret = json!({ "questions": [{ "text": "The key?", "input": "text", "secret": true }] });
    let (ask, paths) = linked.open_ask_with_links(secret).await;
    let page = linked.get_html(&paths[0]).await;
    assert!(!page.text.contains("type=\"text\"") && page.text.contains("To enter it, open Sayso."), "{}", page.text);
    linked.send(&paths[0], "press=answer&q0=hush").await.problem(422, "invalid_request");
    assert_eq!(linked.status(&ask).await, "pending");
}

#[tokio::test]
async fn agent_text_is_escaped_on_link_pages() {
    let linked = Linked::start(&["ada"]).await;
    let hostile = "</pre><script>alert(1)</script><img src=x onerror=y>\u{202e}\u{1b}[2J";
    let wanted = json!({
        "agent": hostile, "project": format!("/home/{hostile}"), "context": hostile,
        "approval": { "tool": "Bash", "action": "run", "command": hostile, "input": { "command": hostile } },
    });
    let (_, paths) = linked.open_ask_with_links(wanted).await;
    let page = linked.get_html(&paths[0]).await.text;
    for never in ["<script", "<img", "\u{202e}", "\u{1b}"] {
        assert!(!page.contains(never), "{never:?}: {page}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)") && page.contains("&lt;U+202E&gt;"), "{page}");
}
