//! The real OpenCode.

use anyhow::{Context as _, Result};
use sayso_client::api::ask::{ActionKind, AnswerRequest, ApproveRequest, AskQuery, AskStatus, Delivery};
use sayso_client::api::session::{IfPending, NewSession, SessionStatus};
use sayso_testkit::agents::installed;
use sayso_testkit::models::{ModelBlock, ModelScript, ModelTurn};
use sayso_testkit::within;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::claude::kill_agent;
use crate::world::World;

const DATABASE: &str = "Which database should we use?";
const FEATURES: &str = "Which features do you want?";

fn question(text: &str, header: &str, multiple: bool, labels: &[&str]) -> Value {
    let options: Vec<Value> =
        labels.iter().map(|label| json!({ "label": label, "description": format!("the {label} one") })).collect();
    json!({ "question": text, "header": header, "multiple": multiple, "options": options })
}

fn which_database() -> ModelTurn {
    ask("call_q", &[question(DATABASE, "Database", false, &["SQLite", "PostgreSQL"])])
}

fn ask(id: &str, questions: &[Value]) -> ModelTurn {
    vec![ModelBlock::text("I need to know."), ModelBlock::call(id, "question", json!({ "questions": questions }))]
}

fn bash(id: &str, command: &str) -> ModelTurn {
    vec![ModelBlock::call(id, "bash", json!({ "command": command, "description": "make a file" }))]
}

fn script(turn: ModelTurn) -> ModelScript {
    ModelScript::turns([turn, vec![ModelBlock::text("Done.")]])
}

/// Returns the result of a call as the model received it.
async fn received(world: &World, id: &str) -> Result<String> {
    Ok(world.model.result_of(id).await?.text)
}

fn answered(pairs: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(question, answer)| format!("\"{question}\"=\"{answer}\"")).collect();
    format!("User has answered your questions: {}. You can now continue with the user's answers in mind.", pairs.join(", "))
}

#[tokio::test]
async fn answer_reaches_the_model() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let mut agent = world.start("opencode", "set up a database").await?;
    let asked = agent.asks().await?;
    assert_eq!((asked.questions[0].text.as_str(), asked.questions[0].header.as_deref()), (DATABASE, Some("Database")));
    assert_eq!(asked.context.as_deref(), Some("I need to know."));
    world.answer(&asked, &[&["PostgreSQL"]]).await?;
    assert_eq!(received(&world, "call_q").await?, answered(&[(DATABASE, "PostgreSQL")]));
    assert_eq!(agent.finished().await?, "Done.");
    assert_eq!(world.client.ask(&asked.id).await?.delivery, Some(Delivery::Confirmed));
    world.close().await
}

#[tokio::test]
async fn answers_to_several_questions_reach_the_model() -> Result<()> {
    let questions = [
        question(DATABASE, "Database", false, &["SQLite", "PostgreSQL"]),
        question(FEATURES, "Features", true, &["Auth", "Export"]),
        question("What should it be called?", "Name", false, &[]),
    ];
    let world = World::new(script(ask("call_q", &questions))).await?;
    let mut agent = world.start("opencode", "set it up").await?;
    let asked = agent.asks().await?;
    assert!(asked.questions[1].multiple && asked.questions.len() == 3);
    // OpenCode does not validate answers, so Sayso must.
    let wrong = world.answer(&asked, &[&["SQLite"], &["Auth"]]).await.unwrap_err();
    assert!(format!("{wrong:#}").contains("answers"), "{wrong:#}");
    let answers = vec![vec!["my own".to_owned()], vec!["Auth".to_owned(), "Export".to_owned()], vec!["gamma".to_owned()]];
    world.client.answer(&asked.id, &AnswerRequest { answers, note: Some("soon".to_owned()) }).await?;
    let wanted = [(DATABASE, "my own, Note: soon"), (FEATURES, "Auth, Export"), ("What should it be called?", "gamma")];
    assert_eq!(received(&world, "call_q").await?, answered(&wanted));
    assert_eq!(agent.finished().await?, "Done.");
    world.close().await
}

#[tokio::test]
async fn rejection_continues_or_stops_the_turn() -> Result<()> {
    let one = |id: &str| ask(id, &[question(DATABASE, "Database", false, &["SQLite", "PostgreSQL"])]);
    let world =
        World::new(ModelScript::turns([one("call_1"), one("call_2"), one("call_3"), vec![ModelBlock::text("Never said.")]]))
            .await?;
    let mut agent = world.start("opencode", "set up a database").await?;
    let asked = agent.asks().await?;
    world.client.reject(&asked.id, &Default::default()).await?;
    assert_eq!(received(&world, "call_1").await?, "The user dismissed this question");
    let asked = agent.asks().await?;
    world.deny(&asked, "Decide yourself.", false).await?;
    let told = received(&world, "call_2").await?;
    assert_eq!(told, answered(&[(DATABASE, "The user declined to answer and says: Decide yourself.")]));
    let asked = agent.asks().await?;
    world.deny(&asked, "Enough.", true).await?;
    agent.finished().await?;
    assert_eq!(world.client.session(agent.session()).await?.status, SessionStatus::Idle, "the session accepts the next message");
    assert_ne!(agent.last_message().await?, "Never said.");
    world.close().await
}

