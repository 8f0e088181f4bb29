//! Real agents that a person runs and that Sayso is connected to. The first answer wins, in Sayso or in the agent, and
//! the model receives that answer.

use std::process::Stdio;

use anyhow::{Context as _, Result};
use sayso_client::api::ask::{AskStatus, Delivery};
use sayso_client::api::session::{AttachmentState, NewAttachment};
use sayso_testkit::agents::{CodexTerminal, installed};
use sayso_testkit::models::{ModelBlock, ModelScript, ModelTurn, PATIENCE};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::world::World;

const DATABASE: &str = "Which database should we use?";
const PASSWORD: &str = "a-password-of-theirs";

/// Runs `sayso` as the person does.
async fn sayso(world: &World, args: &[&str]) -> Result<String> {
    let mut command = world.server.command()?;
    command.env("HOME", world.home.path()).env("OPENCODE_SERVER_PASSWORD", PASSWORD).args(args);
    let output = command.output().await?;
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    anyhow::ensure!(output.status.success(), "{args:?}: {said}");
    Ok(said)
}

/// An OpenCode server that the person runs, and one of its clients.
struct OpenCode {
    _server: Child,
    url: String,
    directory: String,
}

impl OpenCode {
    async fn start(world: &World) -> Result<Self> {
        let mut server = Command::new(&installed().opencode)
            .args(["serve", "--hostname", "127.0.0.1", "--port", "0"])
            .env_clear()
            .envs(world.home.opencode(world.model.url())?)
            .env("OPENCODE_SERVER_PASSWORD", PASSWORD)
            .current_dir(world.home.project())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let mut lines = BufReader::new(server.stdout.take().context("its output")?).lines();
        let url = tokio::time::timeout(PATIENCE, async {
            while let Some(line) = lines.next_line().await? {
                if let Some((_, url)) = line.split_once("listening on ") {
                    return anyhow::Ok(url.trim().to_owned());
                }
            }
            anyhow::bail!("OpenCode ended without printing its address")
        });
        let url = url.await.context("OpenCode did not start listening")??;
        // Keep reading, so that OpenCode does not block on its output.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let directory = world.home.project().canonicalize()?.display().to_string();
        Ok(Self { _server: server, url, directory })
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}?directory={}", self.url, self.directory)
    }

    async fn get(&self, path: &str) -> Result<Value> {
        let request = sayso_testkit::http().get(self.at(path)).basic_auth("opencode", Some(PASSWORD));
        let text = request.timeout(PATIENCE).send().await?.error_for_status()?.text().await?;
        Ok(serde_json::from_str(&text)?)
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let request = sayso_testkit::http().post(self.at(path)).basic_auth("opencode", Some(PASSWORD)).json(body);
        let text = request.timeout(PATIENCE).send().await?.error_for_status()?.text().await?;
        Ok(if text.is_empty() { Value::Null } else { serde_json::from_str(&text)? })
    }

    /// Sends a message in a session of the person.
    async fn say(&self, text: &str) -> Result<String> {
        let rules = json!([{ "permission": "bash", "pattern": "*", "action": "ask" }]);
        let session = self.post("/session", &json!({ "title": "their own session", "permission": rules })).await?;
        let id = session["id"].as_str().context("a session")?.to_owned();
        self.post(&format!("/session/{id}/prompt_async"), &json!({ "parts": [{ "type": "text", "text": text }] })).await?;
        Ok(id)
    }
}

fn question(id: &str) -> ModelTurn {
    let options = json!([{ "label": "SQLite", "description": "small" }, { "label": "PostgreSQL", "description": "large" }]);
    let questions = json!([{ "question": DATABASE, "header": "Database", "options": options }]);
    vec![ModelBlock::call(id, "question", json!({ "questions": questions }))]
}

fn bash(id: &str, command: &str) -> ModelTurn {
    vec![ModelBlock::call(id, "bash", json!({ "command": command, "description": "make a file" }))]
}

fn answered(answer: &str) -> String {
    format!(
        "User has answered your questions: \"{DATABASE}\"=\"{answer}\". You can now continue with the user's answers in mind."
    )
}

