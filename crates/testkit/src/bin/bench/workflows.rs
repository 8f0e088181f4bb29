//! Measures workflows: the overhead of a step, and many concurrent runs.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use sayso_client::api::run::NewRun;
use sayso_client::api::session::NewSession;
use sayso_client::{Client, EventStream, StreamItem};
use sayso_testkit::ServerProcess;
use serde_json::json;

use crate::report::Bound::AtMost;
use crate::report::{Measurement, Report};
use crate::{MIB, MOCK, Size, directory, meter};

/// The number of steps in one run.
const STEPS: usize = 5;
/// The number of concurrent runs.
const AT_ONCE: usize = 50;

pub(crate) async fn measure(report: &mut Report, size: Size) -> Result<()> {
    let dir = directory()?;
    let mut server = ServerProcess::start(dir.path()).await?;
    let client = server.client()?;
    let mut stream = client.events(Some(0));
    // Runs and sessions alternate, so that the load of the machine affects both.
    let (mut alone, mut over) = (Vec::new(), Vec::new());
    for _ in 0..size.answers.min(200) {
        let own = session(&client, &mut stream).await?;
        let run = run(&client, &mut stream).await?;
        alone.push(own.as_secs_f64() * 1e3);
        over.push((run.as_secs_f64() / STEPS as f64 - own.as_secs_f64()) * 1e3);
    }
    let line = Measurement::new("workflow_step").figure("steps", STEPS as f64).figure("session_p50_ms", meter::median(&alone));
    report.add(line.target("over_the_agent_p50_ms", meter::median(&over), AtMost(5.0)))?;

    let count = size.pending;
    let began = Instant::now();
    let mut peak = 0;
    let (mut started, mut ended) = (0, 0);
    while ended < count {
        while started < count && started - ended < AT_ONCE {
            client.start_run(&workflow()).await?;
            started += 1;
        }
        until(&mut stream, "run.completed", |_| true).await?;
        ended += 1;
        peak = peak.max(meter::rss(server.pid().context("the server does not run")?)?);
    }
    let line = Measurement::new("workflows").figure("runs", count as f64).figure("at_once", AT_ONCE as f64);
    let line = line.figure("runs_per_second", count as f64 / began.elapsed().as_secs_f64());
    report.add(line.target("server_rss_mib", peak as f64 / MIB, AtMost(150.0)))?;
    server.terminate().await?;
    Ok(())
}

fn workflow() -> NewRun {
    let steps: Vec<_> = (0..STEPS).map(|n| json!({ "id": format!("s{n}"), "agent": MOCK, "prompt": "hello" })).collect();
    NewRun {
        workflow: json!({ "name": "bench", "steps": steps }),
        input: std::collections::BTreeMap::new(),
        directory: None,
        labels: std::collections::BTreeMap::new(),
        environment: None,
    }
}

/// Measures the time from the call to the end of the run.
async fn run(client: &Client, stream: &mut EventStream) -> Result<Duration> {
    let began = Instant::now();
    let run = client.start_run(&workflow()).await?;
    until(stream, "run.completed", |data| data.contains(&run.id)).await?;
    Ok(began.elapsed())
}

/// Measures the time from the call to the end of the agent's turn.
async fn session(client: &Client, stream: &mut EventStream) -> Result<Duration> {
    let began = Instant::now();
    let new = NewSession { agent: MOCK.to_owned(), prompt: Some("hello".to_owned()), ..NewSession::default() };
    client.start_session(&new).await?;
    until(stream, "session.status", |data| data.contains("idle")).await?;
    Ok(began.elapsed())
}

async fn until(stream: &mut EventStream, kind: &str, holds: impl Fn(&str) -> bool) -> Result<()> {
    loop {
        match stream.next().await? {
            StreamItem::Event(event) if event.name() == kind && holds(&event.event.data_json()) => return Ok(()),
            StreamItem::Event(_) | StreamItem::Reconnecting { .. } | StreamItem::Reconnected => {}
            StreamItem::Reset { .. } => bail!("the stream fell behind"),
        }
    }
}
