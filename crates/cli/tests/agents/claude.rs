//! The real Claude Code.

use anyhow::{Context as _, Result};
use sayso_client::api::ask::{ActionKind, AnswerRequest, ApproveRequest, Ask, AskStatus, Delivery};
use sayso_client::api::session::{IfPending, NewSession, SessionStatus};
use sayso_testkit::models::{MessagePart, ModelBlock, ModelReply, ModelScript, ModelTurn};
use serde_json::{Value, json};

use crate::world::{World, until};

const DATABASE: &str = "Which database should we use?";
const FEATURES: &str = "Which features do you want?";

fn option(label: &str) -> Value {
    json!({ "label": label, "description": format!("the {label} one") })
}

fn question(text: &str, header: &str, multiple: bool, labels: [&str; 2]) -> Value {
    json!({ "question": text, "header": header, "multiSelect": multiple, "options": labels.map(option) })
}

fn which_database() -> ModelTurn {
    ask(&[question(DATABASE, "Database", false, ["SQLite", "PostgreSQL"])])
}

fn ask(questions: &[Value]) -> ModelTurn {
    vec![ModelBlock::text("I need to know."), ModelBlock::call("toolu_q", "AskUserQuestion", json!({ "questions": questions }))]
}

fn bash(id: &str, command: &str) -> ModelTurn {
    vec![ModelBlock::call(id, "Bash", json!({ "command": command, "description": "make a file" }))]
}

fn script(turn: ModelTurn) -> ModelScript {
    ModelScript::turns([turn, vec![ModelBlock::text("Done.")]])
}

/// Returns the result of a call as the model received it, and whether it was an error.
async fn received(world: &World, id: &str) -> Result<(String, bool)> {
    let result = world.model.result_of(id).await?;
    Ok((result.text, result.is_error))
}

#[tokio::test]
async fn answer_reaches_the_model() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let mut agent = world.start("claude", "set up a database").await?;
    let asked = agent.asks().await?;
    assert_eq!((asked.questions[0].text.as_str(), asked.questions[0].header.as_deref()), (DATABASE, Some("Database")));
    assert_eq!(asked.context.as_deref(), Some("I need to know."));
    world.answer(&asked, &[&["PostgreSQL"]]).await?;
    let told = received(&world, "toolu_q").await?;
    assert_eq!(
        told,
        (
            format!(
                "Your questions have been answered: \"{DATABASE}\"=\"PostgreSQL\". You can now continue with these answers in mind."
            ),
            false
        )
    );
    assert_eq!(agent.finished().await?, "Done.");
    assert_eq!(world.client.ask(&asked.id).await?.delivery, Some(Delivery::Confirmed));
    world.close().await
}

#[tokio::test]
async fn answers_to_several_questions_reach_the_model() -> Result<()> {
    let questions = [
        question(DATABASE, "Database", false, ["SQLite", "PostgreSQL"]),
        question(FEATURES, "Features", true, ["Auth", "Export"]),
        question("What should it be called?", "Name", false, ["alpha", "beta"]),
    ];
    let world = World::new(script(ask(&questions))).await?;
    let mut agent = world.start("claude", "set it up").await?;
    let asked = agent.asks().await?;
    assert!(asked.questions[1].multiple && asked.questions.iter().all(|question| question.custom));
    world.answer(&asked, &[&["SQLite"], &["Auth", "Export"], &["call it \"gamma\""]]).await?;
    let (told, failed) = received(&world, "toolu_q").await?;
    assert!(!failed);
    for pair in
        [format!("\"{DATABASE}\"=\"SQLite\""), format!("\"{FEATURES}\"=\"Auth, Export\""), "=\"call it \"gamma\"\"".to_owned()]
    {
        assert!(told.contains(&pair), "{told} has no {pair}");
    }
    agent.finished().await?;
    world.close().await
}

#[tokio::test]
async fn old_version_receives_an_answer_with_a_note() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let mut agent = world.start("claude-old", "set up a database").await?;
    let asked = agent.asks().await?;
    let answer = AnswerRequest { answers: vec![vec!["SQLite".to_owned()]], note: Some("only for the tests".to_owned()) };
    world.client.answer(&asked.id, &answer).await?;
    let (told, _) = received(&world, "toolu_q").await?;
    assert!(told.contains(&format!("\"{DATABASE}\"=\"SQLite\"")) && told.contains("only for the tests"), "{told}");
    agent.finished().await?;
    world.close().await
}

