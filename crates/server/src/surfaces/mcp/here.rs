//! The asks of this very server.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use rmcp::ErrorData;
use rmcp::model::Extensions;
use sayso_api::ask::{Ask, GetAskQuery, NewAsk};
use sayso_api::notice::NewNotice;
use sayso_core::limits;
use sayso_core::time::Span;
use tokio::time::Instant;

use super::asks::{Asks, Failure};
use super::client::Place;
use crate::app::{App, shown};
use crate::auth::Permission;
use crate::surfaces::http::{ApiError, Authorized, Params, asks, notices};

/// How often a wait looks whether its token is still good.
const LOOK: Duration = Duration::from_secs(60);

const RESTARTING: &str =
    "Sayso is being restarted. The question is kept: call the tool again with the same arguments to go on waiting.";

/// The broker as one caller sees it.
#[derive(Debug, Clone)]
pub(super) struct Here {
    app: Arc<App>,
    /// Whoever makes the call; nobody yet for the server as a whole.
    caller: Option<Authorized>,
}

impl Here {
    pub(super) const fn new(app: Arc<App>) -> Self {
        Self { app, caller: None }
    }

    fn caller(&self) -> Result<&Authorized, Failure> {
        let still = self.caller.as_ref().filter(|authorized| authorized.caller.is_valid(self.app.clock.now()));
        still.ok_or_else(|| Failure("The token is no longer valid.".to_owned()))
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self(error.into_words())
    }
}

/// A short header without anything strange in it.
fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?.trim();
    (!value.is_empty() && value.len() <= limits::NAME).then(|| value.to_owned())
}

impl Asks for Here {
    fn of_call(&self, extensions: &Extensions) -> Result<(Self, Place), ErrorData> {
        let nobody = || ErrorData::internal_error("the call came without a caller", None);
        let parts = extensions.get::<Parts>().ok_or_else(nobody)?;
        let caller = parts.extensions.get::<Authorized>().cloned().ok_or_else(nobody)?;
        let session = header(&parts.headers, "x-sayso-session").or_else(|| header(&parts.headers, "mcp-session-id"));
        let place = Place {
            session,
            directory: header(&parts.headers, "x-sayso-directory").filter(|path| path.starts_with('/')),
            patience: header(&parts.headers, "x-sayso-wait").and_then(|wait| wait.parse::<Span>().ok()).map(|span| span.0),
        };
        Ok((Self { app: Arc::clone(&self.app), caller: Some(caller) }, place))
    }

    async fn open(&self, ask: NewAsk) -> Result<Ask, Failure> {
        let caller = self.caller()?.may(Permission::Open)?;
        Ok(shown(&asks::open_ask(&self.app, caller, ask, None).await?))
    }

    async fn wait(&self, id: &str, within: Option<Duration>) -> Result<Ask, Failure> {
        let until = within.map(|within| Instant::now() + within);
        loop {
            let left = until.map_or(LOOK, |until| until.saturating_duration_since(Instant::now()).min(LOOK));
            let authorized = self.caller()?.clone();
            let query = GetAskQuery { wait: Some(Span(left).to_string()), raw: None };
            let look = asks::get(State(Arc::clone(&self.app)), authorized, Path(id.to_owned()), Params(query));
            let Json(ask) = tokio::select! {
                found = look => found?,
                () = self.app.stopping.cancelled() => return Err(Failure(RESTARTING.to_owned())),
            };
            if ask.outcome.is_some() || until.is_some_and(|until| until <= Instant::now()) {
                return Ok(ask);
            }
        }
    }

    async fn receive(&self, id: &str) -> Result<Ask, Failure> {
        let authorized = self.caller()?.clone();
        Ok(asks::receipt(State(Arc::clone(&self.app)), authorized, Path(id.to_owned())).await?.0)
    }

    async fn withdraw(&self, id: &str) {
        if let Ok(authorized) = self.caller() {
            // Somebody was first, or nobody may: nothing is left to do.
            let _ =
                asks::withdraw(State(Arc::clone(&self.app)), authorized.clone(), Path(id.to_owned()), Params::default()).await;
        }
    }

    async fn notify(&self, notice: NewNotice) -> Result<(), Failure> {
        let caller = self.caller()?.may(Permission::Open)?;
        Ok(notices::say(&self.app, caller, notice).await?)
    }
}
