//! Measures conversations with a model: the memory of waiting ones, and the delay of the first word of a reply.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use sayso_testkit::models::{MockModel, ModelReply, ModelScript};
use sayso_testkit::{ServerProcess, write_config};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::http::{BenchHttp, Sse, find};
use crate::report::Bound::AtMost;
use crate::report::{Measurement, Report};
use crate::round_trip::{start_session, target};
use crate::{MIB, Size, directory, memory, meter};

const AGENT: &str = "talk";

pub(crate) async fn measure(report: &mut Report, size: Size) -> Result<()> {
    paused(report, size).await?;
    first_word(report, size).await
}

/// Starts a server with one model at this address.
async fn start(url: &str) -> Result<(TempDir, ServerProcess)> {
    let dir = directory()?;
    write_config(dir.path(), &format!("[agents.{AGENT}]\nprotocol = \"openai\"\nbase_url = \"{url}/v1\"\nmodel = \"m\"\n"))?;
    let server = ServerProcess::start(dir.path()).await?;
    Ok((dir, server))
}

async fn paused(report: &mut Report, size: Size) -> Result<()> {
    let question = json!({ "question": "Which?", "options": [{ "label": "A" }, { "label": "B" }] });
    let model = MockModel::start(ModelScript::choose(move |_| ModelReply::call("c", "question", question.clone()))).await?;
    let (_dir, mut server) = start(model.url()).await?;
    let idle = memory::settled(&server).await?;
    // The first ones fill bounded memory: the ring of the feed and the caches of the database.
    memory::sessions_with_a_question(&server, AGENT, size.many / 5).await?;
    let before = memory::settled(&server).await?;
    memory::sessions_with_a_question(&server, AGENT, size.many).await?;
    let after = memory::settled(&server).await?;
    let line = Measurement::new("chat_paused")
        .figure("conversations", size.many as f64)
        .figure("first_ones_mib", before.saturating_sub(idle) as f64 / MIB);
    report.add(line.target("added_mib", after.saturating_sub(before) as f64 / MIB, AtMost(5.0)))?;
    server.terminate().await?;
    Ok(())
}

/// Measures the time from when the endpoint sends the first word until a stream receives it.
async fn first_word(report: &mut Report, size: Size) -> Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let (sent, mut times) = mpsc::channel(1);
    let endpoint = tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            // The reader of the words detects a call that fails.
            let _ = reply(socket, &sent).await;
        }
    });
    let (_dir, mut server) = start(&url).await?;
    let mut http = BenchHttp::connect(&target(&server)).await?;
    let session = start_session(&mut http, AGENT, "hello").await?;
    times.recv().await.context("the endpoint was not called")?;
    let mut stream = Sse::open(&target(&server), &format!("/v1/sessions/{session}/events")).await?;
    let mut late = Vec::new();
    for _ in 0..size.answers.min(100) {
        // The previous turn has ended.
        while !stream.event().await?.says("\"idle\"") {}
        http.post(&format!("/v1/sessions/{session}/messages"), r#"{"text":"go on"}"#).await?;
        let at: Instant = times.recv().await.context("the endpoint was not called")?;
        while stream.event().await?.name != b"message.delta" {}
        late.push(at.elapsed().as_secs_f64() * 1e3);
    }
    let line = Measurement::new("chat_first_word").figure("replies", late.len() as f64);
    report.add(line.target("p50_ms", meter::median(&late), AtMost(5.0)))?;
    server.terminate().await?;
    endpoint.abort();
    Ok(())
}

/// Reads one call, and sends one word and then the end of the reply.
async fn reply(mut socket: TcpStream, sent: &mpsc::Sender<Instant>) -> Result<()> {
    socket.set_nodelay(true)?;
    let mut raw = Vec::new();
    loop {
        ensure!(socket.read_buf(&mut raw).await? > 0, "the server hung up");
        let Some(end) = find(&raw, b"\r\n\r\n") else { continue };
        let head = std::str::from_utf8(&raw[..end])?.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).context("no length")?;
        if raw.len() >= end + 4 + length.trim().parse::<usize>()? {
            break;
        }
    }
    socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n").await?;
    // The response head must not count as the first word.
    tokio::time::sleep(Duration::from_millis(20)).await;
    let at = Instant::now();
    socket.write_all(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word\"}}]}\n\n").await?;
    sent.send(at).await?;
    tokio::time::sleep(Duration::from_millis(20)).await;
    let end = b"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    Ok(socket.write_all(end).await?)
}
