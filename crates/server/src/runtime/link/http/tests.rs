//! Tests of the link with a server that each test controls.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use sayso_agents::translator::{Guard, HttpCall, HttpReply, HttpServer, Login, Method};
use sayso_core::raw::Raw;
use sayso_store::OutboxId;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::{Http, HttpSaid};

const PATIENCE: Duration = Duration::from_secs(60);

/// What the server was asked, and what it replies.
struct Shared {
    asked: Mutex<Vec<String>>,
    streams: Mutex<VecDeque<Vec<&'static str>>>,
    /// `/slow` replies when there is a permit.
    slow: Semaphore,
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let login = request.headers().get(header::AUTHORIZATION).and_then(|login| login.to_str().ok()).unwrap_or("-");
    let path = request.uri().path().to_owned();
    let (line, method) = (format!("{} {path} {login}", request.method()), request.method().clone());
    shared.asked.lock().unwrap().push(line);
    let events = |frames: Vec<&'static str>, end: bool| {
        let frames = stream::iter(frames.into_iter().map(Ok::<_, std::convert::Infallible>));
        let body = if end { Body::from_stream(frames) } else { Body::from_stream(frames.chain(stream::pending())) };
        ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
    };
    match path.as_str() {
        "/events" => match shared.streams.lock().unwrap().pop_front() {
            Some(frames) => events(frames, true),
            None => events(vec!["data: last\n\n"], false),
        },
        "/chat" if method == "POST" => events(vec!["data: one\n\nda", "ta: two\n\n"], true),
        "/slow" => {
            shared.slow.acquire().await.unwrap().forget();
            "\"slow\"".into_response()
        }
        "/status" => "{\"ses_1\":{\"type\":\"busy\"}}".into_response(),
        "/huge" => Body::from(vec![b'x'; 17 * 1024 * 1024]).into_response(),
        "/moved" => (StatusCode::FOUND, [(header::LOCATION, "/status")]).into_response(),
        "/page" => ([(header::CONTENT_TYPE, "text/html")], "<html>").into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn serve(streams: &[&[&'static str]]) -> (Arc<Shared>, String) {
    let streams = Mutex::new(streams.iter().map(|frames| frames.to_vec()).collect());
    let shared = Arc::new(Shared { asked: Mutex::default(), streams, slow: Semaphore::new(0) });
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (shared, url)
}

fn link(url: &str, login: Login, events: Option<&str>) -> Http {
    let server = HttpServer { url: url.to_owned(), login, events: events.map(str::to_owned) };
    Http::new(server, "secret".to_owned()).unwrap()
}

fn call(id: u64, method: Method, path: &str) -> HttpCall {
    HttpCall { id, method, path: path.to_owned(), body: None, guard: None, streamed: false }
}

/// Collects messages as short lines until this many replies have arrived.
async fn collect_messages(link: &mut Http, replies: usize) -> Vec<String> {
    let mut all = Vec::new();
    let heard = async {
        while all.iter().filter(|line: &&String| line.starts_with("reply")).count() < replies {
            for said in link.receive().await {
                all.push(match said {
                    HttpSaid::Opened => "opened".to_owned(),
                    HttpSaid::Event(data) => format!("event {data}"),
                    HttpSaid::Closed => "closed".to_owned(),
                    HttpSaid::Reply { row, reply } => {
                        format!("reply {} {:?} {:?} {}", reply.id, row.map(|row| row.0), reply.status, reply.body)
                    }
                });
            }
        }
    };
    tokio::time::timeout(PATIENCE, heard).await.expect("the expected message");
    all
}

#[tokio::test]
async fn changing_calls_run_in_order_and_reads_concurrently() {
    let (shared, url) = serve(&[]).await;
    let mut link = link(&url, Login::Basic("opencode".to_owned()), None);
    link.call(Some(OutboxId(1)), call(1, Method::Post, "/slow")).unwrap();
    link.call(Some(OutboxId(2)), call(2, Method::Post, "/nowhere")).unwrap();
    link.call(None, call(3, Method::Get, "/status")).unwrap();
    assert_eq!(collect_messages(&mut link, 1).await, ["reply 3 None Some(200) {\"ses_1\":{\"type\":\"busy\"}}"]);
    shared.slow.add_permits(1);
    assert_eq!(collect_messages(&mut link, 2).await, ["reply 1 Some(1) Some(200) \"slow\"", "reply 2 Some(2) Some(404) "]);
    // `opencode:secret`
    assert!(shared.asked.lock().unwrap().iter().all(|asked| asked.ends_with("Basic b3BlbmNvZGU6c2VjcmV0")));
}

#[tokio::test]
async fn call_is_sent_only_if_its_guard_holds() {
    let (shared, url) = serve(&[]).await;
    let mut link = link(&url, Login::Open, None);
    let guarded = |id, path: &str, key: &str| {
        let guard = Some(Guard { path: path.to_owned(), key: key.to_owned() });
        HttpCall { guard, body: Some(Raw::of(&"x")), ..call(id, Method::Post, "/here") }
    };
    link.call(Some(OutboxId(1)), guarded(1, "/status", "ses_1")).unwrap();
    link.call(Some(OutboxId(2)), guarded(2, "/status", "ses_2")).unwrap();
    link.call(Some(OutboxId(3)), guarded(3, "/page", "ses_1")).unwrap();
    let said = collect_messages(&mut link, 3).await;
    assert_eq!(said[..2], ["reply 1 Some(1) Some(404) ".to_owned(), format!("reply 2 Some(2) Some({}) ", HttpReply::NOT_SENT)]);
    assert!(said[2].starts_with("reply 3 Some(3) None its first reply"), "{said:?}");
    let sent = shared.asked.lock().unwrap().iter().filter(|asked| asked.starts_with("POST")).count();
    assert_eq!(sent, 1, "only the first one left");
}

#[tokio::test]
async fn ended_stream_is_opened_again() {
    let (_, url) = serve(&[&["data: a\n\n"], &["data: b\n\n: half"]]).await;
    let mut link = link(&url, Login::Open, Some("/events"));
    let mut all = Vec::new();
    tokio::time::timeout(PATIENCE, async {
        while !all.iter().any(|said| matches!(said, HttpSaid::Event(data) if data == "last")) {
            all.extend(link.receive().await);
        }
    })
    .await
    .unwrap();
    let shape: String = all
        .iter()
        .map(|said| match said {
            HttpSaid::Opened => 'o',
            HttpSaid::Event(_) => 'e',
            HttpSaid::Closed => 'c',
            HttpSaid::Reply { .. } => 'r',
        })
        .collect();
    assert_eq!(shape, "oecoecoe");
}

#[tokio::test]
async fn response_that_is_not_a_stream_is_a_reply() {
    let (_, url) = serve(&[]).await;
    let mut link = link(&url, Login::Open, Some("/page"));
    assert_eq!(collect_messages(&mut link, 1).await, ["reply 0 None Some(200) <html>"]);
}

/// The endpoint of a model: no process, its own token, and streamed replies.
#[tokio::test]
async fn reply_can_be_streamed() {
    let (shared, url) = serve(&[]).await;
    let mut link = link(&url, Login::Bearer("SOME_API_KEY".to_owned()), None);
    let streamed = |id, path: &str| HttpCall { streamed: true, ..call(id, Method::Post, path) };
    link.call(Some(OutboxId(1)), streamed(1, "/chat")).unwrap();
    link.call(Some(OutboxId(2)), streamed(2, "/page")).unwrap();
    let wanted = ["opened", "event one", "event two", "reply 1 Some(1) Some(200) ", "reply 2 Some(2) Some(200) <html>"];
    assert_eq!(collect_messages(&mut link, 2).await, wanted);
    assert!(shared.asked.lock().unwrap().iter().all(|asked| asked.ends_with("Bearer secret")));
}

#[tokio::test]
async fn every_call_gets_a_reply() {
    let (shared, url) = serve(&[]).await;
    let mut there = link(&url, Login::Open, None);
    there.call(None, call(1, Method::Get, "/huge")).unwrap();
    assert_eq!(collect_messages(&mut there, 1).await, ["reply 1 None None its reply is larger than 16 MiB"]);
    there.call(None, call(2, Method::Get, "/moved")).unwrap();
    assert_eq!(collect_messages(&mut there, 1).await, ["reply 2 None Some(302) "], "redirects are not followed");
    assert!(!shared.asked.lock().unwrap().iter().any(|asked| asked.contains("/status")));
    let free = TcpListener::bind(("127.0.0.1", 0)).await.unwrap().local_addr().unwrap();
    let mut nowhere = link(&format!("http://{free}"), Login::Open, None);
    nowhere.call(Some(OutboxId(1)), call(1, Method::Post, "/secret/path")).unwrap();
    let said = collect_messages(&mut nowhere, 1).await;
    assert!(said[0].starts_with("reply 1 Some(1) None ") && !said[0].contains("/secret/path"), "{said:?}");
}
