//! The person's own Codex, connected with `sayso connect`: rules decide through its hook, its own prompt asks for
//! everything else, and the tool `ask_user` reaches a person. Its app server replaces the terminal, which uses the
//! same core: the app server's requests to its host are what the terminal would show.

use anyhow::{Context as _, Result, bail};
use sayso_testkit::agents::{Host, installed};
use sayso_testkit::models::{ModelBlock, ModelScript, ModelTurn};
use serde_json::{Value, json};

use crate::world::World;

const POLICY: &str =
    "[[rules]]\nname = \"files\"\ndo = \"allow\"\nrun = [\"touch *\"]\n[[rules]]\ndo = \"deny\"\nrun = [\"mkdir *\"]\n";
const APPROVAL: &str = "item/commandExecution/requestApproval";

fn run(id: &str, command: &str) -> ModelTurn {
    let input = json!({ "cmd": command, "sandbox_permissions": "require_escalated", "justification": "make a file" });
    vec![ModelBlock::call(id, "exec_command", input)]
}

/// Writes the configuration with `sayso connect`.
async fn connect(world: &World, more: &[&str]) -> Result<()> {
    let mut connect = world.server.command()?;
    connect.env("HOME", world.home.path()).args(["connect", "codex", "--yes"]).args(more);
    let output = connect.output().await?;
    if !output.status.success() {
        bail!("connect: {}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// A Codex with the configuration in its home directory, and its thread.
struct Codex {
    host: Host,
    thread: String,
    calls: u64,
}

impl Codex {
    async fn start(world: &World) -> Result<Self> {
        let command = [installed().codex.display().to_string(), "app-server".to_owned()];
        // The configuration exists already.
        let environment = world.home.codex_environment();
        let host = Host::start(&command, &environment, &world.home.project())?;
        let mut codex = Self { host, thread: String::new(), calls: 0 };
        let client = json!({ "name": "terminal", "title": "Terminal", "version": "1" });
        codex.call("initialize", json!({ "clientInfo": client, "capabilities": { "experimentalApi": true } })).await?;
        codex.host.send(&json!({ "method": "initialized" })).await?;
        Ok(codex)
    }

    async fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.calls += 1;
        let id = self.calls;
        self.host.send(&json!({ "id": id, "method": method, "params": params })).await?;
        let reply = self.host.until(method, |message| message["id"] == id && message.get("method").is_none()).await?;
        anyhow::ensure!(reply.get("error").is_none(), "{method} failed: {reply}");
        Ok(reply["result"].clone())
    }

    /// Trusts the current hook, as a person does in `/hooks`.
    async fn trust(&mut self, world: &World) -> Result<()> {
        let listed = self.call("hooks/list", json!({ "cwds": [world.home.project()] })).await?;
        let hooks = listed["data"][0]["hooks"].as_array().context("hooks")?.clone();
        let mut state = serde_json::Map::new();
        for hook in &hooks {
            assert_eq!(hook["trustStatus"], "untrusted", "connecting does not trust the hook: {hook}");
            let key = hook["key"].as_str().context("a key")?.to_owned();
            state.insert(key, json!({ "enabled": true, "trusted_hash": hook["currentHash"] }));
        }
        assert_eq!(state.len(), 1, "{hooks:?}");
        let edit = json!({ "keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert" });
        self.call("config/batchWrite", json!({ "edits": [edit], "reloadUserConfig": true })).await?;
        Ok(())
    }

    async fn say(&mut self, world: &World, text: &str) -> Result<()> {
        let opened = self.call("thread/start", json!({ "cwd": world.home.project() })).await?;
        self.thread = opened["thread"]["id"].as_str().context("a thread")?.to_owned();
        let input = json!([{ "type": "text", "text": text, "text_elements": [] }]);
        self.call("turn/start", json!({ "threadId": self.thread, "input": input })).await?;
        Ok(())
    }

    /// Returns the next request to the host, or the end of the turn.
    async fn next(&mut self) -> Result<Value> {
        let asks = |message: &Value| message.get("id").is_some() && message.get("method").is_some();
        self.host.until("a request or the end", |message| asks(message) || message["method"] == "turn/completed").await
    }

    async fn reply(&mut self, request: &Value, result: Value) -> Result<()> {
        self.host.send(&json!({ "id": request["id"], "result": result })).await
    }
}

#[tokio::test]
async fn hook_applies_rules_and_leaves_other_asks_to_codex() -> Result<()> {
    let turns = [
        run("call_1", "touch a.txt"),
        run("call_2", "mkdir b"),
        run("call_3", "cp a.txt c.txt"),
        vec![ModelBlock::text("Done.")],
    ];
    let world = World::with_policy(ModelScript::turns(turns), POLICY).await?;
    connect(&world, &[]).await?;
    let mut codex = Codex::start(&world).await?;
    codex.trust(&world).await?;
    codex.say(&world, "make files").await?;
    // Rules allow and deny without a prompt, and their message reaches the model. Codex asks for the rest itself.
    let asked = codex.next().await?;
    assert_eq!(asked["method"], APPROVAL, "{asked}");
    assert!(asked["params"]["command"].as_str().context("a command")?.contains("cp a.txt c.txt"), "{asked}");
    assert!(world.model.result_of("call_1").await?.text.contains("Process exited with code 0"));
    let told = world.model.result_of("call_2").await?.text;
    assert!(told.contains("denied by the user's policy"), "{told}");
    codex.reply(&asked, json!({ "decision": "decline" })).await?;
    assert_eq!(codex.next().await?["params"]["turn"]["status"], "completed");
    assert!(world.client.pending_asks().await?.data.is_empty(), "nothing is pending in Sayso");
    let there = |name: &str| world.home.project().join(name).exists();
    assert_eq!((there("a.txt"), there("b"), there("c.txt")), (true, false, false));
    Ok(())
}

#[tokio::test]
async fn codex_asks_itself_without_trust_or_without_a_server() -> Result<()> {
    let turns = [run("call_1", "mkdir a"), run("call_2", "mkdir b"), vec![ModelBlock::text("Done.")]];
    let mut world = World::with_policy(ModelScript::turns(turns), POLICY).await?;
    connect(&world, &[]).await?;
    let mut codex = Codex::start(&world).await?;
    codex.say(&world, "make folders").await?;
    let asked = codex.next().await?;
    assert_eq!(asked["method"], APPROVAL, "an untrusted hook does not run: {asked}");
    codex.trust(&world).await?;
    world.server.terminate().await?;
    codex.reply(&asked, json!({ "decision": "accept" })).await?;
    let asked = codex.next().await?;
    assert_eq!(asked["method"], APPROVAL, "a hook without a server returns no decision: {asked}");
    codex.reply(&asked, json!({ "decision": "accept" })).await?;
    assert_eq!(codex.next().await?["params"]["turn"]["status"], "completed");
    assert!(world.home.project().join("a").exists() && world.home.project().join("b").exists());
    Ok(())
}

#[tokio::test]
async fn held_hook_waits_for_an_answer_in_sayso() -> Result<()> {
    let world = World::new(ModelScript::turns([run("call_1", "touch a.txt"), vec![ModelBlock::text("Done.")]])).await?;
    connect(&world, &["--hold", "20s"]).await?;
    let mut codex = Codex::start(&world).await?;
    codex.trust(&world).await?;
    codex.say(&world, "make a file").await?;
    let asked = world.pending().await?;
    assert_eq!(asked.approval.as_ref().context("an approval")?.command.as_deref(), Some("touch a.txt"));
    world.deny(&asked, "Not on this machine.", false).await?;
    let told = world.model.result_of("call_1").await?.text;
    assert!(told.contains("Not on this machine."), "{told}");
    assert_eq!(codex.next().await?["method"], "turn/completed", "Codex did not show its own prompt");
    Ok(())
}

#[tokio::test]
async fn answer_to_ask_user_reaches_the_model() -> Result<()> {
    let options = json!([{ "label": "SQLite", "description": "a file" }, { "label": "PostgreSQL", "description": "a server" }]);
    let questions = json!([{ "question": "Which database?", "header": "Database", "multiSelect": false, "options": options }]);
    let turns = [
        vec![ModelBlock::call("call_q", "mcp__sayso__ask_user", json!({ "questions": questions }))],
        vec![ModelBlock::text("Done.")],
    ];
    let world = World::new(ModelScript::turns(turns)).await?;
    connect(&world, &[]).await?;
    let mut codex = Codex::start(&world).await?;
    codex.say(&world, "set up a database").await?;
    let asked = tokio::select! {
        asked = world.pending() => asked?,
        other = codex.next() => bail!("nothing is pending in Sayso: {}", other?),
    };
    assert_eq!(asked.questions[0].text, "Which database?");
    assert_eq!(asked.project.as_deref(), world.home.project().canonicalize()?.to_str());
    world.answer(&asked, &[&["PostgreSQL"]]).await?;
    let told = world.model.result_of("call_q").await?.text;
    assert!(told.contains("answered") && told.contains("PostgreSQL"), "{told}");
    assert_eq!(codex.next().await?["params"]["turn"]["status"], "completed");
    Ok(())
}
