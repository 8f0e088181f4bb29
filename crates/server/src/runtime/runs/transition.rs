//! What follows from what happened in a run, as one transaction.

use std::collections::VecDeque;
use std::path::PathBuf;

use sayso_agents::translator::Command;
use sayso_api::run::{RunNews as ApiRunNews, RunStep, StepNews};
use sayso_api::session::Session as ApiSession;
use sayso_core::ask::{Ask, AskBody, AskContext, AskState, Origin, PolicyNote, Question, Reach};
use sayso_core::connection::{Connection, Epoch, Position};
use sayso_core::id::{AskId, BlockId, ConnectionId, SessionId};
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::run::{Effect, Event, Run, RunStatus, StepState};
use sayso_core::session::{Session, SessionStatus, StepOf, title_of};
use sayso_core::time::Time;
use sayso_core::transcript::{Block, BlockBody, Role};
use sayso_core::workflow::Kind;
use sayso_store::write::{AdvanceRun, CreateSession, RunNews};
use sayso_store::{EventKind, WorkspaceId};

use crate::app::App;
use crate::entropy;
use crate::surfaces::http::sessions::look_at;

/// Bytes of an output that an event carries; the whole is at `GET /v1/runs/{id}`.
const SHOWN: usize = 4 * 1024;

/// How a run begins.
pub(crate) async fn begin(app: &App, run: &Run) -> AdvanceRun {
    let mut first = follow(app, run, 0, vec![Event::Begin]).await;
    first.changed = (0..run.steps.len()).collect();
    first
}

/// Takes what happened; everything that follows from it. A step that cannot begin is one more thing
/// that happened.
pub(super) async fn follow(app: &App, before: &Run, version: i64, events: Vec<Event>) -> AdvanceRun {
    let now = app.clock.now();
    let mut all = AdvanceRun {
        workspace: WorkspaceId::MAIN,
        run: Box::new(before.clone()),
        version,
        changed: Vec::new(),
        sessions: Vec::new(),
        asks: Vec::new(),
        taken: Vec::new(),
        closed: Vec::new(),
        withdrawn: Vec::new(),
        news: Vec::new(),
        now,
    };
    let mut events = VecDeque::from(events);
    while let Some(event) = events.pop_front() {
        for effect in all.run.next(event, now, &mut entropy::id) {
            match effect {
                Effect::StartSession { step, session, prompt } => {
                    match Box::pin(session_for(app, &all.run, &step, session, prompt, now)).await {
                        Ok(create) => all.sessions.push(create),
                        Err(reason) => events.push_back(Event::Ended { session, reason, died: false }),
                    }
                }
                Effect::OpenCheckpoint { step, ask, question } => all.asks.push(checkpoint(&all.run, step, ask, question, now)),
                Effect::TakeOutcome { ask } => all.taken.push(ask),
                Effect::CloseSession { session } => {
                    all.sessions.retain(|create| create.session.id != session);
                    // One that never began is not there to be closed, which is as well.
                    all.closed.push((session, Raw::of(&Command::Close { session })));
                }
                Effect::Withdraw { ask, reason } => {
                    all.asks.retain(|opened| opened.id != ask);
                    all.withdrawn.push((ask, reason));
                }
                Effect::RunBegan => all.news.push(of_run(&all.run, EventKind::RunStarted)),
                Effect::RunOver => {
                    let kind = match all.run.status {
                        RunStatus::Completed => EventKind::RunCompleted,
                        RunStatus::Cancelled { .. } => EventKind::RunCancelled,
                        RunStatus::Failed { .. } | RunStatus::Running => EventKind::RunFailed,
                    };
                    all.news.push(of_run(&all.run, kind));
                }
                Effect::StepBegan { step } => all.news.extend(of_step(&all.run, &step)),
                Effect::StepOver { step } => all.news.extend(of_step(&all.run, &step)),
            }
        }
    }
    let changed = |position: &usize| before.steps.get(*position) != all.run.steps.get(*position);
    all.changed = (0..all.run.steps.len()).filter(changed).collect();
    all
}

fn of_run(run: &Run, kind: EventKind) -> RunNews {
    RunNews { kind, session: None, data: Raw::of(&ApiRunNews::of(run)) }
}

