//! The person's own Claude Code, connected with `sayso connect`. The first answer wins, in Sayso or in the terminal.
//! Without a server, Claude Code works as if it were not connected.

use std::path::Path;
use std::pin::pin;
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};
use sayso_client::api::ask::{Ask, AskQuery, AskStatus, Delivery};
use sayso_client::api::session::{SessionQuery, SessionStatus};
use sayso_testkit::agents::installed;
use sayso_testkit::models::{ModelBlock, ModelScript, ModelTurn};
use sayso_testkit::pty::Pty;
use serde_json::json;
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Duration, sleep};

use crate::world::{World, until};

const DATABASE: &str = "Which database should we use?";
const ESC: &str = "\u{1b}";
const ENTER: &str = "\r";
/// The up key, which moves from the first to the last choice of a dialog.
const LAST_CHOICE: &str = "\u{1b}[A";

fn which_database() -> ModelTurn {
    let option = |label: &str| json!({ "label": label, "description": format!("the {label} one") });
    let questions = json!([{ "question": DATABASE, "header": "Database", "multiSelect": false,
        "options": [option("SQLite"), option("PostgreSQL")] }]);
    vec![ModelBlock::text("I need to know."), ModelBlock::call("toolu_q", "AskUserQuestion", json!({ "questions": questions }))]
}

fn bash(id: &str, command: &str) -> ModelTurn {
    vec![ModelBlock::call(id, "Bash", json!({ "command": command, "description": "make a file" }))]
}

fn script(turn: ModelTurn) -> ModelScript {
    ModelScript::turns([turn, vec![ModelBlock::text("Done.")]])
}

