//! The files of a journal, during and after the life of a supervisor.

use std::fs::{self, File};
use std::io::Write;

use sayso_supervisor::journal::{Journal, Record};
use sayso_supervisor::protocol::{ToServer, ToSupervisor};

use crate::supervised::{Supervised, eventually, signal};

fn segments(supervised: &Supervised) -> Vec<String> {
    let files = fs::read_dir(&supervised.spec.dir).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = files.filter(|name| name.starts_with("journal-")).collect();
    names.sort();
    names
}

#[test]
fn trim_deletes_earlier_segments_only() {
    let supervised = Supervised::shell("seq -f '%0999.0f' 1 4000; cat");
    let mut server = supervised.attach(0);
    let mut positions = Vec::new();
    for _ in 0..4000 {
        positions.push(server.entry().1);
    }
    assert_eq!(segments(&supervised).len(), 4);
    let half = positions[1999];
    server.send(&ToSupervisor::Trim { to: half });
    eventually("segments are deleted", || segments(&supervised).len() == 3);
    let start = Journal::open(&supervised.spec.dir).unwrap().start().unwrap();
    assert!(start > 0 && start <= half, "{start} {half}");
    assert_eq!(segments(&supervised)[0], format!("journal-{start:020}"));

    // The same record is read from disk and streamed by the supervisor.
    let (record, position) = Journal::open(&supervised.spec.dir).unwrap().read(half, 1).unwrap().remove(0);
    assert_eq!((record, position), (Record::Out(format!("{:0999}\n", 2001).into_bytes()), positions[2000]));
    let mut server = supervised.attach(half);
    assert!(matches!(server.hello, Some(ToServer::Hello { start: told, .. }) if told == start));
    assert_eq!(server.line(), format!("{:0999}", 2001));
    // Trimmed records are gone: streaming starts at the first remaining record.
    let mut server = supervised.attach(0);
    assert!(positions.contains(&start));
    let index = positions.iter().position(|position| *position == start).unwrap();
    assert_eq!(server.line(), format!("{:0999}", index + 2));

    // The last segment is never deleted, and the journal continues.
    server.send(&ToSupervisor::Trim { to: u64::MAX });
    eventually("all but the last are deleted", || segments(&supervised).len() == 1);
    server.input(1, "next\n");
    assert_eq!(server.reply(), ToServer::Taken { id: 1 });
    let mut server = supervised.attach(positions[3999]);
    assert_eq!(server.line(), "next");
}

#[test]
fn record_torn_by_a_supervisor_kill_is_ignored() {
    let mut supervised = Supervised::shell("echo one; echo two; cat");
    let mut server = supervised.attach(0);
    assert_eq!((server.line(), server.line()), ("one".to_owned(), "two".to_owned()));
    signal("KILL", supervised.process.id());
    supervised.process.wait().unwrap();
    let records = [(Record::Out(b"one\n".to_vec()), 9), (Record::Out(b"two\n".to_vec()), 18)];
    assert_eq!(supervised.on_disk(), records);
    let path = supervised.spec.dir.join(&segments(&supervised)[0]);
    let mut file = File::options().append(true).open(path).unwrap();
    for byte in [1, 4, 0, 0, 0, b't', b'h'] {
        file.write_all(&[byte]).unwrap();
        assert_eq!(supervised.on_disk(), records);
    }
}

#[test]
fn input_is_never_written_to_disk() {
    let mut supervised = Supervised::shell("read secret; echo ${#secret}");
    let mut server = supervised.attach(0);
    server.input(1, "open sesame\n");
    assert_eq!(server.line(), "11");
    drop(server);
    assert_eq!(supervised.exit_code(), 0);
    for file in fs::read_dir(&supervised.spec.dir).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(6).any(|window| window == b"sesame"));
    }
}
