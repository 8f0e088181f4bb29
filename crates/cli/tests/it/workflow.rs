//! `sayso workflow`: the trace and the prompt in a terminal, `check`, and runs that survive the server.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use sayso_client::Client;
use sayso_client::api::ask::{AnswerRequest, ShownAnswer};
use sayso_client::api::run::{NewRun, Run, RunStatus};
use sayso_client::api::session::SessionStatus;
use sayso_testkit::{PROGRAM, ServerProcess, TestServer, sayso_bin, within, write_config};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Person, ending};

fn example(name: &str) -> String {
    format!("{}/../../examples/workflows/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

fn new_run(steps: Value) -> NewRun {
    NewRun {
        workflow: json!({ "name": "test", "steps": steps }),
        input: std::collections::BTreeMap::new(),
        directory: None,
        labels: std::collections::BTreeMap::new(),
        environment: None,
    }
}

async fn run_when(client: &Client, id: &str, what: &str, holds: impl Fn(&Run) -> bool) -> Result<Run> {
    within(what, async {
        loop {
            let run = client.run(id).await?;
            if holds(&run) {
                return Ok(run);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
}

#[tokio::test]
async fn workflow_runs_and_is_answered_in_the_terminal() -> Result<()> {
    let person = Person::new().await?;
    let file = example("feature");
    let mut pty = person.terminal(&["workflow", "run", &file, "--input", "topic=a health check"])?;
    pty.expect("explore: agent asks: Database").await?;
    pty.expect("Select [1-2").await?;
    pty.line("1").await?;
    pty.expect("explore: answered: SQLite (you, terminal)").await?;
    pty.expect("plan: agent asks: Database").await?;
    pty.expect("Select [1-2").await?;
    pty.line("2").await?;
    pty.expect("plan: answered: PostgreSQL (you, terminal)").await?;
    pty.expect("Build this? You answered: PostgreSQL.").await?;
    pty.expect("Select [1-2").await?;
    pty.line("1").await?;
    pty.expect("verify: done:").await?;
    pty.expect("The run completed.").await?;
    crate::support::ends_well(&mut pty).await?;
    let listed = person.json(&["workflow", "list", "--all"]).await?;
    assert_eq!((&listed["data"][0]["workflow"], &listed["data"][0]["status"]), (&json!("feature"), &json!("completed")));
    Ok(())
}

/// Two parallel steps that ask at the same time, each with a deadline.
fn parallel_questions(person: &Person) -> Result<String> {
    let member = |id: &str, prompt: &str| {
        format!(
            "[[steps.parallel]]\nid = \"{id}\"\nagent = \"mock\"\nprompt = \"{prompt}\"\nquestions = \"forward\"\n\
             question_timeout = \"10m\"\n"
        )
    };
    let file = person.path("parallel.toml").to_string_lossy().into_owned();
    let steps = [member("one", "question"), member("two", "question")].concat();
    std::fs::write(&file, format!("name = \"both\"\n[[steps]]\nid = \"both\"\n{steps}"))?;
    Ok(file)
}

/// While one question is open, the other is printed completely, with its deadline and consequence.
#[tokio::test]
async fn pending_questions_and_trace_are_printed_above_an_open_prompt() -> Result<()> {
    let person = Person::new().await?;
    let file = parallel_questions(&person)?;
    let mut pty = person.terminal(&["workflow", "run", &file])?;
    let both = |seen: &str| {
        let asked = seen.matches("Which database should this feature use?").count() == 2;
        asked && seen.contains("1 more pending (first option in 9:5") && seen.contains("First option in 9:5")
    };
    let seen = pty.shows_that("both questions with their deadlines", both).await?;
    assert!(seen.contains("Decide it with: sayso answer "), "{seen}");
    // Another person answers the question that is not open. This is printed above the prompt, which stays open.
    let asks = person.client()?.pending_asks().await?.data;
    let (open, behind) = match asks.as_slice() {
        [a, b] if seen.contains(&format!("sayso answer {}", ending(&a.id))) => (b, a),
        [a, b] => (a, b),
        other => anyhow::bail!("{other:?}"),
    };
    // The text that was typed so far is kept.
    pty.send("Duck").await?;
    pty.shows("type your own]: Duck").await?;
    let answers = AnswerRequest { answers: vec![vec!["PostgreSQL".to_owned()]], note: None };
    person.client()?.answer(&behind.id, &answers).await?;
    let step = behind.step_id.as_deref().context("no step")?;
    let done = format!("   {step}: done: You answered: PostgreSQL.");
    let told =
        |seen: &str| seen.contains(&done) && seen.trim_end().ends_with("type your own]: Duck") && !seen.contains("more pending");
    pty.shows_that("the trace above the prompt", told).await?;
    pty.line("DB").await?;
    pty.expect("The run completed.").await?;
    crate::support::ends_well(&mut pty).await?;
    let answered = person.client()?.ask(&open.id).await?.outcome.context("no outcome")?;
    assert_eq!(answered.answers, Some(vec![ShownAnswer::Entries(vec!["DuckDB".to_owned()])]));
    Ok(())
}

#[tokio::test]
async fn prompt_rejects_a_question_with_a_reason() -> Result<()> {
    let person = Person::new().await?;
    let file = person.path("ask.toml").to_string_lossy().into_owned();
    let text = "name = \"ask\"\n[[steps]]\nid = \"a\"\nagent = \"mock\"\nprompt = \"question\"\nquestions = \"forward\"\nquestion_timeout = \"10m\"\n";
    std::fs::write(&file, text)?;
    let mut pty = person.terminal(&["workflow", "run", &file])?;
    pty.expect("First option in ").await?;
    pty.expect("Select [1-2").await?;
    let ask = person.pending().await?;
    pty.line("/help").await?;
    pty.expect("/reject [reason]  reject the question; the agent sees your reason").await?;
    pty.expect("Select [1-2").await?;
    pty.line("/reject use the old one").await?;
    pty.expect("a: rejected (you, terminal)").await?;
    let outcome = person.client()?.ask(&ask.id).await?.outcome.context("no outcome")?;
    assert!(outcome.message.as_deref().is_some_and(|message| message.contains("use the old one")), "{outcome:?}");
    Ok(())
}

#[tokio::test]
async fn other_examples_complete() -> Result<()> {
    let person = Person::new().await?;
    for (name, last) in [("review", "summary"), ("unattended", "report")] {
        let file = example(name);
        let out = person.ok(&["workflow", "run", &file]).await?;
        ensure!(out.contains(&format!("{last}: done")) && out.contains("The run completed."), "{out}");
    }
    let runs = person.json(&["workflow", "list", "--all"]).await?;
    let unattended = &runs["data"][0];
    ensure!(unattended["outputs"]["update"] == "You answered: SQLite.", "a rule answers: {unattended}");
    Ok(())
}

#[tokio::test]
async fn check_reports_positions_of_errors_or_describes_each_step() -> Result<()> {
    let person = Person::without_server()?;
    let file = example("feature");
    let out = person.ok(&["workflow", "check", &file]).await?;
    for line in [
        "feature is valid.",
        "Input topic: required",
        "verify (agent mock)",
        "  On a question: a person answers.",
        "  Without an answer: after 30 seconds the first option of every question is taken (the default).",
    ] {
        ensure!(out.lines().any(|said| said == line), "{line} is not in:\n{out}");
    }
    let bad = person.path("bad.toml");
    let text =
        "name = \"bad\"\n[[steps]]\nid = \"a\"\nagent = \"claud\"\nprompt = \"{{steps.b.output}}\"\nquestion_timeout = \"30s\"\n";
    std::fs::write(&bad, text)?;
    let path = bad.to_string_lossy().into_owned();
    for command in [&["workflow", "check", &path][..], &["workflow", "run", &path]] {
        let ran = person.run(command).await?;
        ensure!(ran.code == Some(1), "{ran:?}");
        ensure!(ran.err.contains("bad.toml:5:1: steps[0].prompt: {{steps.b.output}}: there is no step `b`"), "{ran:?}");
        ensure!(ran.err.contains("bad.toml:6:1: steps[0].question_timeout: only forwarded questions wait"), "{ran:?}");
    }
    let ran = person.run(&["workflow", "check", &path]).await?;
    ensure!(ran.err.contains("bad.toml:4:1: steps[0].agent: there is no agent `claud`"), "{ran:?}");
    Ok(())
}

#[tokio::test]
async fn runs_are_shown_and_cancelled_and_failures_have_an_exit_code() -> Result<()> {
    let person = Person::new().await?;
    let file = person.path("ask.toml").to_string_lossy().into_owned();
    let text = "name = \"ask\"\n[[steps]]\nid = \"a\"\nagent = \"mock\"\nprompt = \"question\"\nquestions = \"forward\"\n";
    std::fs::write(&file, text)?;
    let id = person.ok(&["workflow", "run", &file, "--detach"]).await?;
    run_when(&person.client()?, &id, "the question", |run| run.pending == 1).await?;
    let shown = person.ok(&["workflow", "show", ending(&id)]).await?;
    ensure!(shown.contains("waiting for you") && shown.contains("? a asks: Database."), "{shown}");
    ensure!(person.ok(&["workflow", "list"]).await?.contains("waiting for you"));
    person.ok(&["workflow", "cancel", ending(&id)]).await?;
    let ran = person.run(&["workflow", "cancel", ending(&id)]).await?;
    ensure!(ran.code == Some(1) && ran.err.contains("has ended"), "{ran:?}");

    let text = "name = \"crash\"\n[[steps]]\nid = \"a\"\nagent = \"mock\"\nprompt = \"crash\"\nquestions = \"forward\"\n";
    std::fs::write(&file, text)?;
    let ran = person.run(&["workflow", "run", &file]).await?;
    ensure!(ran.code == Some(1) && ran.err.starts_with("The run failed: a: the agent has ended"), "{ran:?}");
    ensure!(person.client()?.pending_asks().await?.data.is_empty(), "asks of an ended run are not pending");
    Ok(())
}

/// A server process with the mock as a program.
async fn killable() -> Result<(ServerProcess, TempDir)> {
    let dir = TempDir::with_prefix("sayso-workflow-")?;
    write_config(dir.path(), "")?;
    Ok((ServerProcess::start(dir.path()).await?, dir))
}

// After a restart, the agent process continues under its supervisor.
#[tokio::test]
async fn step_and_its_agent_continue_after_a_server_kill() -> Result<()> {
    let (mut server, _dir) = killable().await?;
    let client = server.client()?;
    let steps = json!([
        { "id": "a", "agent": PROGRAM, "prompt": "hello" },
        { "id": "b", "agent": PROGRAM, "prompt": "question", "questions": "forward" },
        { "id": "c", "agent": PROGRAM, "prompt": "{{steps.a.output}} {{steps.b.output}}" },
    ]);
    let run = client.start_run(&new_run(steps)).await?.id;
    let before = run_when(&client, &run, "the question", |run| run.pending_questions.len() == 1).await?;
    server.kill9().await?;
    server.start_again().await?;
    let after = run_when(&client, &run, "the question again", |run| run.pending_questions.len() == 1).await?;
    assert_eq!((&after.steps, &after.pending_questions), (&before.steps, &before.pending_questions));
    client.answer_question(&run, &after.pending_questions[0].id, vec![vec!["SQLite".to_owned()]]).await?;
    let done = run_when(&client, &run, "the end", |run| run.status.is_over()).await?;
    assert_eq!((done.status, done.outputs["c"].as_str()), (RunStatus::Completed, "hello You answered: SQLite."));
    ensure!(done.steps.iter().all(|step| step.attempts == 1), "{done:?}");
    client.stop_agents().await?;
    Ok(())
}

#[tokio::test]
async fn checkpoint_stays_pending_after_a_server_kill() -> Result<()> {
    let (mut server, _dir) = killable().await?;
    let client = server.client()?;
    let steps = json!([
        { "id": "a", "agent": "mock", "prompt": "hello" },
        { "id": "ok", "checkpoint": { "question": "Go on?", "input": "yes-no" } },
        { "id": "b", "agent": "mock", "prompt": "Said {{steps.ok.output}}" },
    ]);
    let run = client.start_run(&new_run(steps)).await?.id;
    let before = run_when(&client, &run, "the checkpoint", |run| run.pending_checkpoints.len() == 1).await?;
    server.kill9().await?;
    server.start_again().await?;
    let after = client.run(&run).await?;
    assert_eq!((&after.steps, &after.pending_checkpoints), (&before.steps, &before.pending_checkpoints));
    client.answer_question(&run, &after.pending_checkpoints[0], vec![vec!["yes".to_owned()]]).await?;
    let done = run_when(&client, &run, "the end", |run| run.status.is_over()).await?;
    assert_eq!((done.status, done.outputs["b"].as_str()), (RunStatus::Completed, "Said true"));
    Ok(())
}

/// Lists the processes of a server's agents, with their supervisors.
fn agents_of(dir: &TempDir) -> Result<Vec<i32>> {
    let ours = dir.path().display().to_string();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        if command.contains(" supervise ") && command.contains(&ours) {
            found.push(pid);
        }
    }
    Ok(found)
}

// If the agent died, `if_agent_dies` decides whether the step is retried or fails.
#[tokio::test]
async fn step_of_a_dead_agent_is_retried_or_fails_after_a_restart() -> Result<()> {
    for (dies, attempts) in [("retry", 2), ("fail", 1)] {
        let (mut server, dir) = killable().await?;
        let client = server.client()?;
        let step = json!({ "id": "a", "agent": PROGRAM, "prompt": "question", "questions": "forward", "if_agent_dies": dies });
        let run = client.start_run(&new_run(json!([step]))).await?.id;
        let before = run_when(&client, &run, "the question", |run| run.pending_questions.len() == 1).await?;
        server.kill9().await?;
        let supervisors = agents_of(&dir)?;
        ensure!(!supervisors.is_empty(), "there is no supervisor to kill");
        for pid in supervisors {
            // Killing the supervisor also ends the agent in its process group, as when a machine stops.
            let pid = rustix::process::Pid::from_raw(pid).context("no process")?;
            rustix::process::kill_process(pid, rustix::process::Signal::KILL)?;
        }
        server.start_again().await?;
        if dies == "fail" {
            let failed = run_when(&client, &run, "the end", |run| run.status.is_over()).await?;
            assert_eq!((failed.status, failed.pending), (RunStatus::Failed, 0));
        } else {
            let again = run_when(&client, &run, "another question", |run| {
                run.pending_questions.first().is_some_and(|question| question.id != before.pending_questions[0].id)
            });
            let again = again.await?;
            assert_eq!(again.steps[0].attempts, attempts);
            client.answer_question(&run, &again.pending_questions[0].id, vec![vec!["SQLite".to_owned()]]).await?;
            run_when(&client, &run, "the end", |run| run.status == RunStatus::Completed).await?;
        }
        client.stop_agents().await?;
    }
    Ok(())
}

// The stale timer stops while a question is pending and restarts after the answer.
#[tokio::test]
async fn stale_timer_stops_while_a_question_is_pending_and_restarts() -> Result<()> {
    // The agent asks, and sends nothing after the answer.
    let text = r#"
        answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
        while read -r line; do
            id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
            case "$line" in
            *'"initialize"'*) answer "$id" '{"protocolVersion":1,"agentCapabilities":{}}';;
            *session/new*) answer "$id" '{"sessionId":"s"}';;
            *session/prompt*) printf '{"jsonrpc":"2.0","id":900,"method":"_sandboxagent/session/request_question","params":{"sessionId":"s","prompt":"Which?","options":[["a","A"],["b","B"]]}}\n';;
            esac
        done"#;
    let config = format!("[agents.quiet]\ncommand = \"sh\"\nargs = [\"-c\", '''{text}''']\nstale_after = \"1m\"\n");
    let mut clock = None;
    let supervisor = sayso_bin()?;
    let server = TestServer::with(|setup| {
        clock = Some(setup.fake_clock());
        setup.config = Some(config);
        setup.options.supervisor = supervisor;
    })
    .await?;
    let clock = clock.context("no clock")?;
    let client = server.client();
    let step = json!({ "id": "a", "agent": "quiet", "prompt": "go", "questions": "forward" });
    let run = client.start_run(&new_run(json!([step]))).await?.id;
    let waiting = run_when(&client, &run, "the question", |run| run.pending_questions.len() == 1).await?;
    let question = waiting.pending_questions[0].clone();
    let mut watch = server.watch().await?;
    clock.advance(Duration::from_secs(3_600));
    // If the timer were running, it would fire before the next event.
    assert_eq!(client.session(&question.session_id).await?.status, SessionStatus::Waiting);
    client.answer_question(&run, &question.id, vec![vec!["A".to_owned()]]).await?;
    let delivered = watch.until("the answer to arrive, not a stall", |event| {
        event.name() == "ask.delivery" || event.event.data_json().contains("stalled")
    });
    assert_eq!(delivered.await?.name(), "ask.delivery");
    clock.advance(Duration::from_secs(59));
    assert_eq!(client.session(&question.session_id).await?.status, SessionStatus::Running);
    clock.advance(Duration::from_secs(2));
    watch.until("the agent to count as stalled", |event| event.event.data_json().contains("stalled")).await?;
    client.cancel_run(&run).await?;
    client.stop_agents().await?;
    Ok(())
}
