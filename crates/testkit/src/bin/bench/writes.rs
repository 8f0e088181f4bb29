//! What a round trip writes to the disk, as the kernel counts it for the server.

use std::time::Duration;

use anyhow::Result;
use sayso_testkit::{PROGRAM, ServerProcess, write_config};

use crate::report::Bound::AtMost;
use crate::report::{Measurement, Report};
use crate::round_trip::{Clients, Until};
use crate::{MOCK, Size, directory, of};

/// An agent, a number of clients, and the most that a round trip may write: kilobytes and calls.
struct Case {
    name: &'static str,
    agent: &'static str,
    clients: usize,
    most: Option<(f64, f64)>,
}

const CASES: [Case; 4] = [
    Case { name: "writes_process_1", agent: PROGRAM, clients: 1, most: Some((90.0, 50.0)) },
    Case { name: "writes_process_100", agent: PROGRAM, clients: 100, most: Some((25.0, 50.0)) },
    Case { name: "writes_mock_1", agent: MOCK, clients: 1, most: None },
    Case { name: "writes_mock_100", agent: MOCK, clients: 100, most: None },
];

pub(crate) async fn measure(report: &mut Report, size: Size) -> Result<()> {
    for case in CASES {
        let mut windows = Vec::new();
        for _ in 0..size.runs {
            let dir = directory()?;
            write_config(dir.path(), "")?;
            let mut server = ServerProcess::start(dir.path()).await?;
            let clients = Clients::start(&server, case.agent, case.clients).await?;
            clients.wait(Until::Time(Duration::from_secs(1))).await?;
            windows.push(clients.measure(Until::Time(size.window)).await?);
            clients.stop().await?;
            server.client()?.stop_agents().await?;
            server.terminate().await?;
        }
        let (disk_kb, calls) = (of(&windows, |window| window.disk_kb), of(&windows, |window| window.write_calls));
        let line = Measurement::new(case.name)
            .told("runs", windows.len() as f64)
            .told("per_second", of(&windows, |window| window.per_second))
            .told("written_kb", of(&windows, |window| window.written_kb));
        report.add(match case.most {
            Some((kb, most)) => line.wanted("disk_kb", disk_kb, AtMost(kb)).wanted("write_calls", calls, AtMost(most)),
            None => line.told("disk_kb", disk_kb).told("write_calls", calls),
        })?;
    }
    Ok(())
}
