//! The event stream over connections that end.

use futures_util::StreamExt as _;
use sayso_client::{Client, Error, StreamItem};

use crate::scripted::{Reply, Scripted, header};

fn frame(seq: i64, kind: &str) -> String {
    let data = match kind {
        "notice" => r#"{"agent":"script","text":"hi"}"#,
        "ask.delivery" => r#"{"id":"ask_1","delivery":"delivered"}"#,
        _ => "{}",
    };
    format!(
        "id: {seq}\nevent: {kind}\ndata: {{\"seq\":{seq},\"at\":\"2026-11-15T14:03:00Z\",\"type\":\"{kind}\",\"sessionId\":\"ses_1\",\"data\":{data}}}\n\n"
    )
}

/// The first `count` items, without reconnections.
async fn collect_items(mut stream: sayso_client::EventStream, count: usize) -> Vec<String> {
    let mut seen = Vec::new();
    while seen.len() < count {
        match stream.next().await.unwrap() {
            StreamItem::Event(event) => seen.push(format!("{} {}", event.seq.map_or(0, |seq| seq), event.name())),
            StreamItem::Reset { seq } => seen.push(format!("reset {seq}")),
            StreamItem::Reconnecting { .. } | StreamItem::Reconnected => {}
        }
    }
    seen
}

#[tokio::test]
async fn stream_resumes_without_lost_or_repeated_events() {
    let live = "event: message.delta\ndata: {\"at\":\"2026-11-15T14:03:00Z\",\"type\":\"message.delta\",\"data\":{\"messageId\":\"b\",\"text\":\"hi\"}}\n\n";
    let cut = frame(9, "notice");
    let server = Scripted::start(vec![
        Reply::stream(&format!(": hello\n\n{}{live}{}{}", frame(7, "notice"), frame(8, "ask.delivery"), &cut[..cut.len() - 20])),
        Reply::Lost,
        Reply::stream(&format!("{}{}{}", frame(8, "ask.delivery"), frame(9, "notice"), "data: of a later version\n\n")),
        Reply::stream("event: reset\ndata: {\"seq\":90}\n\n"),
        Reply::stream(&frame(91, "notice")),
    ])
    .await;
    let client = Client::new(&server.url, "t").unwrap();
    let seen = collect_items(client.session_events("ses_1", Some(6)), 6).await;
    assert_eq!(seen, ["7 notice", "0 message.delta", "8 ask.delivery", "9 notice", "reset 90", "91 notice"]);
    let requests = server.requests();
    assert!(requests[0].starts_with("GET /v1/sessions/ses_1/events?since=6 "), "{}", requests[0]);
    let resumed: Vec<_> = requests.iter().map(|request| header(request, "last-event-id").unwrap()).collect();
    assert_eq!(resumed, ["6", "8", "8", "9", "90"]);
}

#[tokio::test]
async fn unknown_events_are_skipped_and_advance_the_position() {
    let server = Scripted::start(vec![
        Reply::stream(&format!("{}{}", frame(7, "notice"), frame(8, "step.invented"))),
        Reply::stream(&frame(9, "notice")),
    ])
    .await;
    let client = Client::new(&server.url, "t").unwrap();
    assert_eq!(collect_items(client.events(Some(6)), 2).await, ["7 notice", "9 notice"]);
    let resumed: Vec<_> = server.requests().iter().map(|request| header(request, "last-event-id").unwrap()).collect();
    assert_eq!(resumed, ["6", "8"]);
}

#[tokio::test]
async fn stream_reports_lost_and_restored_connections() {
    let server = Scripted::start(vec![Reply::stream(&frame(7, "notice")), Reply::Lost, Reply::stream(&frame(8, "notice"))]).await;
    let client = Client::new(&server.url, "t").unwrap();
    let mut stream = client.session_events("ses_1", Some(6));
    let mut items = Vec::new();
    while items.last().map(String::as_str) != Some("8") {
        items.push(match stream.next().await.unwrap() {
            StreamItem::Event(event) => event.seq.unwrap_or(0).to_string(),
            StreamItem::Reset { .. } => "reset".to_owned(),
            StreamItem::Reconnecting { attempt, .. } => format!("lost {attempt}"),
            StreamItem::Reconnected => "back".to_owned(),
        });
    }
    assert_eq!(items, ["7", "lost 1", "lost 2", "back", "8"]);
}

#[tokio::test]
async fn refused_stream_ends() {
    let refused =
        r#"{"type":"about:blank","title":"Not found","status":404,"detail":"no such session","code":"session_not_found"}"#;
    let server = Scripted::start(vec![Reply::json("404 Not Found", refused)]).await;
    let client = Client::new(&server.url, "t").unwrap();
    let items: Vec<_> = Box::pin(client.session_events("ses_9", None).into_stream()).collect().await;
    assert!(matches!(items.as_slice(), [Err(error)] if matches!(error, Error::Api(_)) && error.is_not_found()), "{items:?}");
}
