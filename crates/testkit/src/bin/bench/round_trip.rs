//! Measures round trips: an agent asks, the ask is committed, a client receives it on its stream and answers, the answer is
//! committed, and the agent receives it. Each client has one session, one session stream and one connection. [`crate::peer`]
//! makes the same round trips through another server, with the same agent.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use sayso_testkit::ServerProcess;
use tokio::task::JoinHandle;

use crate::http::{BenchHttp, BenchTarget, Sse};
use crate::meter;

/// A prompt with more questions than any run can answer.
pub(crate) const UNTIL_STOPPED: &str = "question 1000000 times";

/// The state that the clients of a run share. They run on one thread.
#[derive(Debug, Default)]
pub(crate) struct RoundTripShared {
    /// The number of round trips since the start.
    done: Cell<u64>,
    resolved: Cell<u64>,
    delivered: Cell<u64>,
    /// Whether times are recorded.
    recording: Cell<bool>,
    times: RefCell<Vec<u32>>,
    stop: Cell<bool>,
}

/// Running clients.
#[derive(Debug)]
pub(crate) struct Clients {
    shared: Rc<RoundTripShared>,
    tasks: Vec<JoinHandle<Result<()>>>,
    server: u32,
    ours: Option<OurServer>,
}

/// The directory and the address of the server.
#[derive(Debug)]
struct OurServer {
    dir: PathBuf,
    target: BenchTarget,
}

impl OurServer {
    /// Returns the number of committed batches since the start.
    async fn commits(&self) -> Result<u64> {
        let mut http = BenchHttp::connect(&self.target).await?;
        let metrics = std::str::from_utf8(http.get("/metrics").await?)?;
        let count = metrics.lines().find_map(|line| line.strip_prefix("sayso_commits_total "));
        Ok(count.context("the server does not count its commits")?.parse()?)
    }
}

/// The figures of one period.
#[derive(Debug, Clone)]
pub(crate) struct Window {
    pub(crate) round_trips: u64,
    pub(crate) per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// The processor time of the server and its supervisors per round trip.
    pub(crate) cpu_us: f64,
    /// The part of `cpu_us` that the supervisors used.
    pub(crate) supervisors_us: f64,
    /// The processor time of this program per round trip.
    pub(crate) driver_us: f64,
    /// The write calls of the server per round trip.
    pub(crate) write_calls: f64,
    /// The kilobytes that the server wrote to disk per round trip.
    pub(crate) disk_kb: f64,
    /// The commits per round trip. Concurrent clients share commits.
    pub(crate) commits: f64,
    /// The kilobytes that the supervisors wrote to disk per round trip.
    pub(crate) journal_kb: f64,
    /// The number of processors that were busy with other programs on the machine.
    pub(crate) others_cores: f64,
}

/// The end of a period.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Until {
    Time(Duration),
    Count(u64),
}

impl RoundTripShared {
    /// Counts a round trip, which is complete when the next ask arrives.
    pub(crate) fn complete(&self, asked: Instant) {
        self.done.set(self.done.get() + 1);
        if self.recording.get() {
            self.times.borrow_mut().push(meter::micros(asked.elapsed()));
        }
    }

    /// Whether clients stop at their next ask.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.get()
    }
}

/// The process ids of the measured supervisors.
#[derive(Debug)]
struct Supervisors(Vec<u32>);

impl Supervisors {
    fn cpu(&self) -> Result<Duration> {
        self.0.iter().try_fold(Duration::ZERO, |sum, &pid| Ok(sum + meter::thread_cpu(pid)?))
    }

    /// Returns the bytes that they have written to journals and agents.
    fn written(&self) -> Result<u64> {
        self.0.iter().try_fold(0, |sum, &pid| Ok(sum + meter::written(pid)?.disk_bytes))
    }
}

impl Clients {
    /// Wraps the running tasks of clients of another server.
    pub(crate) fn of_peer(shared: Rc<RoundTripShared>, tasks: Vec<JoinHandle<Result<()>>>, server: u32) -> Self {
        Self { shared, tasks, server, ours: None }
    }

    /// Starts this many clients. Returns when each has a stream and its agent has asked.
    pub(crate) async fn start(server: &ServerProcess, agent: &str, count: usize) -> Result<Self> {
        let target = target(server);
        let shared = Rc::<RoundTripShared>::default();
        let mut tasks = Vec::with_capacity(count);
        for _ in 0..count {
            let mut http = BenchHttp::connect(&target).await?;
            let session = start_session(&mut http, agent, UNTIL_STOPPED).await?;
            let stream = Sse::open(&target, &format!("/v1/sessions/{session}/events?since=0")).await?;
            tasks.push(tokio::task::spawn_local(answer(http, stream, Rc::clone(&shared))));
        }
        let pid = server.pid().context("the server does not run")?;
        Ok(Self { shared, tasks, server: pid, ours: Some(OurServer { dir: server.directory().to_owned(), target }) })
    }

    /// The number of round trips since the start.
    pub(crate) fn done(&self) -> u64 {
        self.shared.done.get()
    }

