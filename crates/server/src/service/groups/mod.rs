//! Groups: open the asks of a suspended run, claim the right to resume the run, and report the result.

mod cipher;
mod open;
mod question;

use std::sync::Arc;
use std::time::Duration;

use sayso_api::group::{ClaimRequest, ReleaseRequest};
use sayso_core::ask::{Answers, Ask};
use sayso_core::group::{ClaimRefused, Group};
use sayso_core::id::GroupId;
use sayso_core::limits;
use sayso_core::plain_text;
use sayso_core::texts;
use sayso_store::ops::{ClaimGroup, ClaimReport, ClaimedGroup, GroupRefused, ReportClaim, WithdrawGroup};
use sayso_store::read::{GetGroup, GroupDetail};

pub(crate) use cipher::StateCipher;
pub(crate) use open::{OpenedGroup, open};
pub(crate) use question::{lease_expired, question_about};

use super::asks::span;
use super::{ServiceError, Services, authorize};
use crate::auth::{Caller, Permission};

/// The default lease of a claim.
const LEASE: Duration = Duration::from_secs(60);
/// The longest lease. Workers that need more time renew it.
const LONGEST_LEASE: Duration = Duration::from_secs(3_600);

impl From<GroupRefused> for ServiceError {
    fn from(refused: GroupRefused) -> Self {
        match refused {
            GroupRefused::NotFound => Self::GroupNotFound,
            GroupRefused::Claim(ClaimRefused::NotReady) => Self::GroupNotReady,
            GroupRefused::Claim(ClaimRefused::Ended) => Self::GroupEnded,
            GroupRefused::Claim(ClaimRefused::Lost) => Self::ClaimLost,
        }
    }
}

/// Parses an id. A malformed id is treated like an unknown one.
pub(crate) fn group_id(text: &str) -> Result<GroupId, ServiceError> {
    text.parse().map_err(|_| ServiceError::GroupNotFound)
}

fn lease(text: Option<&str>) -> Result<Duration, ServiceError> {
    let lease = span("lease", text)?.map_or(LEASE, |lease| lease.0);
    if lease.is_zero() || lease > LONGEST_LEASE {
        return Err(ServiceError::invalid("lease must be longer than 0 and at most 1h; renew the claim if you need longer"));
    }
    Ok(lease)
}

/// A claim with the decrypted state.
#[derive(Debug)]
pub(crate) struct ClaimedRun {
    pub(crate) group: Arc<Group>,
    /// The asks, with secret answers in clear.
    pub(crate) asks: Vec<(Arc<Ask>, Option<Answers>)>,
    pub(crate) state: Option<String>,
}

/// A validated request for a claim.
#[derive(Debug, Clone)]
pub(crate) struct ClaimWish {
    worker: String,
    /// The idempotency key of the call. A repeated call gets the same claim.
    pub(crate) call: Option<String>,
    lease: Duration,
}

impl ClaimWish {
    pub(crate) fn new(caller: &Caller, request: &ClaimRequest, call: Option<String>) -> Result<Self, ServiceError> {
        authorize(caller, Permission::Open)?;
        limits::check("the name of the worker", request.worker.len(), limits::NAME)?;
        plain_text::check("the name of the worker", &request.worker)?;
        if request.worker.trim().is_empty() {
            return Err(ServiceError::invalid("worker is empty; send the name of the worker"));
        }
        Ok(Self { worker: request.worker.clone(), call, lease: lease(request.lease.as_deref())? })
    }
}

