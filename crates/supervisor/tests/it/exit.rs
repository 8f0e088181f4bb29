//! How supervisors and agents end, or fail to start.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use sayso_supervisor::journal::{Record, is_alive};
use sayso_supervisor::protocol::ToServer;
use sayso_supervisor::{Entry, exit_code};

use crate::supervised::{Supervised, command, err, eventually, out, signal, spec};

fn exited(code: i32) -> Record {
    Record::Exited { code: Some(code), signal: None }
}

#[test]
fn only_the_journal_remains_after_exit() {
    let mut supervised = Supervised::shell("echo one; printf two; exit 7");
    assert_eq!(supervised.exit_code(), 0);
    assert_eq!(supervised.on_disk(), [(Record::Out(b"one\n".to_vec()), 9), (Record::Out(b"two".to_vec()), 17), (exited(7), 31)]);
    assert!(!supervised.spec.socket.exists());
    assert!(!is_alive(&supervised.spec.dir));
}

#[test]
fn fatal_signal_is_recorded() {
    let mut supervised = Supervised::shell("kill -9 $$");
    assert_eq!(supervised.exit_code(), 0);
    assert_eq!(supervised.on_disk(), [(Record::Exited { code: None, signal: Some(9) }, 14)]);
}

#[test]
fn attached_server_gets_the_exit_and_supervisor_ends() {
    let mut supervised = Supervised::shell("read line; echo \"got $line\"; echo bad >&2; printf rest; exit 3");
    let mut server = supervised.attach(0);
    server.input(1, "hello\n");
    assert_eq!(server.reply(), ToServer::Taken { id: 1 });
    let mut entries: Vec<Entry> = (0..4).map(|_| server.entry().0).collect();
    // The order of lines from different streams is undefined.
    entries.sort_by_key(|entry| *entry != err("bad"));
    assert_eq!(entries, [err("bad"), out("got hello"), out("rest"), Entry::Exited { code: Some(3), signal: None }]);
    let position = server.assembler.position();
    assert_eq!(supervised.on_disk().last(), Some(&(exited(3), position)));
    drop(server);
    assert_eq!(supervised.exit_code(), 0);
}

#[test]
fn supervisor_ends_although_the_server_stays() {
    let mut supervised = Supervised::shell("read line");
    let mut server = supervised.attach(0);
    server.input(1, "go\n");
    assert_eq!(server.entry().0, Entry::Exited { code: Some(0), signal: None });
    assert_eq!(supervised.exit_code(), 0);
    assert_eq!(server.frame(), None);
}

#[test]
fn failed_agent_start_is_recorded_in_the_journal() {
    let mut supervised = Supervised::start(&["no-such-agent", "--secret"]);
    assert_eq!(supervised.exit_code(), 0);
    let message = "cannot start no-such-agent: No such file or directory (os error 2)".to_owned();
    assert_eq!(supervised.on_disk().remove(0).0, Record::Failed(message));
    assert!(!supervised.spec.socket.exists());

    let mut supervised = Supervised::start_with(&["cat"], |spec| spec.directory = "/no/such/place".into());
    assert_eq!(supervised.exit_code(), 0);
    let message = "cannot start cat: there is no directory /no/such/place".to_owned();
    assert_eq!(supervised.on_disk().remove(0).0, Record::Failed(message));
}

#[test]
fn failed_listen_is_recorded_in_the_journal() {
    let mut supervised = Supervised::start_with(&["cat"], |spec| spec.socket = spec.dir.join("x".repeat(120)));
    assert_eq!(supervised.exit_code(), i32::from(exit_code::CANNOT_SUPERVISE));
    let (record, _) = supervised.on_disk().remove(0);
    assert!(matches!(&record, Record::Failed(text) if text.starts_with("cannot listen on ")), "{record:?}");
}

#[test]
fn directory_has_one_supervisor_and_one_agent() {
    let mut supervised = Supervised::start(&["cat"]);
    let mut server = supervised.attach(0);
    assert!(is_alive(&supervised.spec.dir));
    let second = || command(&supervised.spec).status().unwrap().code();
    assert_eq!(second(), Some(i32::from(exit_code::ALREADY_SUPERVISED)));
    server.input(1, "undisturbed\n");
    assert_eq!(server.line(), "undisturbed");
    server.stop(10_000, 1000);
    assert_eq!(server.entry().0, Entry::Exited { code: Some(0), signal: None });
    drop(server);
    assert_eq!(supervised.exit_code(), 0);
    let before = supervised.on_disk();
    assert_eq!(command(&supervised.spec).status().unwrap().code(), Some(i32::from(exit_code::ALREADY_RAN)));
    assert_eq!(supervised.on_disk(), before);
}