    pub(crate) async fn wait(&self, until: Until) -> Result<()> {
        let (began, end) = (Instant::now(), self.done());
        loop {
            let over = match until {
                Until::Time(time) => began.elapsed() >= time,
                Until::Count(count) => self.done() >= end + count,
            };
            if over {
                return Ok(());
            }
            ensure!(!self.tasks.iter().any(JoinHandle::is_finished), "a client broke");
            ensure!(began.elapsed() < Duration::from_secs(300), "this takes too long");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Measures until the end of the period.
    pub(crate) async fn measure(&self, until: Until) -> Result<Window> {
        let shared = &self.shared;
        shared.times.borrow_mut().clear();
        shared.recording.set(true);
        let own = std::process::id();
        let supervisors = self.ours.as_ref().map(|ours| meter::supervisors(&ours.dir)).transpose()?;
        let supervisors = Supervisors(supervisors.unwrap_or_default());
        let (server_cpu, supervisors_cpu) = (meter::cpu(self.server)?, supervisors.cpu()?);
        let (driver, machine) = (meter::cpu(own)?, meter::busy()?);
        let (before, journaled, commits) = (meter::written(self.server)?, supervisors.written()?, self.commits().await?);
        let (done, began) = (self.done(), Instant::now());
        self.wait(until).await?;
        let elapsed = began.elapsed();
        let after = meter::written(self.server)?;
        let (journaled, commits) = (supervisors.written()? - journaled, self.commits().await? - commits);
        let supervisors_cpu = supervisors.cpu()?.saturating_sub(supervisors_cpu);
        let cpu = meter::cpu(self.server)?.saturating_sub(server_cpu) + supervisors_cpu;
        let driver = meter::cpu(own)?.saturating_sub(driver);
        let others = meter::busy()?.saturating_sub(machine + cpu + driver);
        shared.recording.set(false);
        let round_trips = self.done() - done;
        let mut times = shared.times.borrow_mut();
        let each = |time: Duration| time.as_secs_f64() * 1e6 / round_trips as f64;
        let rate = |after: u64, before: u64| (after - before) as f64 / round_trips as f64;
        Ok(Window {
            round_trips,
            write_calls: rate(after.calls, before.calls),
            disk_kb: rate(after.disk_bytes, before.disk_bytes) / 1e3,
            commits: commits as f64 / round_trips as f64,
            journal_kb: journaled as f64 / round_trips as f64 / 1e3,
            per_second: round_trips as f64 / elapsed.as_secs_f64(),
            p50_ms: meter::percentile(&mut times, 0.5) / 1e3,
            p99_ms: meter::percentile(&mut times, 0.99) / 1e3,
            cpu_us: each(cpu),
            supervisors_us: each(supervisors_cpu),
            driver_us: each(driver),
            others_cores: others.as_secs_f64() / elapsed.as_secs_f64(),
        })
    }

    async fn commits(&self) -> Result<u64> {
        match &self.ours {
            Some(ours) => ours.commits().await,
            None => Ok(0),
        }
    }

    /// Lets every client finish its round trip.
    pub(crate) async fn join(self) -> Result<Rc<RoundTripShared>> {
        self.shared.stop.set(true);
        for task in self.tasks {
            task.await??;
        }
        Ok(self.shared)
    }

    /// Lets every client finish its round trip, and checks that every answer was reported as resolved and delivered.
    pub(crate) async fn stop(self) -> Result<()> {
        let clients = self.tasks.len() as u64;
        let shared = self.join().await?;
        let (done, resolved, delivered) = (shared.done.get(), shared.resolved.get(), shared.delivered.get());
        // The last answer of each client may still be in flight.
        let whole = |count: u64| count <= done + clients && count + clients >= done;
        if !whole(resolved) || !whole(delivered) {
            bail!("{done} round trips, but {resolved} resolved and {delivered} delivery events");
        }
        Ok(())
    }
}

pub(crate) fn target(server: &ServerProcess) -> BenchTarget {
    BenchTarget { address: server.address().to_owned(), token: server.token().to_owned() }
}

/// Starts a session and returns its id.
pub(crate) async fn start_session(http: &mut BenchHttp, agent: &str, prompt: &str) -> Result<String> {
    let body = http.post("/v1/sessions", &format!(r#"{{"agent":"{agent}","prompt":"{prompt}"}}"#)).await?;
    let session: sayso_api::session::Session = serde_json::from_slice(body)?;
    Ok(session.id)
}

/// Answers all asks of its session.
async fn answer(mut http: BenchHttp, mut stream: Sse, shared: Rc<RoundTripShared>) -> Result<()> {
    let mut seen: Option<Instant> = None;
    let count = |cell: &Cell<u64>| cell.set(cell.get() + 1);
    loop {
        let event = stream.event().await?;
        let ask = match event.name {
            b"question.requested" => event.ask().context("no ask in the event")?.to_owned(),
            b"question.resolved" => {
                count(&shared.resolved);
                continue;
            }
            // A process confirms its input, and the confirmation is also an event.
            b"ask.delivery" if event.says("\"delivered\"") => {
                count(&shared.delivered);
                continue;
            }
            _ => continue,
        };
        if let Some(asked) = seen.replace(Instant::now()) {
            shared.complete(asked);
        }
        if shared.stopped() {
            return Ok(());
        }
        http.post(&format!("/v1/asks/{ask}/answer"), r#"{"answers":[["SQLite"]]}"#).await?;
    }
}