#[tokio::test]
async fn message_answers_the_open_question() -> Result<()> {
    let two = [
        question(DATABASE, "Database", false, ["SQLite", "PostgreSQL"]),
        question(FEATURES, "Features", true, ["Auth", "Export"]),
    ];
    let world = World::new(script(ask(&two))).await?;
    let mut agent = world.start("claude", "set it up").await?;
    agent.asks().await?;
    let accepted = world.client.message(agent.session(), "Let us talk about it first.", IfPending::Refuse).await?;
    assert!(accepted.answered.is_some());
    let (told, failed) = received(&world, "toolu_q").await?;
    assert!(!failed && told.contains("Let us talk about it first."), "{told}");
    agent.finished().await?;
    world.close().await
}

#[tokio::test]
async fn rejection_continues_with_the_reason_or_stops_the_turn() -> Result<()> {
    let world =
        World::new(ModelScript::turns([which_database(), which_database(), vec![ModelBlock::text("Never said.")]])).await?;
    let mut agent = world.start("claude", "set up a database").await?;
    let asked = agent.asks().await?;
    world.deny(&asked, "Decide yourself.", false).await?;
    assert_eq!(received(&world, "toolu_q").await?, ("Decide yourself.".to_owned(), true));
    let asked = agent.asks().await?;
    world.deny(&asked, "Enough.", true).await?;
    agent.finished().await?;
    let session = world.client.session(agent.session()).await?;
    assert_eq!(session.status, SessionStatus::Idle, "the session accepts the next message");
    assert_ne!(agent.last_message().await?, "Never said.");
    world.close().await
}

/// Scripts a model in plan mode: it writes the plan to the file from its instructions, then asks for approval.
fn planning() -> ModelScript {
    ModelScript::choose(|request| match request.step() {
        0 => {
            let text = request.messages.iter().flat_map(|message| &message.parts).filter_map(as_text).collect::<String>();
            let path = plan_file(&text).unwrap_or_else(|| panic!("no plan file is named in {text}"));
            ModelReply::call("toolu_w", "Write", json!({ "file_path": path, "content": "# Plan\n1. do it\n" }))
        }
        1 => ModelReply::call("toolu_p", "ExitPlanMode", json!({})),
        _ => ModelReply::text("Done."),
    })
}

fn as_text(part: &MessagePart) -> Option<&str> {
    match part {
        MessagePart::Text(text) => Some(text),
        MessagePart::ToolCall { .. } | MessagePart::ToolResult(_) | MessagePart::Other(_) => None,
    }
}

/// Finds the `….md` file below `.claude/plans` in the instructions.
fn plan_file(text: &str) -> Option<String> {
    let at = text.find(".claude/plans/")?;
    let start = text[..at].rfind(|c: char| c.is_whitespace() || "`\"'(".contains(c))? + 1;
    let end = at + text[at..].find(".md")? + 3;
    Some(text[start..end].to_owned())
}

async fn plan(world: &World) -> Result<(sayso_testkit::ScriptedAgent, Ask)> {
    let mut agent = world.start_with("claude", "make a plan", |new| new.permission_mode = Some("plan".to_owned())).await?;
    let asked = agent.asks().await?;
    let approval = asked.approval.as_ref().context("an approval")?;
    assert_eq!(approval.action, ActionKind::Plan);
    assert!(serde_json::to_string(&approval.preview)?.contains("1. do it"), "the plan is shown");
    Ok((agent, asked))
}

#[tokio::test]
async fn plan_is_approved_edited_or_denied() -> Result<()> {
    let world = World::new(planning()).await?;
    let (mut agent, asked) = plan(&world).await?;
    world.approve(&asked).await?;
    let (told, failed) = received(&world, "toolu_p").await?;
    assert!(!failed && told.contains("approved your plan") && told.contains("1. do it"), "{told}");
    agent.finished().await?;
    world.close().await?;

    let world = World::new(planning()).await?;
    let (mut agent, asked) = plan(&world).await?;
    let mut input = asked.approval.as_ref().context("an approval")?.input.clone();
    input["plan"] = json!("# Plan\n1. do it slowly\n");
    world.client.approve(&asked.id, &ApproveRequest { input: Some(input), ..ApproveRequest::default() }).await?;
    let (told, _) = received(&world, "toolu_p").await?;
    assert!(told.contains("edited by user") && told.contains("do it slowly"), "{told}");
    agent.finished().await?;
    world.close().await?;

    let world = World::new(planning()).await?;
    let (mut agent, asked) = plan(&world).await?;
    world.deny(&asked, "Too risky.", false).await?;
    assert_eq!(received(&world, "toolu_p").await?, ("Too risky.".to_owned(), true));
    agent.finished().await?;
    world.close().await
}

