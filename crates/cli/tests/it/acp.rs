//! `sayso acp` as an agent on standard input and output, tested with handwritten messages and with a client of the
//! official crate.

use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use sayso_client::Client;
use sayso_client::api::ask::{AnswerRequest, Ask, AskKind, AskStatus, NoRequest};
use sayso_client::api::session::SessionStatus;
use sayso_testkit::{AcpClient, ServerProcess, Watch, within};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A server, and an editor that runs `sayso acp`.
struct Editor {
    server: ServerProcess,
    client: Client,
    acp: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    next: u64,
    _dir: TempDir,
}

impl Editor {
    async fn start(args: &[&str]) -> Result<Self> {
        let dir = TempDir::with_prefix("sayso-acp-")?;
        let server = ServerProcess::start(dir.path()).await?;
        let client = server.client()?;
        let mut acp = acp(&server, args)?.spawn()?;
        let (input, output) = (acp.stdin.take(), acp.stdout.take().context("no output")?);
        let output = BufReader::new(output).lines();
        let mut editor = Self { server, client, acp, input, output, next: 0, _dir: dir };
        let extension = json!({ "extensions": { "sessionRequestQuestion": true } });
        editor.request("initialize", json!({ "protocolVersion": 1, "clientCapabilities": { "_meta": extension } })).await?;
        Ok(editor)
    }

    async fn write(&mut self, line: &str) -> Result<()> {
        let input = self.input.as_mut().context("the input is closed")?;
        Ok(input.write_all(format!("{line}\n").as_bytes()).await?)
    }

    async fn read(&mut self) -> Result<Value> {
        let line = within("a line", async { Ok(self.output.next_line().await?) }).await?;
        Ok(serde_json::from_str(&line.context("the output ended")?)?)
    }

    async fn send(&mut self, method: &str, params: Value) -> Result<u64> {
        self.next += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }).to_string()).await?;
        Ok(self.next)
    }

    /// Sends a request and returns its response.
    async fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.send(method, params).await?;
        self.answer_to(id).await
    }

    async fn answer_to(&mut self, id: u64) -> Result<Value> {
        loop {
            let message = self.read().await?;
            if message["id"] == id && message.get("method").is_none() {
                return Ok(message);
            }
        }
    }

    /// Returns the next message with this method.
    async fn method(&mut self, method: &str) -> Result<Value> {
        loop {
            let message = self.read().await?;
            if message["method"] == method {
                return Ok(message);
            }
        }
    }

    /// Creates a session and returns its id.
    async fn session(&mut self) -> Result<String> {
        let made = self.request("session/new", json!({ "cwd": self.server.project(), "mcpServers": [] })).await?;
        Ok(made["result"]["sessionId"].as_str().with_context(|| made.to_string())?.to_owned())
    }

    async fn prompt(&mut self, session: &str, text: &str) -> Result<u64> {
        self.send("session/prompt", json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] })).await
    }

    /// Closes the input like an exiting editor, and waits until `sayso acp` has ended.
    async fn exit(&mut self) -> Result<()> {
        self.input = None;
        let status = within("the end of sayso acp", async { Ok(self.acp.wait().await?) }).await?;
        ensure!(status.success(), "{status}");
        Ok(())
    }
}

fn acp(server: &ServerProcess, args: &[&str]) -> Result<Command> {
    let mut command = server.command()?;
    command.arg("acp").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    Ok(command)
}

fn question(message: &Value) -> Result<String> {
    Ok(message["params"]["questionId"].as_str().context("no question")?.to_owned())
}

async fn answer(client: &Client, ask: &str, entry: &str) -> Result<Ask> {
    Ok(client.answer(ask, &AnswerRequest { answers: vec![vec![entry.to_owned()]], note: None }).await?)
}

#[tokio::test]
async fn answer_in_the_editor_reaches_the_agent() -> Result<()> {
    let mut editor = Editor::start(&["--agent", "mock"]).await?;
    let session = editor.session().await?;
    let prompt = editor.prompt(&session, "ask me a question").await?;
    let asked = editor.method("_sandboxagent/session/request_question").await?;
    let ask = question(&asked)?;
    editor.write("nonsense").await?;
    let answer = json!({ "status": "answered", "answers": [["PostgreSQL"]] });
    editor.write(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer }).to_string()).await?;
    assert_eq!(editor.answer_to(prompt).await?["result"]["stopReason"], "end_turn");
    let outcome = editor.client.ask(&ask).await?.outcome.context("no outcome")?;
    let by = serde_json::to_value(&outcome.by)?;
    assert_eq!((&by["kind"], &by["via"]), (&json!("person"), &json!("acp")));
    editor.exit().await
}

#[tokio::test]
async fn answer_elsewhere_cancels_the_editors_request() -> Result<()> {
    let mut editor = Editor::start(&["--agent", "mock"]).await?;
    let session = editor.session().await?;
    let prompt = editor.prompt(&session, "question").await?;
    let asked = editor.method("_sandboxagent/session/request_question").await?;
    answer(&editor.client, &question(&asked)?, "SQLite").await?;
    assert_eq!(editor.method("$/cancel_request").await?["params"]["requestId"], asked["id"]);
    assert_eq!(editor.answer_to(prompt).await?["result"]["stopReason"], "end_turn");
    editor.exit().await
}

