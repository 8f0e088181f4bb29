//! Simulates power losses. A workload runs while a library records its writes and syncs. Then the test builds the files that a
//! power loss at some point could have left, opens them, and compares them with the acknowledgements up to that point.
//!
//! The seed of a run repeats it, except that the workload itself depends on the scheduler. `make powerloss` checks more points
//! in time.

mod acks;
mod check;
mod disk_model;
mod random;
mod trace;
mod workload;

use std::fmt::Write as _;

use acks::{Acknowledged, lines_of_earlier};
use disk_model::{Damage, DiskModel, Syncs};
use random::Random;
use trace::{Files, Trace};

/// The default number of simulated power losses.
const POINTS: usize = 48;
const SEED: u64 = 0x5a75_0017;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

/// The result of a number of power losses.
#[derive(Debug, Default)]
struct Report {
    points: usize,
    files: usize,
    damage: Damage,
    asks: usize,
    failures: Vec<String>,
}

/// Simulates power losses at random points of a trace. `known` contains earlier acknowledgements.
fn lose_power(trace: &Trace, known: &str, points: usize, syncs: Syncs, random: &mut Random, report: &mut Report) {
    let mut moments: Vec<_> = (0..points).map(|_| random.below(trace.records.len() + 1)).collect();
    moments.sort_unstable();
    let mut disk = DiskModel::new(trace, syncs);
    let mut performed = 0;
    for moment in moments {
        trace.records[performed..moment].iter().for_each(|record| disk.perform(record));
        performed = moment;
        let (files, damage) = disk.lose_power(random);
        let dir = trace::fast_dir();
        trace::write_files(dir.path(), &files);
        let acks = Acknowledged::parse(&[known, disk.acks()].concat());
        report.points += 1;
        report.files += files.len();
        report.damage.dropped += damage.dropped;
        report.damage.torn += damage.torn;
        report.asks += acks.opened.len();
        if let Err(failure) = check::check(dir.path(), &acks) {
            report.failures.push(format!("after call {moment} of {}: {failure}", trace.records.len()));
        }
    }
}

/// Returns the files that a power loss leaves at this point, and the acknowledgements up to it.
fn files_at(trace: &Trace, moment: usize, random: &mut Random) -> (Files, String) {
    let mut disk = DiskModel::new(trace, Syncs::All);
    trace.records[..moment].iter().for_each(|record| disk.perform(record));
    (disk.lose_power(random).0, disk.acks().to_owned())
}

/// Asserts that the records lead to the files that the workload left.
fn assert_complete(trace: &Trace) {
    let mut disk = DiskModel::new(trace, Syncs::All);
    trace.records.iter().for_each(|record| disk.perform(record));
    let mut after = trace.after.clone();
    after.remove(trace::ACKS);
    assert!(disk.contents() == after, "the recorder missed a write");
}

/// Creates a database of the previous release whose server was killed, with its newest rows in the write-ahead log.
fn previous_release() -> (Files, String) {
    let dir = trace::fast_dir();
    let path = dir.path().join("sayso.db");
    crate::files::previous_release(&path);
    let sqlite = rusqlite::Connection::open(&path).unwrap();
    sqlite.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; UPDATE setting SET value = value;").unwrap();
    let files = trace::read_files(dir.path());
    drop(sqlite);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let asks = runtime.block_on(async {
        let (store, _) = crate::world::open(path).unwrap();
        let asks = check::stored_asks(&store).await.unwrap();
        store.close().await;
        asks.into_values().collect::<Vec<_>>()
    });
    (files, lines_of_earlier(&asks))
}

#[test]
fn acknowledged_asks_and_outcomes_survive_power_loss() {
    if let Some((name, dir)) = trace::inside() {
        return workload::run(&name, &dir);
    }
    let this = "powerloss::acknowledged_asks_and_outcomes_survive_power_loss";
    let points = setting("SAYSO_POWERLOSS_POINTS").map_or(POINTS, |points| usize::try_from(points).unwrap());
    let seed = setting("SAYSO_POWERLOSS_SEED").unwrap_or(SEED);
    let mut random = Random::new(seed);
    let mut text = format!("power loss, seed {seed}\n");
    let mut failures = Vec::new();
    let mut run = |name: &str, trace: &Trace, known: &str, points: usize, random: &mut Random| {
        assert_complete(trace);
        let mut report = Report::default();
        lose_power(trace, known, points, Syncs::All, random, &mut report);
        let Report { points, files, damage: Damage { dropped, torn }, asks, failures: found } = report;
        let (calls, logs, failed) = (trace.records.len(), trace.log_starts(), found.len());
        writeln!(
            text,
            "  {name}: {points} points in {calls} calls with {logs} starts of the log, {files} files rebuilt, \
             {dropped} writes dropped, {torn} torn, {asks} asks checked, {failed} failures"
        )
        .unwrap();
        failures.extend(found.into_iter().map(|failure| format!("{name} {failure}")));
    };

    let traffic = trace::record(this, "traffic", &Files::new());
    assert!(traffic.log_starts() > 3, "the workload must make checkpoints");
    run("traffic", &traffic, "", points / 2, &mut random);
    // Simulates another power loss while the store recovers.
    let moment = traffic.records.len() / 3 + random.below(traffic.records.len() / 3);
    let (files, known) = files_at(&traffic, moment, &mut random);
    let recovery = trace::record(this, "restart", &files);
    run("recovery", &recovery, &known, points / 4, &mut random);
    let (files, known) = previous_release();
    let upgrade = trace::record(this, "restart", &files);
    run("upgrade", &upgrade, &known, points - points / 2 - points / 4, &mut random);
    println!("{text}");
    assert!(failures.is_empty(), "seed {seed}: {failures:#?}");
}

/// Shows that the test can fail: it detects a disk or a store that does not sync.
#[test]
fn power_loss_test_detects_missing_syncs() {
    if let Some((name, dir)) = trace::inside() {
        return workload::run(&name, &dir);
    }
    let trace = trace::record("powerloss::power_loss_test_detects_missing_syncs", "brief", &Files::new());
    for syncs in [Syncs::None, Syncs::Except("-wal"), Syncs::Except(".db")] {
        let mut report = Report::default();
        lose_power(&trace, "", 12, syncs, &mut Random::new(SEED), &mut report);
        assert!(!report.failures.is_empty(), "{syncs:?}: nothing is noticed at {} points", report.points);
    }
}
