//! `sayso hook`: agents never see failures of the hook, and nothing is approved by accident.

use std::process::Stdio;

use anyhow::{Context as _, Result};
use rustix::process::{Pid, Signal, kill_process};
use sayso_client::Client;
use sayso_client::api::ask::{AnswerRequest, ApproveRequest, Ask, AskQuery, AskStatus};
use sayso_testkit::PATIENCE;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};

use crate::gate::Gate;
use crate::support::{Person, Ran};

async fn connected(policy: &str) -> Result<Person> {
    let person = Person::with_policy(policy).await?;
    person.ok(&["connect", "claude", "--yes"]).await?;
    Ok(person)
}

fn bash(session: &str, command: &str) -> Value {
    json!({
        "session_id": session, "cwd": "/tmp", "permission_mode": "default",
        "hook_event_name": "PermissionRequest", "tool_name": "Bash",
        "tool_input": { "command": command, "description": "try" },
    })
}

fn after(event: &str, call: &Value) -> Value {
    let mut told = call.clone();
    told["hook_event_name"] = json!(event);
    told
}

/// Starts a hook with this input and leaves it running.
async fn hook(person: &Person, told: &Value) -> Result<Child> {
    hook_as(person.command(&["hook", "claude"]), told).await
}

async fn hook_as(mut command: Command, told: &Value) -> Result<Child> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    child.stdin.take().context("no standard input")?.write_all(told.to_string().as_bytes()).await?;
    Ok(child)
}

/// Returns the output of a hook, which must succeed and must not print errors.
async fn hook_output(child: Child) -> Result<String> {
    let output = tokio::time::timeout(PATIENCE, child.wait_with_output()).await??;
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    Ok(String::from_utf8(output.stdout)?)
}

async fn run_hook(person: &Person, told: &Value) -> Result<String> {
    hook_output(hook(person, told).await?).await
}

fn silent(ran: &Ran) {
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
}

fn behaviour(said: &str) -> Result<String> {
    let said: Value = serde_json::from_str(said).with_context(|| format!("{said:?}"))?;
    Ok(said["hookSpecificOutput"]["decision"]["behavior"].as_str().unwrap_or_default().to_owned())
}

