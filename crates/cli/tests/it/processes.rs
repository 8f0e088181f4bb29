//! Agents that are processes: supervised, hostile, silent, dead.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use sayso_client::api::ask::{AnswerRequest, Ask, AskStatus, Delivery};
use sayso_client::api::session::{NewSession, Session, SessionStatus, TranscriptQuery};
use sayso_testkit::{PROGRAM, ScriptedAgent, ServerProcess, reaches, sayso_bin, within, write_config};
use tempfile::TempDir;

use crate::support::{Person, is_running};

/// A server with agents from this `config.toml`. They are stopped on drop.
pub(crate) struct World {
    pub(crate) server: ServerProcess,
    pub(crate) dir: TempDir,
}

impl World {
    /// Starts a server with the mock as a program, and with these entries.
    pub(crate) async fn with(config: &str) -> Result<Self> {
        let dir = TempDir::with_prefix("sayso-processes-")?;
        write_config(dir.path(), config)?;
        Ok(Self { server: ServerProcess::start(dir.path()).await?, dir })
    }

    pub(crate) async fn start(&self, agent: &str, prompt: &str) -> Result<ScriptedAgent> {
        let cwd = Some(self.server.project().display().to_string());
        let new = NewSession { agent: agent.to_owned(), prompt: Some(prompt.to_owned()), cwd, ..NewSession::default() };
        ScriptedAgent::with(&self.server.client()?, &new).await
    }

    pub(crate) async fn answer(&self, ask: &Ask, entry: &str) -> Result<()> {
        let answers = vec![vec![entry.to_owned()]];
        self.server.client()?.answer(&ask.id, &AnswerRequest { answers, note: None }).await?;
        Ok(())
    }

    pub(crate) async fn session(&self, agent: &ScriptedAgent) -> Result<Session> {
        Ok(self.server.client()?.session(agent.session()).await?)
    }

    /// Returns the transcript as JSON text.
    pub(crate) async fn transcript(&self, agent: &ScriptedAgent) -> Result<String> {
        let page = self.server.client()?.transcript(agent.session(), &TranscriptQuery::default()).await?;
        Ok(serde_json::to_string(&page.data)?)
    }

    /// Lists the supervisors and agents of this server.
    #[cfg(target_os = "linux")]
    pub(crate) fn processes(&self) -> Result<Vec<u32>> {
        let ours = self.dir.path().display().to_string();
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc")?.flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let read =
                |name: &str| String::from_utf8_lossy(&std::fs::read(entry.path().join(name)).unwrap_or_default()).into_owned();
            let of_an_agent = read("environ").split('\0').any(|variable| variable.starts_with("SAYSO_AGENT_TOKEN="));
            if of_an_agent && (read("environ").contains(&ours) || read("cmdline").contains(&ours)) && is_running(pid) {
                found.push(pid);
            }
        }
        Ok(found)
    }

    /// Lists the supervisors of this server.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn processes(&self) -> Result<Vec<u32>> {
        let ours = self.dir.path().display().to_string();
        let listed = std::process::Command::new("ps").args(["-A", "-ww", "-o", "pid=,command="]).output()?;
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let supervisors = listed.lines().filter(|line| line.contains(" supervise ") && line.contains(&ours));
        Ok(supervisors.filter_map(|line| line.split_whitespace().next()?.parse().ok()).filter(|pid| is_running(*pid)).collect())
    }

    pub(crate) async fn close(self) -> Result<()> {
        self.server.client()?.stop_agents().await?;
        self.none_is_left().await
    }

    /// Waits until no process is left. The system removes an ended process with a delay.
    async fn none_is_left(&self) -> Result<()> {
        within("the processes to be gone", async {
            while !self.processes()?.is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Ok(())
        })
        .await
    }
}

/// Configures a shell script as an agent.
pub(crate) fn script(name: &str, protocol: &str, text: &str) -> String {
    format!("[agents.{name}]\nprotocol = {protocol:?}\ncommand = \"sh\"\nargs = [\"-c\", '''{text}''']\n")
}

#[tokio::test]
async fn answer_reaches_an_agent_process() -> Result<()> {
    let world = World::with("").await?;
    let mut agent = world.start(PROGRAM, "question").await?;
    let asked = agent.asks().await?;
    assert_eq!(asked.agent, PROGRAM);
    world.answer(&asked, "SQLite").await?;
    assert_eq!(agent.finished().await?, "You answered: SQLite.");
    reaches(&world.server.client()?, &asked.id, Delivery::Delivered).await?;
    world.close().await
}

