//! Changing the permission mode or the model of a session.

use sayso_agents::translator::Command;
use sayso_api::session::ChangeSession;
use sayso_api::token::Role;
use sayso_core::limits;
use sayso_core::raw::Raw;
use sayso_core::session::{Session, keeps_approvals};
use sayso_store::ops::{ConfigureSession, SessionCommandResult};

use super::read::find;
use crate::auth::{Caller, Permission};
use crate::service::{ServiceError, Services, authorize};

/// Requests another permission mode or model from the agent of a session. The session changes when the agent confirms. Returns
/// the session and the number of its pending asks.
pub(crate) async fn configure(
    services: &Services,
    caller: &Caller,
    id: &str,
    change: ChangeSession,
) -> Result<(Session, u32), ServiceError> {
    authorize(caller, Permission::Answer)?;
    let ChangeSession { permission_mode, model } = change;
    if permission_mode.is_none() && model.is_none() {
        return Err(ServiceError::invalid("nothing to change: send permissionMode or model"));
    }
    check_mode(caller, permission_mode.as_deref())?;
    limits::check("the model", model.as_ref().map_or(0, String::len), limits::NAME)?;
    if [&permission_mode, &model].into_iter().flatten().any(|text| text.trim().is_empty()) {
        return Err(ServiceError::invalid("permissionMode or model is empty; omit the field to keep its value"));
    }
    let found = find(services, caller, id).await?;
    let session = found.session.id;
    let can = services.agents.get(&found.session.agent).is_some_and(|agent| agent.capabilities.configure);
    if found.session.external.is_none() && !can {
        return Err(ServiceError::SettingsFixed);
    }
    let command = Command::Configure { session, permission_mode: permission_mode.clone(), model: model.clone() };
    let (workspace, scope) = (caller.workspace, caller.scope.clone());
    let wanted = ConfigureSession { workspace, session, scope, permission_mode, model, command: Raw::of(&command) };
    match services.store.write(wanted).await? {
        SessionCommandResult::Queued(session) => Ok((*session, found.pending.count)),
        SessionCommandResult::External => Err(ServiceError::ExternalSession),
        SessionCommandResult::Ended | SessionCommandResult::NotResumable => Err(ServiceError::SessionEnded),
        SessionCommandResult::NotFound => Err(ServiceError::SessionNotFound),
    }
}

/// Checks the permission mode that a caller chooses. Modes that skip approvals require an admin.
pub(crate) fn check_mode(caller: &Caller, mode: Option<&str>) -> Result<(), ServiceError> {
    limits::check("the permission mode", mode.map_or(0, str::len), limits::NAME)?;
    match mode {
        Some(mode) if !keeps_approvals(mode) && caller.role != Role::Admin => Err(ServiceError::ModeForbidden),
        Some(_) | None => Ok(()),
    }
}