#[tokio::test]
async fn command_runs_as_approved_or_edited_and_not_when_denied() -> Result<()> {
    let world = World::new(ModelScript::turns([
        bash("toolu_1", "touch a.txt"),
        bash("toolu_2", "touch b.txt"),
        bash("toolu_3", "touch c.txt"),
    ]))
    .await?;
    let file = |name: &str| world.home.project().join(name).exists();
    let mut agent = world.start("claude", "make files").await?;
    let asked = agent.asks().await?;
    let approval = asked.approval.as_ref().context("an approval")?;
    assert_eq!((approval.tool.as_str(), approval.action), ("Bash", ActionKind::Run));
    assert!(serde_json::to_string(&approval.preview)?.contains("touch a.txt"));
    world.approve(&asked).await?;

    let asked = agent.asks().await?;
    let input = Some(json!({ "command": "touch edited.txt", "description": "another file" }));
    world.client.approve(&asked.id, &ApproveRequest { input, ..ApproveRequest::default() }).await?;

    let asked = agent.asks().await?;
    world.deny(&asked, "Not on this machine.", false).await?;
    agent.finished().await?;
    assert!(file("a.txt") && file("edited.txt") && !file("b.txt") && !file("c.txt"));
    assert_eq!(received(&world, "toolu_3").await?, ("Not on this machine.".to_owned(), true));
    world.close().await
}

#[tokio::test]
async fn always_allows_only_the_agents_suggestion() -> Result<()> {
    let world = World::new(ModelScript::turns([
        bash("toolu_1", "touch a.txt"),
        bash("toolu_2", "touch a.txt"),
        bash("toolu_3", "touch b.txt"),
    ]))
    .await?;
    let mut agent = world.start("claude", "make files").await?;
    let asked = agent.asks().await?;
    let choices = &asked.approval.as_ref().context("an approval")?.choices;
    let always = choices.iter().find(|choice| choice.label.contains("touch a.txt")).with_context(|| format!("{choices:?}"))?;
    world.client.approve(&asked.id, &ApproveRequest { choice: Some(always.id.clone()), ..ApproveRequest::default() }).await?;
    // The same command is not asked again, but another one is: the permission mode did not change.
    let asked = agent.asks().await?;
    assert!(serde_json::to_string(&asked.approval)?.contains("touch b.txt"), "{asked:?}");
    let settings = std::fs::read_to_string(world.home.project().join(".claude/settings.local.json"))?;
    assert!(settings.contains("Bash(touch a.txt)"), "{settings}");
    world.deny(&asked, "no", false).await?;
    agent.finished().await?;
    world.close().await
}

#[tokio::test]
async fn parallel_questions_are_answered_in_any_order() -> Result<()> {
    let call = |id: &str, text: &str| {
        ModelBlock::call(id, "AskUserQuestion", json!({ "questions": [question(text, "H", false, ["yes", "no"])] }))
    };
    let turn = vec![call("toolu_1", "First?"), call("toolu_2", "Second?")];
    let world = World::new(script(turn)).await?;
    let mut agent = world.start("claude", "ask twice").await?;
    let (one, two) = (agent.asks().await?, agent.asks().await?);
    world.answer(&two, &[&["no"]]).await?;
    world.answer(&one, &[&["yes"]]).await?;
    let mut told = vec![received(&world, "toolu_1").await?.0, received(&world, "toolu_2").await?.0];
    told.sort();
    assert!(told[0].contains("\"First?\"=\"yes\"") && told[1].contains("\"Second?\"=\"no\""), "{told:?}");
    agent.finished().await?;
    world.close().await
}

