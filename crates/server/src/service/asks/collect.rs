//! Collecting the outcome of an ask, and withdrawing it, by the caller that opened it.

use std::sync::Arc;

use sayso_core::ask::{Answers, Ask, AskState};
use sayso_core::limits;
use sayso_core::plain_text;
use sayso_core::scope::Scope;
use sayso_core::texts;
use sayso_store::ops::{ClaimOutcome, ClaimOutcomeResult, CollectOutcome, IdempotencyKey, WithdrawAsk, WithdrawByRequest};
use sayso_store::read::GetAsk;

use super::read::ask_id;
use crate::auth::{Caller, Permission};
use crate::service::{ServiceError, Services, authorize};

/// An ask whose outcome was handed to the caller that opened it.
pub(crate) struct Collected {
    pub(crate) ask: Ask,
    /// The secret answers in clear. The store has deleted them, so they cannot be read again.
    pub(crate) secret: Option<Answers>,
}

/// Hands the outcome to the caller that opened the ask and marks it as delivered.
///
/// `taker` is a name that the caller chooses for one attempt. With it, an approval is handed to one taker only; a retry under
/// the same name gets it again.
pub(crate) async fn collect_outcome(
    services: &Services,
    caller: &Caller,
    id: &str,
    taker: Option<String>,
) -> Result<Collected, ServiceError> {
    authorize(caller, Permission::Open)?;
    let own = GetAsk { workspace: caller.workspace, ask: ask_id(id)?, scope: Scope::OpenedBy { token: caller.token } };
    let found = services.store.read(own).await?.filter(|ask| ask.origin.connection.is_none());
    let ask = found.ok_or(ServiceError::AskNotFound)?;
    if matches!(ask.state, AskState::Pending(_)) {
        return Err(ServiceError::OutcomePending);
    }
    tracing::debug!(ask = %ask.id, to = "caller", token = %caller.token, "ask sent");
    let (workspace, ask_id) = (caller.workspace, ask.id);
    let secret = match taker {
        None => services.store.write(CollectOutcome { workspace, ask: ask_id }).await?,
        Some(taker) => {
            limits::check("the taker", taker.len(), limits::NAME)?;
            plain_text::check("the taker", &taker)?;
            let taker =
                IdempotencyKey { token: caller.token, route: format!("receipt {ask_id}"), key: taker, fingerprint: [0; 32] };
            match services.store.write(ClaimOutcome { workspace, ask: ask_id, taker }).await? {
                ClaimOutcomeResult::Outcome(secret) => secret,
                ClaimOutcomeResult::ByAnother => return Err(ServiceError::OutcomeTaken),
            }
        }
    };
    let again = GetAsk { workspace: caller.workspace, ask: ask.id, scope: Scope::All };
    let ask = services.store.read(again).await?.ok_or(ServiceError::AskNotFound)?;
    Ok(Collected { ask, secret })
}

/// Withdraws an ask that the caller opened.
pub(crate) async fn withdraw(
    services: &Services,
    caller: &Caller,
    id: &str,
    reason: Option<String>,
) -> Result<Arc<Ask>, ServiceError> {
    authorize(caller, Permission::Open)?;
    let reason = withdrawal_reason(reason)?;
    let withdraw = WithdrawAsk { workspace: caller.workspace, ask: ask_id(id)?, scope: caller.scope.clone(), reason };
    let withdrawn = services.store.write(withdraw).await?;
    withdrawn.map_err(|error| ServiceError::NotResolved { error, caller: caller.token })
}

/// Withdraws the pending ask that the caller opened with this `dedupeKey`. After a restart, callers know their keys but not the
/// ids of their asks.
pub(crate) async fn withdraw_by_key(
    services: &Services,
    caller: &Caller,
    key: String,
    reason: Option<String>,
) -> Result<Arc<Ask>, ServiceError> {
    authorize(caller, Permission::Open)?;
    let reason = withdrawal_reason(reason)?;
    let withdraw = WithdrawByRequest { workspace: caller.workspace, opened_by: caller.token, request: key, reason };
    let withdrawn = services.store.write(withdraw).await?;
    withdrawn.map_err(|error| ServiceError::NotResolved { error, caller: caller.token })
}

fn withdrawal_reason(given: Option<String>) -> Result<String, ServiceError> {
    let reason = given.filter(|reason| !reason.trim().is_empty());
    limits::check("the reason", reason.as_ref().map_or(0, String::len), limits::NAME)?;
    Ok(reason.unwrap_or_else(|| texts::WITHDRAWN_BY_CALLER.to_owned()))
}
