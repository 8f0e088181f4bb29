//! Which programs can connect to the supervisor of an agent, and how refused ones are reported.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use sayso_client::api::ask::{Ask, Delivery};
use sayso_supervisor::protocol::{Decoder, ToServer, ToSupervisor};
use sayso_testkit::{PROGRAM, ScriptedAgent, reaches, sayso_bin, within};

use crate::processes::{World, script};

/// Leaves the process group and its parents, waits for the file `go`, connects to the supervisor like a server of
/// version 1, and sends input with a huge id.
const ATTACK: &str = r#"
import glob, os, socket, struct, time
for _ in range(2):
    if os.fork():
        os._exit(0)
    os.setsid()
while not os.path.exists("go"):
    time.sleep(0.01)
def frame(kind, payload):
    return bytes([kind]) + struct.pack("<I", len(payload)) + payload
stream = socket.socket(socket.AF_UNIX)
stream.connect(glob.glob("../../run/sayso/*.sock")[0])
try:
    stream.sendall(frame(1, b"sayso/sv" + struct.pack("<IQ", 1, 0)))
    stream.sendall(frame(2, struct.pack("<Q", 2 ** 62) + b'{"jsonrpc":"2.0","method":"_attack"}\n'))
    reply = stream.recv(100)
except OSError:
    reply = b""
open("part", "w").write("attached" if reply else "refused")
os.rename("part", "done")
"#;

/// Replaces the supervisor's socket after the file `go` appears, and records all bytes that it receives.
const IMPOSTOR: &str = r#"
import glob, os, socket, time
while not os.path.exists("go"):
    time.sleep(0.01)
path = glob.glob("../../run/sayso/*.sock")[0]
os.unlink(path)
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
open("done", "w").close()
while True:
    received = listener.accept()[0].recv(1000)
    if received:
        open("stolen", "wb").write(received)
"#;

/// Configures an agent that runs this Python program next to the mock.
fn with_second_program() -> Result<String> {
    Ok(script("sly", "acp", &format!("python3 second.py & exec {} mock-agent", sayso_bin()?.display())))
}

impl World {
    /// Starts the agent with this program.
    async fn start_with_second_program(&self, program: &str) -> Result<(ScriptedAgent, Ask)> {
        std::fs::write(self.server.project().join("second.py"), program)?;
        let mut agent = self.start("sly", "question").await?;
        let asked = agent.asks().await?;
        Ok((agent, asked))
    }

    /// Creates the file `go` and waits until the program is done.
    async fn run_program(&self) -> Result<()> {
        let project = self.server.project();
        std::fs::write(project.join("go"), "")?;
        within("the program to be done", async {
            while !project.join("done").exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok(())
        })
        .await
    }

    /// Returns the text of the next notice in the session.
    async fn notice(&self, agent: &mut ScriptedAgent) -> Result<String> {
        let event = agent.watch().until("a notice", |event| event.name() == "notice").await?;
        let data: serde_json::Value = serde_json::from_str(&event.event.data_json())?;
        Ok(data["text"].as_str().context("a notice has a text")?.to_owned())
    }

    /// Returns the lines of `sayso doctor` about agents.
    async fn doctor(&self) -> Result<Vec<String>> {
        let output = self.server.command()?.arg("doctor").output().await?;
        let text = String::from_utf8(output.stdout)?;
        Ok(text.lines().filter(|line| line.contains(" Agents ")).map(str::to_owned).collect())
    }

    fn log(&self) -> Result<String> {
        Ok(std::fs::read_to_string(self.server.log_path())?)
    }

    /// Connects to the only supervisor and says hello like a server of version 1. Sends `more` together with the
    /// hello.
    fn connect_from_outside(&self, more: &[u8]) -> Result<UnixStream> {
        let socket = std::fs::read_dir(self.dir.path().join("run/sayso"))?
            .flatten()
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|extension| extension == "sock"))
            .context("no socket")?;
        let mut stream = UnixStream::connect(socket)?;
        let hello = ToSupervisor::Hello { version: 1, from: 0 }.encode();
        stream.write_all(&[hello.as_slice(), more].concat())?;
        Ok(stream)
    }
}

/// Input without a meaning for the agent.
fn foreign_input(id: u64) -> ToSupervisor {
    ToSupervisor::Input {
        id,
        previous: None,
        acceptance: None,
        bytes: b"{\"jsonrpc\":\"2.0\",\"method\":\"_attack\"}\n".to_vec(),
    }
}

/// Reads the next frame from a supervisor.
fn next_frame(stream: &mut UnixStream, decoder: &mut Decoder<ToServer>) -> Result<ToServer> {
    loop {
        if let Some(frame) = decoder.next_frame()? {
            return Ok(frame);
        }
        let mut buffer = [0; 4096];
        let count = stream.read(&mut buffer)?;
        ensure!(count > 0, "the supervisor closed the connection");
        decoder.push(&buffer[..count]);
    }
}

const ATTACHED: &str = "connected to the supervisor of this agent instead of this server";
const WROTE: &str = "Another program, or a server of an earlier version, sent input to this agent.";

