//! Measures many agent processes: their memory, their start time, and the time until a killed server is attached to them again.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use sayso_testkit::{PROGRAM, ServerProcess, write_config};

use crate::http::BenchHttp;
use crate::peer::Peer;
use crate::report::Bound::AtMost;
use crate::report::{Measurement, Report};
use crate::round_trip::target;
use crate::{MIB, Size, directory, memory, meter};

/// The number of concurrent agents.
const MANY: usize = 300;

pub(crate) async fn measure(report: &mut Report, size: Size, peer: Option<&Path>) -> Result<()> {
    let dir = directory()?;
    write_config(dir.path(), "")?;
    let mut server = ServerProcess::start(dir.path()).await?;
    let began = Instant::now();
    memory::sessions_with_a_question(&server, PROGRAM, MANY).await?;
    let started = began.elapsed();
    let rss = memory::settled(&server).await? as f64 / MIB;
    let supervisors = meter::supervisors(dir.path())?;
    ensure!(supervisors.len() == MANY, "{} supervisors of {MANY} agents", supervisors.len());
    let server_pss = meter::pss(server.pid().context("the server does not run")?)?;
    let supervisors_pss = supervisors.iter().try_fold(0, |sum, &pid| anyhow::Ok(sum + meter::pss(pid)?))?;
    let line = Measurement::new("processes_pending")
        .figure("agents", MANY as f64)
        .figure("supervisor_pss_mib", supervisors_pss as f64 / MIB / MANY as f64)
        .figure("server_rss_mib", rss);
    report.add(line.target("started_seconds", started.as_secs_f64(), AtMost(15.0)).target(
        "server_and_supervisors_pss_mib",
        (server_pss + supervisors_pss) as f64 / MIB,
        AtMost(160.0),
    ))?;

    let mut back = Vec::new();
    for _ in 0..size.runs {
        server.kill9().await?;
        server.start_again().await?;
        let began = Instant::now();
        attached(&server, MANY).await?;
        back.push(began.elapsed().as_secs_f64());
    }
    let line = Measurement::new("processes_back").figure("agents", MANY as f64);
    report.add(line.target("attached_seconds", meter::median(&back), AtMost(1.0)))?;
    end(&mut server).await?;
    if let Some(program) = peer {
        peer_memory(report, program).await?;
    }
    Ok(())
}

/// Measures the memory of the peer's server with the same number of agents, each with a pending question.
async fn peer_memory(report: &mut Report, program: &Path) -> Result<()> {
    let dir = directory()?;
    let peer = Peer::start(program, dir.path()).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let idle = meter::rss(peer.pid())? as f64 / MIB;
    let asked = peer.pending(MANY).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let line = Measurement::new("processes_pending_peer").figure("agents", MANY as f64).figure("idle_rss_mib", idle);
    report.add(line.figure("server_pss_mib", meter::pss(peer.pid())? as f64 / MIB))?;
    drop(asked);
    peer.stop().await
}

/// Waits until the server is attached to this many processes.
async fn attached(server: &ServerProcess, count: usize) -> Result<()> {
    let mut http = BenchHttp::connect(&target(server)).await?;
    let wanted = format!("\nsayso_agents {count}\n");
    let began = Instant::now();
    while !String::from_utf8_lossy(http.get("/metrics").await?).contains(&wanted) {
        ensure!(began.elapsed() < Duration::from_secs(60), "the server does not find its agents again");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok(())
}

/// Ends the agents, then the server.
async fn end(server: &mut ServerProcess) -> Result<()> {
    server.client()?.stop_agents().await.context("the agents do not end")?;
    server.terminate().await?;
    Ok(())
}