#[test]
fn journal_and_socket_are_private() {
    let supervised = Supervised::shell("echo hello; cat");
    let mut server = supervised.attach(0);
    assert_eq!(server.line(), "hello");
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&supervised.spec.dir), 0o700);
    assert_eq!(mode(&supervised.spec.socket), 0o600);
    for file in fs::read_dir(&supervised.spec.dir).unwrap() {
        assert_eq!(mode(&file.unwrap().path()), 0o600);
    }
}

#[test]
fn stale_socket_is_replaced() {
    let home = tempfile::tempdir().unwrap();
    let spec = spec(home.path(), &["cat"]);
    drop(UnixListener::bind(&spec.socket).unwrap());
    // A process that another test forks at this moment can share the socket briefly.
    eventually("the socket refuses connections", || UnixStream::connect(&spec.socket).is_err());
    let supervised = Supervised { process: command(&spec).spawn().unwrap(), home, spec };
    let mut server = supervised.attach(0);
    server.input(1, "hello\n");
    assert_eq!(server.line(), "hello");
}

#[test]
fn agent_without_a_server_is_stopped_eventually() {
    let started = Instant::now();
    let mut supervised = Supervised::start_with(&["cat"], |spec| spec.lonely = Duration::from_secs(1));
    assert_eq!(supervised.exit_code(), 0);
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!(supervised.on_disk().remove(0).0, exited(0));
}

#[test]
fn supervisor_stops_its_agent_on_sigterm() {
    let mut supervised = Supervised::shell("cat; echo end of input; exit 5");
    let mut server = supervised.attach(0);
    signal("TERM", supervised.process.id());
    assert_eq!(server.line(), "end of input");
    assert_eq!(server.entry().0, Entry::Exited { code: Some(5), signal: None });
    drop(server);
    assert_eq!(supervised.exit_code(), 0);
}

#[test]
fn supervisor_survives_sighup_and_agent_receives_it() {
    let supervised = Supervised::shell("trap 'echo heard' HUP; echo ready; while :; do sleep 0.05; done");
    let mut server = supervised.attach(0);
    let Some(ToServer::Hello { pid, .. }) = server.hello else { panic!() };
    assert_eq!(server.line(), "ready");
    signal("HUP", supervised.process.id());
    signal("HUP", pid);
    assert_eq!(server.line(), "heard");
    server.stop(0, 10_000);
    assert_eq!(server.entry().0, Entry::Exited { code: None, signal: Some(15) });
}

#[cfg(target_os = "linux")]
#[test]
fn agent_gets_default_signals_when_parent_ignores_and_blocks_them() {
    let mut supervised =
        Supervised::start_with_signals_ignored_and_blocked("grep -E '^Sig(Blk|Ign)' /proc/self/status; read line; exit 7");
    let mut server = supervised.attach(0);
    assert_eq!(server.line(), "SigBlk:\t0000000000000000");
    let ignored = server.line();
    let ignored = u64::from_str_radix(ignored.trim_start_matches("SigIgn:\t"), 16).unwrap();
    // The C library reserves signals 32 and 33 and ignores them in processes that it spawns.
    assert_eq!(ignored & !(0b11 << 31), 0, "{ignored:x}");
    server.input(1, "go\n");
    // The exit code is lost if SIGCHLD is ignored.
    assert_eq!(server.entry().0, Entry::Exited { code: Some(7), signal: None });
    drop(server);
    assert_eq!(supervised.exit_code(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn supervisor_stops_on_sigterm_when_parent_blocks_it() {
    let mut supervised = Supervised::start_with_signals_ignored_and_blocked("cat; exec sleep 60");
    let mut server = supervised.attach(0);
    signal("TERM", supervised.process.id());
    assert_eq!(server.entry().0, Entry::Exited { code: None, signal: Some(15) });
    drop(server);
    assert_eq!(supervised.exit_code(), 0);
}

#[test]
fn agent_is_stopped_when_its_journal_is_deleted() {
    let mut supervised = Supervised::start(&["yes"]);
    eventually("there is a journal", || supervised.spec.dir.join("journal-00000000000000000000").exists());
    // The writer can create a new segment while the directory is being deleted.
    eventually("the directory is deleted", || fs::remove_dir_all(&supervised.spec.dir).is_ok() || !supervised.spec.dir.exists());
    assert_eq!(supervised.exit_code(), 0);
}
