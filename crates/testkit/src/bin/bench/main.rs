//! Measures the real server and compares the figures with their targets. Prints one JSON object per line, and exits with 1 if a
//! target is missed.
//!
//! The server is the real binary in a separate process, so that its processor time and memory can be measured. This program
//! drives it on one thread, over loopback. Where noise matters, a measurement is repeated and the median is reported.

mod acp;
mod chat;
mod commit_pause;
mod content;
mod fan_out;
mod http;
mod inbox;
mod many_pending;
mod mcp;
mod memory;
mod meter;
mod notify;
mod peer;
mod processes;
mod raw_commit;
mod report;
mod round_trip;
mod side_by_side;
mod speed;
mod workflows;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Parser;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sayso_testkit::{ServerProcess, write_config};
use tempfile::TempDir;

use crate::report::Bound::{AtLeast, AtMost};
use crate::report::{Measurement, Report};
use crate::round_trip::{Clients, Until, Window};

const MIB: f64 = 1024.0 * 1024.0;
/// The agent inside the server.
const MOCK: &str = "mock";

/// Measure the server.
#[derive(Debug, Parser)]
struct Args {
    /// Use small counts for a quick check that takes seconds. The figures are not comparable.
    #[arg(long)]
    quick: bool,
    /// Report missed targets, but do not fail.
    #[arg(long)]
    no_assert: bool,
    /// Only measurements whose name contains this text.
    #[arg(long, default_value = "")]
    only: String,
    /// The program of the closest peer, `sandbox-agent`, to compare with Sayso. `scripts/bench.sh` installs it.
    #[arg(long, value_name = "PROGRAM")]
    peer: Option<PathBuf>,
}

/// The number of repetitions.
#[derive(Debug, Clone, Copy)]
struct Size {
    commits: usize,
    runs: usize,
    window: Duration,
    pending: usize,
    streams: usize,
    many: usize,
    answers: usize,
    stored: u64,
    sample: u64,
}

const FULL: Size = Size {
    commits: 2_000,
    runs: 5,
    window: Duration::from_secs(4),
    pending: 1_000,
    streams: 1_000,
    many: 10_000,
    answers: 1_000,
    stored: 100_000,
    sample: 5_000,
};