#[tokio::test]
async fn first_answer_to_an_attached_opencode_wins() -> Result<()> {
    let turns = [question("call_1"), question("call_2"), bash("call_3", "touch a.txt"), bash("call_4", "touch b.txt")];
    let world = World::new(ModelScript::turns(turns.into_iter().chain([vec![ModelBlock::text("Done.")]]))).await?;
    let theirs = OpenCode::start(&world).await?;
    let said = sayso(&world, &["connect", "opencode", &theirs.url]).await?;
    assert!(said.contains("Sayso is connected to opencode") && said.contains(&theirs.url) && !said.contains(PASSWORD), "{said}");
    assert!(sayso(&world, &["status"]).await?.contains(", connected"));
    let session = theirs.say("set up a database").await?;

    // Sayso answers first: the other client no longer sees a pending question.
    let ask = world.pending().await?;
    assert_eq!((ask.agent.as_str(), ask.title.as_str()), ("opencode", "their own session"));
    let shown = world.client.session(ask.session_id.as_deref().context("a session")?).await?;
    assert!(shown.external && shown.native_id.as_deref() == Some(session.as_str()), "{shown:?}");
    assert_eq!(theirs.get("/question").await?.as_array().map(Vec::len), Some(1));
    world.answer(&ask, &[&["PostgreSQL"]]).await?;
    assert_eq!(world.model.result_of("call_1").await?.text, answered("PostgreSQL"));
    world.becomes(&ask, "confirmed", |ask| ask.delivery == Some(Delivery::Confirmed)).await?;

    // The other client answers first: the ask is withdrawn, and the model receives the other answer.
    let ask = world.pending().await?;
    let waiting = theirs.get("/question").await?;
    let id = waiting[0]["id"].as_str().context("a request")?;
    theirs.post(&format!("/question/{id}/reply"), &json!({ "answers": [["SQLite"]] })).await?;
    assert_eq!(world.model.result_of("call_2").await?.text, answered("SQLite"));
    let over = world.becomes(&ask, "withdrawn", |ask| ask.status == AskStatus::Withdrawn).await?;
    assert!(serde_json::to_string(&over)?.contains("It was answered elsewhere."), "{over:?}");
    assert!(world.answer(&ask, &[&["PostgreSQL"]]).await.is_err());

    // The same with approvals of commands.
    let ask = world.pending().await?;
    assert!(!world.home.project().join("a.txt").exists());
    world.approve(&ask).await?;
    world.model.result_of("call_3").await?;
    assert!(world.home.project().join("a.txt").exists());
    let ask = world.pending().await?;
    let waiting = theirs.get("/permission").await?;
    let id = waiting[0]["id"].as_str().context("a request")?;
    theirs.post(&format!("/permission/{id}/reply"), &json!({ "reply": "reject", "message": "not this one" })).await?;
    assert!(world.model.result_of("call_4").await?.text.contains("not this one"));
    world.becomes(&ask, "withdrawn", |ask| ask.status == AskStatus::Withdrawn).await?;
    assert!(!world.home.project().join("b.txt").exists());
    world.close().await
}

#[tokio::test]
async fn disconnecting_leaves_pending_questions_in_opencode() -> Result<()> {
    let world = World::new(ModelScript::turns([question("call_1"), question("call_2"), vec![ModelBlock::text("Done.")]])).await?;
    let theirs = OpenCode::start(&world).await?;
    sayso(&world, &["connect", "opencode", &theirs.url]).await?;
    theirs.say("set up a database").await?;
    let ask = world.pending().await?;
    world.client.reject(&ask.id, &Default::default()).await?;
    let told = world.model.result_of("call_1").await?.text;
    assert!(told.contains("The user declined to answer"), "the agent continues: {told}");
    let ask = world.pending().await?;
    let said = sayso(&world, &["disconnect", "opencode", &theirs.url]).await?;
    assert!(said.contains("has disconnected from") && said.contains(&theirs.url), "{said}");
    assert_eq!(world.client.ask(&ask.id).await?.status, AskStatus::Withdrawn);
    let waiting = theirs.get("/question").await?;
    assert_eq!(waiting.as_array().map(Vec::len), Some(1), "the question is still pending in OpenCode");
    let id = waiting[0]["id"].as_str().context("a request")?;
    theirs.post(&format!("/question/{id}/reply"), &json!({ "answers": [["SQLite"]] })).await?;
    assert_eq!(world.model.result_of("call_2").await?.text, answered("SQLite"));
    world.close().await
}

/// Starts the daemon of Codex at the path where Codex terminals look for it.
fn codex_daemon(world: &World) -> Result<Child> {
    std::fs::create_dir_all(world.home.path().join(".codex/app-server-control"))?;
    Ok(Command::new(&installed().codex)
        .args(["app-server", "--listen", &format!("unix://{}", socket(world).display())])
        .env_clear()
        .envs(world.home.codex(world.model.url())?)
        .current_dir(world.home.project())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(daemon_log(world))?)
        .kill_on_drop(true)
        .spawn()?)
}

