//! Runs of workflows: starting, reading, answering and cancelling them, and the transition between their states.

mod create;
mod transition;

pub(crate) use create::create;
pub(crate) use transition::advance_run;

use sayso_api::run::RunQuery;
use sayso_core::ask::Decision;
use sayso_core::id::{AskId, RunId};
use sayso_core::plain_text;
use sayso_core::run::{Event, Run};
use sayso_core::scope::Scope;
use sayso_store::ops::{AdvanceResult, IdempotencyKey};
use sayso_store::read::{GetAsk, GetRun, ListRuns, Page, RunDetail};

use super::asks::{self, DecisionRequest};
use super::{ServiceError, Services, authorize, listing};
use crate::auth::{Caller, Permission};

/// Returns the run if the caller's scope covers it. The use case checks the permission.
async fn find(services: &Services, caller: &Caller, id: &str) -> Result<RunDetail, ServiceError> {
    let run: RunId = id.parse().map_err(|_| ServiceError::RunNotFound)?;
    let query = GetRun { workspace: caller.workspace, run, scope: caller.scope.clone() };
    services.store.read(query).await?.ok_or(ServiceError::RunNotFound)
}

/// Reads one run with its pending asks.
pub(crate) async fn get(services: &Services, caller: &Caller, id: &str) -> Result<RunDetail, ServiceError> {
    authorize(caller, Permission::Read)?;
    find(services, caller, id).await
}

/// Lists runs with the number of their pending asks, newest first.
pub(crate) async fn list(services: &Services, caller: &Caller, query: RunQuery) -> Result<Page<(Run, u32)>, ServiceError> {
    authorize(caller, Permission::Read)?;
    plain_text::check_optional("idEndsWith", query.id_ends_with.as_deref())?;
    let wanted = ListRuns {
        workspace: caller.workspace,
        scope: caller.scope.clone(),
        open_only: query.open == Some(true),
        id_ends_with: query.id_ends_with.map(|suffix| suffix.to_ascii_lowercase()),
        limit: listing::page_size(query.limit)?,
        after: listing::cursor(query.cursor.as_deref())?,
    };
    Ok(services.store.read(wanted).await?)
}

/// Cancels a run: stops its agents and withdraws its asks in one commit, which the task of the run then sees. If the task
/// advances the run at the same time, one of the two commits is stale and is computed again.
pub(crate) async fn cancel(services: &Services, caller: &Caller, id: &str) -> Result<Run, ServiceError> {
    authorize(caller, Permission::Answer)?;
    let mut found = find(services, caller, id).await?;
    loop {
        if found.run.status.is_over() {
            return Err(ServiceError::RunEnded);
        }
        let cancel = Event::Cancel { reason: format!("{} cancelled it", caller.name) };
        let advance = advance_run(services, &found.run, found.version, vec![cancel]).await;
        let cancelled = advance.run.clone();
        match services.store.write(advance).await? {
            AdvanceResult::Yes => return Ok(*cancelled),
            AdvanceResult::Stale => {
                let again = GetRun { workspace: caller.workspace, run: found.run.id, scope: Scope::All };
                found = services.store.read(again).await?.ok_or(ServiceError::RunNotFound)?;
            }
        }
    }
}

/// Answers or rejects a question of a run: a question of one of its agents, or a checkpoint.
pub(crate) async fn answer_question(
    services: &Services,
    caller: &Caller,
    via: &str,
    run: &str,
    question: &str,
    decision: Decision,
    key: Option<IdempotencyKey>,
) -> Result<(), ServiceError> {
    authorize(caller, Permission::Answer)?;
    let ask = find_question(services, caller, run, question).await?;
    asks::resolve(services, caller, DecisionRequest { ask, session: None, decision, via, key, content: None }).await?;
    Ok(())
}

async fn find_question(services: &Services, caller: &Caller, run: &str, question: &str) -> Result<AskId, ServiceError> {
    let run = find(services, caller, run).await?.run.id;
    let ask: AskId = question.parse().map_err(|_| ServiceError::QuestionNotFound)?;
    let wanted = GetAsk { workspace: caller.workspace, ask, scope: caller.scope.clone() };
    let found = services.store.read(wanted).await?;
    let of_run = found.filter(|ask| ask.context.run == Some(run) && !ask.body.questions().is_empty());
    of_run.map(|ask| ask.id).ok_or(ServiceError::QuestionNotFound)
}
