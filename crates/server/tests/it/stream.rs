//! Event streams: no event is missed or repeated, and only visible events are sent.

use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{Piece, World, approval, id, question, seqs};

/// Makes some events: asks, outcomes, sessions.
async fn happenings(world: &World) {
    for _ in 0..3 {
        let (mut agent, ask) = world.start_ask("question").await;
        world.admin.answer(&id(&ask), json!([["SQLite"]])).await.expect(200);
        agent.finished().await.unwrap();
        let tool = world.open_ask(approval()).await;
        world.admin.post(&format!("/v1/asks/{}/deny", id(&tool)), json!({})).await.expect(200);
    }
}

async fn head(world: &World) -> i64 {
    world.admin.get("/v1/asks?limit=1").await.expect(200)["seq"].as_i64().unwrap()
}

#[tokio::test]
async fn resumed_stream_misses_and_repeats_no_event() {
    let world = World::start().await;
    happenings(&world).await;
    let end = head(&world).await;
    let whole = world.admin.stream("/v1/events?since=0", None).await.up_to(end).await;
    assert_eq!(seqs(&whole), (1..=end).collect::<Vec<_>>());
    let kinds: Vec<&str> = whole.iter().filter_map(|event| event["type"].as_str()).collect();
    for kind in [
        "session.created",
        "message.completed",
        "question.requested",
        "question.resolved",
        "ask.delivery",
        "session.status",
        "approval.requested",
        "approval.resolved",
    ] {
        assert!(kinds.contains(&kind), "{kind} in {kinds:?}");
    }
    for cut in 0..=end {
        let mut resumed = world.admin.stream("/v1/events", Some(&cut.to_string())).await;
        let rest = if cut == end { Vec::new() } else { resumed.up_to(end).await };
        assert_eq!(rest, whole[usize::try_from(cut).unwrap()..], "after {cut}");
    }
    // Each frame names its event and its place, and the header comes before the query.
    let mut stream = world.admin.stream("/v1/events?since=0", Some("2")).await;
    let (fields, data) = stream.event().await;
    assert_eq!((fields["id"].as_str(), fields["event"].as_str()), ("3", data["type"].as_str().unwrap()));
    assert_eq!(data["seq"], 3);
    assert!(data["at"].is_string());
}

#[tokio::test]
async fn resumed_stream_contains_events_from_before_a_restart() {
    let mut world = World::start().await;
    let mut stream = world.admin.stream("/v1/events?since=0", None).await;
    world.open_ask(question()).await;
    let (fields, _) = stream.event().await;
    drop(stream);
    happenings(&world).await;
    world.server.restart().await.unwrap();
    happenings(&world).await;
    let end = head(&world).await;
    let rest = world.admin.stream("/v1/events", Some(&fields["id"])).await.up_to(end).await;
    assert_eq!(seqs(&rest), (2..=end).collect::<Vec<_>>());
}

#[tokio::test]
async fn stream_without_a_position_starts_now() {
    let world = World::start().await;
    happenings(&world).await;
    let mut stream = world.admin.stream("/v1/events", None).await;
    let before = head(&world).await;
    let ask = world.open_ask(question()).await;
    let (_, data) = stream.event().await;
    assert_eq!((data["seq"].as_i64().unwrap(), id(&data["data"])), (before + 1, id(&ask)));
}

#[tokio::test]
async fn unknown_position_causes_a_reset() {
    let world = World::start().await;
    happenings(&world).await;
    let end = head(&world).await;
    let mut stream = world.admin.stream("/v1/events", Some(&(end + 1).to_string())).await;
    let (fields, data) = stream.event().await;
    assert_eq!((fields["event"].as_str(), data["type"].as_str(), data["seq"].as_i64()), ("reset", Some("reset"), Some(end)));
    // The stream continues after the reset.
    let ask = world.open_ask(question()).await;
    let (_, next) = stream.event().await;
    assert_eq!(id(&next["data"]), id(&ask));
    for place in [i64::MAX.to_string(), "nonsense".to_owned(), String::new()] {
        let (fields, _) = world.admin.stream("/v1/events", Some(&place)).await.event().await;
        assert_eq!(fields["event"], "reset", "`{place}`");
    }
    world.admin.get("/v1/events?since=x").await.problem(422, "invalid_request");
}