/// Connects a Codex terminal to this daemon.
async fn codex_terminal(world: &World, daemon: &mut Child) -> Result<CodexTerminal> {
    let connected = CodexTerminal::connect(&socket(world), daemon).await;
    connected.with_context(|| format!("stderr: {}", std::fs::read_to_string(daemon_log(world)).unwrap_or_default()))
}

fn daemon_log(world: &World) -> std::path::PathBuf {
    world.home.path().join("codex-daemon.log")
}

fn socket(world: &World) -> std::path::PathBuf {
    world.home.path().join(".codex/app-server-control/app-server-control.sock")
}

fn run(id: &str, command: &str) -> ModelTurn {
    let input = json!({ "cmd": command, "sandbox_permissions": "require_escalated", "justification": "make a file" });
    vec![ModelBlock::call(id, "exec_command", input)]
}

#[tokio::test]
async fn first_answer_to_an_attached_codex_wins() -> Result<()> {
    let turns = [
        run("call_1", "touch a.txt"),
        run("call_2", "touch b.txt"),
        run("call_3", "touch c.txt"),
        vec![ModelBlock::text("Done.")],
    ];
    let world = World::new(ModelScript::turns(turns)).await?;
    let mut daemon = codex_daemon(&world)?;
    let mut terminal = codex_terminal(&world, &mut daemon).await?;
    let said = sayso(&world, &["connect", "codex"]).await?;
    assert!(said.contains("Sayso is connected to codex") && said.contains("app-server-control.sock"), "{said}");
    let thread = terminal.say(&world.home.project(), "make files").await?;

    // Sayso answers first: the terminal receives that the request is resolved.
    let asked = terminal.asked().await?;
    let ask = world.pending().await?;
    assert_eq!(ask.agent, "codex");
    let shown = world.client.session(ask.session_id.as_deref().context("a session")?).await?;
    assert_eq!(shown.native_id.as_deref(), Some(thread.as_str()));
    world.approve(&ask).await?;
    let settled =
        |message: &Value, id: &Value| message["method"] == "serverRequest/resolved" && message["params"]["requestId"] == *id;
    terminal.until("the resolved request", |message| settled(message, &asked["id"])).await?;
    world.model.result_of("call_1").await?;
    assert!(world.home.project().join("a.txt").exists());
    world.becomes(&ask, "confirmed", |ask| ask.delivery == Some(Delivery::Confirmed)).await?;

    // The terminal answers first: the ask is withdrawn.
    let asked = terminal.asked().await?;
    let ask = world.pending().await?;
    terminal.send(&json!({ "id": asked["id"], "result": { "decision": "decline" } })).await?;
    assert!(world.model.result_of("call_2").await?.text.contains("rejected by user"));
    let over = world.becomes(&ask, "withdrawn", |ask| ask.status == AskStatus::Withdrawn).await?;
    assert!(serde_json::to_string(&over)?.contains("It was answered elsewhere."), "{over:?}");
    assert!(world.approve(&ask).await.is_err());
    assert!(!world.home.project().join("b.txt").exists());

    // Disconnecting leaves the request pending in the terminal.
    let asked = terminal.asked().await?;
    let ask = world.pending().await?;
    let said = sayso(&world, &["disconnect", "codex"]).await?;
    assert!(said.contains("has disconnected from"), "{said}");
    assert_eq!(world.client.ask(&ask.id).await?.status, AskStatus::Withdrawn);
    terminal.send(&json!({ "id": asked["id"], "result": { "decision": "accept" } })).await?;
    world.model.result_of("call_3").await?;
    assert!(world.home.project().join("c.txt").exists());
    daemon.kill().await?;
    world.close().await
}

#[tokio::test]
async fn asks_are_withdrawn_when_the_codex_daemon_ends() -> Result<()> {
    let world = World::new(ModelScript::turns([run("call_1", "touch a.txt"), vec![ModelBlock::text("Done.")]])).await?;
    let mut daemon = codex_daemon(&world)?;
    let mut terminal = codex_terminal(&world, &mut daemon).await?;
    let place = socket(&world).display().to_string();
    let new = NewAttachment { agent: "codex".to_owned(), place, user: None, password: None };
    let attached = world.client.attach(&new).await?;
    assert_eq!((attached.state, attached.version.as_deref()), (AttachmentState::Connected, Some("0.166.0")));
    terminal.say(&world.home.project(), "make a file").await?;
    let ask = world.pending().await?;
    daemon.kill().await?;
    let over = world.becomes(&ask, "withdrawn", |ask| ask.status == AskStatus::Withdrawn).await?;
    assert!(serde_json::to_string(&over)?.contains("is gone"), "{over:?}");
    assert!(!world.home.project().join("a.txt").exists());
    world.close().await
}
