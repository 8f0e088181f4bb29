//! Compares round trips through agent processes with the closest peer.
//!
//! Both servers run the same agent (`sayso mock-agent`) and have the same clients. They take turns, so that the load of the
//! machine affects both. Sayso commits every ask and every outcome to disk; the peer stores nothing.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use sayso_testkit::{PROGRAM, ServerProcess, write_config};

use crate::peer::Peer;
use crate::report::Bound::{AtLeast, AtMost};
use crate::report::{Measurement, Report};
use crate::round_trip::{Clients, Until, Window};
use crate::{Size, directory, figures, meter, of, raw_commit};

/// The targets for a number of clients.
struct Case {
    name: &'static str,
    clients: usize,
    /// The maximum of kilobytes written to disk per round trip.
    disk_kb: f64,
    write_calls: f64,
    /// The minimum ratio of round trips per second to those of the peer.
    rate_over_peer: Option<f64>,
    /// The maximum ratio of processor time to that of the peer.
    cpu_over_peer: Option<f64>,
}

const CASES: [Case; 3] = [
    Case { name: "process_1", clients: 1, disk_kb: 50.0, write_calls: 30.0, rate_over_peer: None, cpu_over_peer: None },
    Case { name: "process_10", clients: 10, disk_kb: 50.0, write_calls: 30.0, rate_over_peer: Some(0.5), cpu_over_peer: None },
    Case {
        name: "process_100",
        clients: 100,
        disk_kb: 20.0,
        write_calls: 30.0,
        rate_over_peer: Some(0.6),
        cpu_over_peer: Some(1.8),
    },
];

/// The maximum time of a round trip of one client in addition to its two commits.
const OVER_TWO_COMMITS_MS: f64 = 0.7;
/// The maximum of commits per round trip of one client.
const COMMITS: f64 = 2.1;

pub(crate) async fn measure(report: &mut Report, size: Size, peer: Option<&Path>) -> Result<()> {
    for case in &CASES {
        let (mut ours, mut theirs, mut raws) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..size.runs {
            raws.push(raw_commit::p50(directory()?.path(), size.commits / 2)? / 1e3);
            ours.push(our_window(case.clients, size).await?);
            if let Some(program) = peer {
                theirs.push(peer_window(program, case.clients, size).await?);
            }
        }
        let mut line = figures(Measurement::new(case.name), &ours).figure("p50_ms", of(&ours, |window| window.p50_ms));
        if case.clients == 1 {
            // The fastest commits count, so that a busy machine does not lower the target.
            let raw = raws.iter().copied().fold(f64::INFINITY, f64::min);
            let over = of(&ours, |window| window.p50_ms) - 2.0 * raw;
            line = line
                .figure("raw_commit_ms", raw)
                .target("p50_ms_over_two_raw_commits", over, AtMost(OVER_TWO_COMMITS_MS))
                .target("commits", of(&ours, |window| window.commits), AtMost(COMMITS));
        } else {
            line = line.figure("commits", of(&ours, |window| window.commits));
        }
        line = line
            .target("disk_kb", of(&ours, |window| window.disk_kb), AtMost(case.disk_kb))
            .target("write_calls", of(&ours, |window| window.write_calls), AtMost(case.write_calls))
            .figure("supervisors_us", of(&ours, |window| window.supervisors_us))
            .figure("journal_kb", of(&ours, |window| window.journal_kb));
        report.add(if theirs.is_empty() { line } else { compared(line, case, &ours, &theirs) })?;
    }
    Ok(())
}

fn compared(line: Measurement, case: &Case, ours: &[Window], theirs: &[Window]) -> Measurement {
    let ratio = |figure: fn(&Window) -> f64| {
        meter::median(&ours.iter().zip(theirs).map(|(ours, theirs)| figure(ours) / figure(theirs)).collect::<Vec<_>>())
    };
    let (rate, cpu) = (ratio(|window| window.per_second), ratio(|window| window.cpu_us));
    let line = line
        .figure("peer_per_second", of(theirs, |window| window.per_second))
        .figure("peer_p50_ms", of(theirs, |window| window.p50_ms))
        .figure("peer_p99_ms", of(theirs, |window| window.p99_ms))
        .figure("peer_cpu_us", of(theirs, |window| window.cpu_us))
        .figure("peer_driver_us", of(theirs, |window| window.driver_us));
    let line = match case.rate_over_peer {
        Some(least) => line.target("rate_over_peer", rate, AtLeast(least)),
        None => line.figure("rate_over_peer", rate),
    };
    match case.cpu_over_peer {
        Some(most) => line.target("cpu_over_peer", cpu, AtMost(most)),
        None => line.figure("cpu_over_peer", cpu),
    }
}

async fn our_window(clients: usize, size: Size) -> Result<Window> {
    let dir = directory()?;
    write_config(dir.path(), "")?;
    let mut server = ServerProcess::start(dir.path()).await?;
    let clients = Clients::start(&server, PROGRAM, clients).await?;
    clients.wait(Until::Time(Duration::from_secs(1))).await?;
    let window = clients.measure(Until::Time(size.window)).await?;
    clients.stop().await?;
    server.client()?.stop_agents().await?;
    server.terminate().await?;
    Ok(window)
}

async fn peer_window(program: &Path, clients: usize, size: Size) -> Result<Window> {
    let dir = directory()?;
    let peer = Peer::start(program, dir.path()).await?;
    let clients = peer.clients(clients).await?;
    clients.wait(Until::Time(Duration::from_secs(1))).await?;
    let window = clients.measure(Until::Time(size.window)).await?;
    clients.join().await?;
    peer.stop().await?;
    Ok(window)
}