#[tokio::test]
async fn agent_process_survives_server_kill_and_restart() -> Result<()> {
    let mut world = World::with("").await?;
    let mut agent = world.start(PROGRAM, "question 2 times").await?;
    let first = agent.asks().await?;
    let before = world.processes()?;
    assert_eq!(before.len(), 2, "a supervisor and an agent");
    world.server.kill9().await?;
    assert_eq!(world.processes()?, before);
    world.server.start_again().await?;
    world.answer(&first, "SQLite").await?;
    let second = agent.asks().await?;
    world.server.terminate().await?;
    world.server.start_again().await?;
    world.answer(&second, "PostgreSQL").await?;
    assert!(agent.finished().await?.starts_with("Asked 2 times"));
    assert_eq!(world.processes()?, before, "the processes did not change");
    world.close().await
}

#[tokio::test]
async fn stop_all_leaves_no_process_and_resumable_sessions() -> Result<()> {
    let mut world = World::with("").await?;
    let mut agent = world.start(PROGRAM, "question").await?;
    let asked = agent.asks().await?;
    let mut command = world.server.command()?;
    let stopped = command.args(["stop", "--all"]).output().await?;
    assert!(stopped.status.success(), "{stopped:?}");
    world.none_is_left().await?;
    // The command ended the agent, not the end of its parent.
    world.server.terminate().await.ok();
    world.server.start_again().await?;
    let session = world.session(&agent).await?;
    assert_eq!((session.status, session.resumable), (SessionStatus::Ended, true), "{session:?}");
    assert!(world.processes()?.is_empty(), "the session is not resumed yet");
    // The question is parked. Its answer resumes the session.
    world.answer(&asked, "SQLite").await?;
    agent
        .watch()
        .until("the session to continue", |event| event.name() == "session.status" && event.event.data_json().contains("idle"))
        .await?;
    assert!(agent.last_message().await?.contains("SQLite"), "the agent received the answer as a message");
    world.close().await
}

#[tokio::test]
async fn asks_end_when_their_agent_dies() -> Result<()> {
    let world = World::with("").await?;
    let mut agent = world.start(PROGRAM, "crash").await?;
    let asked = agent.asks().await?;
    let ended = agent.watch().until("the end", |event| event.name() == "session.ended").await?;
    assert!(
        ended.event.data_json().contains("failed") && ended.event.data_json().contains('3'),
        "the event contains the exit code: {}",
        ended.event.data_json()
    );
    let asked = world.server.client()?.ask(&asked.id).await?;
    assert!(asked.status == AskStatus::Withdrawn || asked.reach.is_some(), "{asked:?}");
    world.none_is_left().await?;
    world.close().await
}

#[tokio::test]
async fn missing_agent_error_says_how_to_install_it() -> Result<()> {
    let person = Person::new().await?;
    let mut command = person.command(&["start", "gemini", "hello"]);
    command.env("PATH", "/usr/bin:/bin");
    let ran = crate::support::ran(command).await?;
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("gemini --acp") && ran.err.contains("npm install -g @google/gemini-cli"), "{}", ran.err);
    assert!(person.client()?.sessions(&Default::default()).await?.data.is_empty(), "no session was started");
    Ok(())
}

/// After any output of an agent, the server keeps running, its memory stays bounded, and the session shows an error.
#[tokio::test]
async fn server_survives_garbage_output_and_reports_it() -> Result<()> {
    let deep = "python3 -c 'print(\"[\" * 10000)'";
    let long = "head -c 100000000 /dev/zero | tr \"\\0\" x; echo";
    let binary = r#"printf 'a\0b\377\376\n{\n\n'; printf '{"type":"unknown","jsonrpc":"2.0","method":7}\n'"#;
    let text = format!("{deep}; {binary}; {long}; echo last words >&2; exit 7");
    let config = script("claude-like", "claude", &text) + &script("acp-like", "acp", &text);
    let world = World::with(&config).await?;
    for name in ["claude-like", "acp-like"] {
        let mut agent = world.start(name, "hello").await?;
        agent.watch().until("the end", |event| event.name() == "session.ended").await?;
        let session = world.session(&agent).await?;
        let reason = session.reason.unwrap_or_default();
        assert!(session.status == SessionStatus::Failed && reason.contains("last words"), "{name}: {reason}");
        let transcript = world.transcript(&agent).await?;
        assert!(transcript.contains("\"type\":\"error\""), "{name}: {transcript}");
    }
    #[cfg(target_os = "linux")]
    {
        let pid = world.server.pid().context("a process")?;
        let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
        let peak: u64 = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok())
            .context("no VmHWM")?;
        assert!(peak < 200 * 1024, "the server took {peak} kB");
    }
    world.close().await
}

