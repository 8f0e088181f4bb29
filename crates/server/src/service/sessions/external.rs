//! Sessions of agents that a person runs. Sayso receives reports about them, but never starts or stops them.

use sayso_agents::translator::FoundSession;
use sayso_api::ask::{ExternalEvent, ExternalNews as ApiNews, ExternalSession};
use sayso_core::connection::{Connection, ConnectionKind};
use sayso_core::id::{AskId, ConnectionId, SessionId};
use sayso_core::limits;
use sayso_core::session::Session;
use sayso_core::time::Time;
use sayso_store::ops::{EnsureExternalSession, ExternalActivity, ExternalSessionKey, ReportExternalActivity};
use sayso_store::read::GetExternalSession;

use super::construct::{SessionDraft, new_connection};
use crate::auth::{Caller, Permission};
use crate::entropy;
use crate::service::asks::identity::{check_agent, check_project};
use crate::service::project::{Project, check_reported_place, read_reported_project};
use crate::service::{ServiceError, Services, authorize};

fn external_key(caller: &Caller, agent: &str, session_id: &str) -> Result<ExternalSessionKey, ServiceError> {
    for (what, name) in [("agent", agent), ("sessionId", session_id)] {
        limits::check(what, name.len(), limits::NAME)?;
        if name.trim().is_empty() || name.contains(char::is_control) {
            return Err(ServiceError::invalid(format!("{what} must be a name without control characters")));
        }
    }
    check_agent(caller, agent)?;
    let (agent, native_id) = (agent.to_owned(), session_id.to_owned());
    Ok(ExternalSessionKey { workspace: caller.workspace, token: caller.token, agent, native_id })
}

/// Returns the session that the caller names. Creates it if it is new.
pub(crate) async fn ensure_external(
    services: &Services,
    caller: &Caller,
    named: ExternalSession,
) -> Result<Session, ServiceError> {
    authorize(caller, Permission::Open)?;
    let key = external_key(caller, &named.agent, &named.session_id)?;
    limits::check("the title", named.title.as_ref().map_or(0, String::len), limits::TEXT)?;
    check_reported_place("cwd", Some(&named.cwd), named.branch.as_deref())?;
    let known = services.store.read(GetExternalSession { key: key.clone() }).await?;
    // The title may be reported later than the session.
    if let Some(known) = known.filter(|known| !known.title.is_empty() || named.title.is_none()) {
        return Ok(known);
    }
    let project = read_reported_project(&named.cwd, services.home.clone()).await;
    // Check the path without symbolic links.
    check_project(caller, &project.path)?;
    let project = Project { branch: named.branch.or(project.branch), ..project };
    let draft = SessionDraft {
        title: named.title,
        native_id: Some(key.native_id.clone()),
        opened_by: Some(caller.token),
        ..SessionDraft::new(&key.agent, project)
    };
    let now = services.clock.now();
    let bytes = key.agent.len() + key.native_id.len() + draft.text_size();
    services.quotas.spend(caller, None, bytes, now)?;
    let (id, connection) = (SessionId::new(now, entropy::id()), ConnectionId::new(now, entropy::id()));
    let session = draft.into_session(id, connection, now);
    let connection = new_connection(connection, ConnectionKind::Caller, &key.agent, None);
    Ok(*services.store.write(EnsureExternalSession { key, session, connection }).await?)
}

/// Builds the session of a conversation that exists on an attached server. The connection commits it.
pub(crate) async fn found_session(connection: &Connection, found: &FoundSession, home: Option<String>, now: Time) -> Session {
    let draft = SessionDraft {
        title: Some(found.title.clone()),
        native_id: Some(found.native_id.clone()),
        ..SessionDraft::new(&connection.agent, read_reported_project(&found.project, home).await)
    };
    draft.into_session(SessionId::new(now, entropy::id()), connection.id, now)
}

/// Processes a report about a session that a person runs. Withdraws asks that were decided in the agent's terminal, and returns
/// their ids. An unknown session has none.
pub(crate) async fn report_external(services: &Services, caller: &Caller, report: ApiNews) -> Result<Vec<AskId>, ServiceError> {
    authorize(caller, Permission::Open)?;
    let key = external_key(caller, &report.agent, &report.session_id)?;
    let news = match (report.event, report.dedupe_key) {
        (ExternalEvent::ToolDone, Some(native_prefix)) if !native_prefix.is_empty() => {
            ExternalActivity::ToolDone { native_prefix }
        }
        (ExternalEvent::ToolDone, _) => return Err(ServiceError::invalid("toolDone needs a dedupeKey")),
        (ExternalEvent::Prompted, _) => ExternalActivity::Prompted,
        (ExternalEvent::TurnEnded, _) => ExternalActivity::TurnEnded,
        (ExternalEvent::Ended, _) => ExternalActivity::Ended,
    };
    Ok(services.store.write(ReportExternalActivity { key, news }).await?)
}
