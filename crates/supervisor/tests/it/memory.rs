//! Memory use of a supervisor stays small for any output and input.

use std::fs;

use sayso_supervisor::journal::Stream;
use sayso_supervisor::protocol::{INPUT_LIMIT, ToServer};
use sayso_supervisor::{Entry, Line};

use crate::supervised::{Supervised, eventually};

/// A value from `/proc/<pid>/status`, in KiB.
fn figure(supervised: &Supervised, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", supervised.process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().unwrap()
}

/// Limit for an idle supervisor in KiB. Unoptimized builds are larger.
const AT_REST: u64 = if cfg!(debug_assertions) { 6 * 1024 } else { 4 * 1024 };
/// Limit for a busy supervisor in KiB.
const AT_WORK: u64 = 8 * 1024;

#[test]
fn idle_supervisor_stays_small() {
    let supervised = Supervised::start(&["cat"]);
    let mut server = supervised.attach(0);
    server.input(1, "hello\n");
    assert_eq!(server.line(), "hello");
    let size = figure(&supervised, "VmRSS");
    println!("at rest: {size} KiB");
    assert!(size <= AT_REST, "{size} KiB");
}

#[test]
fn line_of_100_megabytes_is_truncated_in_small_memory() {
    let limit = 1024 * 1024;
    let script = "head -c 100000000 /dev/zero | tr '\\0' x; echo; echo after; cat";
    let supervised = Supervised::start_with(&["sh", "-c", script], |spec| spec.line_limit = limit);
    let mut server = supervised.attach(0);
    let Entry::Line(Line { stream: Stream::Out, text, dropped }) = server.entry().0 else { panic!() };
    assert_eq!((text.len(), dropped), (limit, 100_000_000 - limit as u64));
    assert_eq!(server.line(), "after");
    let size = figure(&supervised, "VmHWM");
    println!("with a long line: {size} KiB at most");
    assert!(size <= AT_WORK, "{size} KiB");
}

#[test]
fn stderr_line_is_truncated_at_64_kibibytes() {
    let supervised = Supervised::shell("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo >&2; cat");
    let mut server = supervised.attach(0);
    let Entry::Line(Line { stream: Stream::Err, text, dropped }) = server.entry().0 else { panic!() };
    assert_eq!((text.len(), dropped), (65_536, 1_000_000 - 65_536));
}

#[test]
fn million_unread_lines_use_little_memory() {
    let supervised = Supervised::shell("yes '' | head -c 1000000; touch done; cat");
    eventually("the agent is through", || supervised.home.path().join("done").exists());
    let mut server = supervised.attach(0);
    for _ in 0..1_000_000 {
        assert!(matches!(server.frame(), Some(ToServer::Record { .. })));
    }
    let size = figure(&supervised, "VmHWM");
    println!("with a million lines: {size} KiB at most");
    assert!(size <= AT_WORK, "{size} KiB");
}

#[test]
fn large_inputs_are_written_and_their_memory_freed() {
    let supervised = Supervised::shell("wc -c; cat");
    let mut server = supervised.attach(0);
    let lengths = [INPUT_LIMIT, INPUT_LIMIT / 2, INPUT_LIMIT / 3, INPUT_LIMIT, INPUT_LIMIT / 4];
    for (id, length) in (1..).zip(lengths) {
        server.input(id, &"x".repeat(length));
        assert_eq!(server.reply(), ToServer::Taken { id });
        let size = figure(&supervised, "VmRSS");
        assert!(size <= AT_WORK, "{size} KiB");
    }
    server.stop(10_000, 10_000);
    assert_eq!(server.line(), lengths.iter().sum::<usize>().to_string());
}