/// Gives a complete group to a worker.
pub(crate) async fn claim(
    services: &Services,
    caller: &Caller,
    group: GroupId,
    wish: &ClaimWish,
) -> Result<ClaimedRun, ServiceError> {
    let claim = ClaimGroup {
        workspace: caller.workspace,
        group,
        token: caller.token,
        worker: wish.worker.clone(),
        call: wish.call.clone(),
        lease: wish.lease,
    };
    let ClaimedGroup { group, asks, state } = services.store.write(claim).await??;
    tracing::debug!(group = %group.id, epoch = group.epoch, "group claimed");
    let opened = state.map(|state| services.state_cipher.open(group.id, caller.token, &state)).transpose();
    match opened {
        Ok(state) => {
            let asks = asks.into_iter().map(|claimed| (claimed.ask, claimed.secret)).collect();
            Ok(ClaimedRun { group, asks, state })
        }
        Err(error) => {
            tracing::error!(group = %group.id, "the state of a group cannot be decrypted");
            let reason = "The stored state cannot be read: it was changed, or state.key is another file.";
            let question = Box::new(question_about(services, &group, reason));
            report(services, caller, group.id, group.epoch, ClaimReport::Fail { question, may_retry: false }).await?;
            Err(error)
        }
    }
}

async fn report(
    services: &Services,
    caller: &Caller,
    group: GroupId,
    epoch: u64,
    report: ClaimReport,
) -> Result<Arc<Group>, ServiceError> {
    let report = ReportClaim { workspace: caller.workspace, group, token: caller.token, epoch, report };
    Ok(services.store.write(report).await??)
}

/// Extends the lease of a claim.
pub(crate) async fn renew(
    services: &Services,
    caller: &Caller,
    id: &str,
    epoch: u64,
    lease_text: Option<&str>,
) -> Result<GroupDetail, ServiceError> {
    authorize(caller, Permission::Open)?;
    let extended = ClaimReport::Renew(lease(lease_text)?);
    report(services, caller, group_id(id)?, epoch, extended).await?;
    get(services, caller, id).await
}

/// Confirms that the run was resumed, and deletes its state.
pub(crate) async fn acknowledge(services: &Services, caller: &Caller, id: &str, epoch: u64) -> Result<GroupDetail, ServiceError> {
    authorize(caller, Permission::Open)?;
    report(services, caller, group_id(id)?, epoch, ClaimReport::Acknowledge).await?;
    get(services, caller, id).await
}

/// Releases a claim. If the worker had started the run, a person decides whether it is resumed again.
pub(crate) async fn release(
    services: &Services,
    caller: &Caller,
    id: &str,
    request: ReleaseRequest,
) -> Result<GroupDetail, ServiceError> {
    authorize(caller, Permission::Open)?;
    limits::check("the reason", request.reason.as_ref().map_or(0, String::len), limits::TEXT)?;
    let group = get(services, caller, id).await?.group;
    let (what, epoch) = if request.started {
        let reason = request.reason.filter(|reason| !reason.trim().is_empty());
        let reason = reason.map_or_else(|| "The worker failed.".to_owned(), |reason| format!("The worker failed: {reason}"));
        let question = Box::new(question_about(services, &group, &reason));
        (ClaimReport::Fail { question, may_retry: true }, request.epoch)
    } else {
        (ClaimReport::Release, request.epoch)
    };
    report(services, caller, group.id, epoch, what).await?;
    get(services, caller, id).await
}

/// Withdraws the pending asks of a group and ends the group.
pub(crate) async fn withdraw(
    services: &Services,
    caller: &Caller,
    id: &str,
    reason: Option<String>,
) -> Result<GroupDetail, ServiceError> {
    authorize(caller, Permission::Open)?;
    let reason = reason.filter(|reason| !reason.trim().is_empty());
    limits::check("the reason", reason.as_ref().map_or(0, String::len), limits::NAME)?;
    let reason = reason.unwrap_or_else(|| texts::WITHDRAWN_BY_CALLER.to_owned());
    let withdraw = WithdrawGroup { workspace: caller.workspace, group: group_id(id)?, token: caller.token, reason };
    services.store.write(withdraw).await??;
    get(services, caller, id).await
}

/// Returns a group that the caller opened.
pub(crate) async fn get(services: &Services, caller: &Caller, id: &str) -> Result<GroupDetail, ServiceError> {
    authorize(caller, Permission::Open)?;
    let query = GetGroup { workspace: caller.workspace, group: group_id(id)?, token: caller.token };
    services.store.read(query).await?.ok_or(ServiceError::GroupNotFound)
}