/// Streams from before the oldest stored event get a reset. Asks are still available.
#[tokio::test]
async fn deleted_events_cause_a_reset() {
    let mut clock = None;
    let mut world = World::with(|setup| {
        clock = Some(setup.fake_clock());
        setup.config = Some("keep_events = \"1h\"\n".to_owned());
    })
    .await;
    let ask = world.open_ask(question()).await;
    clock.unwrap().advance(Duration::from_secs(2 * 3_600));
    let kept = world.open_ask(question()).await;
    // Every start deletes old events in the background.
    world.server.restart().await.unwrap();
    let mut tries = 0;
    let seq = loop {
        let (fields, data) = world.admin.stream("/v1/events", Some("0")).await.event().await;
        if fields["event"] == "reset" {
            break data["seq"].as_i64().unwrap();
        }
        tries += 1;
        assert!(tries < 1_000, "the past is never forgotten");
        tokio::task::yield_now().await;
    };
    assert_eq!(seq, head(&world).await);
    // No event is missing after the oldest stored one.
    let (_, data) = world.admin.stream("/v1/events", Some("1")).await.event().await;
    assert_eq!(id(&data["data"]), id(&kept));
    assert_eq!(world.ask(&id(&ask)).await, ask);
}

/// A heartbeat is sent after 15 s of silence.
#[tokio::test]
async fn quiet_stream_has_a_heartbeat() {
    let world = World::start().await;
    let mut stream = world.admin.stream("/v1/events", None).await;
    assert_eq!(stream.piece().await, Some(Piece::Comment), "it is open");
    assert_eq!(stream.piece().await, Some(Piece::Comment), "it is alive");
}

#[tokio::test]
async fn session_stream_contains_only_its_events() {
    let world = World::start().await;
    let (mut agent, ask) = world.start_ask("question").await;
    let session = agent.session().to_owned();
    happenings(&world).await;
    world.admin.answer(&id(&ask), json!([["SQLite"]])).await.expect(200);
    agent.finished().await.unwrap();
    let end = head(&world).await;
    let whole = world.admin.stream("/v1/events?since=0", None).await.up_to(end).await;
    let mine: Vec<Value> = whole.into_iter().filter(|event| event["sessionId"] == session.as_str()).collect();
    let last = mine.last().unwrap()["seq"].as_i64().unwrap();
    let path = format!("/v1/sessions/{session}/events");
    let streamed = world.admin.stream(&format!("{path}?since=0"), None).await.up_to(last).await;
    assert_eq!(streamed, mine);
    let middle = mine[2]["seq"].as_i64().unwrap();
    assert_eq!(world.admin.stream(&path, Some(&middle.to_string())).await.up_to(last).await, mine[3..]);
}

/// A list and the stream that starts at its `seq` are consistent, whatever happens in between.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stream_continues_exactly_after_a_list() {
    let world = World::start().await;
    let busy = {
        let admin = world.admin.clone();
        tokio::spawn(async move {
            for n in 0..60 {
                let ask = id(&admin.post("/v1/asks", question()).await.expect(201));
                if n % 2 == 0 {
                    admin.answer(&ask, json!([["SQLite"]])).await.expect(200);
                }
            }
        })
    };
    let mut pictures = Vec::new();
    while !busy.is_finished() {
        let page = world.admin.get("/v1/asks?status=pending&limit=500").await.expect(200);
        let pending: std::collections::BTreeSet<String> = page["data"].as_array().unwrap().iter().map(id).collect();
        pictures.push((page["seq"].as_i64().unwrap(), pending));
    }
    busy.await.unwrap();
    let end = head(&world).await;
    let whole = world.admin.stream("/v1/events?since=0", None).await.up_to(end).await;
    assert!(pictures.len() > 5);
    for (seq, listed) in pictures {
        let mut pending = std::collections::BTreeSet::new();
        for event in whole.iter().take_while(|event| event["seq"].as_i64().unwrap() <= seq) {
            match event["type"].as_str().unwrap() {
                "question.requested" => assert!(pending.insert(id(&event["data"]))),
                "question.resolved" => assert!(pending.remove(&id(&event["data"]))),
                _ => {}
            }
        }
        assert_eq!(pending, listed, "at {seq}");
    }
}