/// What the feed says of a step, as it stands.
fn of_step(run: &Run, id: &str) -> Option<RunNews> {
    let step = run.step(id)?;
    let kind = match step.state {
        StepState::Running { .. } | StepState::Asking { .. } => EventKind::StepStarted,
        StepState::Completed { .. } => EventKind::StepCompleted,
        StepState::Failed { .. } => EventKind::StepFailed,
        StepState::Pending | StepState::Cancelled { .. } => EventKind::StepCancelled,
    };
    let mut shown = RunStep::of(run, step);
    shown.output = shown.output.map(|output| limits::head(&output, SHOWN).to_owned());
    let data = StepNews { run_id: run.id.to_string(), step_id: step.id.clone(), step: shown };
    Some(RunNews { kind, session: step.last_session, data: Raw::of(&data) })
}

/// The session that carries a step out, or why there can be none.
async fn session_for(
    app: &App,
    run: &Run,
    step: &str,
    id: SessionId,
    prompt: String,
    now: Time,
) -> Result<CreateSession, String> {
    let written = run.written(step).ok_or("the step is not in the workflow any more")?;
    let Kind::Agent { agent, .. } = written.kind() else { return Err("the step has no agent".to_owned()) };
    let agent = app.agents.get(agent).ok_or_else(|| format!("there is no agent `{agent}`"))?;
    let variables = app.runs.variables(run.id);
    if let Some(program) = &agent.program {
        let path = variables.get("PATH").map(String::as_str).or_else(|| app.processes.variable("PATH"));
        program.find(path).ok_or_else(|| program.missing(&agent.name))?;
    }
    let project = PathBuf::from(written.directory.as_deref().unwrap_or(&run.directory));
    let project_text = project.to_string_lossy().into_owned();
    let looked = tokio::task::spawn_blocking(move || project.is_dir().then(|| look_at(&project))).await;
    let (project_policy, branch) = looked.ok().flatten().ok_or_else(|| format!("{project_text} is not a directory"))?;
    let connection = ConnectionId::new(now, entropy::id());
    let permission_mode = written.permission_mode.clone().unwrap_or_else(|| "default".to_owned());
    let session = Session {
        id,
        connection,
        agent: agent.name.clone(),
        title: title_of(&prompt),
        project: project_text.clone(),
        branch,
        status: SessionStatus::Running,
        permission_mode: permission_mode.clone(),
        model: written.model.clone(),
        policy: written.policy(),
        project_policy,
        external: None,
        step: Some(StepOf { run: run.id, step: step.to_owned() }),
        labels: run.labels.clone(),
        opened_by: Some(run.opened_by),
        created_at: now,
        updated_at: now,
    };
    app.processes.keep_variables(connection, variables);
    let body = BlockBody::Message { role: Role::User, text: prompt.clone() };
    let command = Command::Start {
        session: id,
        project: project_text,
        prompt: Some(prompt),
        permission_mode,
        model: written.model.clone(),
        questions: written.may_ask(),
    };
    Ok(CreateSession {
        workspace: WorkspaceId::MAIN,
        connection: Connection {
            id: connection,
            kind: agent.kind(),
            agent: agent.name.clone(),
            epoch: Epoch(1),
            position: Position(0),
            process: None,
            state: None,
            wake_at: None,
        },
        announced: Raw::of(&ApiSession::of(&session, 0)),
        session,
        command: Raw::of(&command),
        prompt: Some(Block { id: BlockId::new(now, entropy::id()), at: now, subagent: None, body }),
        key: None,
    })
}

/// The ask of a checkpoint: in the same inbox as everything else, and always for a person.
fn checkpoint(run: &Run, step: String, id: AskId, question: Question, now: Time) -> Ask {
    let context = AskContext {
        agent: format!("workflow {}", limits::head(&run.workflow.name, 80)),
        title: run.workflow.name.clone(),
        project: Some(run.directory.clone()),
        blocking: true,
        run: Some(run.id),
        step: Some(step),
        labels: run.labels.clone(),
        ..AskContext::default()
    };
    Ask {
        id,
        origin: Origin { session: None, connection: None, native_id: None, opened_by: Some(run.opened_by) },
        body: AskBody::Question { questions: vec![question] }.into(),
        context: context.into(),
        policy: PolicyNote { why: Some("a checkpoint of the workflow".to_owned()), ..PolicyNote::default() },
        opened_at: now,
        snoozed_until: None,
        state: AskState::Pending(Reach::Live),
        raw: None,
    }
}
