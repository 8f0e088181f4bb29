//! Applies events to a run and collects the effects into one transaction.

use std::collections::VecDeque;

use sayso_agents::translator::Command;
use sayso_core::ask::{Ask, AskBody, AskContext, AskState, Origin, PolicyNote, Question, Reach};
use sayso_core::id::{AskId, ConnectionId, SessionId};
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::run::{Effect, Event, Run};
use sayso_core::session::StepOf;
use sayso_core::snapshot::{RunSnapshot, StepSnapshot};
use sayso_core::time::Time;
use sayso_core::workflow::Kind;
use sayso_store::ops::{AdvanceRun, CreateSession, RunEvent};

use crate::entropy;
use crate::service::Services;
use crate::service::project::read_existing_project;
use crate::service::sessions::{SessionDraft, SessionStart};

/// Builds the transaction that creates a run and starts its first steps.
pub(super) async fn begin_run(services: &Services, run: &Run) -> AdvanceRun {
    let mut first = advance_run(services, run, 0, vec![Event::Begin]).await;
    first.changed = (0..run.steps.len()).collect();
    first
}

/// Applies events to a run and returns the transaction with all effects. `version` is the version of `before` for the
/// compare-and-set. A step that cannot start adds an event, which is applied in the same call.
pub(crate) async fn advance_run(services: &Services, before: &Run, version: i64, events: Vec<Event>) -> AdvanceRun {
    let now = services.clock.now();
    let mut all = AdvanceRun {
        workspace: services.workspace,
        run: Box::new(before.clone()),
        version,
        changed: Vec::new(),
        sessions: Vec::new(),
        asks: Vec::new(),
        taken: Vec::new(),
        closed: Vec::new(),
        withdrawn: Vec::new(),
        events: Vec::new(),
    };
    let mut events = VecDeque::from(events);
    while let Some(event) = events.pop_front() {
        for effect in all.run.next(event, now, &mut entropy::id) {
            match effect {
                Effect::StartSession { step, session, prompt } => {
                    match Box::pin(build_step_session(services, &all.run, &step, session, prompt, now)).await {
                        Ok(create) => all.sessions.push(create),
                        Err(reason) => events.push_back(Event::Ended { session, reason, died: false }),
                    }
                }
                Effect::OpenCheckpoint { step, ask, question } => {
                    all.asks.push(build_checkpoint(&all.run, step, ask, question, now))
                }
                Effect::TakeOutcome { ask } => all.taken.push(ask),
                Effect::CloseSession { session } => {
                    all.sessions.retain(|create| create.session.id != session);
                    // If the session is not committed yet, closing it has no effect.
                    all.closed.push((session, Raw::of(&Command::Close { session })));
                }
                Effect::Withdraw { ask, reason } => {
                    all.asks.retain(|opened| opened.id != ask);
                    all.withdrawn.push((ask, reason));
                }
                Effect::RunBegan | Effect::RunOver => all.events.push(RunEvent::Run(RunSnapshot::from(&*all.run))),
                Effect::StepBegan { step } | Effect::StepOver { step } => {
                    let snapshot = all.run.step(&step).map(|step| StepSnapshot::of(&all.run, step).shortened());
                    all.events.extend(snapshot.map(RunEvent::Step));
                }
            }
        }
    }
    let changed = |position: &usize| before.steps.get(*position) != all.run.steps.get(*position);
    all.changed = (0..all.run.steps.len()).filter(changed).collect();
    all
}

/// Builds the session that executes a step. The error is the reason why the step fails.
async fn build_step_session(
    services: &Services,
    run: &Run,
    step: &str,
    id: SessionId,
    prompt: String,
    now: Time,
) -> Result<CreateSession, String> {
    let written = run.find_definition(step).ok_or("the step is no longer in the workflow")?;
    let Kind::Agent { agent, .. } = written.kind() else { return Err("the step has no agent".to_owned()) };
    let agent = services.agents.get(agent).ok_or_else(|| format!("there is no agent `{agent}`"))?;
    let variables = services.environment.for_run(run.id);
    if let Some(program) = &agent.program {
        program.find(services.environment.search_path(&variables)).ok_or_else(|| program.missing(&agent.name))?;
    }
    let directory = written.directory.as_deref().unwrap_or(&run.directory);
    let project = read_existing_project(directory.into(), services.home.clone()).await;
    let project = project.ok_or_else(|| format!("{directory} is not a directory"))?;
    let draft = SessionDraft {
        title: Some(prompt.clone()),
        permission_mode: written.permission_mode.clone(),
        model: written.model.clone(),
        policy: written.policy(),
        step: Some(StepOf { run: run.id, step: step.to_owned() }),
        labels: run.labels.clone(),
        opened_by: Some(run.opened_by),
        ..SessionDraft::new(&agent.name, project)
    };
    let connection = ConnectionId::new(now, entropy::id());
    services.environment.keep_for_connection(connection, variables);
    let (workspace, questions) = (services.workspace, written.may_ask());
    let start = SessionStart { workspace, id, connection, agent, draft, prompt: Some(prompt), questions, key: None };
    Ok(start.into_commit(now))
}

/// Builds the ask of a checkpoint. No policy applies to it, so a person always answers.
fn build_checkpoint(run: &Run, step: String, id: AskId, question: Question, now: Time) -> Ask {
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
    tracing::debug!(ask = %id, kind = "checkpoint", run = %run.id, "ask opened");
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
