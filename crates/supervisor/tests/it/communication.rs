//! A server communicates with an agent through its supervisor.

use sayso_supervisor::journal::Journal;
use sayso_supervisor::protocol::{ToServer, ToSupervisor, VERSION};
use sayso_supervisor::{Entry, Line, LineAssembler};

use crate::supervised::{Server, Supervised, err, eventually, out};

fn taken(id: u64) -> ToServer {
    ToServer::Taken { id }
}

#[test]
fn output_lines_arrive_with_positions_between_them() {
    let supervised = Supervised::start(&["cat"]);
    let mut server = supervised.attach(0);
    let pid = match server.hello {
        Some(ToServer::Hello {
            version: VERSION,
            last_input: 0,
            end: 0,
            start: 0,
            pid,
            exited: false,
            attachment: 1,
            previous_peer: 0,
        }) => pid,
        ref other => panic!("{other:?}"),
    };
    assert!(pid > 0 && pid != supervised.process.id());
    server.input(1, "hello\n");
    assert_eq!(server.reply(), taken(1));
    assert_eq!(server.entry(), (out("hello"), 11));
    server.input(2, "a\nb\nc");
    assert_eq!(server.reply(), taken(2));
    assert_eq!((server.entry(), server.entry()), ((out("a"), 18), (out("b"), 25)));
    assert_eq!(server.assembler.position(), 25);
    server.input(3, "d\n");
    assert_eq!(server.entry(), (out("cd"), 33));
}

#[test]
fn input_is_written_once_across_attachments() {
    let supervised = Supervised::start(&["cat"]);
    let mut server = supervised.attach(0);
    server.input(7, "one\n");
    assert_eq!(server.reply(), taken(7));
    server.input(7, "one\n");
    assert_eq!(server.reply(), taken(7));
    drop(server);

    let mut server = supervised.attach(0);
    assert!(matches!(server.hello, Some(ToServer::Hello { last_input: 7, .. })), "{:?}", server.hello);
    server.input(7, "one\n");
    assert_eq!(server.reply(), taken(7));
    server.input(8, "two\n");
    assert_eq!(server.reply(), taken(8));
    assert_eq!((server.line(), server.line()), ("one".to_owned(), "two".to_owned()));
}

#[test]
fn version_1_server_is_supported() {
    let supervised = Supervised::start(&["cat"]);
    let mut server = supervised.attach_as(1, 0);
    server.input(7, "one\n");
    assert_eq!(server.reply(), taken(7));
    server.input(3, "older\n");
    assert_eq!(server.reply(), taken(7));
    server.input(9, "two\n");
    assert_eq!(server.reply(), taken(9));
    assert_eq!((server.line(), server.line()), ("one".to_owned(), "two".to_owned()));
}

#[test]
fn input_is_written_only_after_its_predecessor() {
    let supervised = Supervised::start(&["cat"]);
    let mut server = supervised.attach(0);
    server.input(4, "one\n");
    assert_eq!(server.reply(), taken(4));
    // Another program writes an input with a huge id, and disconnects.
    let mut stranger = supervised.attach(0);
    stranger.input(u64::MAX, "yes\n");
    assert_eq!(stranger.reply(), taken(u64::MAX));
    drop(stranger);
    // A server that believes that its own input was the last one must not get `Taken` for its next input.
    let mut server = supervised.attach(0);
    assert!(matches!(server.hello, Some(ToServer::Hello { last_input: u64::MAX, attachment: 3, .. })), "{:?}", server.hello);
    server.last_input = Some(4);
    server.input(5, "two\n");
    while let Some(frame) = server.frame() {
        assert!(matches!(frame, ToServer::Record { .. }), "{frame:?}");
    }
    let mut server = supervised.attach(0);
    server.input(5, "two\n");
    assert_eq!(server.reply(), taken(5));
    let lines = [server.line(), server.line(), server.line()];
    assert_eq!(lines, ["one", "yes", "two"]);
}

#[test]
fn version_2_server_must_name_the_last_input() {
    let supervised = Supervised::start(&["cat"]);
    let mut server = supervised.attach(0);
    server.last_input = None;
    server.input(1, "one\n");
    assert_eq!(server.frame(), None);
    assert!(matches!(supervised.attach(0).hello, Some(ToServer::Hello { last_input: 0, .. })));
}