#[tokio::test]
async fn process_of_an_agent_cannot_answer_for_a_person() -> Result<()> {
    let world = World::with(&with_second_program()?).await?;
    let (mut agent, asked) = world.start_with_second_program(ATTACK).await?;
    world.run_program().await?;
    assert_eq!(std::fs::read_to_string(world.server.project().join("done"))?, "refused");
    let notice = world.notice(&mut agent).await?;
    assert!(notice.starts_with("A program that the agent started (process "), "{notice}");
    assert!(notice.ends_with(" tried to connect to the supervisor of this agent. It was refused."), "{notice}");
    assert!(world.log()?.contains(&notice), "the log contains the notice");
    assert_eq!(world.doctor().await?, [format!("x Agents     {notice}")]);
    world.answer(&asked, "SQLite").await?;
    assert_eq!(agent.finished().await?, "You answered: SQLite.");
    reaches(&world.server.client()?, &asked.id, Delivery::Delivered).await?;
    world.close().await
}

#[tokio::test]
async fn process_of_an_agent_cannot_take_the_place_of_its_supervisor() -> Result<()> {
    let mut world = World::with(&with_second_program()?).await?;
    let (mut agent, _) = world.start_with_second_program(IMPOSTOR).await?;
    world.server.kill9().await?;
    world.run_program().await?;
    world.server.start_again().await?;
    agent.watch().until("the end", |event| event.name() == "session.ended").await?;
    let reason = world.session(&agent).await?.reason.unwrap_or_default();
    assert!(reason.contains("listens on the socket of the supervisor"), "{reason}");
    assert!(!world.server.project().join("stolen").exists(), "nothing was sent to it");
    // The supervisor is unreachable, so its processes are killed here.
    for pid in world.processes()? {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).context("a process")?;
        let _ = kill_process(pid, Signal::KILL);
    }
    world.close().await
}

#[tokio::test]
async fn program_in_place_of_the_server_is_reported_and_answers_still_arrive() -> Result<()> {
    let world = World::with("").await?;
    let mut agent = world.start(PROGRAM, "question").await?;
    let asked = agent.asks().await?;
    assert_eq!(world.doctor().await?, Vec::<String>::new());
    // Sent together with the hello, because the server reconnects at once and closes this connection.
    let _stream = world.connect_from_outside(&foreign_input(1 << 62).encode())?;
    let notices = [world.notice(&mut agent).await?, world.notice(&mut agent).await?];
    let own = format!("(process {})", std::process::id());
    assert!(notices[0].contains(ATTACHED) && notices[0].contains(&own) && notices[1].starts_with(WROTE), "{notices:?}");
    let log = world.log()?;
    assert!(notices.iter().all(|notice| log.contains(notice)), "{log}");
    assert_eq!(world.doctor().await?, [format!("x Agents     {} (2 such warnings)", notices[1])]);
    // The huge id must not make the server believe that the agent has received the answer.
    world.answer(&asked, "SQLite").await?;
    assert_eq!(agent.finished().await?, "You answered: SQLite.");
    reaches(&world.server.client()?, &asked.id, Delivery::Delivered).await?;
    world.close().await
}

#[tokio::test]
async fn input_from_outside_while_the_server_is_down_is_reported_at_its_start() -> Result<()> {
    let mut world = World::with("").await?;
    let mut agent = world.start(PROGRAM, "question").await?;
    let asked = agent.asks().await?;
    world.server.kill9().await?;
    let mut stream = world.connect_from_outside(&[])?;
    let mut decoder = Decoder::new();
    let ToServer::Hello { last_input, .. } = next_frame(&mut stream, &mut decoder)? else { bail!("no hello") };
    // The next id: ids have gaps, so its size proves nothing.
    let id = last_input + 1;
    stream.write_all(&foreign_input(id).encode())?;
    while next_frame(&mut stream, &mut decoder)? != (ToServer::Taken { id }) {}
    drop(stream);
    world.server.start_again().await?;
    let notices = [world.notice(&mut agent).await?, world.notice(&mut agent).await?];
    assert!(notices[0].contains(ATTACHED) && notices[1].starts_with(WROTE), "{notices:?}");
    // Another restart does not repeat the report, and a killed server does not count as another program.
    world.server.kill9().await?;
    world.server.start_again().await?;
    world.answer(&asked, "SQLite").await?;
    assert_eq!(agent.finished().await?, "You answered: SQLite.");
    let transcript = world.transcript(&agent).await?;
    assert_eq!((transcript.matches(ATTACHED).count(), transcript.matches(WROTE).count()), (1, 1), "{transcript}");
    world.close().await
}

#[tokio::test]
async fn agent_cannot_start_a_server_for_its_own_data_directory() -> Result<()> {
    let program = sayso_bin()?.display().to_string();
    let serve = format!("{program} serve --data-dir ../../data --listen 127.0.0.1:0 >serve.out 2>&1");
    let text = format!("{serve}; echo $? >part; mv part done; exec {program} mock-agent");
    let world = World::with(&script("starter", "acp", &text)).await?;
    let mut agent = world.start("starter", "question").await?;
    agent.asks().await?;
    let project = world.server.project();
    assert_eq!(std::fs::read_to_string(project.join("done"))?, "1\n");
    let said = std::fs::read_to_string(project.join("serve.out"))?;
    assert!(said.contains("An agent of this server runs this command."), "{said}");
    world.close().await
}