/// A world with a connected Claude Code that asks before it uses tools.
async fn connected(script: ModelScript, policy: &str) -> Result<World> {
    let world = World::with_policy(script, policy).await?;
    let claude = world.home.path().join(".claude");
    std::fs::create_dir_all(&claude)?;
    std::fs::write(claude.join("settings.json"), "{\n  \"permissions\": { \"defaultMode\": \"default\" }\n}\n")?;
    let mut connect = world.server.command()?;
    connect.env("HOME", world.home.path()).args(["connect", "claude", "--yes"]);
    let output = connect.output().await?;
    if !output.status.success() {
        bail!("connect: {}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    }
    Ok(world)
}

fn claude(world: &World) -> Command {
    claude_at(&installed().claude, world)
}

fn claude_at(program: &Path, world: &World) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(world.home.claude(world.model.url())).current_dir(world.home.project());
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Claude Code in a terminal. Its output is read and discarded, so that it never blocks.
struct Terminal {
    keys: mpsc::Sender<String>,
    reader: JoinHandle<()>,
}

impl Terminal {
    fn start(world: &World, prompt: &str) -> Result<Self> {
        Self::of(claude(world), prompt)
    }

    fn of(mut command: Command, prompt: &str) -> Result<Self> {
        command.env("TERM", "xterm-256color").env("TMUX_PANE", "%7").env("TMUX", "/tmp/tmux-1/default,1,0").arg(prompt);
        let mut pty = Pty::spawn(command)?;
        let (keys, mut typed) = mpsc::channel::<String>(8);
        let reader = tokio::spawn(async move {
            loop {
                tokio::select! {
                    typed = typed.recv() => match typed {
                        Some(keys) => if pty.send(&keys).await.is_err() { return },
                        None => return,
                    },
                    // This text never appears. The call only reads the output.
                    _ = pty.expect("\u{0}\u{0}") => sleep(Duration::from_millis(50)).await,
                }
            }
        });
        Ok(Self { keys, reader })
    }

    /// Presses keys until the condition holds. A dialog accepts keys shortly after it appears, and there is no signal
    /// for that.
    async fn press_until<T>(&self, keys: &[&str], there: impl Future<Output = Result<T>>) -> Result<T> {
        let mut there = pin!(there);
        loop {
            for key in keys {
                tokio::select! {
                    there = &mut there => return there,
                    () = sleep(Duration::from_secs(2)) => self.keys.send((*key).to_owned()).await?,
                }
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

async fn withdrawn(world: &World, ask: &Ask) -> Result<Ask> {
    world.becomes(ask, "withdrawn", |ask| ask.status == AskStatus::Withdrawn).await
}

#[tokio::test]
async fn hook_returns_decisions_without_a_terminal() -> Result<()> {
    let world = connected(
        ModelScript::turns([bash("toolu_1", "touch a.txt"), bash("toolu_2", "touch b.txt"), vec![ModelBlock::text("Done.")]]),
        "",
    )
    .await?;
    let running = tokio::spawn(claude(&world).args(["-p", "make files"]).output());
    let asked = world.pending().await?;
    let approval = asked.approval.as_ref().context("an approval")?;
    assert_eq!((approval.tool.as_str(), approval.command.as_deref()), ("Bash", Some("touch a.txt")));
    assert_eq!((asked.agent.as_str(), asked.title.as_str()), ("claude", "make files"));
    assert_eq!(asked.project.as_deref(), world.home.project().canonicalize()?.to_str());
    world.approve(&asked).await?;
    assert!(!world.model.result_of("toolu_1").await?.is_error);
    let asked = world.pending().await?;
    world.deny(&asked, "Not on this machine.", false).await?;
    let told = world.model.result_of("toolu_2").await?;
    assert_eq!((told.text.as_str(), told.is_error), ("Not on this machine.", true));
    assert!(running.await??.status.success());
    let file = |name: &str| world.home.project().join(name).exists();
    assert!(file("a.txt") && !file("b.txt"));
    world.delivered(&asked).await?;
    let sessions = world.client.sessions(&SessionQuery::default()).await?.data;
    assert_eq!(sessions.len(), 1);
    assert!(sessions[0].external);
    until("over", || async { Ok((world.client.session(&sessions[0].id).await?.status == SessionStatus::Ended).then_some(())) })
        .await
}

#[tokio::test]
async fn rules_decide_without_asking_a_person() -> Result<()> {
    let policy =
        "[[rules]]\nname = \"files\"\ndo = \"allow\"\nrun = [\"touch *\"]\n[[rules]]\ndo = \"deny\"\nrun = [\"mkdir *\"]\n";
    let turns = [bash("toolu_1", "touch a.txt"), bash("toolu_2", "mkdir b"), vec![ModelBlock::text("Done.")]];
    let world = connected(ModelScript::turns(turns), policy).await?;
    assert!(claude(&world).args(["-p", "make files"]).output().await?.status.success());
    let told = world.model.result_of("toolu_1").await?;
    assert!(!told.is_error, "{}", told.text);
    let told = world.model.result_of("toolu_2").await?;
    assert!(told.is_error && told.text.contains("denied by the user's policy"), "{}", told.text);
    let all = world.client.asks(&AskQuery { status: Some("resolved".to_owned()), ..AskQuery::default() }).await?.data;
    assert_eq!(all.len(), 2);
    assert!(all.iter().all(|ask| ask.outcome.as_ref().is_some_and(|outcome| outcome.by.kind == "policy")));
    assert!(all.iter().all(|ask| ask.delivery == Some(Delivery::Delivered)));
    assert!(world.home.project().join("a.txt").exists() && !world.home.project().join("b").exists());
    Ok(())
}

#[tokio::test]
async fn answer_in_sayso_closes_the_terminal_dialog() -> Result<()> {
    for program in [&installed().claude, &installed().claude_old] {
        let world = connected(script(which_database()), "").await?;
        let _terminal = Terminal::of(claude_at(program, &world), "set up a database")?;
        let asked = world.pending().await?;
        assert_eq!((asked.questions[0].text.as_str(), asked.title.as_str()), (DATABASE, "set up a database"));
        assert_eq!(asked.context.as_deref(), Some("I need to know."));
        assert_eq!(asked.labels.get("tmuxPane").map(String::as_str), Some("%7"));
        world.answer(&asked, &[&["PostgreSQL"]]).await?;
        let told = world.model.result_of("toolu_q").await?;
        assert!(!told.is_error && told.text.contains(&format!("\"{DATABASE}\"=\"PostgreSQL\"")), "{}", told.text);
        world.delivered(&asked).await?;
    }
    Ok(())
}

#[tokio::test]
async fn answer_in_the_terminal_withdraws_the_ask() -> Result<()> {
    let world = connected(script(which_database()), "").await?;
    let terminal = Terminal::start(&world, "set up a database")?;
    let asked = world.pending().await?;
    let told = terminal.press_until(&[ENTER], world.model.result_of("toolu_q")).await?;
    assert!(!told.is_error && told.text.contains("SQLite"), "{}", told.text);
    let ended = withdrawn(&world, &asked).await?;
    assert_eq!(ended.outcome.context("an outcome")?.message.as_deref(), Some("It was answered in the terminal."));
    assert!(world.answer(&asked, &[&["PostgreSQL"]]).await.is_err(), "a late answer is refused");
    Ok(())
}

#[tokio::test]
async fn escape_in_the_terminal_withdraws_the_ask() -> Result<()> {
    let world = connected(script(bash("toolu_b", "touch a.txt")), "").await?;
    let terminal = Terminal::start(&world, "make a file")?;
    let asked = world.pending().await?;
    let ended = terminal.press_until(&[ESC], withdrawn(&world, &asked)).await?;
    let why = ended.outcome.context("an outcome")?.message.unwrap_or_default();
    assert!(why.contains("terminal"), "{why}");
    assert!(world.approve(&asked).await.is_err());
    assert!(!world.home.project().join("a.txt").exists());
    Ok(())
}

#[tokio::test]
async fn denial_in_the_terminal_withdraws_the_ask() -> Result<()> {
    let world = connected(script(bash("toolu_b", "touch a.txt")), "").await?;
    let terminal = Terminal::start(&world, "make a file")?;
    let asked = world.pending().await?;
    // The first choice approves. A key that comes too early would choose it.
    sleep(Duration::from_secs(3)).await;
    terminal.press_until(&[LAST_CHOICE, ENTER], withdrawn(&world, &asked)).await?;
    assert!(!world.home.project().join("a.txt").exists());
    Ok(())
}

#[tokio::test]
async fn approval_in_the_terminal_withdraws_the_ask() -> Result<()> {
    let world = connected(script(bash("toolu_b", "touch a.txt")), "").await?;
    let terminal = Terminal::start(&world, "make a file")?;
    let asked = world.pending().await?;
    assert!(!terminal.press_until(&[ENTER], world.model.result_of("toolu_b")).await?.is_error);
    withdrawn(&world, &asked).await?;
    assert!(world.home.project().join("a.txt").exists());
    Ok(())
}

#[tokio::test]
async fn terminal_dialog_works_without_a_server() -> Result<()> {
    let mut world = connected(script(which_database()), "").await?;
    world.server.terminate().await?;
    let terminal = Terminal::start(&world, "set up a database")?;
    world.model.wait_for("the prompt", |record| !record.request.tools.is_empty()).await?;
    let told = terminal.press_until(&[ENTER], world.model.result_of("toolu_q")).await?;
    assert!(!told.is_error && told.text.contains("SQLite"), "{}", told.text);
    Ok(())
}

#[tokio::test]
async fn waiting_hook_survives_a_server_restart() -> Result<()> {
    for how in ["killed", "stopped"] {
        let mut world = connected(script(which_database()), "").await?;
        let _terminal = Terminal::start(&world, "set up a database")?;
        let asked = world.pending().await?;
        match how {
            "killed" => world.server.kill9().await?,
            _ => world.server.terminate().await?,
        };
        sleep(Duration::from_secs(3)).await;
        world.server.start_again().await?;
        // Longer than the server keeps an ask without a waiting hook.
        sleep(Duration::from_secs(7)).await;
        assert_eq!(world.client.ask(&asked.id).await?.status, AskStatus::Pending, "the hook has returned: {how}");
        world.answer(&asked, &[&["PostgreSQL"]]).await?;
        let told = world.model.result_of("toolu_q").await?;
        assert!(!told.is_error && told.text.contains("PostgreSQL"), "{}", told.text);
    }
    Ok(())
}
