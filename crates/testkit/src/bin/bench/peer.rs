//! The closest peer, `sandbox-agent`: a server that passes ACP messages of an agent on over HTTP and stores nothing. It runs
//! the same agent as Sayso and has the same driver, so that both can be compared in one run.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use sayso_testkit::sayso_bin;
use serde_json::{Value, json};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use crate::http::{BenchHttp, BenchTarget, Sse};
use crate::round_trip::{Clients, RoundTripShared, UNTIL_STOPPED};

/// The method name with which the agent asks, as in its messages.
const QUESTION: &str = "\"_sandboxagent/session/request_question\"";
/// The timeout for starting the peer.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running peer. Its agents end when it is dropped.
#[derive(Debug)]
pub(crate) struct Peer {
    child: Child,
    pid: u32,
    target: BenchTarget,
}

impl Peer {
    /// Starts the program on a free port, with its files in `dir` and the mock as its agent.
    pub(crate) async fn start(program: &Path, dir: &Path) -> Result<Self> {
        // The peer has no configuration for agents. It starts a file with the name of the agent.
        let launchers = dir.join(".local/share/sandbox-agent/bin/agent_processes");
        std::fs::create_dir_all(&launchers)?;
        let launcher = launchers.join("mock-acp");
        std::fs::write(&launcher, format!("#!/bin/sh\nexec '{}' mock-agent\n", sayso_bin()?.display()))?;
        make_executable(&launcher)?;

        let port = free_port()?;
        let mut command = Command::new(program);
        command.args(["server", "--host", "127.0.0.1", "--port", &port, "--no-telemetry", "--no-token"]);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", dir);
        // A prompt stays open while it asks questions.
        command.env("SANDBOX_AGENT_ACP_REQUEST_TIMEOUT_MS", "600000");
        // Disables the log of requests, which would affect the measurement.
        command.env("RUST_LOG", "off").env("SANDBOX_AGENT_LOG_HTTP", "0");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let child = command.spawn().with_context(|| format!("{} does not start", program.display()))?;
        let pid = child.id().context("the peer ended at once")?;
        let target = BenchTarget { address: format!("127.0.0.1:{port}"), token: String::new() };
        let peer = Self { child, pid, target };
        peer.healthy().await?;
        Ok(peer)
    }

    async fn healthy(&self) -> Result<()> {
        let began = Instant::now();
        loop {
            if let Ok(mut http) = BenchHttp::connect(&self.target).await
                && http.get("/v1/health").await.is_ok()
            {
                return Ok(());
            }
            ensure!(began.elapsed() < PATIENCE, "the peer does not become healthy");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    pub(crate) const fn pid(&self) -> u32 {
        self.pid
    }

    /// Starts this many clients, each with a separate agent process.
    pub(crate) async fn clients(&self, count: usize) -> Result<Clients> {
        let shared = Rc::<RoundTripShared>::default();
        let mut tasks = Vec::with_capacity(count);
        for number in 0..count {
            let PeerClient { http, stream, path, prompting } = self.open(number, UNTIL_STOPPED).await?;
            let shared = Rc::clone(&shared);
            tasks.push(tokio::task::spawn_local(async move {
                let result = answer(http, stream, &path, &shared).await;
                prompting.abort();
                result
            }));
        }
        Ok(Clients::of_peer(shared, tasks, self.pid))
    }

    /// Starts this many agents and waits until each has asked. Their streams stay open until the value is dropped.
    pub(crate) async fn pending(&self, count: usize) -> Result<Vec<PeerClient>> {
        let mut clients = Vec::with_capacity(count);
        for number in 0..count {
            let mut client = self.open(number, "question").await?;
            while !client.stream.event().await?.says(QUESTION) {}
            clients.push(client);
        }
        Ok(clients)
    }

    async fn open(&self, number: usize, text: &str) -> Result<PeerClient> {
        let path = format!("/v1/acp/bench-{number}");
        let mut http = BenchHttp::connect(&self.target).await?;
        let capabilities = json!({ "_meta": { "extensions": { "sessionRequestQuestion": true } } });
        let hello = request(1, "initialize", &json!({ "protocolVersion": 1, "clientCapabilities": capabilities }));
        http.post(&format!("{path}?agent=mock"), &hello).await?;
        let stream = Sse::open(&self.target, &path).await?;
        let opened = http.post(&path, &request(2, "session/new", &json!({ "cwd": "/", "mcpServers": [] }))).await?;
        let opened: Value = serde_json::from_slice(opened)?;
        let session = opened["result"]["sessionId"].as_str().with_context(|| opened.to_string())?.to_owned();
        let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] });
        let mut prompts = BenchHttp::connect(&self.target).await?;
        let asked = path.clone();
        // The reply comes at the end of the turn, which never ends here.
        let prompting = tokio::task::spawn_local(async move {
            let _ = prompts.post(&asked, &request(3, "session/prompt", &prompt)).await;
        });
        Ok(PeerClient { http, stream, path, prompting })
    }

    pub(crate) async fn stop(mut self) -> Result<()> {
        self.child.kill().await.context("the peer does not end")
    }
}

/// A session with an active prompt.
#[derive(Debug)]
pub(crate) struct PeerClient {
    http: BenchHttp,
    stream: Sse,
    path: String,
    prompting: JoinHandle<()>,
}

/// Answers every question of the session.
async fn answer(mut http: BenchHttp, mut stream: Sse, path: &str, shared: &RoundTripShared) -> Result<()> {
    let mut seen: Option<Instant> = None;
    loop {
        let event = stream.event().await?;
        if !event.says(QUESTION) {
            continue;
        }
        let message: Value = serde_json::from_slice(event.data().context("an event without data")?)?;
        if let Some(asked) = seen.replace(Instant::now()) {
            shared.complete(asked);
        }
        if shared.stopped() {
            return Ok(());
        }
        let result = json!({ "status": "answered", "answers": [["SQLite"]] });
        http.post(path, &json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string()).await?;
    }
}

fn request(id: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// Returns a free port on loopback, because the peer cannot choose one itself.
fn free_port() -> Result<String> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string())
}

fn make_executable(path: &PathBuf) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?)
}
