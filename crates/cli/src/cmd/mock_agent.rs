//! `sayso mock-agent`: the mock agent as a program that speaks ACP on standard input and output.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use sayso_agents::mock::{AcpAgent, AcpInput};
use sayso_core::time::Time;

/// Capacity of the queue of input lines. The reader waits when it is full.
const LINES: usize = 64;

/// Runs until the client closes our standard input, or until the script asks for a crash.
pub(crate) fn run() -> io::Result<()> {
    let (lines, inbox) = mpsc::sync_channel(LINES);
    // A blocking read cannot be cancelled: the thread ends with the input or with the process.
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            if lines.send(line).is_err() {
                break;
            }
        }
    });
    let mut agent = AcpAgent::new();
    let mut out = io::stdout().lock();
    loop {
        let received = match agent.deadline() {
            Some(deadline) => inbox.recv_timeout(deadline.since(now())),
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let input = match received {
            Ok(line) => AcpInput::Line(line?),
            Err(RecvTimeoutError::Timeout) => AcpInput::Tick,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        for line in agent.handle(now(), input) {
            writeln!(out, "{line}")?;
        }
        out.flush()?;
        if let Some(code) = agent.exit_code() {
            std::process::exit(code);
        }
    }
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(0).plus(since)
}