#[tokio::test]
async fn agent_continues_after_a_question_times_out() -> Result<()> {
    let policy = "[questions]\npolicy = \"forward\"\ntimeout = \"2s\"\non_timeout = \"reject\"\n";
    let world = World::with_policy(script(which_database()), policy).await?;
    let mut agent = world.start("opencode", "set up a database").await?;
    assert_eq!(received(&world, "call_q").await?, answered(&[(DATABASE, "User did not respond within 2 seconds")]));
    assert_eq!(agent.finished().await?, "Done.");
    world.close().await
}

#[tokio::test]
async fn only_approved_commands_run() -> Result<()> {
    let world = World::new(ModelScript::turns([
        bash("call_1", "touch a.txt"),
        bash("call_2", "touch b.txt"),
        bash("call_3", "touch c.txt"),
        bash("call_4", "touch d.txt"),
    ]))
    .await?;
    let file = |name: &str| world.home.project().join(name).exists();
    let mut agent = world.start("opencode", "make files").await?;
    let asked = agent.asks().await?;
    let approval = asked.approval.as_ref().context("an approval")?;
    assert_eq!((approval.tool.as_str(), approval.action, approval.editable), ("bash", ActionKind::Run, false));
    assert_eq!(approval.command.as_deref(), Some("touch a.txt"));
    world.approve(&asked).await?;
    received(&world, "call_1").await?;
    assert!(file("a.txt"));

    let asked = agent.asks().await?;
    world.deny(&asked, "Not on this machine.", false).await?;
    let told = received(&world, "call_2").await?;
    assert!(told.contains("with the following feedback: Not on this machine."), "{told}");

    // The longer permission becomes a rule of Sayso, which allows the next command, and not a rule of OpenCode.
    let asked = agent.asks().await?;
    let choices = &asked.approval.as_ref().context("an approval")?.choices;
    assert_eq!(choices[0].label, "Allow `touch *` for a day (Sayso, OpenCode in this project)");
    world.client.approve(&asked.id, &ApproveRequest { choice: Some(choices[0].id.clone()), ..ApproveRequest::default() }).await?;
    agent.finished().await?;
    assert!(!file("b.txt") && file("c.txt") && file("d.txt"));
    assert_eq!(world.client.policy().await?.grants.len(), 1);
    world.close().await
}

#[tokio::test]
async fn parallel_sessions_receive_their_own_answers() -> Result<()> {
    let turns =
        |id: &str, text: &str| vec![ask(id, &[question(text, "H", false, &["yes", "no"])]), vec![ModelBlock::text("Done.")]];
    let world =
        World::new(ModelScript::by_word([("red", turns("call_red", "Red?")), ("blue", turns("call_blue", "Blue?"))])).await?;
    let mut red = world.start("opencode", "the red one").await?;
    // OpenCode creates its database at its first start, and two first starts at the same time would conflict.
    let asked_red = red.asks().await?;
    let mut blue = world.start("opencode", "the blue one").await?;
    let asked_blue = blue.asks().await?;
    world.answer(&asked_blue, &[&["no"]]).await?;
    world.answer(&asked_red, &[&["yes"]]).await?;
    assert_eq!(received(&world, "call_red").await?, answered(&[("Red?", "yes")]));
    assert_eq!(received(&world, "call_blue").await?, answered(&[("Blue?", "no")]));
    red.finished().await?;
    blue.finished().await?;
    world.close().await
}