#[test]
fn partly_written_input_is_not_repeated_after_server_kill() {
    // The agent does not read until it is told to, and the input is larger than a pipe.
    let supervised = Supervised::shell("echo ready; while [ ! -e go ]; do sleep 0.02; done; wc -c");
    let text = "x".repeat(1_000_000);
    let mut server = supervised.attach(0);
    assert_eq!(server.line(), "ready");
    server.input(1, &text);
    drop(server);

    let mut server = supervised.attach(0);
    assert!(matches!(server.hello, Some(ToServer::Hello { last_input: 0, .. })), "{:?}", server.hello);
    server.input(1, &text);
    std::fs::write(supervised.home.path().join("go"), "").unwrap();
    assert_eq!(server.reply(), taken(1));
    server.stop(30_000, 1000);
    assert_eq!((server.line(), server.line()), ("ready".to_owned(), "1000000".to_owned()));
}

#[test]
fn concurrent_inputs_are_written_in_order() {
    let supervised = Supervised::start(&["cat"]);
    let mut server = supervised.attach(0);
    for id in 1..=50 {
        server.input(id, &format!("{id}\n"));
    }
    for id in 1..=50 {
        assert_eq!(server.reply(), taken(id));
    }
    let lines: Vec<String> = (1..=50).map(|_| server.line()).collect();
    assert_eq!(lines, (1..=50).map(|id| id.to_string()).collect::<Vec<_>>());
}

#[test]
fn reattached_server_gets_exactly_the_missing_records() {
    let supervised = Supervised::shell("seq 1 3000; cat");
    let mut server = supervised.attach(0);
    let mut lines: Vec<String> = Vec::new();
    let mut position = 0;
    for _ in 0..1234 {
        let (entry, after) = server.entry();
        let Entry::Line(Line { text, .. }) = entry else { panic!("{entry:?}") };
        lines.push(text);
        position = after;
    }
    drop(server);
    let mut server = supervised.attach(position);
    while lines.len() < 3000 {
        lines.push(server.line());
    }
    assert_eq!(lines, (1..=3000).map(|n| n.to_string()).collect::<Vec<_>>());
    server.input(1, "next\n");
    assert_eq!(server.line(), "next");
}

#[test]
fn repeatedly_crashing_server_gets_each_line_once() {
    let script = "for n in 1 2 3 4 5 6; do head -c 150000 /dev/zero | tr '\\0' x; echo $n; echo short $n; done; cat";
    let supervised = Supervised::shell(script);
    let mut seen = Vec::new();
    let mut position = 0;
    while seen.len() < 12 {
        // Three records at most: sometimes they end a line, sometimes they end in the middle.
        let mut server = supervised.attach(position);
        for _ in 0..3 {
            let Some(ToServer::Record { record, position }) = server.frame() else { panic!() };
            seen.extend(server.assembler.push(record, position));
            if seen.len() == 12 {
                break;
            }
        }
        position = server.assembler.position();
    }
    let long = "x".repeat(150_000);
    let expected: Vec<Entry> = (1..=6).flat_map(|n| [out(&format!("{long}{n}")), out(&format!("short {n}"))]).collect();
    assert!(seen == expected, "{} entries", seen.len());
}

#[test]
fn records_are_read_from_disk_after_supervisor_exit() {
    let mut supervised = Supervised::shell("seq 1 500; read line; seq 501 1000; exit 9");
    let mut server = supervised.attach(0);
    let mut entries: Vec<Entry> = (0..300).map(|_| server.entry().0).collect();
    let position = server.assembler.position();
    server.input(1, "go\n");
    assert_eq!(server.reply(), taken(1));
    drop(server);
    assert_eq!(supervised.exit_code(), 0);
    let mut assembler = LineAssembler::new(position);
    let mut journal = Journal::open(&supervised.spec.dir).unwrap();
    loop {
        // In small portions, like a server that commits in between.
        let records = journal.read(assembler.position(), 100).unwrap();
        if records.is_empty() {
            break;
        }
        entries.extend(records.into_iter().flat_map(|(record, position)| assembler.push(record, position)));
    }
    // Records that were streamed but not committed are read from disk as well.
    let mut expected: Vec<Entry> = (1..=1000).map(|n| out(&n.to_string())).collect();
    expected.push(Entry::Exited { code: Some(9), signal: None });
    assert_eq!(entries, expected);
}

