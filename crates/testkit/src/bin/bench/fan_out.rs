//! Measures one feed with many streams that receive every event.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use sayso_api::ask::AskPage;
use sayso_testkit::ServerProcess;

use crate::http::{BenchHttp, Sse};
use crate::meter;
use crate::round_trip::{Clients, Until, target};

/// The result of a run.
#[derive(Debug)]
pub(crate) struct FanOut {
    pub(crate) per_second: f64,
    /// The server's processor time per delivery, including asking and answering.
    pub(crate) cpu_us: f64,
}

/// Counts the events that arrive at this many streams while a few clients make round trips.
pub(crate) async fn measure(server: &ServerProcess, streams: usize, clients: usize, until: Until) -> Result<FanOut> {
    let received = Rc::<Cell<u64>>::default();
    let mut readers = Vec::with_capacity(streams);
    for _ in 0..streams {
        let mut stream = Sse::open(&target(server), "/v1/events").await?;
        let received = Rc::clone(&received);
        readers.push(tokio::task::spawn_local(async move {
            loop {
                match stream.count().await {
                    Ok(events) => received.set(received.get() + events as u64),
                    Err(error) => return error,
                }
            }
        }));
    }
    let pid = server.pid().context("the server does not run")?;
    let clients = Clients::start(server, crate::MOCK, clients).await?;
    clients.wait(Until::Count(clients.done() + 200)).await?;
    let mut http = BenchHttp::connect(&target(server)).await?;
    let from = head(&mut http).await?;
    let (cpu, before, began) = (meter::cpu(pid)?, received.get(), Instant::now());
    clients.wait(until).await?;
    let (used, events, elapsed) = (meter::cpu(pid)?.saturating_sub(cpu), received.get() - before, began.elapsed());
    let published = u64::try_from(head(&mut http).await? - from)? * streams as u64;
    clients.stop().await?;
    // Both counts are taken while frames are in flight, so they differ slightly.
    ensure!(events.abs_diff(published) * 20 <= published, "{published} deliveries were due, {events} were counted");
    for reader in readers {
        reader.abort();
    }
    Ok(FanOut { per_second: events as f64 / elapsed.as_secs_f64(), cpu_us: used.as_secs_f64() * 1e6 / events as f64 })
}

/// Returns the last `seq` of the feed.
async fn head(http: &mut BenchHttp) -> Result<i64> {
    let page: AskPage = serde_json::from_slice(http.get("/v1/asks?limit=1").await?)?;
    Ok(page.seq)
}
