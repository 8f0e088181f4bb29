//! Measures the memory of the server.

use std::time::Duration;

use anyhow::{Context as _, Result};
use sayso_testkit::ServerProcess;

use crate::http::{BenchHttp, Sse};
use crate::meter;
use crate::round_trip::{start_session, target};

/// The delay before memory is read, in which the server becomes idle.
const SETTLE: Duration = Duration::from_millis(1500);

/// Returns the resident memory of the idle server in bytes.
pub(crate) async fn settled(server: &ServerProcess) -> Result<u64> {
    tokio::time::sleep(SETTLE).await;
    meter::rss(server.pid().context("the server does not run")?)
}

/// Starts this many sessions, each with one question, and waits until all are pending.
pub(crate) async fn sessions_with_a_question(server: &ServerProcess, agent: &str, count: usize) -> Result<()> {
    let mut http = BenchHttp::connect(&target(server)).await?;
    let mut events = Sse::open(&target(server), "/v1/events").await?;
    let start = async {
        for _ in 0..count {
            start_session(&mut http, agent, "question").await?;
        }
        Ok(())
    };
    // The stream is read in the meantime, because the server closes streams that are not read.
    let seen = async {
        for _ in 0..count {
            while events.event().await?.name != b"question.requested" {}
        }
        Ok(())
    };
    tokio::try_join!(start, seen).map(drop)
}

/// Opens this many streams that receive every event. They stay open until the value is dropped.
pub(crate) async fn idle_streams(server: &ServerProcess, count: usize) -> Result<Vec<Sse>> {
    let target = target(server);
    let mut streams = Vec::with_capacity(count);
    for _ in 0..count {
        streams.push(Sse::open(&target, "/v1/events").await?);
    }
    Ok(streams)
}