#[test]
fn invalid_utf8_output_is_delivered() {
    let supervised = Supervised::shell(r"printf 'a\000b\377c\r\n'; printf 'e\000\n' >&2; cat");
    let mut server = supervised.attach(0);
    let mut entries = [server.entry().0, server.entry().0];
    entries.sort_by_key(|entry| matches!(entry, Entry::Line(Line { text, .. }) if text.starts_with('e')));
    assert_eq!(entries, [out("a\0b\u{fffd}c\r"), err("e\0")]);
}

#[test]
fn next_server_replaces_the_previous_one() {
    let supervised = Supervised::start(&["cat"]);
    let mut first = supervised.attach(0);
    let mut second = supervised.attach(0);
    assert_eq!(first.frame(), None);
    second.input(1, "hello\n");
    assert_eq!(second.line(), "hello");
}

#[test]
fn connection_without_hello_does_not_replace_the_server() {
    let supervised = Supervised::start(&["cat"]);
    let mut server = supervised.attach(0);
    let _silent = Server::connect(&supervised.spec.socket, 0);
    let mut stranger = Server::connect(&supervised.spec.socket, 0);
    stranger.send_bytes(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(stranger.frame(), None);
    let mut rude = Server::connect(&supervised.spec.socket, 0);
    rude.send(&ToSupervisor::Trim { to: 1 });
    assert_eq!(rude.frame(), None);
    server.input(1, "hello\n");
    assert_eq!(server.line(), "hello");
}

#[test]
fn newer_server_is_supported() {
    let supervised = Supervised::start(&["cat"]);
    let mut server = Server::connect(&supervised.spec.socket, 0);
    let mut hello = ToSupervisor::Hello { version: VERSION + 41, from: 0 }.encode();
    hello[1] += 3;
    hello.extend([1, 2, 3]);
    server.send_bytes(&hello);
    server.send_bytes(&[200, 2, 0, 0, 0, 9, 9]);
    server.input(1, "hello\n");
    assert!(matches!(server.frame(), Some(ToServer::Hello { version: VERSION, .. })));
    assert_eq!(server.line(), "hello");
}

#[test]
fn protocol_violation_drops_only_the_connection() {
    let supervised = Supervised::start(&["cat"]);
    let mut server = supervised.attach(0);
    server.send_bytes(&[2, 255, 255, 255, 255]);
    assert_eq!(server.frame(), None);
    let mut server = supervised.attach(0);
    server.input(1, "hello\n");
    assert_eq!(server.line(), "hello");
}

#[test]
fn input_is_refused_after_the_agent_closed_stdin() {
    let supervised = Supervised::shell("exec <&-; echo closed; while [ ! -e go ]; do sleep 0.02; done");
    let mut server = supervised.attach(0);
    assert_eq!(server.line(), "closed");
    for id in [1, 2] {
        server.input(id, "hello\n");
        assert_eq!(server.reply(), ToServer::Refused { id, message: "the agent closed its input".to_owned() });
    }
}

#[test]
fn stop_works_when_the_agent_does_not_read() {
    let mut supervised = Supervised::shell("echo ready; exec sleep 60");
    let mut server = supervised.attach(0);
    assert_eq!(server.line(), "ready");
    server.input(1, &"x".repeat(1_000_000));
    server.stop(50, 10_000);
    assert_eq!(server.entry().0, Entry::Exited { code: None, signal: Some(15) });
    assert_eq!(server.reply(), ToServer::Refused { id: 1, message: "the agent closed its input".to_owned() });
    drop(server);
    assert_eq!(supervised.exit_code(), 0);
}

#[test]
fn slow_server_does_not_block_the_agent() {
    let supervised = Supervised::shell("seq 1 200000; touch done; cat");
    let mut server = supervised.attach(0);
    // The socket is not read until the agent has finished.
    eventually("the agent is through", || supervised.home.path().join("done").exists());
    for n in 1..=200_000 {
        assert_eq!(server.line(), n.to_string());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn agent_inherits_exactly_the_given_environment() {
    let home = tempfile::tempdir().unwrap();
    let spec = crate::supervised::spec(home.path(), &["/bin/cat", "/proc/self/environ"]);
    let status = crate::supervised::command(&spec).env_clear().env("KEY", "very secret").env("B", "2").status().unwrap();
    assert!(status.success());
    let mut journal = sayso_supervisor::journal::Journal::open(&spec.dir).unwrap();
    let (record, _) = journal.read(0, 1000).unwrap().remove(0);
    assert_eq!(record, sayso_supervisor::journal::Record::Out(b"B=2\0KEY=very secret\0".to_vec()));
}