#[tokio::test]
async fn interrupt_withdraws_pending_asks_and_the_session_continues() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let mut agent = world.start("claude", "set up a database").await?;
    let asked = agent.asks().await?;
    world.client.interrupt(agent.session()).await?;
    agent.watch().until("the withdrawal", |event| event.name() == "question.resolved").await?;
    assert_eq!(world.client.ask(&asked.id).await?.status, AskStatus::Withdrawn);
    let late = world.answer(&asked, &[&["SQLite"]]).await.unwrap_err();
    assert!(format!("{late:#}").contains("already"), "{late:#}");
    agent.watch().until("the end of the turn", |event| event.name() == "session.status").await?;
    world.client.message(agent.session(), "go on", IfPending::Refuse).await?;
    world.model.wait_for("the next prompt", |record| record.request.last_user_text() == Some("go on")).await?;
    world.close().await
}

/// Kills the agent process. Its supervisor notices and reports it.
pub(crate) fn kill_agent(world: &World) -> Result<()> {
    let folder = sayso_testkit::agents::installed().dir.display().to_string();
    let home = format!("HOME={}", world.home.path().display());
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let ours = read("environ").split(|byte| *byte == 0).any(|variable| variable == home.as_bytes());
        if ours && read("cmdline").starts_with(folder.as_bytes()) {
            let pid = rustix::process::Pid::from_raw(pid).context("a process id")?;
            rustix::process::kill_process(pid, rustix::process::Signal::KILL)?;
        }
    }
    Ok(())
}

/// Waits until Claude has written its history, which happens shortly after it asks. Only written calls can be resumed.
async fn written_down(world: &World, call: &str) -> Result<()> {
    let projects = world.home.path().join(".claude/projects");
    let history = || -> Result<String> {
        let mut all = String::new();
        for project in std::fs::read_dir(&projects)?.flatten() {
            for file in std::fs::read_dir(project.path())?.flatten() {
                all += &std::fs::read_to_string(file.path()).unwrap_or_default();
            }
        }
        Ok(all)
    };
    let has_both = |history: String| history.contains(call) && history.contains(r#""role":"user""#);
    until("written down", || async { Ok(history().is_ok_and(has_both).then_some(())) }).await
}

#[tokio::test]
async fn answer_is_delivered_as_a_message_after_a_resume() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let mut agent = world.start("claude", "set up a database").await?;
    let asked = agent.asks().await?;
    written_down(&world, "toolu_q").await?;
    kill_agent(&world)?;
    agent.watch().until("the question to be parked", |event| event.name() == "ask.parked").await?;
    let session = world.client.session(agent.session()).await?;
    assert!(session.status == SessionStatus::Failed && session.resumable, "{session:?}");
    world.answer(&asked, &[&["PostgreSQL"]]).await?;
    let record = world.model.wait_for("the follow-up", |record| {
        record.request.last_user_text().is_some_and(|text| text.contains(DATABASE) && text.contains("PostgreSQL"))
    });
    record.await?;
    world.becomes(&asked, "delivered", |ask| ask.delivery == Some(Delivery::Delivered)).await?;
    world.close().await
}

/// Without its written history, the session cannot be resumed, and the person sees that the answer was not delivered.
#[tokio::test]
async fn answer_is_undeliverable_when_the_session_cannot_be_resumed() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let mut agent = world.start("claude-old", "set up a database").await?;
    let asked = agent.asks().await?;
    kill_agent(&world)?;
    agent.watch().until("the question to be parked", |event| event.name() == "ask.parked").await?;
    // Claude may or may not have written a history yet. Remove it, so that the result is the same in both cases.
    let _ = std::fs::remove_dir_all(world.home.path().join(".claude/projects"));
    // The session ended once after the kill. It ends again because it cannot be resumed.
    let ended = |event: &sayso_client::api::event::FeedEvent| event.name() == "session.ended";
    agent.watch().until("the first end", ended).await?;
    world.answer(&asked, &[&["PostgreSQL"]]).await?;
    agent.watch().until("the second end", ended).await?;
    let asked = world.client.ask(&asked.id).await?;
    assert_eq!(asked.delivery, Some(Delivery::Undeliverable), "{asked:?}");
    assert!(asked.delivery_reason.is_some_and(|reason| reason.contains("could not be resumed")));
    world.close().await
}