const QUICK: Size = Size {
    commits: 300,
    runs: 1,
    window: Duration::from_secs(2),
    pending: 200,
    streams: 200,
    many: 1_000,
    answers: 200,
    stored: 5_000,
    sample: 1_000,
};

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    raise_file_limit()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(tokio::task::LocalSet::new().run_until(measure(&args)))?;
    for missed in report.missed() {
        say(&format!("missed: {missed}"))?;
    }
    Ok(if report.missed().is_empty() || args.no_assert { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// This program and the server that it starts each open a thousand sockets.
fn raise_file_limit() -> Result<()> {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).context("the limit of open files stays low")
}

fn say(text: &str) -> Result<()> {
    use std::io::Write as _;
    Ok(writeln!(std::io::stderr(), "{text}")?)
}

fn directory() -> Result<TempDir> {
    tempfile::Builder::new().prefix("sayso-bench-").tempdir().context("no temporary directory")
}

async fn measure(args: &Args) -> Result<Report> {
    let size = if args.quick { QUICK } else { FULL };
    let mut report = Report::default();
    let wanted = |name: &str| name.contains(&args.only);

    if wanted("process_") {
        side_by_side::measure(&mut report, size, args.peer.as_deref()).await?;
    }
    if wanted("round_trip_1") {
        round_trip_1(&mut report, size).await?;
    }
    if wanted("round_trip_100") {
        round_trip_100(&mut report, size).await?;
    }
    if wanted("commit_pause") {
        commit_pause::measure(&mut report, size).await?;
    }
    if wanted("content") {
        content::measure(&mut report, size)?;
    }
    if wanted("acp_door") {
        acp_door(&mut report, size).await?;
    }
    if wanted("fan_out") {
        fan_out_100(&mut report, size).await?;
    }
    if wanted("memory") {
        memory_of(&mut report, size).await?;
    }
    if wanted("pending") {
        many(&mut report, size).await?;
    }
    if wanted("mcp_waiting") {
        mcp_waiting(&mut report, size).await?;
    }
    if wanted("status_line") {
        status_line(&mut report, size).await?;
    }
    if wanted("hook") {
        hook(&mut report, size).await?;
    }
    if wanted("inbox_redraw") {
        inbox_redraw(&mut report, size).await?;
    }
    if wanted("processes") {
        processes::measure(&mut report, size, args.peer.as_deref()).await?;
    }
    if wanted("workflows") {
        workflows::measure(&mut report, size).await?;
    }
    if wanted("notify") {
        notify::measure(&mut report, size).await?;
    }
    if wanted("chat") {
        chat::measure(&mut report, size).await?;
    }
    if wanted("growth") {
        growth(&mut report, size).await?;
    }
    Ok(report)
}

/// Measures one client, whose time is spent on the disk and in the server. Raw commits are measured before and after each run,
/// and the better half counts, so that a busy machine does not lower the target.
async fn round_trip_1(report: &mut Report, size: Size) -> Result<()> {
    let (mut raws, mut windows, mut over) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..size.runs {
        let dir = directory()?;
        let before = raw_commit::p50(dir.path(), size.commits / 2)?;
        let mut server = ServerProcess::start(dir.path()).await?;
        let clients = Clients::start(&server, MOCK, 1).await?;
        clients.wait(Until::Count(100)).await?;
        let window = clients.measure(Until::Time(size.window)).await?;
        clients.stop().await?;
        server.terminate().await?;
        let raw = raw_commit::p50(directory()?.path(), size.commits / 2)?.min(before) / 1e3;
        over.push(window.p50_ms - 2.0 * raw);
        raws.push(raw);
        windows.push(window);
    }
    report.add(Measurement::new("raw_commit").figure("p50_ms", meter::median(&raws)))?;
    report.add(figures(Measurement::new("round_trip_1"), &windows).figure("p50_ms", of(&windows, |window| window.p50_ms)).target(
        "p50_ms_over_two_raw_commits",
        meter::median(&over),
        AtMost(0.8),
    ))
}

async fn round_trip_100(report: &mut Report, size: Size) -> Result<()> {
    let (mut windows, mut work) = (Vec::new(), Vec::new());
    for _ in 0..size.runs {
        work.push(speed::work_us());
        let dir = directory()?;
        let mut server = ServerProcess::start(dir.path()).await?;
        let clients = Clients::start(&server, MOCK, 100).await?;
        clients.wait(Until::Time(Duration::from_secs(1))).await?;
        windows.push(clients.measure(Until::Time(size.window)).await?);
        clients.stop().await?;
        server.terminate().await?;
    }
    report.add(
        figures(Measurement::new("round_trip_100"), &windows)
            .figure("fixed_work_us", meter::median(&work))
            .figure("best_cpu_us", windows.iter().map(|window| window.cpu_us).fold(f64::INFINITY, f64::min))
            .figure("best_per_second", windows.iter().map(|window| window.per_second).fold(0.0, f64::max))
            .target("per_second", of(&windows, |window| window.per_second), AtLeast(7_000.0))
            .target("p50_ms", of(&windows, |window| window.p50_ms), AtMost(16.0))
            .target("cpu_us", of(&windows, |window| window.cpu_us), AtMost(170.0)),
    )
}

/// Compares a client of the ACP endpoint with a native client of the same server. They take turns, so that the load of the
/// machine affects both.
async fn acp_door(report: &mut Report, size: Size) -> Result<()> {
    const TURNS: u32 = 4;
    let (mut native, mut door, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..size.runs {
        let dir = directory()?;
        let mut server = ServerProcess::start(dir.path()).await?;
        let (mut of_native, mut of_door) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            let clients = Clients::start(&server, MOCK, 1).await?;
            clients.wait(Until::Count(100)).await?;
            of_native.push(clients.measure(Until::Time(size.window / TURNS)).await?.p50_ms);
            clients.stop().await?;
            let mut times = acp::round_trips(&server, Until::Time(size.window / TURNS)).await?;
            of_door.push(meter::percentile(&mut times, 0.5) / 1e3);
        }
        server.terminate().await?;
        let (of_native, of_door) = (meter::median(&of_native), meter::median(&of_door));
        ratios.push(of_door / of_native);
        native.push(of_native);
        door.push(of_door);
    }
    let line = Measurement::new("acp_door").figure("runs", size.runs as f64);
    let line = line.figure("native_p50_ms", meter::median(&native)).figure("p50_ms", meter::median(&door));
    report.add(line.target("p50_over_native", meter::median(&ratios), AtMost(1.5)))
}

/// The figures that every round-trip measurement reports.
pub(crate) fn figures(line: Measurement, windows: &[Window]) -> Measurement {
    line.figure("runs", windows.len() as f64)
        .figure("round_trips", windows.iter().map(|window| window.round_trips).sum::<u64>() as f64)
        .figure("per_second", of(windows, |window| window.per_second))
        .figure("p99_ms", of(windows, |window| window.p99_ms))
        .figure("cpu_us", of(windows, |window| window.cpu_us))
        .figure("driver_us", of(windows, |window| window.driver_us))
        .figure("disk_kb", of(windows, |window| window.disk_kb))
        .figure("write_calls", of(windows, |window| window.write_calls))
        .figure("others_cores", of(windows, |window| window.others_cores))
}

pub(crate) fn of(windows: &[Window], figure: impl Fn(&Window) -> f64) -> f64 {
    meter::median(&windows.iter().map(figure).collect::<Vec<_>>())
}

async fn fan_out_100(report: &mut Report, size: Size) -> Result<()> {
    let mut runs = Vec::new();
    for _ in 0..size.runs {
        let dir = directory()?;
        let mut server = ServerProcess::start(dir.path()).await?;
        runs.push(fan_out::measure(&server, 100, 50, Until::Time(size.window)).await?);
        server.terminate().await?;
    }
    let per_second = meter::median(&runs.iter().map(|run| run.per_second).collect::<Vec<_>>());
    let cpu_us = meter::median(&runs.iter().map(|run| run.cpu_us).collect::<Vec<_>>());
    let line = Measurement::new("fan_out_100").figure("runs", runs.len() as f64);
    report.add(line.target("deliveries_per_second", per_second, AtLeast(200_000.0)).target("cpu_us", cpu_us, AtMost(6.0)))
}

async fn memory_of(report: &mut Report, size: Size) -> Result<()> {
    let dir = directory()?;
    let mut server = ServerProcess::start(dir.path()).await?;
    let idle = memory::settled(&server).await?;
    report.add(Measurement::new("memory_idle").target("rss_mib", idle as f64 / MIB, AtMost(14.0)).target(
        "private_mib",
        meter::private(server.pid().context("the server does not run")?)? as f64 / MIB,
        AtMost(4.0),
    ))?;

    let streams = memory::idle_streams(&server, size.streams).await?;
    let with_streams = memory::settled(&server).await?;
    let each = (with_streams as f64 - idle as f64) / 1024.0 / size.streams as f64;
    report.add(Measurement::new("memory_idle_streams").figure("streams", size.streams as f64).target(
        "kib_each",
        each,
        AtMost(25.0),
    ))?;
    drop(streams);
    server.terminate().await?;

    // Uses a new server, so that freed memory is not reused.
    let dir = directory()?;
    let mut server = ServerProcess::start(dir.path()).await?;
    let before = memory::settled(&server).await?;
    memory::sessions_with_a_question(&server, MOCK, size.pending).await?;
    let after = memory::settled(&server).await?;
    let added = (after as f64 - before as f64) / MIB;
    let line = Measurement::new("memory_pending").figure("pending_sessions", size.pending as f64);
    report.add(line.target("added_mib", added * 1_000.0 / size.pending as f64, AtMost(15.0)))?;
    server.terminate().await?;

    // The same for callers without a session.
    let dir = directory()?;
    let mut server = ServerProcess::start(dir.path()).await?;
    let before = memory::settled(&server).await?;
    many_pending::open(&server, size.pending).await?;
    let after = memory::settled(&server).await?;
    let added = (after as f64 - before as f64) / MIB;
    let line = Measurement::new("memory_pending_calls").figure("pending", size.pending as f64);
    report.add(line.target("added_mib", added * 1_000.0 / size.pending as f64, AtMost(15.0)))?;
    server.terminate().await?;
    Ok(())
}

async fn many(report: &mut Report, size: Size) -> Result<()> {
    let dir = directory()?;
    let mut server = ServerProcess::start(dir.path()).await?;
    let began = Instant::now();
    let ids = many_pending::open(&server, size.many).await?;
    let opened_per_second = size.many as f64 / began.elapsed().as_secs_f64();
    let mut pages = many_pending::list(&server, size.answers).await?;
    let mut answers = many_pending::answer(&server, &ids, size.answers).await?;
    let line =
        Measurement::new("pending_many").figure("pending", size.many as f64).figure("opened_per_second", opened_per_second);
    report.add(
        line.figure("list_p50_ms", meter::percentile(&mut pages, 0.5) / 1e3)
            .target("list_p99_ms", meter::percentile(&mut pages, 0.99) / 1e3, AtMost(50.0))
            .figure("answer_p50_ms", meter::percentile(&mut answers, 0.5) / 1e3)
            .target("answer_p99_ms", meter::percentile(&mut answers, 0.99) / 1e3, AtMost(50.0)),
    )?;

    let mut starts = Vec::new();
    for _ in 0..size.runs.max(3) {
        starts.push(many_pending::start_to_healthy(&mut server).await?);
    }
    let line = Measurement::new("pending_many_start").figure("stored", size.many as f64);
    report.add(line.target("start_to_healthy_ms", meter::median(&starts), AtMost(30.0)))?;
    server.terminate().await?;
    Ok(())
}

/// Measures agents that wait for a person over MCP, each on a separate connection.
async fn mcp_waiting(report: &mut Report, size: Size) -> Result<()> {
    const LOOK: Duration = Duration::from_secs(30);
    let eras = [("mcp_waiting_sessions", mcp::Era::Sessions, 100.0), ("mcp_waiting_stateless", mcp::Era::Stateless, 66.0)];
    for (name, era, most) in eras {
        let dir = directory()?;
        let mut server = ServerProcess::start(dir.path()).await?;
        let target = round_trip::target(&server);
        // The first one is not counted, because it also creates what all others share.
        let mut calls = vec![mcp::waiting(&target, era, 0).await?];
        let before = memory::settled(&server).await?;
        for number in 1..=size.pending {
            calls.push(mcp::waiting(&target, era, number).await?);
        }
        let after = memory::settled(&server).await?;
        let each = (after as f64 - before as f64) / 1024.0 / size.pending as f64;
        let pid = server.pid().context("the server does not run")?;
        let used = meter::cpu(pid)?;
        tokio::time::sleep(LOOK).await;
        let busy = (meter::cpu(pid)? - used).as_secs_f64() / LOOK.as_secs_f64() * 100.0;
        let line = Measurement::new(name).figure("calls", size.pending as f64).target("kib_each", each, AtMost(most));
        report.add(line.target("cpu_percent", busy, AtMost(3.0)))?;
        drop(calls);
        server.terminate().await?;
    }
    Ok(())
}

/// Measures `sayso status --line`, which status bars run every few seconds.
async fn status_line(report: &mut Report, size: Size) -> Result<()> {
    let dir = directory()?;
    let mut server = ServerProcess::start(dir.path()).await?;
    many_pending::open(&server, 100).await?;
    let mut times = Vec::new();
    for _ in 0..size.answers.min(100) {
        let mut command = server.command()?;
        let began = Instant::now();
        let output = command.args(["status", "--line"]).output().await?;
        times.push(meter::micros(began.elapsed()));
        anyhow::ensure!(output.status.success() && !output.stdout.is_empty(), "`sayso status --line` says nothing");
    }
    server.terminate().await?;
    report.add(Measurement::new("status_line").target("p50_ms", meter::percentile(&mut times, 0.5) / 1e3, AtMost(10.0)))
}

/// Measures the whole process `sayso hook claude` when a rule decides, because the agent waits for it.
async fn hook(report: &mut Report, size: Size) -> Result<()> {
    let dir = directory()?;
    write_config(dir.path(), "")?;
    std::fs::write(dir.path().join("config/sayso/policy.toml"), "[approvals]\npolicy = \"allow\"\n")?;
    let mut server = ServerProcess::start(dir.path()).await?;
    let connected = server.command()?.args(["connect", "claude", "--yes"]).output().await?;
    anyhow::ensure!(connected.status.success(), "connect: {}", String::from_utf8_lossy(&connected.stderr));
    let told = serde_json::json!({
        "session_id": "s", "cwd": dir.path(), "hook_event_name": "PermissionRequest", "tool_name": "Bash",
        "tool_input": { "command": "ls" },
    });
    let told_in = dir.path().join("told.json");
    std::fs::write(&told_in, told.to_string())?;
    let mut times = Vec::new();
    for _ in 0..size.answers.min(200) {
        let mut command = server.command()?;
        command.args(["hook", "claude"]).stdin(std::fs::File::open(&told_in)?);
        let began = Instant::now();
        let output = command.output().await?;
        times.push(meter::micros(began.elapsed()));
        anyhow::ensure!(String::from_utf8_lossy(&output.stdout).contains("allow"), "the hook says nothing");
    }
    server.terminate().await?;
    report.add(Measurement::new("hook").target("p50_ms", meter::percentile(&mut times, 0.5) / 1e3, AtMost(10.0)))
}

/// Measures `sayso inbox` through a terminal, from a key press to the new screen.
async fn inbox_redraw(report: &mut Report, size: Size) -> Result<()> {
    let dir = directory()?;
    let mut server = ServerProcess::start(dir.path()).await?;
    many_pending::open(&server, size.many).await?;
    let mut times = inbox::redraws(&server, size.many, size.answers.min(200)).await?;
    server.terminate().await?;
    let line = Measurement::new("inbox_redraw").figure("pending", size.many as f64);
    report.add(
        line.target("p50_ms", meter::percentile(&mut times, 0.5) / 1e3, AtMost(16.0))
            .figure("p99_ms", meter::percentile(&mut times, 0.99) / 1e3),
    )
}

/// Measures whether an ask costs more when many asks are stored.
async fn growth(report: &mut Report, size: Size) -> Result<()> {
    let dir = directory()?;
    let mut server = ServerProcess::start(dir.path()).await?;
    let clients = Clients::start(&server, MOCK, 50).await?;
    clients.wait(Until::Count(100)).await?;
    let few = clients.measure(Until::Count(size.sample)).await?;
    while clients.done() < size.stored {
        clients.wait(Until::Count(1_000)).await?;
    }
    let many = clients.measure(Until::Count(size.sample)).await?;
    clients.stop().await?;
    server.terminate().await?;
    report.add(
        Measurement::new("growth")
            .figure("stored", size.stored as f64)
            .figure("cpu_us_few", few.cpu_us)
            .figure("cpu_us_many", many.cpu_us)
            .figure("others_cores", few.others_cores.max(many.others_cores))
            .target("cpu_ratio", many.cpu_us / few.cpu_us, AtMost(1.2))
            .figure("p50_ratio", many.p50_ms / few.p50_ms),
    )
}
