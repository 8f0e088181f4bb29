//! Explaining what a policy decides about asks.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sayso_api::policy::ExplainRequest;
use sayso_core::ask::{Ask, Claims};
use sayso_core::id::{AskId, SessionId};
use sayso_core::policy::{self, DiskFacts, Explanation, Policy, Subject};
use sayso_core::scope::Scope;
use sayso_store::read::{GetAsk, GetSession, ListAsks, StatusFilter};

use super::asks::ask_id;
use super::disk_facts::{AskPlace, look_at_disk};
use super::policies::SessionScope;
use super::{ServiceError, Services, authorize};
use crate::auth::{Caller, Permission};

/// Time limit for one request. Asks that are not evaluated by then are omitted.
const LONGEST_WORK: Duration = Duration::from_secs(5);
/// Maximum number of pending asks per request.
const MOST_PENDING: usize = 1_000;

/// An ask with the policy's decision and the reasons for it.
pub(crate) struct ExplainedAsk {
    pub(crate) ask: Ask,
    pub(crate) explanation: Explanation,
}

pub(crate) struct ExplainedAsks {
    pub(crate) asks: Vec<ExplainedAsk>,
    /// True if asks were omitted.
    pub(crate) truncated: bool,
}

/// The asks to explain, and the policies of their sessions.
#[derive(Default)]
struct AsksToExplain {
    asks: Vec<Ask>,
    sessions: HashMap<SessionId, SessionScope>,
    /// Disk facts of the one ask that the request names.
    disk: Option<(AskId, DiskFacts)>,
    truncated: bool,
}

/// Explains what the active policy, or the one in the request, decides about one ask, pending asks or past asks.
pub(crate) async fn explain(
    services: &Arc<Services>,
    caller: &Caller,
    request: ExplainRequest,
) -> Result<ExplainedAsks, ServiceError> {
    authorize(caller, Permission::Read)?;
    services.policies.reload();
    let candidate = request.policy.clone();
    let worker = Arc::clone(services);
    let work = move |wanted: AsksToExplain| {
        let candidate = candidate.as_deref().map(Policy::parse).transpose()?.map(Arc::new);
        Ok(wanted.explain(&worker, candidate.as_ref()))
    };
    services.policy_worker.run(AsksToExplain::read(services, caller, request), work).await
}

impl AsksToExplain {
    async fn read(services: &Services, caller: &Caller, request: ExplainRequest) -> Result<Self, ServiceError> {
        let mut found = Self::default();
        if let Some(id) = &request.ask_id {
            let find = GetAsk { workspace: caller.workspace, ask: ask_id(id)?, scope: caller.scope.clone() };
            found.asks.push(services.store.read(find).await?.ok_or(ServiceError::AskNotFound)?);
        }
        if request.pending {
            found.add(services, caller, StatusFilter::Pending, MOST_PENDING).await?;
        }
        if let Some(count) = request.history {
            if !(1..=1_000).contains(&count) {
                return Err(ServiceError::invalid("history must be 1 to 1000"));
            }
            found.add(services, caller, StatusFilter::Resolved, count as usize).await?;
        }
        for id in found.asks.iter().filter_map(|ask| ask.origin.session) {
            let Entry::Vacant(place) = found.sessions.entry(id) else { continue };
            let find = GetSession { workspace: caller.workspace, session: id, scope: Scope::All };
            if let Some(session) = services.store.read(find).await? {
                place.insert(SessionScope::from(&session.session));
            }
        }
        if let Some(ask) = found.asks.first().filter(|_| request.ask_id.is_some()) {
            let session = ask.origin.session.and_then(|session| found.sessions.get(&session));
            let config = session.and_then(|session| session.config.as_ref());
            let place = AskPlace { project: ask.context.project.as_deref(), home: services.home.as_deref(), config };
            found.disk = Some((ask.id, look_at_disk(place, &ask.body).await));
        }
        Ok(found)
    }

    async fn add(
        &mut self,
        services: &Services,
        caller: &Caller,
        status: StatusFilter,
        limit: usize,
    ) -> Result<(), ServiceError> {
        let list = ListAsks { status, ..ListAsks::pending(caller.workspace, caller.scope.clone(), limit) };
        let page = services.store.read(list).await?;
        self.truncated |= page.truncated;
        self.asks.extend(page.rows);
        Ok(())
    }

    /// Applies the policy to each ask. Blocks its thread.
    fn explain(self, services: &Services, user: Option<&Arc<Policy>>) -> ExplainedAsks {
        let Self { asks, sessions, disk, mut truncated } = self;
        let began = Instant::now();
        let mut explained = Vec::with_capacity(asks.len());
        for ask in asks {
            if began.elapsed() > LONGEST_WORK {
                truncated = true;
                break;
            }
            let session = ask.origin.session.and_then(|session| sessions.get(&session));
            let claims = ask.context.asker.as_ref().map_or_else(Claims::default, |asker| asker.claims);
            let set = services.policies.set(session, user.map(Arc::clone)).with_claims(claims);
            let subject = services.policies.subject(&ask.context.agent, ask.context.project.as_deref(), &ask.body);
            let disk = disk.as_ref().filter(|(id, _)| *id == ask.id).map(|(_, disk)| disk);
            let subject = Subject { step: ask.context.step.is_some(), disk, ..subject };
            let explanation = policy::explain(&set, &subject, services.clock.now());
            explained.push(ExplainedAsk { ask, explanation });
        }
        ExplainedAsks { asks: explained, truncated }
    }
}