/// A connection to OpenCode that can be cut. The address that OpenCode prints is replaced by the address of this
/// proxy.
struct Way {
    cut: watch::Sender<u64>,
    opened: watch::Receiver<u64>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Way {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Way {
    async fn new(script: ModelScript) -> Result<(World, Self)> {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let world = World::prepared(script, "", |home, config| {
            let (program, real) = (home.path().join("opencode.sh"), installed().opencode.display().to_string());
            std::fs::write(
                &program,
                format!(
                    "#!/bin/bash\nexec > >(while read -r line; do case \"$line\" in\n*'listening on http://127.0.0.1:'*) \
                     echo \"${{line##*:}}\" > \"$HOME/port\"; echo \"opencode server listening on http://127.0.0.1:{port}\";;\n\
                     *) echo \"$line\";; esac; done)\nexec {real} \"$@\"\n"
                ),
            )?;
            std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
            *config = config.replace(&format!("command = {real:?}"), &format!("command = {:?}", program.display().to_string()));
            Ok(())
        })
        .await?;
        let (cut, _) = watch::channel(0);
        let (count, opened) = watch::channel(0);
        let (target, cuts) = (world.home.path().join("port"), cut.clone());
        let task = tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                count.send_modify(|count| *count += 1);
                let (target, mut cut) = (target.clone(), cuts.subscribe());
                tokio::spawn(async move {
                    let port: u16 = std::fs::read_to_string(target).ok()?.trim().parse().ok()?;
                    let mut far = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.ok()?;
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut near, &mut far) => {}
                        _ = cut.changed() => {}
                    }
                    Some(())
                });
            }
        });
        Ok((world, Self { cut, opened, task }))
    }

    /// Cuts all current connections.
    fn cut(&mut self) {
        self.opened.mark_unchanged();
        self.cut.send_modify(|cut| *cut += 1);
    }
}

#[tokio::test]
async fn broken_stream_neither_loses_nor_repeats_asks() -> Result<()> {
    let second = ask("call_2", &[question(FEATURES, "Features", false, &["Auth", "Export"])]);
    let (world, mut way) = Way::new(ModelScript::turns([which_database(), second, vec![ModelBlock::text("Done.")]])).await?;
    let mut agent = world.start("opencode", "set up a database").await?;
    let asked = agent.asks().await?;
    way.cut();
    way.opened.changed().await?;
    world.answer(&asked, &[&["SQLite"]]).await?;
    assert_eq!(received(&world, "call_q").await?, answered(&[(DATABASE, "SQLite")]));
    way.cut();
    let asked = agent.asks().await?;
    assert_eq!(asked.questions[0].text, FEATURES);
    way.cut();
    way.opened.changed().await?;
    world.answer(&asked, &[&["Auth"]]).await?;
    assert_eq!(received(&world, "call_2").await?, answered(&[(FEATURES, "Auth")]));
    assert_eq!(agent.finished().await?, "Done.");
    let all = world.client.asks(&AskQuery::default()).await?.data;
    assert_eq!(all.len(), 2, "each request is one ask: {all:?}");
    world.close().await
}

#[tokio::test]
async fn pending_command_never_runs_after_an_interrupt() -> Result<()> {
    let world = World::new(ModelScript::turns([
        bash("call_1", "touch a.txt"),
        vec![ModelBlock::text("Here.")],
        vec![ModelBlock::text("Done.")],
    ]))
    .await?;
    let mut agent = world.start("opencode", "make a file").await?;
    let asked = agent.asks().await?;
    world.client.interrupt(agent.session()).await?;
    agent.watch().until("the withdrawal", |event| event.name() == "approval.resolved").await?;
    let late = world.approve(&asked).await.unwrap_err();
    assert!(format!("{late:#}").contains("already"), "{late:#}");
    let idle = |event: &sayso_client::api::event::FeedEvent| {
        event.name() == "session.status" && event.event.data_json().contains("idle")
    };
    agent.watch().until("the end of the turn", idle).await?;
    world.client.message(agent.session(), "go on", IfPending::Refuse).await?;
    world.model.wait_for("the next prompt", |record| record.request.last_user_text() == Some("go on")).await?;
    agent.finished().await?;
    assert_eq!(world.client.ask(&asked.id).await?.status, AskStatus::Withdrawn);
    assert!(!world.home.project().join("a.txt").exists(), "the command did not run");
    world.close().await
}

#[tokio::test]
async fn answer_is_delivered_as_a_message_after_a_resume() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let mut agent = world.start("opencode", "set up a database").await?;
    let asked = agent.asks().await?;
    kill_agent(&world)?;
    agent.watch().until("the question to be parked", |event| event.name() == "ask.parked").await?;
    let session = world.client.session(agent.session()).await?;
    assert!(session.status == SessionStatus::Failed && session.resumable, "{session:?}");
    world.answer(&asked, &[&["PostgreSQL"]]).await?;
    let record = world.model.wait_for("the follow-up", |record| {
        record.request.last_user_text().is_some_and(|text| text.contains(DATABASE) && text.contains("PostgreSQL"))
    });
    let record = record.await?;
    assert_eq!(record.request.messages.len(), 4, "the conversation is the same: {:?}", record.request.messages);
    world.close().await
}