#[tokio::test]
async fn silent_agent_is_stalled_and_interrupted() -> Result<()> {
    // The agent accepts the handshake and the prompt, and then sends nothing until it is cancelled.
    let text = r#"
        answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
        while read -r line; do
            id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
            case "$line" in
            *'"initialize"'*) answer "$id" '{"protocolVersion":1,"agentCapabilities":{}}';;
            *session/new*) answer "$id" '{"sessionId":"s"}';;
            *session/prompt*) prompt=$id;;
            *session/cancel*) answer "$prompt" '{"stopReason":"cancelled"}';;
            esac
        done"#;
    let silent = script("silent", "acp", text);
    let config = format!("{silent}stale_after = \"300ms\"\non_stale = \"interrupt\"\n");
    let world = World::with(&config).await?;
    let mut agent = world.start("silent", "hello").await?;
    agent.watch().until("it to be stalled", |event| event.event.data_json().contains("stalled")).await?;
    agent.watch().until("the interrupt to work", |event| event.event.data_json().contains("idle")).await?;
    world.close().await
}

#[tokio::test]
async fn stale_timer_stops_while_an_ask_is_pending() -> Result<()> {
    let mock = format!("[agents.impatient]\ncommand = {:?}\nargs = [\"mock-agent\"]\nstale_after = \"2s\"\n", sayso_bin()?);
    let world = World::with(&mock).await?;
    let mut agent = world.start("impatient", "question").await?;
    let asked = agent.asks().await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(world.session(&agent).await?.status, SessionStatus::Waiting);
    world.answer(&asked, "SQLite").await?;
    agent.finished().await?;
    assert!(!world.transcript(&agent).await?.contains("stalled"));
    world.close().await
}

/// Lists the files below a directory that contain this text.
fn files_with(dir: &Path, text: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files_with(&path, text)?);
        } else if std::fs::read(&path).is_ok_and(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes())) {
            found.push(path.display().to_string());
        }
    }
    Ok(found)
}

#[tokio::test]
async fn secret_reaches_the_agent_and_no_file() -> Result<()> {
    const VALUE: &str = "correct-horse-battery-staple-0815";
    let world = World::with("").await?;
    let mut agent = world.start(PROGRAM, "secret").await?;
    let asked = agent.asks().await?;
    world.answer(&asked, VALUE).await?;
    agent.finished().await?;
    reaches(&world.server.client()?, &asked.id, Delivery::Delivered).await?;
    // The log of the database is truncated within a second after the delivery.
    let started = std::time::Instant::now();
    while !files_with(world.dir.path(), VALUE)?.is_empty() {
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", files_with(world.dir.path(), VALUE)?);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    world.close().await
}

#[tokio::test]
async fn agent_gets_the_callers_keys_and_its_own_token() -> Result<()> {
    let person = Person::without_server()?;
    let file = person.path("environment");
    let config = script(
        "nosy",
        "claude",
        &format!("env > {}.part; mv {0}.part {0}", file.display()).replace("{0}", &file.display().to_string()),
    );
    std::fs::write(person.path("config/sayso/config.toml"), config)?;
    let mut command = person.command(&["start", "nosy", "hello", "--json"]);
    command.env("ANTHROPIC_API_KEY", "the-key").env("DATABASE_PASSWORD", "not-for-agents");
    crate::support::ran(command).await?;
    let environment = std::fs::read_to_string(&file)?;
    let has = |name: &str| environment.lines().any(|line| line.starts_with(&format!("{name}=")));
    assert!(environment.contains("ANTHROPIC_API_KEY=the-key") && has("PATH") && has("HOME"), "{environment}");
    assert!(has("SAYSO_AGENT_TOKEN") && has("SAYSO_URL"), "{environment}");
    assert!(!has("SAYSO_TOKEN") && !has("SAYSO_DATA_DIR") && !has("DATABASE_PASSWORD"), "{environment}");
    let admin = std::fs::read_to_string(person.data_dir().join("token"))?;
    assert!(!environment.contains(admin.trim()));
    assert!(files_with(&person.data_dir(), "the-key")?.is_empty(), "keys are not written to files");
    Ok(())
}

#[tokio::test]
async fn unconfigured_agent_is_stopped_and_its_session_fails() -> Result<()> {
    // This agent ends slowly.
    let mut world = World::with(&script("passing", "acp", &format!("{} mock-agent; sleep 1", sayso_bin()?.display()))).await?;
    let mut agent = world.start("passing", "question").await?;
    let asked = agent.asks().await?;
    world.server.terminate().await?;
    write_config(world.dir.path(), "")?;
    world.server.start_again().await?;
    agent.watch().until("the end", |event| event.name() == "session.ended").await?;
    assert!(world.processes()?.len() < 2, "the agent ends before the event; its supervisor may still be ending");
    let session = world.session(&agent).await?;
    let reason = session.reason.unwrap_or_default();
    assert!(session.status == SessionStatus::Failed && reason.contains("`passing` is no longer configured"), "{reason}");
    assert_eq!(world.server.client()?.ask(&asked.id).await?.status, AskStatus::Withdrawn);
    world.close().await
}
