//! Inputs whose acceptance is recorded in the journal.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use sayso_supervisor::journal::{Record, Stream};
use sayso_supervisor::protocol::{Acceptance, ToServer, ToSupervisor};
use sayso_supervisor::{Entry, Line};

use crate::supervised::{Server, Supervised, eventually, out, signal};

fn acceptance(after: u64) -> Acceptance {
    Acceptance { after, digest: [after.to_le_bytes()[0]; 16] }
}

fn accepted(id: u64, after: u64) -> Record {
    Record::Accepted { id, after, digest: acceptance(after).digest }
}

fn send(server: &mut Server, id: u64, after: u64, text: &str) {
    let (previous, bytes) = (server.last_input, text.as_bytes().to_vec());
    server.send(&ToSupervisor::Input { id, previous, acceptance: Some(acceptance(after)), bytes });
    server.last_input = Some(id);
}

#[test]
fn acceptance_is_in_the_journal_before_the_agent_replies() {
    let supervised = Supervised::start(&["cat"]);
    let mut server = supervised.attach(0);
    send(&mut server, 3, 0, "one\n");
    assert_eq!(server.reply(), ToServer::Taken { id: 3 });
    // The agent must have replied before it gets the next line: otherwise both acceptances may come first.
    assert_eq!(server.entry().0, Entry::Accepted { id: 3, after: 0, digest: acceptance(0).digest });
    assert_eq!(server.line(), "one");
    send(&mut server, 8, 9, "two\n");
    assert_eq!(server.reply(), ToServer::Taken { id: 8 });
    let records = || supervised.on_disk().into_iter().map(|(record, _)| record).collect::<Vec<_>>();
    eventually("both lines are in the journal", || records().len() == 4);
    let out = |text: &str| Record::Out(text.as_bytes().to_vec());
    assert_eq!(records(), [accepted(3, 0), out("one\n"), accepted(8, 9), out("two\n")]);
    // A repeated input is neither written nor recorded.
    send(&mut server, 8, 9, "two\n");
    assert_eq!(server.reply(), ToServer::Taken { id: 8 });
    assert_eq!(records().len(), 4);
}

#[test]
fn next_server_learns_of_accepted_inputs() {
    let supervised = Supervised::start(&["cat"]);
    let mut server = supervised.attach(0);
    send(&mut server, 3, 0, "one\n");
    assert_eq!(server.reply(), ToServer::Taken { id: 3 });
    drop(server);
    let mut server = supervised.attach(0);
    let digest = acceptance(0).digest;
    assert_eq!(server.entry().0, Entry::Accepted { id: 3, after: 0, digest });
    assert_eq!(server.entry().0, out("one"));
}

#[test]
fn unread_input_is_recorded_when_the_supervisor_is_killed() {
    let mut supervised = Supervised::shell("echo ready; sleep 100");
    let mut server = supervised.attach(0);
    assert_eq!(server.line(), "ready");
    // More than the capacity of a pipe, so the input is never finished.
    send(&mut server, 1, 11, &"x".repeat(1_000_000));
    eventually("the acceptance is recorded", || supervised.on_disk().len() == 2);
    signal("KILL", supervised.process.id());
    supervised.process.wait().unwrap();
    assert_eq!(supervised.on_disk()[1].0, accepted(1, 11));
}

#[test]
fn server_that_does_not_read_replies_is_disconnected() {
    let supervised = Supervised::start(&["cat"]);
    let mut server = supervised.attach(0);
    server.input(1, "one\n");
    assert_eq!(server.reply(), ToServer::Taken { id: 1 });
    let again = ToSupervisor::Input { id: 1, previous: Some(0), acceptance: None, bytes: Vec::new() }.encode();
    let disconnected = (0..1_000_000).any(|_| server.try_send_bytes(&again).is_err());
    assert!(disconnected);
    let mut server = supervised.attach(0);
    server.input(2, "two\n");
    assert_eq!(server.reply(), ToServer::Taken { id: 2 });
}

/// The state directory on a separate small disk, in a mount namespace of the supervisor.
fn on_a_small_disk(script: &str) -> (Supervised, PathBuf) {
    let supervised = Supervised::start_on_small_disk(script, "1m");
    let pid = supervised.process.id();
    // The supervisor replaces the shell, so it has the same process id.
    let inside = PathBuf::from(format!("/proc/{pid}/root")).join(supervised.spec.dir.strip_prefix("/").unwrap());
    (supervised, inside)
}

#[test]
fn full_disk_delays_the_agent_and_recorded_input_and_loses_nothing() {
    let (supervised, dir) = on_a_small_disk("read go; seq -f '%0999.0f' 1 500; echo done >&2; cat");
    let mut server = supervised.attach(0);
    // A ballast file fills the disk except for 64 KiB.
    fs::write(dir.join("ballast"), vec![0; 950 * 1024]).unwrap();
    server.input(1, "go\n");
    assert_eq!(server.reply(), ToServer::Taken { id: 1 });
    for number in 1..=20 {
        assert_eq!(server.line(), format!("{number:0999}"));
    }
    // The probe only grows: a probe that truncated its file would free the page that it writes next.
    let mut probe = fs::File::create(dir.join("probe")).unwrap();
    eventually("the disk is full", || probe.write_all(&[0; 4096]).is_err());
    send(&mut server, 2, 7, "after\n");
    // A server can still attach: the supervisor does not block on the disk.
    let mut server = supervised.attach(0);
    assert_eq!(server.line(), format!("{:0999}", 1));
    fs::remove_file(dir.join("ballast")).unwrap();
    fs::remove_file(dir.join("probe")).unwrap();
    drop(probe);
    let mut lines = vec![format!("{:0999}", 1)];
    while lines.len() < 501 {
        match server.entry().0 {
            Entry::Line(Line { stream: Stream::Out, text, .. }) => lines.push(text),
            Entry::Line(Line { stream: Stream::Err, .. }) | Entry::Accepted { id: 2, after: 7, .. } => {}
            other => panic!("{other:?}"),
        }
    }
    let expected: Vec<String> = (1..=500).map(|number| format!("{number:0999}")).chain(["after".to_owned()]).collect();
    assert!(lines == expected);
}