#[tokio::test]
async fn approval_is_withdrawn_when_the_agent_dies() -> Result<()> {
    let world = World::new(script(bash("toolu_b", "touch a.txt"))).await?;
    let mut agent = world.start("claude", "make a file").await?;
    let asked = agent.asks().await?;
    kill_agent(&world)?;
    agent.watch().until("the withdrawal", |event| event.name() == "approval.resolved").await?;
    assert_eq!(world.client.ask(&asked.id).await?.status, AskStatus::Withdrawn);
    assert!(world.approve(&asked).await.is_err());
    assert!(!world.home.project().join("a.txt").exists());
    world.close().await
}

#[tokio::test]
async fn answer_reaches_the_agent_after_a_server_kill() -> Result<()> {
    let mut world = World::new(script(which_database())).await?;
    let mut agent = world.start("claude", "set up a database").await?;
    let asked = agent.asks().await?;
    world.server.kill9().await?;
    world.server.start_again().await?;
    world.answer(&asked, &[&["PostgreSQL"]]).await?;
    let (told, failed) = received(&world, "toolu_q").await?;
    assert!(!failed && told.contains("PostgreSQL"), "{told}");
    assert_eq!(agent.finished().await?, "Done.");
    world.close().await
}

#[tokio::test]
async fn bypass_permissions_asks_questions_but_no_approvals() -> Result<()> {
    let world =
        World::new(ModelScript::turns([bash("toolu_b", "touch a.txt"), which_database(), vec![ModelBlock::text("Done.")]]))
            .await?;
    let bypass = |new: &mut NewSession| new.permission_mode = Some("bypassPermissions".to_owned());
    let mut agent = world.start_with("claude", "go", bypass).await?;
    let asked = agent.asks().await?;
    assert_eq!(asked.questions[0].text, DATABASE);
    assert!(world.home.project().join("a.txt").exists());
    world.answer(&asked, &[&["SQLite"]]).await?;
    assert_eq!(agent.finished().await?, "Done.");
    world.close().await
}

#[tokio::test]
async fn question_tool_is_disabled_when_the_policy_rejects_questions() -> Result<()> {
    let world = World::new(script(which_database())).await?;
    let reject = |new: &mut NewSession| new.policy = serde_json::from_value(json!({ "questions": "reject" })).ok();
    let mut agent = world.start_with("claude", "set up a database", reject).await?;
    agent.finished().await?;
    let (told, failed) = received(&world, "toolu_q").await?;
    assert!(failed && told.contains("No such tool"), "{told}");
    assert!(world.client.pending_asks().await?.data.is_empty());
    world.close().await
}

/// An agent that tries to approve itself: the policy asks a person, and the command decides nothing in an agent's
/// shell.
#[tokio::test]
async fn agent_cannot_approve_itself() -> Result<()> {
    let sayso = sayso_testkit::sayso_bin()?.display().to_string();
    let allow_all = "[[rules]]\nname = \"everything\"\ndo = \"allow\"\nrun = [\"*\"]\n[approvals]\npolicy = \"allow\"\n";
    let turns = ModelScript::choose(move |request| match request.step() {
        0 => ModelReply::call("toolu_1", "Bash", json!({ "command": format!("{sayso} approve --help") })),
        1 => ModelReply::call("toolu_2", "Bash", json!({ "command": "cat $SAYSO_DATA_DIR/token; ls -a ~/.local/state/sayso" })),
        2 => ModelReply::call("toolu_3", "Bash", json!({ "command": format!("env | grep ^SAYSO_ ; true") })),
        _ => ModelReply::text("Done."),
    });
    let world = World::with_policy(turns, allow_all).await?;
    let mut agent = world.start("claude", "approve yourself").await?;
    for command in ["approve", "token"] {
        let asked = agent.asks().await?;
        assert!(serde_json::to_string(&asked.approval)?.contains(command), "a person decides about {asked:?}");
        world.deny(&asked, "no", false).await?;
    }
    agent.finished().await?;
    let environment = world.model.result_of("toolu_3").await?.text;
    assert!(environment.contains("SAYSO_AGENT_TOKEN=") && !environment.contains("SAYSO_TOKEN="), "{environment}");
    assert!(!environment.contains(world.server.token()), "the environment must not contain the person's token");
    world.close().await
}