#[tokio::test]
async fn answer_and_approval_reach_the_agent_after_a_server_kill() -> Result<()> {
    let mut world =
        World::new(ModelScript::turns([which_database(), bash("call_b", "touch a.txt"), vec![ModelBlock::text("Done.")]]))
            .await?;
    let mut agent = world.start("opencode", "set up a database").await?;
    let asked = agent.asks().await?;
    world.server.kill9().await?;
    world.server.start_again().await?;
    world.answer(&asked, &[&["PostgreSQL"]]).await?;
    assert_eq!(received(&world, "call_q").await?, answered(&[(DATABASE, "PostgreSQL")]));
    let asked = agent.asks().await?;
    world.server.kill9().await?;
    world.server.start_again().await?;
    world.approve(&asked).await?;
    received(&world, "call_b").await?;
    assert!(world.home.project().join("a.txt").exists());
    assert_eq!(agent.finished().await?, "Done.");
    assert_eq!(world.client.asks(&AskQuery::default()).await?.data.len(), 2, "no ask was opened twice");
    world.close().await
}

#[tokio::test]
async fn question_tool_is_disabled_when_the_policy_rejects_questions() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let reject = |new: &mut NewSession| new.policy = serde_json::from_value(json!({ "questions": "reject" })).ok();
    let mut agent = world.start_with("opencode", "set up a database", reject).await?;
    agent.finished().await?;
    let told = received(&world, "call_q").await?;
    assert!(told.contains("unavailable tool"), "{told}");
    assert!(world.client.pending_asks().await?.data.is_empty());
    world.close().await
}

/// Rules apply to sub-agents, and their asks belong to the session.
#[tokio::test]
async fn sub_agent_asks_before_it_runs_a_command() -> Result<()> {
    let turns = ModelScript::by_word([
        ("look around", vec![bash("call_b", "touch a.txt"), vec![ModelBlock::text("Looked.")]]),
        (
            "begin",
            vec![
                vec![ModelBlock::call(
                    "call_t",
                    "task",
                    json!({ "description": "helper", "prompt": "look around", "subagent_type": "general" }),
                )],
                vec![ModelBlock::text("Done.")],
            ],
        ),
    ]);
    let world = World::new(turns).await?;
    let mut agent = world.start("opencode", "begin").await?;
    let asked = agent.asks().await?;
    assert!(asked.subagent.as_deref().is_some_and(|name| name.contains("helper")), "{asked:?}");
    world.deny(&asked, "Not you.", false).await?;
    let told = received(&world, "call_b").await?;
    assert!(told.contains("Not you."), "{told}");
    assert_eq!(agent.finished().await?, "Done.");
    assert!(!world.home.project().join("a.txt").exists());
    world.close().await
}

/// The person's own OpenCode with the MCP server that `sayso connect opencode` configures.
#[tokio::test]
async fn answer_to_ask_user_reaches_the_model_of_a_connected_opencode() -> Result<()> {
    let options = json!([{ "label": "SQLite", "description": "a file" }, { "label": "PostgreSQL", "description": "a server" }]);
    let questions = json!([{ "question": DATABASE, "header": "Database", "options": options }]);
    let turn = vec![ModelBlock::call("call_q", "sayso_ask_user", json!({ "questions": questions }))];
    let world = World::new(script(turn)).await?;
    let environment = world.home.opencode(world.model.url())?;
    let mut connect = world.server.command()?;
    connect.current_dir(world.home.project()).args(["connect", "opencode", "--scope", "project", "--yes"]);
    let output = connect.output().await?;
    anyhow::ensure!(output.status.success(), "connect: {}", String::from_utf8_lossy(&output.stderr));
    let mut command = tokio::process::Command::new(&installed().opencode);
    command.env_clear().envs(environment).current_dir(world.home.project()).args(["run", "do it"]);
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped()).kill_on_drop(true);
    let child = command.spawn()?;
    let seen = || world.model.records().iter().map(|record| format!("{record}\n")).collect::<String>();
    let asked = world.pending().await.with_context(seen)?;
    assert_eq!((asked.agent.as_str(), asked.questions[0].text.as_str()), ("opencode", DATABASE));
    world.answer(&asked, &[&["PostgreSQL"]]).await?;
    let said: Value = serde_json::from_str(&received(&world, "call_q").await?)?;
    assert_eq!(said, json!({ "status": "answered", "answers": [["PostgreSQL"]] }));
    let output = within("OpenCode to end", async { Ok(child.wait_with_output().await?) }).await?;
    assert!(String::from_utf8_lossy(&output.stdout).contains("Done."), "{output:?}");
    world.close().await
}

#[tokio::test]
async fn agent_commands_have_no_token_that_can_decide() -> Result<()> {
    let world = World::new(script(bash("call_b", "env"))).await?;
    let mut agent = world.start("opencode", "look around").await?;
    let asked = agent.asks().await?;
    world.approve(&asked).await?;
    let environment = received(&world, "call_b").await?;
    assert!(environment.contains("SAYSO_AGENT_TOKEN=") && !environment.contains("SAYSO_TOKEN="), "{environment}");
    assert!(!environment.contains(world.server.token()), "the environment must not contain the person's token");
    agent.finished().await?;
    world.close().await
}
