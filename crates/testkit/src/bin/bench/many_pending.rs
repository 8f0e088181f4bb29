//! Measures ten thousand pending asks: opening, listing and answering.

use std::time::Instant;

use anyhow::{Context as _, Result};
use sayso_api::ask::{Ask, AskPage};
use sayso_testkit::ServerProcess;

use crate::http::{BenchHttp, BenchTarget};
use crate::meter;
use crate::round_trip::target;

const ASK: &str = r#"{"agent":"bench","title":"a thing to decide","context":"This is what the agent said before it asked, so that a person can decide away from the terminal.","questions":[{"header":"Database","text":"Which database should this feature use?","input":"choice","custom":true,"options":[{"label":"SQLite","description":"lightweight, file-based"},{"label":"PostgreSQL","description":"full-featured"}]}]}"#;

pub(crate) async fn open(server: &ServerProcess, count: usize) -> Result<Vec<String>> {
    let connections = 32.min(count);
    let mut tasks = Vec::with_capacity(connections);
    for index in 0..connections {
        let target = target(server);
        let share = count / connections + usize::from(index < count % connections);
        tasks.push(tokio::task::spawn_local(open_some(target, share)));
    }
    let mut ids = Vec::with_capacity(count);
    for task in tasks {
        ids.extend(task.await??);
    }
    Ok(ids)
}

async fn open_some(target: BenchTarget, count: usize) -> Result<Vec<String>> {
    let mut http = BenchHttp::connect(&target).await?;
    let mut ids = Vec::with_capacity(count);
    for _ in 0..count {
        let ask: Ask = serde_json::from_slice(http.post("/v1/asks", ASK).await?)?;
        ids.push(ask.id);
    }
    Ok(ids)
}

/// Measures pages of a hundred asks, from the first to the last, repeatedly.
pub(crate) async fn list(server: &ServerProcess, pages: usize) -> Result<Vec<u32>> {
    let mut http = BenchHttp::connect(&target(server)).await?;
    let mut times = Vec::with_capacity(pages);
    let mut cursor: Option<String> = None;
    for _ in 0..pages {
        let after = cursor.as_ref().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let began = Instant::now();
        let body = http.get(&format!("/v1/asks?status=pending&limit=100{after}")).await?;
        times.push(meter::micros(began.elapsed()));
        let page: AskPage = serde_json::from_slice(body)?;
        anyhow::ensure!(!page.data.is_empty(), "an empty page");
        cursor = page.next_cursor;
    }
    Ok(times)
}

/// Measures answers, one after the other, spread over the pending asks.
pub(crate) async fn answer(server: &ServerProcess, ids: &[String], count: usize) -> Result<Vec<u32>> {
    let mut http = BenchHttp::connect(&target(server)).await?;
    let step = (ids.len() / count.max(1)).max(1);
    let mut times = Vec::with_capacity(count);
    for id in ids.iter().step_by(step).take(count) {
        let began = Instant::now();
        http.post(&format!("/v1/asks/{id}/answer"), r#"{"answers":[["SQLite"]]}"#).await?;
        times.push(meter::micros(began.elapsed()));
    }
    Ok(times)
}

/// Restarts the server. Returns the milliseconds until it reports that it is healthy.
pub(crate) async fn start_to_healthy(server: &mut ServerProcess) -> Result<f64> {
    server.terminate().await?;
    let began = Instant::now();
    server.start_again().await?;
    let mut http = BenchHttp::connect(&target(server)).await?;
    http.get("/v1/health").await.context("not healthy")?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}
