//! No process that an agent started outlives the agent.

use sayso_supervisor::Entry;
use sayso_supervisor::journal::{Record, is_alive};
use sayso_supervisor::protocol::ToServer;

use crate::supervised::{Server, Supervised, eventually, out, signal};

fn is_running(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // A zombie counts as ended; its parent has to reap it.
    !stat.rsplit(')').next().unwrap().trim_start().starts_with('Z')
}

fn is_gone(pid: u32) {
    eventually("a process is gone", || !is_running(pid));
}

fn pid(server: &mut Server) -> u32 {
    let pid = server.line().parse().unwrap();
    assert!(is_running(pid));
    pid
}

/// The process group and the session of a process.
fn group_and_session(pid: u32) -> [u32; 2] {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    [fields[2], fields[3]].map(|field| field.parse().unwrap())
}

#[test]
fn supervisor_and_agent_have_their_own_process_groups() {
    let supervised = Supervised::start(&["cat"]);
    let server = supervised.attach(0);
    let Some(ToServer::Hello { pid: agent, .. }) = server.hello else { panic!() };
    let supervisor = supervised.process.id();
    assert_eq!(group_and_session(supervisor), [supervisor, supervisor]);
    assert_eq!(group_and_session(agent), [agent, supervisor]);
}

/// A process in its own session, a process in the group that ignores SIGTERM, and an orphan. They print their process
/// ids.
const FAMILY: &str = r#"
    setsid sleep 60 & echo $!
    sh -c 'trap "" TERM; echo $$; sleep 60; sleep 60' &
    setsid sh -c 'setsid sh -c "trap \"\" TERM; echo \$\$; sleep 60; sleep 60" &'
    wait_for_it() { while [ ! -e go ]; do sleep 0.02; done; }
"#;

#[test]
fn stop_ends_the_whole_process_tree() {
    let mut supervised = Supervised::shell(&format!("{FAMILY} trap '' TERM; cat; sleep 60; sleep 60"));
    let mut server = supervised.attach(0);
    let family = [pid(&mut server), pid(&mut server), pid(&mut server)];
    let Some(ToServer::Hello { pid: agent, .. }) = server.hello else { panic!() };
    server.stop(50, 100);
    assert_eq!(server.entry().0, Entry::Exited { code: None, signal: Some(9) });
    drop(server);
    assert_eq!(supervised.exit_code(), 0);
    for pid in family.into_iter().chain([agent]) {
        assert!(!is_running(pid));
    }
}

#[test]
fn agent_exit_ends_its_descendants() {
    let mut supervised = Supervised::shell(&format!("{FAMILY} wait_for_it; exit 6"));
    let mut server = supervised.attach(0);
    let family = [pid(&mut server), pid(&mut server), pid(&mut server)];
    std::fs::write(supervised.home.path().join("go"), "").unwrap();
    // The exit is reported although some processes ignore SIGTERM and hold the pipes open.
    assert_eq!(server.entry().0, Entry::Exited { code: Some(6), signal: None });
    assert!(family.into_iter().any(is_running));
    drop(server);
    assert_eq!(supervised.exit_code(), 0);
    for pid in family {
        assert!(!is_running(pid));
    }
}

#[test]
fn agent_exits_when_its_input_is_closed() {
    let mut supervised = Supervised::shell("sleep 60 & cat; exit 2");
    let mut server = supervised.attach(0);
    server.stop(20_000, 20_000);
    assert_eq!(server.entry().0, Entry::Exited { code: Some(2), signal: None });
    drop(server);
    assert_eq!(supervised.exit_code(), 0);
}

#[test]
fn killed_supervisor_takes_its_agent_down() {
    let mut supervised = Supervised::shell("trap '' TERM HUP; echo $$; cat; sleep 60; sleep 60");
    let mut server = supervised.attach(0);
    let agent = pid(&mut server);
    signal("KILL", supervised.process.id());
    supervised.process.wait().unwrap();
    is_gone(agent);
    assert!(!is_alive(&supervised.spec.dir));
    assert_eq!(server.frame(), None);
    let records: Vec<Record> = supervised.on_disk().into_iter().map(|(record, _)| record).collect();
    assert_eq!(records, [Record::Out(format!("{agent}\n").into_bytes())]);
}

#[test]
fn server_kill_does_not_affect_the_agent() {
    let supervised = Supervised::shell("echo $$; cat");
    let mut server = supervised.attach(0);
    let agent = pid(&mut server);
    drop(server);
    let mut server = supervised.attach(0);
    assert!(is_running(agent));
    server.input(1, "still here\n");
    assert_eq!([server.entry().0, server.entry().0], [out(&agent.to_string()), out("still here")]);
}