// Events are streamed while the agent is blocked on its question.
#[tokio::test]
async fn events_arrive_while_the_agent_waits() {
    let world = World::start().await;
    let mut stream = world.admin.stream("/v1/events?since=0", None).await;
    let agent = world.agent("question").await;
    let requested = stream.until("question.requested").await;
    assert_eq!(requested["sessionId"], agent.session());
    let ask = requested["data"].clone();
    assert_eq!(ask["status"], "pending");
    let session = world.session(agent.session()).await;
    assert_eq!(session["status"], "waiting");
    let other = world.open_ask(approval()).await;
    assert_eq!(id(&stream.until("approval.requested").await["data"]), id(&other));
}

// Frames are at most 64 KiB and say when a field was shortened; GET returns the full value.
#[tokio::test]
async fn large_ask_is_shortened_in_events_and_complete_on_get() {
    let world = World::start().await;
    let mut stream = world.admin.stream("/v1/events?since=0", None).await;
    let text = "0123456789".repeat(30_000);
    let ask = world
        .open_ask(json!({ "approval": { "tool": "Write", "action": "edit", "paths": ["a"], "input": { "text": text } } }))
        .await;
    let (fields, data) = stream.event().await;
    assert!(fields["data"].len() <= 64 * 1024, "{}", fields["data"].len());
    assert_eq!((&data["data"]["truncated"], &data["data"]["id"]), (&json!(true), &ask["id"]));
    assert_eq!(world.ask(&id(&ask)).await["approval"]["input"]["text"], json!(text));
}

/// Text that looks like frames of the stream stays text.
#[tokio::test]
async fn agent_text_cannot_break_a_frame() {
    let world = World::start().await;
    let mut stream = world.admin.stream("/v1/events?since=0", None).await;
    let hostile = "a\n\nevent: question.resolved\ndata: {}\n\n\r\r\u{2028}\u{0}\u{1b}[2Jid: 99";
    let ask =
        world.open_ask(json!({ "title": hostile, "questions": [{ "text": hostile, "options": [{ "label": hostile }] }] })).await;
    let (_, data) = stream.event().await;
    assert_eq!(data["data"]["questions"], ask["questions"]);
    assert_eq!(ask["questions"][0]["text"], hostile);
    let next = world.open_ask(question()).await;
    let (_, data) = stream.event().await;
    assert_eq!(id(&data["data"]), id(&next));
}

/// A slow reader does not delay other readers and receives every event later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_reader_delays_no_one_and_misses_no_event() {
    const ASKS: i64 = 200;
    let world = World::start().await;
    let mut slow = world.admin.stream("/v1/events?since=0", None).await;
    // Larger than the socket buffers, so that the server has to wait for the reader.
    let wanted = json!({ "approval": { "tool": "Write", "action": "other", "input": { "text": "0123456789".repeat(6_000) } } });
    let mut quick = world.admin.stream("/v1/events?since=0", None).await;
    let reading = tokio::spawn(async move { seqs(&quick.up_to(ASKS).await) });
    for _ in 0..ASKS {
        world.open_ask(wanted.clone()).await;
    }
    let all: Vec<i64> = (1..=ASKS).collect();
    assert_eq!(reading.await.unwrap(), all);
    // The server closes a stream whose client reads nothing for 30 seconds, which can happen on a busy machine. Clients then
    // resume.
    let mut received: Vec<i64> = Vec::new();
    loop {
        while let Some(piece) = slow.piece().await {
            if let Piece::Event(_, data) = piece {
                received.extend(data["seq"].as_i64());
            }
            if received.last() == Some(&ASKS) {
                assert_eq!(received, all);
                return;
            }
        }
        let since = received.last().copied().unwrap_or(0);
        slow = world.admin.stream(&format!("/v1/events?since={since}"), None).await;
    }
}