/// Waits until this many asks are pending.
async fn pending(client: &Client, count: usize) -> Result<Vec<Ask>> {
    let end = tokio::time::Instant::now() + PATIENCE;
    loop {
        let data = client.pending_asks().await?.data;
        if data.len() == count {
            return Ok(data);
        }
        anyhow::ensure!(tokio::time::Instant::now() < end, "{} are pending, not {count}", data.len());
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn unexpected_input_is_left_to_the_terminal() -> Result<()> {
    let person = connected("[approvals]\npolicy = \"allow\"\n").await?;
    let without = |field: &str| {
        let mut told = bash("s", "ls");
        told.as_object_mut().unwrap().remove(field);
        told.to_string()
    };
    let mut wrong: Vec<String> = ["", "{", "null", "[]", "\u{0}"].map(str::to_owned).to_vec();
    wrong.extend(["session_id", "cwd", "tool_name", "tool_input", "hook_event_name"].map(without));
    wrong.extend(["Notification", "PreToolUse", "SomethingNew"].map(|event| after(event, &bash("s", "ls")).to_string()));
    for told in &wrong {
        silent(&person.run_with_input(&["hook", "claude"], told).await?);
        silent(&person.run_with_input(&["hook", "codex"], told).await?);
    }
    // Agents also run hooks with wrong arguments. A failure would count as a denial.
    for args in [&["hook"][..], &["hook", "nobody"], &["hook", "claude", "--nonsense"], &["hook", "codex", "--hold", "soon"]] {
        silent(&person.run_with_input(args, &bash("s", "ls").to_string()).await?);
    }
    assert!(person.client()?.asks(&AskQuery::default()).await?.data.is_empty());
    Ok(())
}

#[tokio::test]
async fn overlong_input_is_left_to_the_terminal() -> Result<()> {
    let person = connected("[approvals]\npolicy = \"allow\"\n").await?;
    for size in [5, 20] {
        let told = bash("s", &"x".repeat(size * 1024 * 1024));
        let mut command = person.command(&["hook", "claude"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        // The hook may stop reading before the end.
        let _ = child.stdin.take().context("no standard input")?.write_all(told.to_string().as_bytes()).await;
        assert_eq!(hook_output(child).await?, "", "{size} MiB");
    }
    assert!(person.client()?.asks(&AskQuery::default()).await?.data.is_empty());
    Ok(())
}

#[tokio::test]
async fn hook_prints_nothing_without_server_or_valid_token() -> Result<()> {
    let person = Person::without_server()?;
    silent(&person.run_with_input(&["hook", "claude"], &bash("s", "ls").to_string()).await?);

    let person = connected("[approvals]\npolicy = \"allow\"\n").await?;
    let told = bash("s", "ls");
    assert_eq!(behaviour(&run_hook(&person, &told).await?)?, "allow");
    let mut started_by_us = person.command(&["hook", "claude"]);
    started_by_us.env("SAYSO_AGENT_TOKEN", "x");
    assert_eq!(hook_output(hook_as(started_by_us, &told).await?).await?, "", "this agent asks over its own protocol");
    let mut elsewhere = person.command(&["hook", "claude"]);
    elsewhere.env("SAYSO_URL", "http://127.0.0.1:1");
    assert_eq!(hook_output(hook_as(elsewhere, &told).await?).await?, "");

    let token = person.data_dir().join("agent-token-claude");
    std::fs::write(&token, "wrong")?;
    assert_eq!(run_hook(&person, &told).await?, "");
    std::fs::remove_file(&token)?;
    assert_eq!(run_hook(&person, &told).await?, "", "the person's own token is not used");
    Ok(())
}

#[tokio::test]
async fn hook_token_cannot_decide() -> Result<()> {
    let person = connected("").await?;
    let waiting = hook(&person, &bash("s", "ls")).await?;
    let ask = pending(&person.client()?, 1).await?.remove(0);
    let token = std::fs::read_to_string(person.data_dir().join("agent-token-claude"))?;
    let agent = Client::new(person.client()?.url(), token.trim())?;
    assert_eq!(agent.ask(&ask.id).await?.status, AskStatus::Pending, "the token can read its own asks");
    assert!(agent.approve(&ask.id, &ApproveRequest::default()).await.is_err());
    assert!(agent.answer(&ask.id, &AnswerRequest::default()).await.is_err());
    assert!(agent.tokens().await.is_err() && agent.policy().await.is_err());
    assert_eq!(person.client()?.ask(&ask.id).await?.status, AskStatus::Pending);
    person.client()?.approve(&ask.id, &ApproveRequest::default()).await?;
    assert_eq!(behaviour(&hook_output(waiting).await?)?, "allow");
    Ok(())
}

#[tokio::test]
async fn two_hooks_for_one_question_share_one_ask() -> Result<()> {
    let person = connected("").await?;
    let told = bash("s", "ls");
    let one = hook(&person, &told).await?;
    let mut command = person.command(&["hook", "claude"]);
    command.arg0("another/way/to/sayso");
    let two = hook_as(command, &told).await?;
    let ask = pending(&person.client()?, 1).await?.remove(0);
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    assert_eq!(pending(&person.client()?, 1).await?[0].id, ask.id);
    person.client()?.approve(&ask.id, &ApproveRequest::default()).await?;
    assert_eq!(
        (behaviour(&hook_output(one).await?)?, behaviour(&hook_output(two).await?)?),
        ("allow".to_owned(), "allow".to_owned())
    );
    Ok(())
}

#[tokio::test]
async fn equal_calls_are_decided_separately() -> Result<()> {
    let person = connected("").await?;
    let client = person.client()?;
    let told = bash("s", "ls");
    let one = hook(&person, &told).await?;
    pending(&client, 1).await?;
    let two = hook(&person, &told).await?;
    let asks = pending(&client, 2).await?;
    client.approve(&asks[0].id, &ApproveRequest::default()).await?;
    assert_eq!(behaviour(&hook_output(one).await?)?, "allow");
    // The first call ran. The other one is still pending.
    assert_eq!(run_hook(&person, &after("PostToolUse", &told)).await?, "");
    assert_eq!(client.ask(&asks[1].id).await?.status, AskStatus::Pending);
    // The other call was decided in the terminal, and ran.
    assert_eq!(run_hook(&person, &after("PostToolUse", &told)).await?, "");
    assert_eq!(hook_output(two).await?, "");
    assert_eq!(client.ask(&asks[1].id).await?.status, AskStatus::Withdrawn);
    Ok(())
}

#[tokio::test]
async fn ask_ends_when_the_terminal_decides() -> Result<()> {
    let person = connected("").await?;
    let client = person.client()?;
    for event in ["PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "SessionEnd"] {
        let told = bash("s", "ls");
        let (waiting, other) = (hook(&person, &told).await?, hook(&person, &bash("other", "ls")).await?);
        let asks = pending(&client, 2).await?;
        assert_eq!(run_hook(&person, &after(event, &told)).await?, "", "{event}");
        assert_eq!(hook_output(waiting).await?, "", "{event}");
        let left = pending(&client, 1).await?.remove(0);
        assert_ne!(left.session_id, asks.iter().find(|ask| ask.id != left.id).unwrap().session_id);
        run_hook(&person, &after("SessionEnd", &bash("other", "ls"))).await?;
        assert_eq!(hook_output(other).await?, "");
        pending(&client, 0).await?;
    }
    Ok(())
}

#[tokio::test]
async fn ended_hook_withdraws_its_ask() -> Result<()> {
    let person = connected("").await?;
    let client = person.client()?;
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let mut command = person.command(&["hook", "claude"]);
        command.env("TMUX_PANE", "%3");
        let waiting = hook_as(command, &bash("s", "ls")).await?;
        let ask = pending(&client, 1).await?.remove(0);
        assert_eq!(ask.labels["tmuxPane"], "%3");
        let pid = waiting.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)).context("the hook runs")?;
        kill_process(pid, signal)?;
        assert_eq!(hook_output(waiting).await?, "");
        let outcome = client.ask(&ask.id).await?.outcome.context("an outcome")?;
        assert!(outcome.message.is_some_and(|why| why.contains("answer it in its terminal (tmux pane %3)")), "{signal:?}");
    }
    // The agent died, so the output of the hook has no reader.
    let mut waiting = hook(&person, &bash("s", "ls")).await?;
    let ask = pending(&client, 1).await?.remove(0);
    drop(waiting.stdout.take());
    waiting.wait().await?;
    assert_eq!(client.ask(&ask.id).await?.status, AskStatus::Withdrawn);
    // The hook itself was killed.
    let mut waiting = hook(&person, &bash("s", "ls")).await?;
    pending(&client, 1).await?;
    waiting.kill().await?;
    pending(&client, 0).await?;
    Ok(())
}

#[tokio::test]
async fn ask_is_opened_after_the_server_returns() -> Result<()> {
    let mut person = connected("").await?;
    let gate = Gate::before(&person.server_file()?.url).await?;
    let mut command = person.command(&["hook", "claude"]);
    command.env("SAYSO_URL", &gate.url);
    let waiting = hook_as(command, &bash("s", "ls")).await?;
    // The hook first asks for a decision of the rules.
    gate.reached().await?;
    gate.lets_pass();
    gate.reached().await?;
    let server = person.server.as_mut().context("a server")?;
    server.kill9().await?;
    gate.lets_pass();
    // More attempts than one request makes.
    gate.turned_away(8).await?;
    server.start_again().await?;
    gate.reached().await?;
    gate.lets_pass();
    let client = person.client()?;
    let ask = pending(&client, 1).await?.remove(0);
    client.approve(&ask.id, &ApproveRequest::default()).await?;
    assert_eq!(behaviour(&hook_output(waiting).await?)?, "allow");
    Ok(())
}

#[tokio::test]
async fn context_and_title_come_from_the_transcript() -> Result<()> {
    let person = connected("").await?;
    let transcript = person.path("t.jsonl");
    std::fs::write(
        &transcript,
        concat!(
            r#"{"type":"user","message":{"content":"fix the tests"}}"#,
            "\n",
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I will look first."},{"type":"tool_use","name":"Bash"}]}}"#,
            "\n"
        ),
    )?;
    let mut told = bash("s", "ls");
    told["transcript_path"] = json!(transcript);
    told["agent_id"] = json!("a1");
    told["agent_type"] = json!("Explore");
    let waiting = hook(&person, &told).await?;
    let ask = pending(&person.client()?, 1).await?.remove(0);
    assert_eq!(
        (ask.title.as_str(), ask.context.as_deref(), ask.subagent.as_deref()),
        ("fix the tests", Some("I will look first."), Some("Explore"))
    );
    drop(waiting);
    Ok(())
}

#[tokio::test]
async fn codex_hook_applies_rules_and_leaves_other_asks() -> Result<()> {
    let rules = "[[rules]]\ndo = \"allow\"\nrun = [\"git status\"]\n[[rules]]\ndo = \"deny\"\nrun = [\"rm *\"]\n";
    let person = connected(rules).await?;
    person.ok(&["connect", "codex", "--yes"]).await?;
    let client = person.client()?;
    let codex = |command: &str| {
        let mut told = bash("t-1", command);
        told["turn_id"] = json!("u");
        told.to_string()
    };
    let decided = person.run_with_input(&["hook", "codex"], &codex("git status")).await?;
    assert_eq!(decided.out, r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#);
    let denied = person.run_with_input(&["hook", "codex"], &codex("rm x")).await?;
    assert_eq!(behaviour(&denied.out)?, "deny");
    silent(&person.run_with_input(&["hook", "codex"], &codex("touch x")).await?);
    pending(&client, 0).await?;

    // With `--hold`, the hook waits for an answer. After that, Codex asks itself and the ask is withdrawn.
    let held = hook_as(person.command(&["hook", "codex", "--hold", "20s"]), &serde_json::from_str(&codex("touch x"))?).await?;
    let ask = pending(&client, 1).await?.remove(0);
    assert_eq!(ask.agent, "codex");
    client.approve(&ask.id, &ApproveRequest::default()).await?;
    assert_eq!(behaviour(&hook_output(held).await?)?, "allow");
    silent(&person.run_with_input(&["hook", "codex", "--hold", "1s"], &codex("touch y")).await?);
    pending(&client, 0).await?;
    Ok(())
}