#[tokio::test]
async fn editor_exit_interrupts_turns_unless_keep_is_set() -> Result<()> {
    for (args, wanted) in [
        (&["--agent", "mock"][..], AskStatus::Withdrawn),
        (&["--agent", "mock", "--on-close", "interrupt"], AskStatus::Withdrawn),
        (&["--agent", "mock", "--on-close", "keep"], AskStatus::Pending),
    ] {
        let mut editor = Editor::start(args).await?;
        let session = editor.session().await?;
        editor.prompt(&session, "question").await?;
        let ask = question(&editor.method("_sandboxagent/session/request_question").await?)?;
        let mut watch = Watch::start(&editor.client).await?;
        editor.exit().await?;
        if wanted == AskStatus::Withdrawn {
            watch.about("question.resolved", &ask).await?;
        }
        assert_eq!(editor.client.ask(&ask).await?.status, wanted, "{args:?}");
        let status = editor.client.session(&session).await?.status;
        assert!(!matches!(status, SessionStatus::Ended | SessionStatus::Failed), "the session is kept: {status:?}");
    }
    Ok(())
}

#[tokio::test]
async fn editor_answer_survives_a_server_restart() -> Result<()> {
    let mut editor = Editor::start(&["--agent", "mock"]).await?;
    let session = editor.session().await?;
    let prompt = editor.prompt(&session, "question").await?;
    let asked = editor.method("_sandboxagent/session/request_question").await?;
    editor.server.kill9().await?;
    editor.server.start_again().await?;
    let answer = json!({ "status": "answered", "answers": [["SQLite"]] });
    editor.write(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer }).to_string()).await?;
    assert_eq!(editor.answer_to(prompt).await?["result"]["stopReason"], "end_turn");
    let client = editor.server.client()?;
    assert_eq!(client.ask(&question(&asked)?).await?.status, AskStatus::Answered);
    editor.exit().await
}

#[tokio::test]
async fn unknown_agent_is_refused() -> Result<()> {
    let mut editor = Editor::start(&["--agent", "nobody"]).await?;
    let refused = editor.request("session/new", json!({ "cwd": editor.server.project(), "mcpServers": [] })).await?;
    assert_eq!(refused["error"]["data"]["code"], "unknown_agent", "{refused}");
    editor.exit().await
}

/// Waits for a pending ask.
async fn pending(client: &Client) -> Result<Ask> {
    let mut watch = Watch::start(client).await?;
    loop {
        if let Some(ask) = client.pending_asks().await?.data.pop() {
            return Ok(ask);
        }
        watch.until("an ask", |event| event.name().ends_with(".requested")).await?;
    }
}

const PROMPTS: [&str; 9] =
    ["hello", "question", "questions", "approve", "plan", "form", "link", "question elsewhere", "approve elsewhere"];

/// The types of the official crate parse our messages, and we accept its responses.
#[tokio::test]
async fn official_client_receives_all_kinds_of_asks_over_stdio() -> Result<()> {
    let dir = TempDir::with_prefix("sayso-acp-")?;
    let server = ServerProcess::start(dir.path()).await?;
    let official = AcpClient::stdio(acp(&server, &[])?, &server.project(), "mock", &PROMPTS).await?;
    asked_in_every_way(official, &server.client()?).await
}

/// The same over the HTTP transport of the official crate.
#[tokio::test]
async fn official_client_receives_all_kinds_of_asks_over_http() -> Result<()> {
    let dir = TempDir::with_prefix("sayso-acp-")?;
    let server = ServerProcess::start(dir.path()).await?;
    let official = AcpClient::http(server.url(), server.token(), &server.project(), "mock", &PROMPTS).await?;
    asked_in_every_way(official, &server.client()?).await
}

async fn asked_in_every_way(mut official: AcpClient, client: &Client) -> Result<()> {
    for prompt in PROMPTS {
        if prompt.ends_with("elsewhere") {
            let ask = pending(client).await?;
            match ask.kind {
                AskKind::Question => answer(client, &ask.id, "SQLite").await?,
                AskKind::Approval | AskKind::Link => client.deny(&ask.id, &NoRequest::default()).await?,
            };
        }
        let turn = official.next().await?;
        assert_eq!((&turn["prompt"], &turn["stopReason"]), (&json!(prompt), &json!("end_turn")), "{turn}");
        let asked = turn["asked"].as_array().context("nothing asked")?;
        let said = turn["said"].as_str().unwrap_or_default();
        match prompt {
            "hello" => assert_eq!((asked.len(), said), (0, "hello")),
            "question" => {
                assert_eq!(asked[0]["question"]["options"][0], json!(["SQLite", "SQLite"]));
                assert!(said.contains("SQLite"), "{turn}");
            }
            "questions" | "form" => assert_eq!(asked[0]["elicitation"]["mode"], "form", "{turn}"),
            "link" => assert_eq!(asked[0]["elicitation"]["mode"], "url", "{turn}"),
            "approve" | "plan" => assert!(asked[0]["permission"]["options"].is_array(), "{turn}"),
            _ => assert_eq!(asked.last(), Some(&json!("cancelled")), "{turn}"),
        }
    }
    official.ended().await
}
