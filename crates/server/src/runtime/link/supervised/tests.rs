//! Tests with a supervisor of the previous version.

use sayso_core::connection::{ConnectionKind, Epoch, Position};
use sayso_core::id::ConnectionId;
use tokio::net::UnixListener;

use super::*;
use crate::config::Config;

/// The hello of version 1: `sayso/sv`, the version, the last input, the end and the start of the journal, a pid, and whether
/// the process exited.
fn hello_of_version_1() -> Vec<u8> {
    let payload = [&b"sayso/sv"[..], &1_u32.to_le_bytes(), &[0; 24], &7_u32.to_le_bytes(), &[0]].concat();
    [&[1][..], &u32::try_from(payload.len()).unwrap().to_le_bytes(), &payload].concat()
}

#[tokio::test]
async fn supervisor_of_version_1_gets_the_inputs_that_it_knows() {
    let dir = tempfile::tempdir().unwrap();
    let runtime_dir = dir.path().join("run");
    let processes = Processes::new(dir.path(), runtime_dir.clone(), PathBuf::new(), &Config::default());
    let connection = Connection {
        id: ConnectionId::from_bytes([1; 16]),
        kind: ConnectionKind::Supervised,
        agent: "mock".to_owned(),
        epoch: Epoch(1),
        position: Position(0),
        process: Some(WirePosition(0)),
        state: None,
        wake_at: None,
    };
    processes.make_dirs(&processes.dir_of(&connection)).unwrap();
    let listener = UnixListener::bind(processes.socket_of(&connection)).unwrap();
    let supervisor = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut decoder = Decoder::<ToSupervisor>::new();
        let mut received = Vec::new();
        while received.len() < 2 {
            let mut buffer = [0; 256];
            let count = socket.read(&mut buffer).await.unwrap();
            decoder.push(&buffer[..count]);
            while let Some(frame) = decoder.next_frame().unwrap() {
                let reply = match frame {
                    ToSupervisor::Hello { .. } => hello_of_version_1(),
                    _ => ToServer::Taken { id: 5 }.encode(),
                };
                received.push(frame);
                socket.write_all(&reply).await.unwrap();
            }
        }
        received
    });
    let mut link = Supervised::attach(&processes, &connection, InputKey([1; 32]), WirePosition(0)).await.unwrap();
    assert_eq!(link.fate_of(OutboxId(5)), InputFate::NotAccepted);
    link.input(OutboxId(5), None, b"line\n".to_vec());
    assert!(matches!(link.next().await, ProcessMessage::Taken(OutboxId(5))));
    let input = ToSupervisor::Input { id: 5, previous: None, acceptance: None, bytes: b"line\n".to_vec() };
    assert_eq!(supervisor.await.unwrap(), [ToSupervisor::Hello { version: VERSION, from: 0 }, input]);
}
