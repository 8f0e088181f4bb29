//! The asks of one caller of this server, for the MCP tools.

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::request::Parts;
use rmcp::ErrorData;
use rmcp::model::Extensions;
use sayso_api::ask::{Ask, NewAsk};
use sayso_api::notice::NewNotice;
use sayso_core::limits;
use sayso_core::time::Span;
use tokio::time::Instant;

use crate::app::App;
use crate::auth::Caller;
use crate::runtime::waiters::wait_for_outcome;
use crate::service::{ServiceError, asks, notices};
use crate::surfaces::http::asks::collected;
use crate::surfaces::http::{ApiError, Authorized};
use crate::surfaces::mcp::{Asks, CallOrigin, ToolFailure};

/// How often a waiting call checks that its token is still valid.
const LOOK: Duration = Duration::from_secs(60);

const RESTARTING: &str =
    "Sayso is restarting. The question stays open: call the tool again with the same arguments to continue waiting.";

/// The asks of one caller of this server.
#[derive(Debug, Clone)]
pub(super) struct LocalAsks {
    app: Arc<App>,
    /// The caller of the tool. `None` before the first call.
    caller: Option<Authorized>,
}

impl LocalAsks {
    pub(super) const fn new(app: Arc<App>) -> Self {
        Self { app, caller: None }
    }

    fn caller(&self) -> Result<&Caller, ToolFailure> {
        let now = self.app.services.clock.now();
        let still = self.caller.as_ref().filter(|authorized| authorized.caller.is_valid(now));
        still.map(|authorized| &*authorized.caller).ok_or_else(|| ToolFailure("The token is no longer valid.".to_owned()))
    }
}

impl From<ServiceError> for ToolFailure {
    fn from(error: ServiceError) -> Self {
        Self(ApiError::from(error).into_words())
    }
}

/// Returns a header value if it is short and printable.
fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?.trim();
    (!value.is_empty() && value.len() <= limits::NAME).then(|| value.to_owned())
}

impl Asks for LocalAsks {
    fn of_call(&self, extensions: &Extensions) -> Result<(Self, CallOrigin), ErrorData> {
        let no_caller = || ErrorData::internal_error("the call has no caller", None);
        let parts = extensions.get::<Parts>().ok_or_else(no_caller)?;
        let caller = parts.extensions.get::<Authorized>().cloned().ok_or_else(no_caller)?;
        let session = header(&parts.headers, "x-sayso-session").or_else(|| header(&parts.headers, "mcp-session-id"));
        let place = CallOrigin {
            session,
            directory: header(&parts.headers, "x-sayso-directory").filter(|path| path.starts_with('/')),
            patience: header(&parts.headers, "x-sayso-wait").and_then(|wait| wait.parse::<Span>().ok()).map(|span| span.0),
        };
        Ok((Self { app: Arc::clone(&self.app), caller: Some(caller) }, place))
    }

    async fn open(&self, mut ask: NewAsk) -> Result<Ask, ToolFailure> {
        // The agent name comes from the name of the client program, unless the token is limited to one agent.
        if let Some(agent) = &self.caller()?.identity.agent {
            ask.agent = Some(agent.clone());
            if let Some(external) = &mut ask.external {
                external.agent.clone_from(agent);
            }
        }
        Ok(Ask::from(&asks::open(&self.app.services, self.caller()?, ask, None).await?))
    }

    async fn wait(&self, id: &str, within: Option<Duration>) -> Result<Ask, ToolFailure> {
        let until = within.map(|within| Instant::now() + within);
        loop {
            let left = until.map_or(LOOK, |until| until.saturating_duration_since(Instant::now()).min(LOOK));
            let caller = self.caller()?;
            let ask = tokio::select! {
                found = wait_for_outcome(&self.app.runtime, caller, asks::ask_id(id)?, left) => found?,
                () = self.app.runtime.stopping.cancelled() => return Err(ToolFailure(RESTARTING.to_owned())),
            };
            if ask.outcome().is_some() || until.is_some_and(|until| until <= Instant::now()) {
                return Ok(Ask::from(&ask));
            }
        }
    }

    async fn receive(&self, id: &str) -> Result<Ask, ToolFailure> {
        Ok(collected(asks::collect_outcome(&self.app.services, self.caller()?, id, None).await?))
    }

    async fn withdraw(&self, id: &str) {
        if let Ok(caller) = self.caller() {
            // The ask is already resolved, or it is not the caller's. Either way, there is nothing to withdraw.
            let _ = asks::withdraw(&self.app.services, caller, id, None).await;
        }
    }

    async fn notify(&self, mut notice: NewNotice) -> Result<(), ToolFailure> {
        if let Some(agent) = &self.caller()?.identity.agent {
            notice.agent = Some(agent.clone());
            if let Some(external) = &mut notice.external {
                external.agent.clone_from(agent);
            }
        }
        Ok(notices::publish_notice(&self.app.services, self.caller()?, notice).await?)
    }
}
