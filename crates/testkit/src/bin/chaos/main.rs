//! Kills the real server at random times while agents ask and people answer, and compares what the server acknowledged
//! with the final state.
//!
//! `chaos --kills N [--seed S] [--agents process]` runs mock sessions that ask continuously, callers of `POST /v1/asks`
//! that wait for their outcomes, answerers that race each other, and one reader of the event stream. All of them record
//! in a journal what the server told them. There are no manual repairs between kills: a call whose connection broke is
//! retried with the same idempotency key, and the stream resumes. At the end, every promise in the journal is checked.
//! The last line of the output is one JSON object, and the exit code is 1 if anything was lost, duplicated or missed.

mod http;
mod journal;
mod people;
mod random;
mod reader;
mod verify;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Parser;
use sayso_testkit::{PROGRAM, ServerProcess, write_config};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::http::ChaosServer;
use crate::journal::ChaosJournal;
use crate::random::Random;

/// Kill the real server at random times and check that it keeps its promises.
#[derive(Debug, Parser)]
struct Args {
    /// How often to kill the server.
    #[arg(long, default_value_t = 50)]
    kills: u32,
    /// Seed of the random times and choices (the scheduler stays nondeterministic).
    #[arg(long)]
    seed: Option<u64>,
    /// Where the asking agents run.
    #[arg(long, default_value = "inside")]
    agents: AgentPlace,
    /// The number of agent sessions.
    #[arg(long, default_value_t = 4)]
    sessions: u32,
    /// The number of callers that open asks over HTTP.
    #[arg(long, default_value_t = 3)]
    callers: u32,
    /// The number of people who answer.
    #[arg(long, default_value_t = 4)]
    answerers: u32,
    /// Keep the server's directory and print its path.
    #[arg(long)]
    keep: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum AgentPlace {
    /// The mock inside the server.
    Inside,
    /// The mock as a program with a supervisor.
    Process,
}

impl AgentPlace {
    const fn name(self) -> &'static str {
        match self {
            Self::Inside => "mock",
            Self::Process => PROGRAM,
        }
    }
}

/// The range of the server's uptime between kills, in milliseconds.
const UPTIME: std::ops::Range<u64> = 20..250;

fn main() -> ExitCode {
    match tokio::runtime::Runtime::new().context("no runtime").and_then(|runtime| runtime.block_on(run(Args::parse()))) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("chaos could not be carried out: {error:#}"));
            ExitCode::from(2)
        }
    }
}

async fn run(args: Args) -> Result<bool> {
    let seed = match args.seed {
        Some(seed) => seed,
        None => Random::fresh_seed()?,
    };
    say(&format!("seed {seed}"));
    let began = Instant::now();
    let mut random = Random::new(seed);
    let dir = tempfile::Builder::new().prefix("sayso-chaos-").tempdir()?;
    write_config(dir.path(), "")?;
    let mut process = ServerProcess::start(dir.path()).await?;
    let server = ChaosServer::new(process.address(), process.token());
    let journal = Arc::new(ChaosJournal::default());

    let (stop, stopping) = watch::channel(false);
    let reader = tokio::spawn(reader::read(process.client()?, Arc::clone(&journal)));
    let mut sessions = Vec::new();
    for number in 0..args.sessions {
        sessions.push(people::start_session(&server, args.agents.name(), number).await?);
    }
    let mut people = JoinSet::new();
    for session in &sessions {
        people.spawn(people::keep_prompting(server.clone(), session.clone(), stopping.clone()));
    }
    for number in 0..args.callers {
        people.spawn(people::call(server.clone(), Arc::clone(&journal), number, stopping.clone()));
    }
    for number in 0..args.answerers {
        let random = Random::new(seed ^ (u64::from(number) + 1));
        people.spawn(people::answer(server.clone(), Arc::clone(&journal), number, random, stopping.clone()));
    }

    let mut slowest_start = Duration::ZERO;
    for kill in 1..=args.kills {
        // A sleep is correct here: the kill must happen at an arbitrary time.
        tokio::time::sleep(Duration::from_millis(random.within(UPTIME))).await;
        process.kill9().await?;
        let starting = Instant::now();
        process.start_again().await.with_context(|| format!("after kill {kill}"))?;
        slowest_start = slowest_start.max(starting.elapsed());
        if kill % 50 == 0 {
            say(&format!("{kill} kills, {}", journal.summary()));
        }
    }

    // All tasks finish their current call and start no other.
    stop.send_replace(true);
    while let Some(ended) = people.join_next().await {
        ended.context("a simulated person failed")??;
    }
    let findings = verify::compare(&server, process.client()?, &journal, &sessions, reader).await?;
    process.client()?.stop_agents().await?;
    let stopped = process.terminate().await?;
    let corrupt = u64::from(!sayso_store::probe::is_sound(&process.data_dir().join("sayso.db"))?);
    if args.keep {
        say(&format!("kept {}", dir.keep().display()));
    }
    let faults = findings.faults() + corrupt + u64::from(!stopped.success());
    let report = serde_json::json!({
        "kills": args.kills,
        "asks": findings.asks,
        "answers": findings.answers,
        "retried": findings.retried,
        "conflicts": findings.conflicts,
        "events": findings.events,
        "lost": findings.lost,
        "doubled": findings.doubled,
        "givenTwice": findings.given_twice,
        "undelivered": findings.undelivered,
        "seqGaps": findings.seq_gaps,
        "seqDoubled": findings.seq_doubled,
        "seqChanged": findings.seq_changed,
        "unexpected": findings.unexpected,
        "corrupt": corrupt,
        "slowestStartMs": u64::try_from(slowest_start.as_millis()).unwrap_or(u64::MAX),
        "seconds": began.elapsed().as_secs(),
        "seed": seed,
    });
    for problem in journal.problems() {
        say(&format!("problem: {problem}"));
    }
    say(&report.to_string());
    Ok(faults == 0)
}

#[expect(clippy::print_stdout, reason = "this program's output is its report")]
fn say(line: &str) {
    println!("{line}");
}
