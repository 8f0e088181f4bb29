//! Agents that are processes: what they add to a round trip, how much memory many of them take, how
//! fast they start, and how fast a server that was killed has them back.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use sayso_testkit::{PROGRAM, ServerProcess, write_config};

use crate::http::BenchHttp;
use crate::report::Bound::AtMost;
use crate::report::{Measurement, Report};
use crate::round_trip::{Clients, Until, target};
use crate::{MIB, MOCK, Size, directory, memory, meter};

/// How many run at once.
const MANY: usize = 100;

pub(crate) async fn measure(report: &mut Report, size: Size) -> Result<()> {
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for _ in 0..size.runs {
        let dir = directory()?;
        write_config(dir.path(), "")?;
        let mut server = ServerProcess::start(dir.path()).await?;
        for (agent, medians) in [(MOCK, &mut inside), (PROGRAM, &mut outside)] {
            let clients = Clients::start(&server, agent, 1).await?;
            clients.wait(Until::Count(100)).await?;
            medians.push(clients.measure(Until::Time(size.window)).await?.p50_ms);
            clients.stop().await?;
        }
        end(&mut server).await?;
    }
    let (inside, outside) = (meter::median(&inside), meter::median(&outside));
    let line = Measurement::new("processes_round_trip_1").told("inside_p50_ms", inside).told("process_p50_ms", outside);
    report.add(line.wanted("added_p50_ms", outside - inside, AtMost(1.0)))?;

    let dir = directory()?;
    write_config(dir.path(), "")?;
    let mut server = ServerProcess::start(dir.path()).await?;
    let began = Instant::now();
    memory::sessions_with_a_question(&server, PROGRAM, MANY).await?;
    let started = began.elapsed();
    let rss = memory::settled(&server).await?.rss as f64 / MIB;
    let supervisor = supervisors(&dir)?;
    let line = Measurement::new("processes_pending").told("agents", MANY as f64).told("supervisor_rss_mib", supervisor / MIB);
    report.add(line.wanted("started_seconds", started.as_secs_f64(), AtMost(5.0)).wanted("server_rss_mib", rss, AtMost(60.0)))?;

    let mut back = Vec::new();
    for _ in 0..size.runs {
        server.kill9().await?;
        server.start_again().await?;
        let began = Instant::now();
        attached(&server, MANY).await?;
        back.push(began.elapsed().as_secs_f64());
    }
    let line = Measurement::new("processes_back").told("agents", MANY as f64);
    report.add(line.wanted("attached_seconds", meter::median(&back), AtMost(1.0)))?;
    end(&mut server).await
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

/// The memory of one supervisor: the median of all.
fn supervisors(dir: &tempfile::TempDir) -> Result<f64> {
    let ours = dir.path().display().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command);
        if command.contains("\0supervise\0") && command.contains(&ours) {
            found.push(meter::memory(pid)?.rss as f64);
        }
    }
    ensure!(!found.is_empty(), "there is no supervisor");
    Ok(meter::median(&found))
}

/// Ends the agents, then the server.
async fn end(server: &mut ServerProcess) -> Result<()> {
    server.client()?.stop_agents().await.context("the agents do not end")?;
    server.terminate().await?;
    Ok(())
}
